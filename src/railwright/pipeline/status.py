"""Where each stage stands, from the cluster: judged now, without waiting and without writing."""

from dataclasses import replace

from railwright.apply.model import ObjectState
from railwright.apply.observe import Judged, Observer
from railwright.catalog.model import Catalog
from railwright.changes.compare import drift
from railwright.changes.model import FieldChange
from railwright.core.errors import NotCollected, PermissionMissing
from railwright.core.ids import NodeName
from railwright.core.objects import KubeObject, Ref
from railwright.core.verdicts import Verdict
from railwright.intent.model import Intent, Method
from railwright.pipeline.as_applied import AppliedOtherwise, applied_otherwise, edited, files_of
from railwright.pipeline.live import read_live
from railwright.pipeline.model import Prepared, StageStatus, StatusRecord
from railwright.pipeline.moves import held_now, under_way, without_versions
from railwright.pipeline.not_begun import split_begun
from railwright.pipeline.prepare import earlier_intents, prepare, prepare_exactly, read_ledger
from railwright.pipeline.prove import NOT_YET, kept
from railwright.pipeline.rights import hidden_from
from railwright.plan.model import NETWORKS_ATTACHED, VERIFIED, VFS_READY, Expectation, StagePlan
from railwright.ports.cluster import Selection
from railwright.ports.progress import Progress
from railwright.ports.world import World
from railwright.readiness.model import Readiness
from railwright.report.tables import count

_Drift = tuple[tuple[Ref, tuple[FieldChange, ...]], ...]
_Shared = dict[Selection, tuple[KubeObject, ...]]
"""What stages are judged by, each list read once: on a large cluster nodes and pods are most of the work."""


async def status(
    world: World, intents: tuple[Intent, ...] | None, catalog: Catalog, progress: Progress
) -> StatusRecord:
    """
    Say where each stage stands.

    Args:
        intents: whose; None for the fabrics in the ledger, of which there may be none: then no stage is listed.
    """
    given = intents or ()
    if intents is None:
        ledger, problem = await read_ledger(world)
        intents = earlier_intents(ledger)
        if not intents:
            return _nothing_applied(world, problem)
        prepared = await prepare_exactly(world, intents, ledger, catalog, progress)
    else:
        prepared = await prepare(world, intents, catalog, progress)
    otherwise = applied_otherwise(given, prepared.ledger)
    shared: _Shared = {}
    stages = [await _stage(world, stage, prepared, otherwise, shared) for stage in prepared.plan.stages]
    return StatusRecord(
        cluster=world.cluster.name,
        simulated=world.cluster.simulated,
        intents=intents,
        stages=tuple(stages),
        applied=tuple((name, note.applied_at) for name, note in sorted(prepared.ledger.fabrics.items())),
        not_admitted=_not_admitted(prepared),
        refusals=prepared.plan.refusals,
        warnings=prepared.plan.warnings,
        problems=(*prepared.problems, *hidden_from(prepared.plan)),
        wanted_by=files_of(given),
        changed=_changed(given, prepared, otherwise),
    )


def _changed(given: tuple[Intent, ...], prepared: Prepared, otherwise: tuple[AppliedOtherwise, ...]) -> tuple[str, ...]:
    """Say, a line each, where the wanted state is not what was applied."""
    lines = [f"{item}: railwright apply would replace the one by the other" for item in otherwise]
    lines += [
        f"{name}: {files_of(given)} is not what was applied: railwright plan shows what apply would change"
        for name in edited(given, prepared.ledger)
    ]
    return tuple(lines)


def _nothing_applied(world: World, problem: str) -> StatusRecord:
    problems = (problem,) if problem else ()
    return StatusRecord(world.cluster.name, world.cluster.simulated, (), (), problems=problems)


def _not_admitted(prepared: Prepared) -> tuple[tuple[NodeName, str], ...]:
    """Name selected nodes that do not carry the label yet, or that would not get it today."""
    lines = []
    for node in prepared.plan.nodes:
        if not node.selected or (node.admitted and node.was_admitted):
            continue
        reason = "; ".join(f"{item.code}: {item.message}" for item in node.refused)
        lines.append((node.node, reason or "apply has not admitted it yet"))
    return tuple(lines)


async def _stage(
    world: World, stage: StagePlan, prepared: Prepared, otherwise: tuple[AppliedOtherwise, ...], shared: _Shared
) -> StageStatus:
    if stage.name == VERIFIED:
        return _verified(stage, prepared, otherwise)
    since = _since(stage, prepared)
    if prepared.plan.is_refused and not _is_never_wanted(stage, prepared):
        # What a stage has to do was not decided: that nothing is left of it says nothing.
        reason = "the plan is refused today: " + "; ".join(item.code for item in prepared.plan.refusals)
        return StageStatus(stage.name, Verdict.UNKNOWN, reason, since=since)
    if not stage.applies:
        if otherwise and any(entry.stage == stage.name for entry in prepared.ledger.entries.values()):
            # Not wanted by the file, and there all the same: what was applied is not looked at.
            return StageStatus(stage.name, Verdict.UNKNOWN, f"not judged: {otherwise[0]}", since=since)
        return StageStatus(stage.name, Verdict.SKIP, stage.skip_reason)
    items = prepared.manifests.of_stage(stage.name)
    live = await read_live(world.cluster, world.clock, (item.ref for item in items))
    if live.problems:
        return StageStatus(stage.name, Verdict.UNKNOWN, "; ".join(live.problems), since=since)
    absent = [item.ref for item in items if item.ref not in live.objects]
    expected = _expectations(stage, prepared)
    begun = any(item.ref in prepared.ledger.entries for item in items) or (bool(items) and not absent)
    # A stage without objects of its own has begun when there is something to expect: else it would pass for nothing.
    if not begun and (items or not expected):
        return StageStatus(stage.name, Verdict.SKIP, "not applied yet", since=since)
    gated = tuple(item.ref for item in items if item.node is None)
    try:
        judged = await _judge(world, gated, expected, prepared, shared)
    except (PermissionMissing, NotCollected) as error:
        return StageStatus(stage.name, Verdict.UNKNOWN, error.message, since=since)
    # What was never written, as labels of nodes that apply has not come to, has not drifted: it is still to be done.
    written = tuple(item for item in items if item.ref in prepared.ledger.entries)
    drifted, waiting = split_begun(drift(written, live.objects), prepared.ledger.entries)
    found = _verdict(stage, judged, since, tuple(drifted.items()))
    if waiting and found.verdict is Verdict.PASS:
        found = replace(found, reason=f"{found.reason}; not begun on {', '.join(waiting)}: run railwright apply again")
    moving = under_way(prepared, stage.name) if found.verdict is Verdict.PASS else ""
    if moving:
        return replace(found, verdict=Verdict.PROGRESSING, reason=moving, waiting_for="railwright apply, once more")
    unjudged = _refused_though_admitted(prepared) if stage.per_batch and found.verdict is Verdict.PASS else ""
    return replace(found, verdict=Verdict.UNKNOWN, reason=unjudged) if unjudged else found


def _is_never_wanted(stage: StagePlan, prepared: Prepared) -> bool:
    """Whether the wanted state alone, without any fact, says that a stage has nothing to do."""
    intents = prepared.intents
    if stage.name == VFS_READY:
        return all(intent.method is not Method.SRIOV for intent in intents)
    return stage.name == NETWORKS_ATTACHED and not any(intent.workload_namespaces for intent in intents)


def _refused_though_admitted(prepared: Prepared) -> str:
    """Name nodes that carry the label and would be refused today: of them nothing is expected, so nothing was judged."""
    bad = [node for node in prepared.plan.nodes if node.was_admitted and node.refused]
    named = ", ".join(f"{node.node} ({node.reason})" for node in bad)
    return f"not judged: {named} {'is' if len(bad) == 1 else 'are'} admitted, and would be refused today" if bad else ""


def _verified(stage: StagePlan, prepared: Prepared, otherwise: tuple[AppliedOtherwise, ...]) -> StageStatus:
    """Show what was measured last, with its date: nothing is measured now, and it holds for what was applied only."""
    note = kept(prepared, tuple(intent.name for intent in prepared.intents))
    if note is None:
        return StageStatus(stage.name, Verdict.SKIP, _why_never(prepared))
    verdict, reason = note.verdict, note.reason
    if otherwise:
        verdict, reason = Verdict.UNKNOWN, f"what was measured ({verdict.value}) is not what is wanted: {otherwise[0]}"
    elif prepared.plan.is_refused and verdict is Verdict.PASS:
        verdict, reason = Verdict.UNKNOWN, f"the plan is refused today; measured last: {verdict.value}: {reason}"
    return StageStatus(stage.name, verdict, reason, since=note.ended_at)


def _why_never(prepared: Prepared) -> str:
    """A single node has nobody to talk to; else it is the person's turn."""
    there = sum(node.was_admitted for node in prepared.plan.nodes)
    return f"never run: two nodes are needed, and {there} is admitted" if there == 1 else NOT_YET


def _expectations(stage: StagePlan, prepared: Prepared) -> tuple[Expectation, ...]:
    """Expect things only of nodes that apply has admitted already; of all, where none is yet."""
    there = {node.node for node in prepared.plan.nodes if node.was_admitted}
    expected = tuple(item for item in stage.expectations if getattr(item, "node", None) in {None, *there})
    return without_versions(expected, held_now(prepared.snapshot))


async def _judge(
    world: World,
    gated: tuple[Ref, ...],
    expectations: tuple[Expectation, ...],
    prepared: Prepared,
    shared: _Shared,
) -> tuple[Judged, ...]:
    observer = Observer(world.cluster, gated, expectations, shared=shared)
    await observer.read_all()
    judged = observer.judge_api({}, world.clock.now())
    if observer.inside_nodes and all(item.is_ready for item in judged):
        observer.take_nodes(prepared.snapshot.nodes)
        judged += observer.judge_inside(world.clock.now())
    return judged


def _verdict(stage: StagePlan, judged: tuple[Judged, ...], since: str, differing: _Drift) -> StageStatus:
    answers = {item.judgement.readiness for item in judged}
    worst = next(
        (
            (readiness, verdict)
            for readiness, verdict in (
                (Readiness.FAILED, Verdict.FAIL),
                (Readiness.PROGRESSING, Verdict.PROGRESSING),
                (Readiness.UNKNOWN, Verdict.UNKNOWN),
            )
            if readiness in answers
        ),
        None,
    )
    states: tuple[ObjectState, ...] = tuple(item.state() for item in judged)
    if worst is None:
        reason = (
            "ready"
            if not differing
            else f"ready, but {count(len(differing), 'object')} differ{'' if len(differing) > 1 else 's'} from the plan"
        )
        return StageStatus(stage.name, Verdict.PASS, reason, since=since, states=states, drift=differing)
    first = next(item for item in judged if item.judgement.readiness is worst[0])
    return StageStatus(stage.name, worst[1], first.text, first.waiting_for, since, states, differing)


def _since(stage: StagePlan, prepared: Prepared) -> str:
    """Give when the stage last ended, for the fabric that was last."""
    ends = [
        note.ended_at
        for fabric in prepared.ledger.fabrics.values()
        for note in fabric.stages
        if note.stage == stage.name
    ]
    return max(ends, default="")
