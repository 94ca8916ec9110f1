"""
Failures again, on their own, and the few more cells that narrow a failure down.

What fails twice is confirmed. What is slow is held against a healthy pair measured in the same way, one after the other.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto

from railwright.core.ids import NodeName
from railwright.core.verdicts import Verdict
from railwright.verify.judge import Measured
from railwright.verify.model import Way
from railwright.verify.narrow import Blame
from railwright.verify.peers import Kind, kind_of
from railwright.verify.run import Bench
from railwright.verify.task import Task

MOST_AGAIN = 12
"""So many failing cells are run again, the first of each way first."""
MOST_SLOW_AGAIN = 3
"""Of each kind of cell."""
MOST_MORE = 16


@dataclass(frozen=True)
class Confirmed:
    """All cells after that, those that were added included, and the ports whose own half said what is wrong."""

    items: tuple[Measured, ...]
    blames: dict[str, Blame]


def fails(item: Measured) -> bool:
    """Whether a cell failed by itself: its directness is another question."""
    reading = item.reading
    return reading.ran is Verdict.FAIL or reading.bytes_checked is Verdict.FAIL or bool(reading.loss)


async def confirm(bench: Bench, items: Iterable[Measured], slow: dict[str, str], share: float) -> Confirmed:
    """Run failing and slow cells again, each alone, and add what narrows them down."""
    known = {item.task.id: item for item in items}
    for item in _first_of_each_way([item for item in known.values() if fails(item)])[:MOST_AGAIN]:
        again = (await bench.run([_again(item)]))[0]
        known[item.task.id] = _joined(item, again)
    kept = await _still_slow(bench, known, slow, share)
    for cell, (why, confirmed) in kept.items():
        known[cell] = replace(known[cell], slow=why, confirmed=known[cell].confirmed or confirmed)
    for item in await _more(bench, tuple(known.values()), share):
        known[item.task.id] = item
    blames = {item.task.id: item.reading.blame for item in known.values() if item.reading.blame is not None}
    return Confirmed(tuple(known.values()), blames)


def _again(item: Measured) -> Task:
    """Give the same task under another id, so that both raw replies are kept, and on ports of its own."""
    return replace(item.task, id=f"{item.task.id}.again", port=item.task.port + 8000)


def _joined(first: Measured, again: Measured) -> Measured:
    evidence = (*first.evidence, *again.evidence)
    if fails(again):
        # What ended in the middle of a transfer often says only afterwards what it was: a port that is down by then.
        tells = again.reading.blame is not None and first.reading.blame is None
        reading = (
            replace(first.reading, blame=again.reading.blame, reason=again.reading.reason) if tells else first.reading
        )
        return replace(first, reading=reading, evidence=evidence, confirmed=True)
    note = "it passed when it was run again on its own" if again.reading.ran is Verdict.PASS else "run again: no answer"
    reading = first.reading
    reading = replace(
        reading,
        reason=_with(reading.reason, note),
        bytes_reason=_with(reading.bytes_reason, note),
        loss=_with(reading.loss, note),
    )
    return replace(first, reading=reading, evidence=evidence)


def _with(text: str, note: str) -> str:
    return f"{text} ({note})" if text else ""


def _first_of_each_way(items: list[Measured]) -> list[Measured]:
    """Sort so that every way has its turn before any has a second one."""
    seen: dict[Way, int] = {}
    order = []
    for item in items:
        turn = seen.get(item.task.way, 0)
        seen[item.task.way] = turn + 1
        order.append((turn, item.task.id, item))
    return [item for *_, item in sorted(order, key=lambda entry: entry[:2])]


async def _still_slow(
    bench: Bench, known: dict[str, Measured], slow: dict[str, str], share: float
) -> dict[str, tuple[str, bool]]:
    """
    Measure slow cells alone, and a healthy one of the same kind alone.

    Cells are cleared by measurements only: one that is well alone, if none of its kind is slow again, and those that
    were not measured again, if all that were are well. All at once they were a crowd then. While one is still slow,
    one that is well alone stays slow and says so: a node that is slow now and then is slow, and a cell that passed
    would clear it of the others.

    Returns:
        Why it is slow, and whether that was measured twice, by the id of each cell that stays slow.
    """
    kinds: dict[Kind, list[Measured]] = {}
    for cell in slow:
        kinds.setdefault(kind_of(known[cell]), []).append(known[cell])
    kept: dict[str, tuple[str, bool]] = {}
    for kind, group in kinds.items():
        answers = await _slow_again(bench, known.values(), kind, group, share)
        if set(answers.values()) == {Again.WELL}:
            continue
        is_still_slow = Again.SLOW in answers.values()
        for item in group:
            answer, cell = answers.get(item.task.id), item.task.id
            if answer is not Again.WELL or is_still_slow:
                kept[cell] = (slow[cell] + _NOTES.get(answer, ""), answer is Again.SLOW)
    return kept


class Again(Enum):
    """What measuring a slow cell once more, alone, said."""

    SLOW = auto()
    WELL = auto()
    NO_ANSWER = auto()
    """It, or the healthy one that it is held against, could not be measured again: it stays as it was measured."""


_NOTES: dict[Again | None, str] = {
    Again.WELL: " (on its own it was well, while others like it were still slow)",
    Again.NO_ANSWER: " (run again on its own: no answer)",
}


async def _slow_again(
    bench: Bench, known: Iterable[Measured], kind: Kind, group: list[Measured], share: float
) -> dict[str, Again]:
    """Run the first few of a kind alone, beside a healthy one."""
    first = _first_of_each_way(group)[:MOST_SLOW_AGAIN]
    healthy = _healthiest(known, kind, {item.task.id for item in group})
    usual = await _alone(bench, healthy) if healthy is not None else None
    if usual is None:
        return dict.fromkeys((item.task.id for item in first), Again.NO_ANSWER)
    answers = {}
    for item in first:
        rate = await _alone(bench, item)
        answers[item.task.id] = Again.NO_ANSWER if rate is None else Again.SLOW if rate < share * usual else Again.WELL
    return answers


async def _alone(bench: Bench, item: Measured) -> float | None:
    again = (await bench.run([_again(item)]))[0]
    return again.reading.average_gbps if again.reading.ran is Verdict.PASS else None


def _healthiest(items: Iterable[Measured], kind: Kind, without: set[str]) -> Measured | None:
    same = [
        item
        for item in items
        if kind_of(item) == kind and item.task.id not in without and item.reading.average_gbps is not None
    ]
    return max(same, key=lambda item: item.reading.average_gbps or 0.0, default=None)


async def _more(bench: Bench, items: tuple[Measured, ...], share: float) -> list[Measured]:
    """Pair each end of a failing pair that met nobody else with a node that is well."""
    met: dict[NodeName, set[NodeName]] = {}
    bad: dict[tuple[NodeName, NodeName], Measured] = {}
    well: dict[NodeName, float] = {}
    for item in items:
        way = item.task.way
        met.setdefault(way.source, set()).add(way.target)
        met.setdefault(way.target, set()).add(way.source)
        if fails(item) or item.slow:
            bad.setdefault((way.source, way.target), item)
        elif item.reading.ran is Verdict.PASS:
            well |= {way.source: 1.0, way.target: 1.0}
    sick = {node for pair in bad for node in pair}
    healthy = [node for node in well if node not in sick]
    added: list[Measured] = []
    if not healthy:
        return added
    for (source, target), item in list(bad.items())[:MOST_MORE]:
        if len(met[source]) > 1 and len(met[target]) > 1:
            continue
        way = item.task.way
        for new in (
            Way(source, way.source_rail, healthy[0], way.target_rail),
            Way(healthy[0], way.source_rail, target, way.target_rail),
        ):
            task = bench.task(item.task.step, new, prefix="x")
            done = task if isinstance(task, Measured) else (await bench.run([task]))[0]
            added.append(_slow_beside(done, items, share) if item.slow else done)
    return added


def _slow_beside(item: Measured, items: tuple[Measured, ...], share: float) -> Measured:
    healthy = _healthiest(items, kind_of(item), set())
    rate = item.reading.average_gbps
    usual = healthy.reading.average_gbps if healthy else None
    if rate is None or usual is None or rate >= share * usual:
        return item
    return replace(item, slow=f"{rate:.3g} Gb/s on average, and its peers reach {usual:.3g}")
