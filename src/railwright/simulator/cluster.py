"""The Cluster port over a simulated world."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from railwright.core.errors import NotFound, PermissionMissing
from railwright.core.kinds import POD
from railwright.core.objects import FIELD_MANAGER, KubeObject, Ref, dig, ref_of
from railwright.ports.cluster import ExecResult, Seen, Selection, ServedKind, Watch
from railwright.ports.selecting import selected
from railwright.simulator.admission import admit
from railwright.simulator.clock import turn
from railwright.simulator.datapath.execution import Execution, not_taught
from railwright.simulator.engine import Engine
from railwright.simulator.ownership import Manager
from railwright.simulator.store import merged

_NO_WRITES = "api-forbidden"


@dataclass
class _SimWatch:
    """Position in the store's log, and what was matched so far."""

    engine: Engine
    selections: Sequence[Selection]
    position: int
    known: set[Ref] = field(default_factory=set)

    async def next(self, timeout_s: float) -> tuple[Seen, ...]:
        """Let the world go on until something selected changes, at most `timeout_s` simulated seconds."""
        until = self.engine.elapsed_s + timeout_s
        await turn()
        while True:
            found = self._new()
            if found or self.engine.elapsed_s >= until:
                self.engine.save(self.engine)
                return found
            self.engine.tick(until - self.engine.elapsed_s)
            await turn()

    def _new(self) -> tuple[Seen, ...]:
        log = self.engine.store.log
        fresh, self.position = log[self.position :], len(log)
        found: list[Seen] = []
        for change in fresh:
            ref = ref_of(change.seen.obj)
            if any(selected(change.seen.obj, ref, item) for item in self.selections):
                self.known.add(ref)
                found.append(change.seen)
            elif ref in self.known:
                self.known.discard(ref)
                found.append(Seen(change.seen.obj, gone=True))
        return tuple(found)


@dataclass(frozen=True)
class SimCluster:
    """A Kubernetes API server that is not there."""

    name: str
    engine: Engine
    kubernetes_version: str = "v1.33.5"
    simulated: bool = True
    execution: Execution | None = None
    """Commands in pods; None where nobody runs any."""

    async def version(self) -> str:
        """Kubernetes version of the world."""
        return self.kubernetes_version

    async def served_kinds(self) -> tuple[ServedKind, ...]:
        """Every kind served now."""
        return tuple(self.engine.store.served().values())

    async def get(self, ref: Ref) -> KubeObject:
        """Read one object."""
        await turn()
        return self.engine.store.get(ref)

    async def list(self, selection: Selection) -> AsyncIterator[KubeObject]:
        """Read objects in the order of their names."""
        self.engine.store.check_kind(selection.kind)
        await turn()
        there = dict(self.engine.store.objects.by_kind.get(selection.kind, {}))
        for ref in sorted(there):
            if selected(there[ref], ref, selection):
                yield there[ref]

    @asynccontextmanager
    async def watch(self, selections: Sequence[Selection]) -> AsyncIterator[Watch]:
        """Watch from now on; kinds not served yet are seen as soon as they are."""
        known = {
            ref
            for ref, obj in self.engine.store.objects.items()
            if any(selected(obj, ref, item) for item in selections)
        }
        yield _SimWatch(self.engine, tuple(selections), len(self.engine.store.log), known)

    async def apply(
        self,
        obj: KubeObject,
        *,
        field_manager: str = FIELD_MANAGER,
        take_over: bool = False,
        dry_run: bool = False,
    ) -> KubeObject:
        """Server-side apply."""
        await turn()
        self._check_allowed("patch", ref_of(obj))
        admit(self.engine.seen(), obj)
        manager = Manager(field_manager, "Apply")
        stored = self.engine.store.apply(obj, manager, self.engine.now, take_over=take_over, dry_run=dry_run)
        self._written(dry_run=dry_run)
        return stored

    async def patch(self, ref: Ref, merge_patch: KubeObject, *, dry_run: bool = False) -> KubeObject:
        """Merge patch."""
        await turn()
        self._check_allowed("patch", ref)
        admit(self.engine.seen(), merged(self.engine.store.get(ref), merge_patch))
        manager = Manager(FIELD_MANAGER, "Update")
        stored = self.engine.store.merge(ref, merge_patch, manager, self.engine.now, dry_run=dry_run)
        self._written(dry_run=dry_run)
        return stored

    async def delete(self, ref: Ref, *, uid: str = "", dry_run: bool = False) -> None:
        """Delete in the background."""
        await turn()
        self._check_allowed("delete", ref)
        self.engine.store.delete(ref, self.engine.now, uid=uid, dry_run=dry_run)
        self._written(dry_run=dry_run)

    async def exec(
        self, namespace: str, pod: str, container: str, command: Sequence[str], *, stdin: str = "", timeout_s: float
    ) -> ExecResult:
        """Run what a simulated pod was taught: probes. Raises ObjectRefused for anything else."""
        del container
        live = self.engine.store.get(Ref(POD, namespace, pod))
        if self.execution is None:
            raise not_taught(command, str(pod))
        return await self.execution.run(live, command, stdin, timeout_s)

    async def logs(self, namespace: str, pod: str, container: str, *, tail_lines: int, previous: bool = False) -> str:
        """Give the log of a container: one line that says how it is."""
        del previous
        live = self.engine.store.get(Ref(POD, namespace, pod))
        states = dig(live, "status", "containerStatuses", default=())
        state = next((item for item in states if not container or item["name"] == container), None)
        if state is None:
            raise NotFound(f"container {container} of pod {namespace}/{pod} is not there", context={"pod": pod})
        reason = dig(state, "state", "waiting", "reason", default="")
        text = dig(state, "state", "waiting", "message", default="") if reason else "running (simulated)"
        return "\n".join([str(text)][:tail_lines])

    async def may(self, verb: str, group: str, plural: str, namespace: str = "", name: str = "") -> bool:
        """Everything is allowed, unless this world forbids writes."""
        del group, plural, namespace, name
        return _NO_WRITES not in self.engine.troubles or verb in {"get", "list", "watch"}

    def _check_allowed(self, verb: str, ref: Ref) -> None:
        if _NO_WRITES not in self.engine.troubles:
            return
        served = self.engine.store.check_kind(ref.kind)
        where = f" in the namespace {ref.namespace!r}" if ref.namespace else " at the cluster scope"
        group = ref.kind.group
        raise PermissionMissing(
            f'cannot {verb} resource "{served.plural}" in API group "{group}"{where}',
            hint="ask for a role that holds this verb on this resource",
            context={"verb": verb, "resource": served.plural, "group": group, "namespace": ref.namespace},
        )

    def _written(self, *, dry_run: bool) -> None:
        if not dry_run:
            self.engine.save(self.engine)
