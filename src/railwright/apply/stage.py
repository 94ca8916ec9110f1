"""Carry out one stage: its writes, then its gate; how it ended is a value, not an exception."""

import asyncio
from dataclasses import dataclass, field

from railwright.apply.gate import Gate, GateResult
from railwright.apply.lease import RunningElsewhere
from railwright.apply.ledger import LedgerStore
from railwright.apply.means import Means
from railwright.apply.model import StageChanges, StageRecord, Write
from railwright.apply.stamps import to_stamp
from railwright.apply.writer import Writer, foreign_fields
from railwright.core.errors import Interrupted, KindNotServed, NotFound, ObjectRefused, WriteConflict
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict
from railwright.ports.clock import Clock
from railwright.ports.cluster import Cluster
from railwright.ports.node import Node
from railwright.ports.progress import Progress
from railwright.readiness.model import Receipt

_ANSWERS = (WriteConflict, ObjectRefused, NotFound, KindNotServed)
"""What the server may say about one object that ends the stage; the cluster itself failing us is an exception."""


class StageInterrupted(Interrupted):
    """The stage was cancelled; `record` says what it had written."""

    def __init__(self, record: StageRecord) -> None:
        """Keep the record."""
        super().__init__(
            f"stage {record.stage} was interrupted after {len(record.writes)} writes; all of them are in the ledger",
            hint="run the same command again: it goes on from there",
        )
        self.record = record


@dataclass
class _Done:
    """What was written so far."""

    writes: list[Write] = field(default_factory=list)
    receipts: dict[Ref, Receipt] = field(default_factory=dict)


async def apply(
    stage_changes: StageChanges,
    cluster: Cluster,
    node: Node,
    clock: Clock,
    progress: Progress,
    *,
    ledger: LedgerStore,
    script: str,
) -> StageRecord:
    """
    Write the changes of one stage and wait for its gate.

    Args:
        script: the node script, for gates that look inside nodes.

    Returns:
        PASS, FAIL or UNKNOWN with the reason; a dry run ends after the writes that the server only checked.

    Raises:
        ClusterError: the cluster does not answer any more, the login expired, a permission is missing: what was done
            until then is in the ledger, and the same command goes on from there.
        RunningElsewhere: another run took the ledger meanwhile; it is at work now.
        StageInterrupted: the task was cancelled.
    """
    started_at, started_s = clock.now(), clock.monotonic_s()
    means = Means(cluster, node, clock, progress, ledger, script)
    done = _Done()

    def record(result: GateResult) -> StageRecord:
        return StageRecord(
            stage=stage_changes.stage,
            batch=stage_changes.batch,
            verdict=result.verdict,
            reason=result.reason,
            waiting_for=result.waiting_for,
            started_at=to_stamp(started_at),
            ended_at=to_stamp(clock.now()),
            elapsed_s=clock.monotonic_s() - started_s,
            expected_s=stage_changes.expected_s,
            writes=(*done.writes, *result.writes),
            states=result.states,
        )

    try:
        return record(await _carry_out(stage_changes, means, done))
    except asyncio.CancelledError as error:
        result = GateResult(Verdict.PROGRESSING, "interrupted", "the same command, run again", ())
        raise StageInterrupted(record(result)) from error


async def _carry_out(stage: StageChanges, means: Means, done: _Done) -> GateResult:
    problem = _conflicts(stage) or await _write_all(stage, Writer(stage, means), done)
    if problem:
        return GateResult(Verdict.FAIL, problem, "", ())
    if stage.dry_run:
        return GateResult(Verdict.PASS, "the server accepts it (dry run)", "", ())
    return await Gate(stage, means, done.receipts).wait()


def _conflicts(stage: StageChanges) -> str:
    """Name every field of someone else before anything is written: half a stage helps nobody."""
    if stage.take_over:
        return ""
    return "\n".join(
        foreign_fields(change.ref, change.conflicts).message for change in stage.changes if change.conflicts
    )


async def _write_all(stage: StageChanges, writer: Writer, done: _Done) -> str:
    """
    Write every change in order; a dry run goes on after a refusal, to show all of them.

    Returns:
        Why the stage ends here; empty when every write was done.
    """
    problems = []
    await writer.look_at_nodes()
    for change in stage.changes:
        try:
            written = await writer.write(change)
        except RunningElsewhere:
            raise
        except _ANSWERS as error:
            problems.append(error.message if str(change.ref) in error.message else f"{change.ref}: {error.message}")
            if not stage.dry_run:
                break
            continue
        if written.write is not None:
            done.writes.append(written.write)
        if written.receipt is not None:
            done.receipts[change.ref] = written.receipt
    return "\n".join(problems)
