"""From a family's reading to a Cell: bytes, directness and speed, each on its own, and the worst of them. Pure."""

from dataclasses import dataclass, replace

from railwright.catalog.model import Catalog
from railwright.core.verdicts import Verdict, worst
from railwright.verify.directness import Directness
from railwright.verify.families.table import family
from railwright.verify.floors import Floor, floor, judge_bandwidth
from railwright.verify.layout import Layout
from railwright.verify.model import Cell, Direction, MemoryKind, SizePoint
from railwright.verify.task import Reading, Task


@dataclass(frozen=True)
class Measured:
    """A task with what its family read."""

    task: Task
    reading: Reading
    evidence: tuple[str, ...] = ()
    confirmed: bool = False
    slow: str = ""
    """Why it is too slow beside its peers; "" when it is not."""


def cell_of(
    item: Measured, layout: Layout, catalog: Catalog, direct: Directness | None, *, has_reference: bool
) -> Cell:
    """
    Judge one cell.

    Args:
        direct: of its way; None for host memory, where the question does not arise.
        has_reference: perftest measured the same way: its number is the one that counts.
    """
    task, reading = item.task, item.reading
    limit = _floor(task, reading, layout, catalog)
    fast, fast_reason = _fast(item, limit, has_reference=has_reference)
    ended = reading.ran in {Verdict.PASS, Verdict.FAIL}
    directness = direct.verdict if direct is not None and ended else Verdict.SKIP
    if not ended:
        fast, fast_reason = Verdict.SKIP, ""
    verdict = (
        reading.ran if reading.ran is Verdict.SKIP else worst((reading.ran, reading.bytes_checked, directness, fast))
    )
    reasons = [
        (reading.ran, reading.reason),
        (reading.bytes_checked, reading.bytes_reason),
        (directness, direct.reason if direct is not None and ended else ""),
        (fast, fast_reason),
    ]
    return Cell(
        id=task.id,
        source=task.way.source,
        target=task.way.target,
        source_rail=task.way.source_rail,
        target_rail=task.way.target_rail,
        direction=task.step.direction,
        memory=task.step.memory,
        family=task.step.family,
        verdict=verdict,
        direct=directness,
        fast=fast,
        reason=_reason(verdict, reasons),
        average_gbps=reading.average_gbps,
        floor_gbps=limit.minimum_gbps,
        latency_us=reading.latency_us,
        bytes_checked=reading.bytes_checked,
        sizes=_with_floors(task, reading, layout, catalog),
        evidence=item.evidence,
        wire=reading.wire,
        confirmed=item.confirmed,
    )


def _reason(verdict: Verdict, reasons: list[tuple[Verdict, str]]) -> str:
    """Give the reasons of the verdict; for a PASS, why a question was left out."""
    wanted = verdict if verdict is not Verdict.PASS else Verdict.SKIP
    return "; ".join(dict.fromkeys(text for answer, text in reasons if answer is wanted and text))


def _floor(task: Task, reading: Reading, layout: Layout, catalog: Catalog) -> Floor:
    if not layout.has_floors:
        return Floor(None, "no floor: no hardware stands behind this number")
    if not family(task.step.family).has_line_rate:
        return Floor(None, "this family has no line-rate floor")
    source = layout.seat(task.way.source, task.way.source_rail)
    target = layout.seat(task.way.target, task.way.target_rail)
    if source is None or target is None:
        unknown = "nothing is known of the ports"
        return Floor(None, unknown, unknown)
    return floor(source, target, task.step.direction, reading.at_bytes, reading.qps, catalog, task.step.memory)


def _fast(item: Measured, limit: Floor, *, has_reference: bool) -> tuple[Verdict, str]:
    reading = item.reading
    if reading.loss:
        return Verdict.FAIL, reading.loss
    if item.slow:
        return Verdict.FAIL, item.slow
    if reading.average_gbps is None:
        return Verdict.SKIP, ""
    answer = judge_bandwidth(reading.average_gbps, limit)
    if answer is Verdict.SKIP:
        return answer, limit.why
    if answer is Verdict.PASS:
        return answer, ""
    if has_reference and not reading.is_reference:
        return Verdict.SKIP, "perftest's number is the figure of record"
    if limit.minimum_gbps is None:
        return answer, f"whether it is fast is not known: {limit.unknown}"
    said = f"{reading.average_gbps:.1f} Gb/s on average, and {limit.minimum_gbps:.1f} is the floor: {limit.why}"
    if limit.unknown:
        return answer, f"{said}, or less: {limit.unknown}"
    if reading.is_reference:
        return answer, said
    return Verdict.UNKNOWN, f"{said}; only our own engine measured it, and perftest is the figure of record"


def _with_floors(task: Task, reading: Reading, layout: Layout, catalog: Catalog) -> tuple[SizePoint, ...]:
    points = []
    for point in reading.sizes:
        limit = _floor(task, replace(reading, at_bytes=point.size_bytes), layout, catalog)
        points.append(replace(point, floor_gbps=limit.minimum_gbps))
    return tuple(points)


def is_gpu(item: Measured) -> bool:
    """Whether the question of directness arises."""
    return item.task.step.memory is MemoryKind.GPU


def is_one_way(item: Measured) -> bool:
    """Whether bytes flow from source to target only."""
    return item.task.step.direction is not Direction.BOTH
