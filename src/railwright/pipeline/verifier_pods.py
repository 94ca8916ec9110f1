"""
The pods of one verify run, from their writing to their removal; what an earlier run left goes first.

Everything is written through apply's writer under the run's id, so the ledger knows it before it is there: after a
SIGKILL the next run, or clean, removes it. The ledger's lease is held until the pods are gone: nobody else writes to
the cluster while it is measured, and what the ledger knows of other runs is of runs that are over.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from railwright.apply.ledger import LedgerStore
from railwright.apply.means import Means
from railwright.apply.model import LedgerEntry, StageChanges
from railwright.apply.retry import retried
from railwright.apply.undo import undo_step
from railwright.apply.writer import Writer
from railwright.changes.model import Action, Change
from railwright.core import kinds
from railwright.core.errors import NotFound, ObjectRefused, RailwrightError, Refused
from railwright.core.ids import NodeName, PciAddress, RailName, StageName
from railwright.core.marks import is_virtual
from railwright.core.multus import NETWORK_STATUS
from railwright.core.objects import KubeObject, annotations_of, dig, ref_of
from railwright.core.verdicts import Verdict
from railwright.facts.reading import together
from railwright.facts.script import node_script
from railwright.facts.sources.network_status import parse_network_status
from railwright.manifests.verifiers import CONTAINER, RUN_LABEL, Run, Verifier, access_of, pod_of
from railwright.pipeline.pod_events import last_complaint
from railwright.plan.model import Rail
from railwright.ports.cluster import Selection
from railwright.ports.endpoint import HeldRail
from railwright.ports.progress import Progress, Waiting
from railwright.ports.world import World
from railwright.readiness.pods import is_pod_ready, trouble_of
from railwright.verify.pods.endpoint import ASK, PodEndpoint, has_python

STAGE_PREFIX = "verify-run-"
READY_LIMIT_S, REMOVAL_LIMIT_S = 300.0, 120.0
_EXPECTED_READY_S = 40.0
_ASK_LIMIT_S = 15.0
_ASKED_AT_ONCE = 16


@dataclass
class VerifierPods:
    """
    The pods of one run.

    Attributes:
        absent: nodes without an endpoint, and why.
        problems: what could not be removed.
    """

    world: World
    run: Run
    verifiers: tuple[Verifier, ...]
    rails: tuple[Rail, ...]
    gpus: Mapping[tuple[NodeName, RailName], PciAddress]
    progress: Progress
    shared: LedgerStore | None = None
    """The open ledger of an apply that this run is a part of; None: the run opens its own."""
    endpoints: list[PodEndpoint] = field(default_factory=list)
    absent: dict[NodeName, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _store: LedgerStore = field(init=False)

    def __post_init__(self) -> None:
        """Take the ledger that is open, or one of this run's own."""
        self._store = self.shared or LedgerStore(self.world.cluster, self.world.clock)

    @property
    def stage(self) -> StageName:
        """How the run is called in the ledger and in events."""
        return StageName(f"{STAGE_PREFIX}{self.run.id}")

    async def start(self) -> None:
        """
        Remove what an earlier run left, write this run's objects, and wait until its pods are ready or never will be.

        Raises:
            Refused: the namespace's Pod Security, or a webhook, does not admit such pods, or the namespace is gone.
            WriteConflict: another railwright is at work on this cluster.
            ClusterError: the cluster does not answer, the login expired, or a right is missing.
        """
        await self._store.open()
        await self._undo([entry for entry in self._store.ledger.entries.values() if is_of_a_run(entry)])
        writer = Writer(self._changes(), self._means())
        for obj in access_of(self.run):
            await writer.write(_creation(obj))
        for number, verifier in enumerate(self.verifiers):
            await self._write_pod(writer, number, verifier)
        await self._wait()
        self.endpoints.sort(key=lambda item: item.node)

    async def stay(self) -> None:
        """
        Keep the lease; called again and again while the run waits for something.

        Raises:
            WriteConflict: another run took over: what is measured from now on may be of pods that it removes.
        """
        await self._store.renew()

    async def _write_pod(self, writer: Writer, number: int, verifier: Verifier) -> None:
        try:
            await writer.write(_creation(pod_of(self.run, number, verifier)))
        except (ObjectRefused, NotFound) as error:
            message = f"a verification pod is not admitted to namespace {self.run.namespace}: {error.message}"
            hint = (
                "its Pod Security level must be privileged (IPC_LOCK is above baseline), and the networks must be there"
            )
            raise Refused(message, hint=hint) from error

    async def remove(self) -> None:
        """
        Remove the objects of this run, and give the lease up.

        What does not go is said, and stays in the ledger for the next run and for clean.
        """
        try:
            await self._undo([entry for entry in self._store.ledger.entries.values() if entry.stage == self.stage])
        finally:
            if self.shared is None:
                await self._store.close()

    async def _undo(self, entries: list[LedgerEntry]) -> None:
        for group in _in_order(entries):
            results = await undo_step(group, self._means(), self.stage, limit_s=REMOVAL_LIMIT_S)
            self.problems += [f"{item.ref}: {item.reason}" for item in results if item.verdict is Verdict.FAIL]

    def _changes(self) -> StageChanges:
        return StageChanges(
            stage=self.stage,
            batch="",
            nodes=tuple(item.node for item in self.verifiers),
            changes=(),
            gated=(),
            expectations=(),
            approvals=(),
            fabrics=(self.run.fabric,),
            expected_s=_EXPECTED_READY_S,
            limit_s=READY_LIMIT_S,
            hold_s=0.0,
        )

    def _means(self) -> Means:
        world = self.world
        return Means(world.cluster, world.node, world.clock, self.progress, self._store, node_script())

    # --- until they are ready -----------------------------------------------------------------------------------------

    async def _wait(self) -> None:
        """Make endpoints of pods as they get ready; at the limit, and where one never will be, its node is absent."""
        clock, started_s = self.world.clock, self.world.clock.monotonic_s()
        left = {f"{self.run.name}-{number}": item.node for number, item in enumerate(self.verifiers)}
        async with self.world.cluster.watch([self._pods]) as watch:
            while True:
                waiting = await self._turn(left)
                elapsed_s = clock.monotonic_s() - started_s
                if not waiting:
                    return
                if elapsed_s >= READY_LIMIT_S:
                    late = f"its pod was not ready after {READY_LIMIT_S:.0f} s: "
                    for name, why in waiting.items():
                        said = await last_complaint(self.world.cluster, self.run.namespace, name)
                        self.absent[left[name]] = late + (f"{why}; {said}" if said else why)
                    return
                left = {name: left[name] for name in waiting}
                first, why = next(iter(waiting.items()))
                text = f"pod {first}: {why}" + (f" (and {len(left) - 1} more)" if len(left) > 1 else "")
                self.progress.emit(Waiting(self.stage, text, elapsed_s, _EXPECTED_READY_S, READY_LIMIT_S))
                await self.stay()
                await watch.next(max(1.0, min(15.0, READY_LIMIT_S - elapsed_s)))

    async def _turn(self, left: Mapping[str, NodeName]) -> dict[str, str]:
        """
        Look at the pods once, and take those that are ready.

        Returns:
            Why each of the others is not ready yet, by name.
        """
        seen = {ref_of(pod).name: pod for pod in await retried(self._list, self.world.clock)}
        waiting, ready = {}, []
        for name, node in left.items():
            pod = seen.get(name)
            if pod is not None and is_pod_ready(pod):
                ready.append((pod, node))
            elif (why := _hopeless(pod)) is not None:
                self.absent[node] = why
            else:
                waiting[name] = _why_not_yet(pod)
        for start in range(0, len(ready), _ASKED_AT_ONCE):
            await together(self._admit(pod, node) for pod, node in ready[start : start + _ASKED_AT_ONCE])
            await self.stay()
        return waiting

    @property
    def _pods(self) -> Selection:
        return Selection(kinds.POD, self.run.namespace, labels=f"{RUN_LABEL}={self.run.id}")

    async def _list(self) -> list[KubeObject]:
        return [pod async for pod in self.world.cluster.list(self._pods)]

    async def _admit(self, pod: KubeObject, node: NodeName) -> None:
        """Make an endpoint of a pod that runs, if it has the rails that it was to have."""
        rails, missing = held_rails(pod, self.rails, node, self.gpus)
        if missing:
            self.notes.append(f"{node}: no network status for {', '.join(missing)}: is Multus at work there?")
        namespace, name = ref_of(pod).namespace, ref_of(pod).name
        try:
            said = await self.world.cluster.exec(namespace, name, CONTAINER, ASK, timeout_s=_ASK_LIMIT_S)
        except RailwrightError as error:
            self.absent[node] = f"nothing can be run in its pod: {error.message}"
            return
        python = has_python(said.stdout)
        if not python:
            self.notes.append(f"{node}: the image has no Python 3.11: only perftest runs, and no byte is checked")
        self.endpoints.append(
            PodEndpoint(
                cluster=self.world.cluster,
                namespace=namespace,
                pod=name,
                container=CONTAINER,
                node=node,
                rails=rails,
                meeting_address=str(dig(pod, "status", "podIP", default="")),
                has_python=python,
                keeps_loaded=is_virtual(self.world.cluster.name),
            )
        )


def held_rails(
    pod: KubeObject, rails: Iterable[Rail], node: NodeName, gpus: Mapping[tuple[NodeName, RailName], PciAddress]
) -> tuple[tuple[HeldRail, ...], tuple[str, ...]]:
    """
    Read what a pod holds from Multus' own words; the RDMA device is found by the netdev, inside.

    Returns:
        The rails, and the networks that the status does not name.
    """
    joined = parse_network_status(annotations_of(pod).get(NETWORK_STATUS, ""))
    by_network = {item.name.rpartition("/")[2]: item for item in joined}
    found, missing = [], []
    for rail in rails:
        item = by_network.get(rail.network)
        if item is None or not item.interface:
            missing.append(rail.network)
            continue
        found.append(
            HeldRail(
                rail.name,
                item.interface,
                address=next(iter(item.addresses), ""),
                gpu=gpus.get((node, rail.name), PciAddress("")),
            )
        )
    return tuple(found), tuple(missing)


def is_of_a_run(entry: LedgerEntry) -> bool:
    """Whether the ledger has an object as one of a verify run, which no plan wants and every run removes itself."""
    return entry.stage.startswith(STAGE_PREFIX)


def _creation(obj: KubeObject) -> Change:
    return Change(ref_of(obj), Action.CREATE, obj)


def _in_order(entries: list[LedgerEntry]) -> tuple[tuple[LedgerEntry, ...], ...]:
    """Pods first: what they need goes only when they are gone."""
    pods = tuple(entry for entry in entries if entry.ref.kind == kinds.POD)
    others = sorted((entry for entry in entries if entry.ref.kind != kinds.POD), key=lambda entry: -entry.order)
    return tuple(group for group in (pods, tuple(others)) if group)


def _hopeless(pod: KubeObject | None) -> str | None:
    """Say why a pod will never be ready; None when it still may."""
    if pod is None:
        return "its pod is gone"
    phase = dig(pod, "status", "phase", default="")
    if phase in {"Failed", "Succeeded"}:
        words = [dig(pod, "status", key, default="") for key in ("reason", "message")]
        return f"its pod ended: {': '.join(str(word) for word in words if word) or phase}"
    trouble = trouble_of(pod)
    return f"its pod does not start: {trouble.text}" if trouble is not None and trouble.final else None


def _why_not_yet(pod: KubeObject | None) -> str:
    trouble = trouble_of(pod) if pod is not None else None
    return trouble.text if trouble is not None else "starting"
