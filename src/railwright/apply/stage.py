"""Carry out one stage: its writes, then its gate; how it ended is a value, not an exception."""

from dataclasses import dataclass, field

from railwright.apply.gate import Gate, GateResult
from railwright.apply.ledger import LedgerStore
from railwright.apply.means import Means
from railwright.apply.model import StageChanges, StageRecord, Write
from railwright.apply.stamps import to_stamp
from railwright.apply.writer import Writer, foreign_fields
from railwright.core.errors import KindNotServed, NotFound, ObjectRefused, WriteConflict
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict
from railwright.ports.clock import Clock
from railwright.ports.cluster import Cluster
from railwright.ports.node import Node
from railwright.ports.progress import Progress
from railwright.readiness.model import Receipt

_ANSWERS = (WriteConflict, ObjectRefused, NotFound, KindNotServed)
"""What the server may say about one object that ends the stage; the cluster itself failing us is an exception."""


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
    """
    started_at, started_s = clock.now(), clock.monotonic_s()
    means = Means(cluster, node, clock, progress, ledger, script)
    done = _Done()
    problem = _conflicts(stage_changes)
    if not problem:
        problem = await _write_all(stage_changes, Writer(stage_changes, means), done)
    if problem:
        result = GateResult(Verdict.FAIL, problem, "", ())
    elif stage_changes.dry_run:
        result = GateResult(Verdict.PASS, "the server accepts it (dry run)", "", ())
    else:
        result = await Gate(stage_changes, means, done.receipts).wait()
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
    for change in stage.changes:
        try:
            written = await writer.write(change)
        except _ANSWERS as error:
            owners = ", ".join(f"{path} owned by {owner}" for path, owner in error.context.items())
            problems.append(f"{change.ref}: {error.message}" + (f" ({owners})" if owners else ""))
            if not stage.dry_run:
                break
            continue
        if written.write is not None:
            done.writes.append(written.write)
        if written.receipt is not None:
            done.receipts[change.ref] = written.receipt
    return "\n".join(problems)
