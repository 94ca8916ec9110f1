"""
perftest (ib_write_bw, ib_read_bw): the reference that everybody knows, and on hardware the figure of record.

It checks no bytes. With GPU memory its own lines are a witness.
"""

from railwright.core.foreign_text import whole_number
from railwright.core.verdicts import Verdict
from railwright.dataplane.model import PerftestRequest
from railwright.facts.measured import PerftestOutput
from railwright.facts.sources.perftest import parse_perftest
from railwright.verify.families.engine import wire_of
from railwright.verify.model import Direction, MemoryKind, Seat, SizePoint, Testimony
from railwright.verify.problems import blame_of, problem_of
from railwright.verify.task import START_S, Exchange, Outcome, Reading, Task, rail_end
from railwright.verify.witnesses import counters
from railwright.verify.witnesses import perftest as witness

_SIZE_BYTES = 65536


def exchanges(task: Task) -> tuple[Exchange, ...]:
    """Ask for one bandwidth test of fixed duration."""
    requests = [
        PerftestRequest(
            meeting=meeting,
            rail=rail_end(end),
            program="ib_read_bw" if task.step.direction is Direction.READ else "ib_write_bw",
            size_bytes=_SIZE_BYTES,
            qps=task.effort.qps,
            duration_s=task.effort.duration_s,
            bidirectional=task.step.direction is Direction.BOTH,
            memory=task.memory(end),
            wire=task.wire,
        )
        for meeting, end in zip(task.meetings(), task.ends_driving, strict=True)
    ]
    limit_s = START_S + task.patience_s + 3 * task.effort.duration_s
    return (Exchange("run", requests[0], requests[1], limit_s),)


def read(
    task: Task, outcomes: tuple[Outcome, ...], *, seats: tuple[Seat | None, Seat | None] = (None, None)
) -> Reading:
    """Read the connecting half's number, and both halves' words about GPU memory."""
    outcome = outcomes[0]
    source, target = (parse_perftest(reply.raw) for reply in outcome.replies)
    driver = source if outcome.source.role == "connect" else target
    ran, reason = problem_of(outcome.replies, task.way)
    if ran is not Verdict.PASS:
        words, blame = _with_words(reason, (source, target)), blame_of(outcome.replies, task.way)
        return Reading(ran, words, wire=wire_of(outcome), is_reference=True, blame=blame)
    ended = _ended_badly(task, outcome, (source, target))
    if ended:
        return Reading(Verdict.FAIL, ended, wire=wire_of(outcome), is_reference=True)
    if driver.problem or not driver.bandwidth:
        why = f"perftest's output: {driver.problem or 'no bandwidth in it'}"
        return Reading(Verdict.UNKNOWN, why, wire=wire_of(outcome), is_reference=True)
    row = driver.bandwidth[-1]
    testimonies: tuple[Testimony, ...] = ()
    if task.step.memory is MemoryKind.GPU:
        testimonies = (witness.testify(source, target, task.way, outcome.evidence, peermem=_peermem(seats)),)
    return Reading(
        Verdict.PASS,
        average_gbps=round(row.average_gbps, 6),
        at_bytes=row.size_bytes,
        qps=_queue_pairs(driver, task),
        sizes=(SizePoint(row.size_bytes, round(row.average_gbps, 6)),),
        testimonies=testimonies,
        wire=wire_of(outcome),
        loss_watched=counters.watches_loss(outcome),
        loss=counters.loss(outcome, int(row.average_gbps * 1e9 / 8 * task.effort.duration_s)),
        is_reference=True,
    )


def _peermem(seats: tuple[Seat | None, Seat | None]) -> bool | None:
    """Whether nvidia_peermem is loaded at both ends; None when that is not known of one, and the other has it."""
    loaded = [seat.peermem if seat is not None else None for seat in seats]
    if False in loaded:
        return False
    return None if None in loaded else True


def _ended_badly(task: Task, outcome: Outcome, outputs: tuple[PerftestOutput, PerftestOutput]) -> str:
    """Give perftest's own words when a half ended with an error code; "" when both ended well."""
    for where, reply, output in zip((task.way.source, task.way.target), outcome.replies, outputs, strict=True):
        if reply.exit_code not in {0, None}:
            words = "; ".join(output.errors) or "it said nothing"
            return f"perftest at {where} ended with exit code {reply.exit_code}: {words}"
    return ""


def _with_words(reason: str, outputs: tuple[PerftestOutput, PerftestOutput]) -> str:
    words = "; ".join(dict.fromkeys(error for output in outputs for error in output.errors))
    return f"{reason} (perftest: {words})" if words and words not in reason else reason


def _queue_pairs(output: PerftestOutput, task: Task) -> int:
    said = whole_number(output.value("Number of qps"))
    return task.effort.qps if said is None else said
