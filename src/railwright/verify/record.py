"""From everything measured to the record: cells, witnesses, culprits, coverage, and the claim. Pure."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from railwright.catalog.model import Catalog
from railwright.core.errors import Interrupted, RailwrightError
from railwright.core.ids import NodeName
from railwright.core.verdicts import Verdict, worst
from railwright.dataplane.model import Reply
from railwright.dataplane.wire import reply_text
from railwright.verify.apart import find_apart
from railwright.verify.claim import claim
from railwright.verify.differences import differences
from railwright.verify.directness import Directness, judge_direct
from railwright.verify.judge import Measured, cell_of, is_gpu, is_one_way
from railwright.verify.layout import Layout
from railwright.verify.model import (
    Cell,
    Coverage,
    Culprit,
    Direction,
    MemoryKind,
    Summary,
    Testimony,
    VerifyRecord,
    Way,
)
from railwright.verify.narrow import Blame, narrow
from railwright.verify.planned import Planned
from railwright.verify.witnesses import capability, perftest

_EXIT_CODES = {Verdict.FAIL: 5, Verdict.UNKNOWN: 6, Verdict.PASS: 0}


@dataclass(frozen=True)
class Findings:
    """What a run found; `places` is what each endpoint said of itself, `ended_by` what ended it too early."""

    items: tuple[Measured, ...]
    blames: Mapping[str, Blame]
    culprits: tuple[Culprit, ...]
    places: Mapping[NodeName, Reply]
    raw: Mapping[str, str]
    started_at: datetime
    ended_at: datetime
    elapsed_s: float
    raw_left_out: int = 0
    interrupted: bool = False
    ended_by: RailwrightError | None = None
    notes: tuple[str, ...] = field(default=())


def make_record(planned: Planned, findings: Findings, catalog: Catalog) -> VerifyRecord:
    """Judge everything, and word what was shown."""
    layout = planned.layout
    witnesses = _witnesses(layout, findings.items)
    direct = _directness(witnesses)
    referenced = {
        (item.task.way, item.task.step.direction, item.task.step.memory)
        for item in findings.items
        if item.reading.is_reference and item.reading.ran in {Verdict.PASS, Verdict.FAIL}
    }
    cells = tuple(
        _explained(
            cell_of(
                item,
                layout,
                catalog,
                _of_way(item, direct),
                has_reference=(item.task.way, item.task.step.direction, item.task.step.memory) in referenced,
            ),
            findings.places,
            layout,
        )
        for item in sorted(findings.items, key=lambda item: item.task.id)
    )
    known = {cell for culprit in findings.culprits for cell in culprit.cells}
    apart = find_apart(layout, findings.items)
    culprits = (
        *apart,
        *findings.culprits,
        *narrow([cell for cell in cells if cell.id not in known], dict(findings.blames)),
    )
    coverage = coverage_of(planned, cells)
    said = claim(layout, cells, witnesses, coverage, direct, apart)
    if findings.ended_by is not None:
        said = f"The run was ended before it was done: {findings.ended_by.message}. {said}"
    raw = {**{f"place.{node}": reply_text(reply) for node, reply in findings.places.items()}, **findings.raw}
    return VerifyRecord(
        _summary(layout, findings, said, cells, is_apart=bool(apart)),
        cells,
        witnesses,
        coverage,
        planned.summary(),
        seats=layout.seats,
        culprits=culprits,
        raw=raw,
    )


def _summary(layout: Layout, findings: Findings, said: str, cells: tuple[Cell, ...], *, is_apart: bool) -> Summary:
    verdict = Verdict.FAIL if is_apart else _verdict(cells)
    if findings.interrupted:
        # What was slow was not looked at again: what passed may not be all well.
        verdict = worst((verdict, Verdict.UNKNOWN))
    return Summary(
        verdict=verdict,
        direct=worst(cell.direct for cell in cells),
        fast=worst(cell.fast for cell in cells),
        claim=said,
        exit_code=_exit_code(findings, verdict),
        fabric=layout.fabric,
        method=layout.method,
        cluster=layout.cluster,
        simulated=layout.simulated,
        bed=layout.bed,
        not_real=layout.not_real,
        started_at=_stamp(findings.started_at),
        ended_at=_stamp(findings.ended_at),
        elapsed_s=round(findings.elapsed_s, 1),
        interrupted=findings.interrupted,
        notes=(*findings.notes, *_notes(findings)),
    )


def _exit_code(findings: Findings, verdict: Verdict) -> int:
    if findings.ended_by is not None:
        return findings.ended_by.exit_code
    return Interrupted.exit_code if findings.interrupted else _EXIT_CODES[verdict]


def _notes(findings: Findings) -> Iterator[str]:
    """Say what the run could not keep, and what it could not watch."""
    if findings.raw_left_out:
        yield f"raw replies of {findings.raw_left_out} halves that passed were not kept: there are too many"
    blind = {item.task.way for item in findings.items if not item.reading.loss_watched}
    if blind:
        example = min(blind)
        yield (
            f"whether packets were sent again is not known on {len(blind)} ways, {example} among them: neither end"
            " shows the counters of its port that would say so"
        )


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def _verdict(cells: tuple[Cell, ...]) -> Verdict:
    """Nothing looked at is nothing known: a run of which everything was skipped has not verified anything."""
    answer = worst(cell.verdict for cell in cells)
    return Verdict.UNKNOWN if answer is Verdict.SKIP else answer


def _witnesses(layout: Layout, items: Collection[Measured]) -> tuple[Testimony, ...]:
    """Collect what was said, and put beside it what the facts say of each way of GPU memory."""
    heard: list[Testimony] = []
    ways: dict[Way, None] = {}
    beside = {_kind(item): item for item in items if item.task.step.memory is MemoryKind.HOST}
    for item in items:
        heard += (
            _beside_host(said, item, beside.get(_kind(item))) if said.witness == perftest.NAME else said
            for said in item.reading.testimonies
        )
        if is_gpu(item) and is_one_way(item) and item.reading.testimonies:
            ways.setdefault(item.task.way)
    for way in ways:
        heard.append(
            capability.testify(way, layout.seat(way.source, way.source_rail), layout.seat(way.target, way.target_rail))
        )
    return tuple(sorted(heard, key=lambda item: (item.way, item.memory, item.number, item.witness)))


def _kind(item: Measured) -> tuple[Way, str, Direction]:
    return item.task.way, item.task.step.family, item.task.step.direction


def _beside_host(said: Testimony, item: Measured, host: Measured | None) -> Testimony:
    """Put what perftest reached with host buffers on the same way beside its words of GPU memory."""
    gpu_gbps, host_gbps = item.reading.average_gbps, host.reading.average_gbps if host else None
    if gpu_gbps is None or host_gbps is None:
        return said
    line = f"{gpu_gbps:.1f} Gb/s with GPU buffers, {host_gbps:.1f} with host buffers on the same way"
    return replace(said, lines=(*said.lines, line))


def _directness(witnesses: tuple[Testimony, ...]) -> dict[Way, Directness]:
    by_way: dict[Way, list[Testimony]] = {}
    for item in witnesses:
        if item.memory is MemoryKind.GPU:
            by_way.setdefault(item.way, []).append(item)
    return {way: judge_direct(heard) for way, heard in by_way.items()}


def _of_way(item: Measured, direct: Mapping[Way, Directness]) -> Directness | None:
    """Give the answer for a cell: of its way; of both ways where bytes flow both ways."""
    if not is_gpu(item):
        return None
    way = item.task.way
    there = direct.get(way, judge_direct(()))
    if item.task.step.direction is not Direction.BOTH:
        return there
    back = direct.get(Way(way.target, way.target_rail, way.source, way.source_rail), judge_direct(()))
    return there if worst((there.verdict, back.verdict)) is there.verdict else back


def _explained(cell: Cell, places: Mapping[NodeName, Reply], layout: Layout) -> Cell:
    """Put what differs between the two ends beside a failure, so that it is seen at once."""
    if cell.verdict is not Verdict.FAIL:
        return cell
    source, target = (layout.seat(cell.source, cell.source_rail), layout.seat(cell.target, cell.target_rail))
    behind = layout.behind(source, target) if source and target else ""
    seen = "; ".join(text for text in (differences(cell, places, layout), behind) if text)
    return replace(cell, reason=f"{cell.reason}; {seen}") if seen else cell


def coverage_of(planned: Planned, cells: tuple[Cell, ...]) -> Coverage:
    """Count what was judged, of what the fabric has."""
    judged = [cell for cell in cells if cell.verdict in {Verdict.PASS, Verdict.FAIL}]
    layout = planned.layout
    seats = {(seat.node, seat.rail) for seat in layout.seats}
    by_rail = Counter(rail for _, rail in seats)
    ways = {cell.way for cell in judged if cell.source_rail == cell.target_rail}
    ways |= {
        Way(cell.target, cell.target_rail, cell.source, cell.source_rail)
        for cell in judged
        if cell.direction is Direction.BOTH and cell.source_rail == cell.target_rail
    }
    return Coverage(
        cells=len(cells),
        by_verdict=dict(Counter(cell.verdict for cell in cells)),
        nodes=len({node for cell in judged for node in (cell.source, cell.target)}),
        nodes_possible=len({*layout.nodes, *(node for node, _ in seats)}),
        ways=len(ways),
        ways_possible=sum(count * (count - 1) for count in by_rail.values()),
        left_out=planned.left_out,
    )
