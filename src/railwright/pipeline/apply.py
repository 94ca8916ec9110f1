"""The loop: discover, plan, render, compare, ask, apply one stage with its gate, discover again."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field, replace

from railwright.apply.ledger import LedgerStore, has_moved
from railwright.apply.means import Means
from railwright.apply.model import StageChanges, StageNote, StageRecord
from railwright.apply.stage import StageInterrupted
from railwright.apply.stage import apply as apply_stage
from railwright.apply.stamps import to_stamp
from railwright.catalog.model import Catalog
from railwright.changes.model import Action
from railwright.core.errors import ClusterError, UsageError
from railwright.core.ids import NodeName, StageName
from railwright.core.verdicts import Verdict
from railwright.doctor.model import Finding
from railwright.facts.script import node_script
from railwright.intent.model import Intent
from railwright.pipeline.as_applied import applied_otherwise, files_of
from railwright.pipeline.before_us import choices_to_keep
from railwright.pipeline.failed import findings_of_stage
from railwright.pipeline.leftovers import values_before
from railwright.pipeline.model import ApplyRecord, Prepared
from railwright.pipeline.needs import Extent, writing_needs
from railwright.pipeline.prepare import prepare_from, prepare_whole
from railwright.pipeline.prove import NOT_ASKED, as_kept, kept, prove
from railwright.pipeline.refusals import not_confirmed, refused
from railwright.pipeline.removal import leaves_sriov, remove
from railwright.pipeline.rights import check_rights
from railwright.pipeline.roll_back import forgotten, is_rolling_entry
from railwright.pipeline.runs import Run, nodes_of, risk_question, runs_of, stage_changes, take_over_question, turn_of
from railwright.pipeline.unwanted import removal_question, unwanted
from railwright.plan.model import VERIFIED, Plan, Refusal
from railwright.plan.turns import Turn
from railwright.ports.approval import Approval
from railwright.ports.progress import Note, Progress, StageEnded, StageStarted
from railwright.ports.world import World

_QUICK_S = 5.0
"""Facts are still fresh after a stage that wrote nothing and took no longer than this."""


@dataclass
class _Job:
    """One apply on its way."""

    world: World
    intents: tuple[Intent, ...]
    catalog: Catalog
    progress: Progress
    approval: Approval
    dry_run: bool
    take_over: bool
    prove: bool
    store: LedgerStore
    records: list[StageRecord] = field(default_factory=list)
    refusals: tuple[Refusal, ...] = ()
    refused_nodes: dict[str, Refusal] = field(default_factory=dict)
    touched: dict[NodeName, str] = field(default_factory=dict)
    """Nodes that went through a stage of their batch in this apply, and the batch."""
    notes: list[str] = field(default_factory=list)
    has_changed: bool = False
    """Something was written or removed in this apply."""
    has_measured: bool = False
    """Verify was run in this apply and could try something: what it found is kept; an earlier result stands as it is."""
    findings: tuple[Finding, ...] = ()


async def apply_fabrics(
    world: World,
    intents: tuple[Intent, ...],
    catalog: Catalog,
    progress: Progress,
    approval: Approval,
    *,
    until: StageName | None = None,
    dry_run: bool = False,
    take_over: bool = False,
    prove: bool = False,
) -> ApplyRecord:
    """
    Carry fabrics out, stage by stage; run it again and it goes on where it stopped.

    Args:
        prove: end with a quick verify, as the stage `verified`.

    A task that is cancelled gives its record all the same, marked as interrupted: what was done is in the ledger.

    Raises:
        Refused: the plan is refused, or a risk was not confirmed.
        UsageError: `until` names no stage.
        WriteConflict: another railwright is writing to this cluster.
        PermissionMissing: this login lacks rights; each is named, and nothing was written.
        ClusterError: the cluster does not answer, or refuses us.
    """
    prepared = await prepare_whole(world, intents, catalog, progress)
    otherwise = tuple(map(str, applied_otherwise(intents, prepared.ledger)))
    _check(prepared.plan, until, otherwise)
    for line in otherwise:
        progress.emit(Note(line))
    if not dry_run:
        await check_rights(world, "apply", writing_needs(Extent(prepared, until, prove)))
    store = LedgerStore(world.cluster, world.clock)
    job = _Job(world, intents, catalog, progress, approval, dry_run, take_over, prove, store)
    job.notes += otherwise
    try:
        interrupted = await _until_interrupted(job, prepared, until)
    finally:
        # A cluster that does not answer now must not hide why we stopped; the lease runs out by itself.
        with suppress(ClusterError):
            await store.close()
    return replace(_record(job, prepared), until=until, interrupted=interrupted)


def _record(job: _Job, prepared: Prepared) -> ApplyRecord:
    """Say how it went, by the plan that it began with."""
    return ApplyRecord(
        cluster=job.world.cluster.name,
        simulated=job.world.cluster.simulated,
        fabrics=tuple(fabric.name for fabric in prepared.plan.fabrics),
        stages=tuple(job.records),
        dry_run=job.dry_run,
        refusals=job.refusals,
        refused_nodes=tuple(job.refused_nodes.values()),
        warnings=prepared.plan.warnings,
        notes=(*prepared.problems, *job.notes),
        findings=job.findings,
        wanted_by=files_of(job.intents),
    )


def _check(plan: Plan, until: StageName | None, otherwise: tuple[str, ...] = ()) -> None:
    """
    See that a plan may be carried out, as far as is asked.

    Args:
        otherwise: fabrics that were applied with another method or link type; may be why it is refused.

    Raises:
        Refused: the plan is refused.
        UsageError: `until` names no stage.
    """
    if plan.is_refused:
        raise refused(plan.refusals, plan.nodes, otherwise)
    names = [stage.name for stage in plan.stages]
    if until is not None and until not in names:
        raise UsageError(f"no stage is named {until!r}", hint="stages: " + ", ".join(names))


async def _until_interrupted(job: _Job, prepared: Prepared, until: StageName | None) -> bool:
    """Carry the plan out; say whether the person stopped it, whose wish ends here."""
    try:
        await _carry_out(job, prepared, until)
    except (asyncio.CancelledError, StageInterrupted) as error:
        if isinstance(error, StageInterrupted):
            job.records.append(error.record)
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
        return True
    return False


async def _carry_out(job: _Job, prepared: Prepared, until: StageName | None) -> None:
    """Go through the runs until one does not pass; nodes that come back before the first batch are in it."""
    _name_refused_nodes(job, prepared.plan)
    if not job.dry_run:
        prepared = await _with_ledger(job, prepared, until)
    fresh = not await _remove_unwanted(job, prepared)
    if not job.dry_run:
        await _note_fabrics(job, prepared)
    runs = runs_of(prepared.plan, until)
    done = 0
    while done < len(runs):
        turn = turn_of(runs[done], prepared.plan)
        await job.store.renew()
        if not fresh or turn != prepared.turn:
            prepared = await _prepared_again(job, prepared, turn, fresh=fresh)
            await job.store.renew()
            _name_refused_nodes(job, prepared.plan)
            if prepared.plan.is_refused:
                job.refusals = prepared.plan.refusals
                return
            if all(run.batch is None for run in runs[:done]):
                runs = runs_of(prepared.plan, until)
                fresh = True
                if turn_of(runs[done], prepared.plan) != turn:
                    continue
        run = runs[done]
        record = _stopped(job, run, prepared.plan) or _skipped(job, run, prepared.plan)
        if record is None:
            record = await _one_run(job, run, prepared)
            job.touched |= dict.fromkeys(nodes_of(run, prepared.plan) if run.batch else (), run.batch_name)
        await _note(job, run, record, prepared.plan)
        if record.verdict in {Verdict.FAIL, Verdict.UNKNOWN}:
            job.findings = await findings_of_stage(job.world, record, run, prepared, job.catalog, job.progress)
            return
        done += 1
        fresh = job.dry_run or (not record.writes and record.elapsed_s < _QUICK_S)
    _name_late_nodes(job, prepared.plan, runs)


async def _note_fabrics(job: _Job, prepared: Prepared) -> None:
    """Write down what is applied from here on; while the old is removed, a run that is killed goes by the old."""
    before = values_before(prepared.snapshot)
    for intent in job.intents:
        subnets = choices_to_keep(intent, prepared.plan, prepared.ledger)
        await job.store.note_fabric(intent.name, intent.document, before, subnets=subnets)


async def _with_ledger(job: _Job, prepared: Prepared, until: StageName | None) -> Prepared:
    """
    Take the ledger; what another run wrote to it since the plan was made is planned with.

    Raises:
        Refused: that plan is refused.
        PermissionMissing: it needs rights that the first one did not.
    """
    await job.store.open()
    if not has_moved(prepared.ledger, job.store.ledger):
        return prepared
    job.progress.emit(Note("another railwright was at work since the plan was made: planning again"))
    again = await prepare_whole(job.world, job.intents, job.catalog, job.progress)
    _check(again.plan, None)
    await check_rights(job.world, "apply", writing_needs(Extent(again, until, job.prove)))
    return again


async def _prepared_again(job: _Job, last: Prepared, turn: Turn | None, *, fresh: bool) -> Prepared:
    """Plan for a turn: with facts read anew, or with those that are fresh still."""
    if fresh:
        return await prepare_from(job.world, last.snapshot, last.intents, last.ledger, job.catalog, turn)
    return await prepare_whole(job.world, job.intents, job.catalog, job.progress, turn, begun=True)


async def _note(job: _Job, run: Run, record: StageRecord, plan: Plan) -> None:
    """Keep how a run ended: in the record, for who watches, and in the ledger."""
    job.records.append(record)
    job.progress.emit(StageEnded(run.stage, run.batch_name, record.verdict, record.reason, record.elapsed_s))
    if not job.dry_run and (run.stage != VERIFIED or job.has_measured):
        note = StageNote(run.stage, record.verdict, record.reason, record.ended_at)
        await job.store.note_stage(tuple(fabric.name for fabric in plan.fabrics), note)


async def _remove_unwanted(job: _Job, prepared: Prepared) -> bool:
    """
    Remove what the plan no longer wants, before what takes its place is written.

    Returns:
        Whether the cluster was changed.

    Raises:
        Refused: a risk was not confirmed.
        StageError: something does not go.
    """
    entries = unwanted(prepared.ledger, prepared)
    rolling = [str(entry.ref) for entry in prepared.ledger.entries.values() if is_rolling_entry(entry)]
    if job.dry_run:
        if entries:
            job.notes.append("no longer wanted, would be removed: " + ", ".join(str(entry.ref) for entry in entries))
        if rolling:
            job.notes.append("an earlier run left it rolling out, would be waited for: " + ", ".join(rolling))
        return False
    if not entries and not rolling and not leaves_sriov(prepared):
        return False
    question = removal_question(entries, prepared)
    if question is not None and not job.approval.approve(question):
        raise not_confirmed(question.what, ())
    world = job.world
    means = Means(world.cluster, world.node, world.clock, job.progress, job.store, node_script())
    if entries or rolling:
        await _end_proof(job)
    gone = await remove({entry.ref: entry for entry in entries}, prepared, job.catalog, world, means)
    job.notes += [f"no longer wanted: {item.ref}: {item.action}" for item in gone]
    job.notes += forgotten(gone)
    return True


async def _one_run(job: _Job, run: Run, prepared: Prepared) -> StageRecord:
    """Ask, then write and wait."""
    stage = prepared.plan.stage(run.stage)
    if run.stage == VERIFIED:
        return await _prove(job, run, prepared)
    changes = stage_changes(run, prepared, dry_run=job.dry_run, take_over=job.take_over)
    if not job.dry_run:
        _ask(job, run, changes, prepared)
        if any(change.action is Action.CREATE or change.fields for change in changes.changes):
            await _end_proof(job)
    ahead = (stage.risk_ahead.value, stage.expected_ahead_s)
    job.progress.emit(StageStarted(run.stage, run.number, run.total, run.batch_name, changes.nodes, *ahead))
    world = job.world
    record = await apply_stage(
        changes, world.cluster, world.node, world.clock, job.progress, ledger=job.store, script=node_script()
    )
    if record.writes and not job.dry_run:
        await _end_proof(job)
    return record


async def _end_proof(job: _Job) -> None:
    """What was verified before holds no longer: said in the ledger before the first change, for we may be killed."""
    if not job.has_changed:
        job.has_changed = True
        await job.store.forget_stage(VERIFIED)


async def _prove(job: _Job, run: Run, prepared: Prepared) -> StageRecord:
    """Verify what was applied; when nothing was written, what was verified before stands."""
    names = tuple(intent.name for intent in job.intents)
    earlier = kept(prepared, names)
    if earlier is not None and not job.has_changed:
        return as_kept(earlier, to_stamp(job.world.clock.now()))
    stage = prepared.plan.stage(run.stage)
    job.progress.emit(
        StageStarted(run.stage, run.number, run.total, "", prepared.plan.admitted, stage.risk.value, stage.expected_s)
    )
    # Labels of the last batch are newer than the facts of its turn.
    seen = await prepare_whole(job.world, job.intents, job.catalog, job.progress, begun=True)
    record = await prove(job.world, seen, names, job.catalog, job.progress, job.store)
    job.has_measured = record.verdict is not Verdict.SKIP
    return record


def _ask(job: _Job, run: Run, changes: StageChanges, prepared: Prepared) -> None:
    """
    Ask for the risk, and for fields of others if they are to be taken.

    Raises:
        Refused: the answer is no.
    """
    questions = [risk_question(run, prepared.plan.stage(run.stage), changes, prepared)]
    if job.take_over:
        questions.append(take_over_question(run, changes))
    for question in questions:
        if question is not None and not job.approval.approve(question):
            raise not_confirmed(question.what, tuple(record.stage for record in job.records if record.writes))


def _stopped(job: _Job, run: Run, plan: Plan) -> StageRecord | None:
    """
    Give the record of a run that must not begin; None when it may.

    A node that went bad after its batch began is what the others would become: a canary is there to be believed.
    """
    admitted = set(plan.admitted)
    lost = [node for node in job.touched if node not in admitted]
    if not lost:
        return None
    why = {node.node: node.reason for node in plan.nodes}
    named = "; ".join(f"{node} (batch {job.touched[node]}): {why.get(node, 'it is gone')}" for node in lost)
    return _not_run(job, run, Verdict.FAIL, f"not begun, for a node went bad after its batch began: {named}")


def _skipped(job: _Job, run: Run, plan: Plan) -> StageRecord | None:
    """Give the record of a run that has nothing to do; None when it has."""
    stage = plan.stage(run.stage)
    if run.stage == VERIFIED and (job.dry_run or not job.prove):
        reason = NOT_ASKED
    elif not stage.applies:
        reason = stage.skip_reason
    elif run.batch is not None and not set(run.batch.nodes) & set(plan.admitted):
        reason = f"none of its nodes is admitted any more: {', '.join(run.batch.nodes)}"
    else:
        return None
    return _not_run(job, run, Verdict.SKIP, reason)


def _not_run(job: _Job, run: Run, verdict: Verdict, reason: str) -> StageRecord:
    now = to_stamp(job.world.clock.now())
    return StageRecord(run.stage, run.batch_name, verdict, reason, "", now, now, 0.0, 0.0)


def _name_refused_nodes(job: _Job, plan: Plan) -> None:
    """Show each node that is left out, once; one that is back is left out no more."""
    admitted = set(plan.admitted)
    job.refused_nodes = {key: item for key, item in job.refused_nodes.items() if item.node not in admitted}
    for node in plan.nodes:
        for refusal in node.refused:
            key = f"{node.node} {refusal.code}"
            if key not in job.refused_nodes:
                job.refused_nodes[key] = replace(refusal, node=node.node)
                job.progress.emit(Note(f"{node.node} is left out: {refusal.code}: {refusal.message}"))


def _name_late_nodes(job: _Job, plan: Plan, runs: tuple[Run, ...]) -> None:
    """Name nodes that could be admitted only after the batches had begun: they are untouched, until the next apply."""
    batched = {node for run in runs if run.batch is not None for node in run.batch.nodes}
    late = [node for node in plan.admitted if batched and node not in batched]
    if late:
        job.notes.append(f"fit only since the batches began, and left for the next apply: {', '.join(late)}")
