"""Verify on a cluster: choose seats, say what will be held, make the pods, run, judge, and remove them again."""

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from railwright.apply.ledger import LedgerStore
from railwright.apply.model import StageNote
from railwright.apply.stamps import to_stamp
from railwright.catalog.model import Catalog
from railwright.core import kinds
from railwright.core.errors import RailwrightError, Refused, UsageError
from railwright.core.ids import FabricName, NodeName, PciAddress, RailName
from railwright.core.objects import Ref
from railwright.core.risk import Risk
from railwright.core.sentences import first_sentences
from railwright.facts.model import Platform, PodFacts
from railwright.manifests.verifiers import Run, Verifier, image_of
from railwright.pipeline.model import Prepared
from railwright.pipeline.needs import Extent, running_needs
from railwright.pipeline.relabelled import no_longer_admitted
from railwright.pipeline.rights import check_rights
from railwright.pipeline.verifier_pods import READY_LIMIT_S, VerifierPods, is_of_a_run
from railwright.plan.expectations import GPU_RESOURCE
from railwright.plan.model import VERIFIED, FabricPlan
from railwright.plan.names import network_name
from railwright.ports.approval import Approval, Question
from railwright.ports.progress import Progress
from railwright.ports.world import World
from railwright.report.tables import count
from railwright.verify.layout import Layout, layout_of_plan, narrowed
from railwright.verify.model import VerifyRecord
from railwright.verify.planned import Options, Planned, plan_run
from railwright.verify.schedule import round_s
from railwright.verify.verify import verify

_SPARE_S = 600.0
"""On top of what a run should take: then its pods end by themselves."""


_WATCH_S = 1.0
"""Long enough for a transfer that is going on, and for counters that firmware fills in now and then."""
_USUAL = Options()


@dataclass(frozen=True)
class Wish:
    """
    What is asked of a run on a cluster.

    Attributes:
        nodes, rails: only these; empty for all.
        image: None for the catalog's image with perftest for CUDA.
        include_busy: also nodes whose GPUs or rails are in use, and rails that carry traffic; pods take what is free.
    """

    options: Options = _USUAL
    nodes: tuple[str, ...] = ()
    rails: tuple[str, ...] = ()
    include_busy: bool = False
    image: str | None = None


def layout_of(prepared: Prepared, fabric: FabricPlan, wish: Wish) -> Layout:
    """
    Choose the seats: admitted nodes, all rails; those in use are left out, with the reason.

    Raises:
        UsageError: a node or rail that the fabric does not have.
    """
    admitted = tuple(node.node for node in prepared.plan.nodes if fabric.name in node.admitted and node.was_admitted)
    bed = f"pods of {prepared.snapshot.cluster.name}"
    layout = layout_of_plan(fabric, prepared.snapshot, nodes=admitted, bed=bed)
    for what, asked, known in (("node", wish.nodes, layout.nodes), ("rail", wish.rails, layout.rails)):
        unknown = sorted(set(asked) - set(known))
        if unknown:
            message = f"fabric {fabric.name} has no {what} {', '.join(unknown)}"
            raise UsageError(message, hint=f"{what}s: {', '.join(known) or 'none is admitted yet: apply it first'}")
    layout = narrowed(layout, nodes=wish.nodes, rails=wish.rails)
    if wish.include_busy:
        return layout
    reasons = busy_nodes(prepared, fabric)
    seats = tuple(replace(seat, skip=reasons.get(seat.node, "")) for seat in layout.seats)
    return replace(layout, seats=seats)


def busy_nodes(prepared: Prepared, fabric: FabricPlan) -> dict[NodeName, str]:
    """Name nodes whose GPUs or rails pods use, with the first of these pods."""
    resources = {GPU_RESOURCE, *(rail.resource for rail in fabric.rails)}
    found: dict[NodeName, str] = {}
    for pod in prepared.snapshot.cluster.pods:
        used = _uses(pod, resources)
        if pod.node is not None and used and not _is_left_over(pod, prepared):
            found.setdefault(pod.node, f"busy: pod {pod.namespace}/{pod.name} uses {used}")
    return found


def _is_left_over(pod: PodFacts, prepared: Prepared) -> bool:
    """Whether a pod is of a verify run that is over, whose end this run sees to: the ledger says so, and no name."""
    entry = prepared.ledger.entries.get(Ref(kinds.POD, pod.namespace, pod.name))
    return entry is not None and is_of_a_run(entry)


def _uses(pod: PodFacts, resources: set[str]) -> str:
    if pod.is_over:
        return ""
    return ", ".join(
        f"{number} {name}" for name, number in sorted(pod.requests.items()) if name in resources and number
    )


async def verify_fabric(
    world: World,
    prepared: Prepared,
    fabric: FabricPlan,
    wish: Wish,
    catalog: Catalog,
    progress: Progress,
    approval: Approval,
    shown: Callable[[Planned], None],
    *,
    store: LedgerStore | None = None,
) -> VerifyRecord:
    """
    Verify one fabric.

    Args:
        store: the open ledger of an apply that this is a part of.
        shown: is given the plan before anything starts.

    Raises:
        UsageError: the budget has no room for anything.
        Refused: nothing could be verified, it was not confirmed, or the pods are not admitted.
        PermissionMissing: this login lacks rights; each is named, and nothing was written.
    """
    left_out = {**no_longer_admitted(prepared, fabric.name), **_refused_today(prepared, fabric)}
    options = replace(wish.options, watch_s=0.0 if wish.include_busy else _WATCH_S)
    planned = plan_run(_usable(layout_of(prepared, fabric, wish), left_out), options)
    planned = replace(planned, around=(_fence(_namespace(fabric)),))
    _check_budget(planned)
    shown(planned)
    _ask(planned, approval)
    if store is None:
        await check_rights(world, "verify", running_needs(Extent(prepared)))
    pods = _pods(world, prepared, fabric, planned, wish, catalog, progress, store)
    try:
        await pods.start()
        record = await verify(
            planned, pods.endpoints, catalog, world.clock, progress, absent=pods.absent, stay=pods.stay
        )
    finally:
        await _removed(pods)
    if store is None and _is_whole(wish) and not record.summary.interrupted:
        pods.notes += await _kept(world, fabric.name, record)
    absent = (f"{node} is left out: {why}" for node, why in sorted(left_out.items()))
    notes = (*record.summary.notes, *absent, *pods.notes, *(f"not removed: {text}" for text in pods.problems))
    return replace(record, summary=replace(record.summary, notes=notes))


def _is_whole(wish: Wish) -> bool:
    """Whether a run looked at everything that it could: only that says anything of the fabric as a whole."""
    return not (wish.nodes or wish.rails or wish.options.families or wish.options.budget_s)


async def _kept(world: World, fabric: FabricName, record: VerifyRecord) -> list[str]:
    """
    Let `status` show the result with its date; what was measured is not lost because that can't be done.

    Returns:
        Why it won't, or that it was written although an interrupt came, for the record's notes; nothing when it is.
    """
    task = asyncio.ensure_future(_keep(world, fabric, record))
    notes = ["interrupted after the last measurement, while the result was written down"] * await _ended(task)
    error = _error_of(task)
    if error:
        notes.append(f"the result is not in the ledger, so status does not show it: {error}")
    return notes


async def _keep(world: World, fabric: FabricName, record: VerifyRecord) -> None:
    """Write the result into the ledger of a fabric that was applied by us."""
    store = LedgerStore(world.cluster, world.clock)
    try:
        ledger = await store.load()
        if fabric in ledger.fabrics:
            await store.note_stage((fabric,), note_of(record, to_stamp(world.clock.now())))
    finally:
        await store.close()


def note_of(record: VerifyRecord, ended_at: str) -> StageNote:
    """Give what the ledger keeps of a run: its verdict, and what fails or was shown."""
    first = record.culprits[0].text if record.culprits else ""
    reason = first_sentences(first or record.summary.claim, _USUAL_REASON, _LONGEST_REASON)
    return StageNote(VERIFIED, record.summary.verdict, reason, ended_at)


def _namespace(fabric: FabricPlan) -> str:
    """Name where the pods run: networks belong to a namespace, and a pod joins those of its own."""
    return next(iter(fabric.intent.workload_namespaces), "default")


def _fence(namespace: str) -> str:
    """Say what holds the pods back on the cluster network, and whom it does not concern."""
    return (
        f"pods in namespace {namespace}; on the cluster network a NetworkPolicy of this run lets them reach each other"
        " by TCP and nothing else, where the network plugin enforces it; pods of others are not selected"
    )


_FEWEST_NODES = 2
_USUAL_REASON, _LONGEST_REASON = 400, 2000


def _refused_today(prepared: Prepared, fabric: FabricPlan) -> dict[NodeName, str]:
    """Name nodes that were admitted, and that the plan leaves out of the fabric today, with the reason."""
    return {
        node.node: "would be refused today: " + "; ".join(f"{item.code}: {item.message}" for item in node.refused)
        for node in prepared.plan.nodes
        if node.refused and node.was_admitted and fabric.name not in node.admitted
    }


def _usable(layout: Layout, left_out: Mapping[NodeName, str]) -> Layout:
    """
    Keep the nodes of which something can be used; the seats of the others stay, with the reason.

    Args:
        left_out: nodes that were admitted, and are not used, with the reason.

    Raises:
        Refused: fewer than two are left.
    """
    usable = tuple(node for node in layout.nodes if any(seat.node == node and not seat.skip for seat in layout.seats))
    if len(usable) >= _FEWEST_NODES:
        return replace(layout, nodes=usable)
    skipped = {seat.node: seat.skip for seat in layout.seats if seat.skip}
    skipped |= left_out
    reasons = "".join(f"\n{node}: {why}" for node, why in sorted(skipped.items()))
    if not layout.nodes:
        raise Refused(
            f"no node is admitted to fabric {layout.fabric}: there is nothing to verify yet{reasons}",
            hint="railwright apply; railwright plan shows which nodes it would admit",
            context={"reason": "too-few-nodes"},
        )
    admitted = count(len(layout.nodes), "admitted node")
    raise Refused(
        f"two nodes are needed, and {len(usable)} of {admitted} can be used{reasons}",
        hint=_way_to_more(layout, left_out),
        context={"reason": "too-few-nodes"},
    )


def _way_to_more(layout: Layout, left_out: Mapping[NodeName, str]) -> str:
    """Say how more nodes can be had: those that are in use, and those that lost their label or are refused today."""
    in_use = ["--include-busy, or wait"] * any(seat.skip for seat in layout.seats)
    not_admitted = ["railwright apply admits again those that it may, and plan says why not"] * bool(left_out)
    return "; ".join((*in_use, *not_admitted, "status shows which nodes are admitted"))


def _check_budget(planned: Planned) -> None:
    """Make sure that something fits, before anything is held for it. Raises UsageError."""
    budget_s, schedule = planned.options.budget_s, planned.schedule
    if budget_s is not None and not schedule.rounds:
        least_s = math.ceil(round_s(schedule.steps))
        raise UsageError(
            f"a budget of {budget_s:g} s has no room for anything: the shortest round takes {least_s} s",
            hint=f"--budget {least_s}s",
        )


def _ask(planned: Planned, approval: Approval) -> None:
    """Ask before GPUs and rails are held: nobody else gets them meanwhile."""
    summary = planned.summary()
    held = f"holds {count(summary.held_gpus, 'GPU')} and {count(summary.held_rails, 'rail')}"
    question = Question(Risk.NONE, f"verify {planned.layout.fabric}: {held}", planned.layout.nodes, summary.expected_s)
    if not approval.approve(question):
        raise Refused("not confirmed: nothing was started", hint="answer y, or give --yes")


def _pods(
    world: World,
    prepared: Prepared,
    fabric: FabricPlan,
    planned: Planned,
    wish: Wish,
    catalog: Catalog,
    progress: Progress,
    store: LedgerStore | None,
) -> VerifierPods:
    layout = planned.layout
    namespaces, namespace = fabric.intent.workload_namespaces, _namespace(fabric)
    rails = tuple(
        replace(rail, network=network_name(rail, namespace, namespaces))
        for rail in sorted(fabric.rails, key=lambda item: item.index)
        if rail.name in layout.rails
    )
    free = _free_gpus(prepared, wish)
    gpus = _gpus_known(layout, prepared, free)
    stamp = f"{world.clock.now():%m%d%H%M%S}"
    run = Run(
        id=stamp,
        namespace=namespace,
        fabric=fabric.name,
        image=wish.image or image_of(fabric.intent, catalog),
        limit_s=planned.schedule.expected_s * 2 + READY_LIMIT_S + _SPARE_S,
        has_scc=prepared.snapshot.cluster.platform is Platform.OPENSHIFT,
        pull_secrets=(fabric.intent.pull_secret,) if fabric.intent.pull_secret else (),
    )
    verifiers = []
    for node in layout.nodes:
        held = [rail for rail in rails if (seat := layout.seat(node, rail.name)) is not None and not seat.skip]
        resources = {rail.resource: 1 for rail in held}
        if free.get(node, 0):
            resources[GPU_RESOURCE] = free[node]
        verifiers.append(Verifier(node, tuple(rail.network for rail in held), resources))
    return VerifierPods(world, run, tuple(verifiers), rails, gpus, progress, store)


def _free_gpus(prepared: Prepared, wish: Wish) -> dict[NodeName, int]:
    """Count what a node's GPUs are, less what pods use where busy nodes are taken too."""
    used: Counter[NodeName] = Counter()
    if wish.include_busy:
        for pod in prepared.snapshot.cluster.pods:
            if pod.node is not None and not pod.is_over and not _is_left_over(pod, prepared):
                used[pod.node] += pod.requests.get(GPU_RESOURCE, 0)
    return {
        node.name: max(0, node.allocatable.get(GPU_RESOURCE, 0) - used[node.name]) for node in prepared.snapshot.nodes
    }


def _gpus_known(
    layout: Layout, prepared: Prepared, free: dict[NodeName, int]
) -> dict[tuple[NodeName, RailName], PciAddress]:
    """Say which GPU a rail goes with in a pod: known only where the pod gets all of a node's."""
    known = {}
    for seat in layout.seats:
        facts = prepared.snapshot.node(seat.node)
        all_gpus = len(facts.hardware.gpus) if facts and facts.hardware else 0
        if seat.gpu is not None and all_gpus and free.get(seat.node, 0) >= all_gpus:
            known[seat.node, seat.rail] = seat.gpu
    return known


async def _removed(pods: VerifierPods) -> None:
    """
    Remove the run's objects, also when the run is interrupted: the removal has its own task, and is waited for.

    What can't be removed now is in the ledger, and said; it must not hide how the run ended.
    """
    task = asyncio.ensure_future(pods.remove())
    await _ended(task)
    error = _error_of(task)
    if error:
        pods.problems.append(f"{error}; the next verify or clean removes it")


async def _ended(task: asyncio.Task[None]) -> bool:
    """Wait for a task that an interrupt must not cut off; say whether one came."""
    was_interrupted = False
    while not task.done():
        try:
            await asyncio.shield(asyncio.wait([task]))
        except asyncio.CancelledError:
            was_interrupted = True
    return was_interrupted


def _error_of(task: asyncio.Task[None]) -> str:
    """Give what a task that ended could not do; "" when it could. What nobody expects is raised."""
    if task.cancelled():
        return "it was cut off"
    error = task.exception()
    if error is None:
        return ""
    if isinstance(error, RailwrightError):
        return error.message
    raise error
