"""
Ports that partition keys keep apart where they should not be: found by their keys, and named. Pure.

Their cells are left out, because nothing can pass there; that a node can't be reached must not be lost with them.
"""

from collections.abc import Iterable
from itertools import chain

from railwright.core.ids import NodeName, RailName
from railwright.core.verdicts import Verdict
from railwright.verify.judge import Measured
from railwright.verify.layout import Layout
from railwright.verify.model import Culprit, Seat, Way

_Port = tuple[NodeName, RailName]
_Pair = frozenset[NodeName]


def find_apart(layout: Layout, items: Iterable[Measured]) -> tuple[Culprit, ...]:
    """
    Name the ports without the partition that is wanted, and those that can't talk where others of the fabric can.

    Where nobody can talk and no partition was asked for, nothing was looked at, and there is nothing to compare with.
    """
    same_rail = [item for item in items if item.task.way.source_rail == item.task.way.target_rail]
    apart = {item.task.id: why for item in same_rail if (why := _kept_apart(layout, item))}
    return (*_lacking(layout, same_rail, apart), *_cut_off(layout, same_rail, apart))


def _kept_apart(layout: Layout, item: Measured) -> str:
    seats = _seats(layout, item.task.way)
    if item.reading.ran is not Verdict.SKIP or len(seats) < len(("source", "target")):
        return ""
    why = layout.kept_apart(*seats)
    return why if why == item.reading.reason else ""


def _seats(layout: Layout, way: Way) -> tuple[Seat, ...]:
    found = (layout.seat(way.source, way.source_rail), layout.seat(way.target, way.target_rail))
    return tuple(seat for seat in found if seat is not None)


def _lacking(layout: Layout, items: list[Measured], apart: dict[str, str]) -> list[Culprit]:
    """Name ports by their own table: that needs no cell, and no partner."""
    looked_at = [seat for seat in layout.seats if not seat.skip]
    wrong = {(seat.node, seat.rail): said for seat in looked_at if (said := layout.lacking(seat))}
    cells: dict[_Port, list[str]] = {port: [] for port in wrong}
    for item in items:
        if item.task.id in apart:
            for port in _ports(item.task.way):
                if port in cells:
                    cells[port].append(item.task.id)
    if wrong and len(wrong) == len(looked_at) > 1:
        first = next(iter(wrong.values()))
        return [Culprit("everything", "the whole fabric", f"no port is in the wanted partition: {first}", tuple(apart))]
    return [
        Culprit("port", f"{rail} of {node}", said, tuple(cells[node, rail])) for (node, rail), said in wrong.items()
    ]


def _cut_off(layout: Layout, items: list[Measured], apart: dict[str, str]) -> list[Culprit]:
    """Name ports that have the wanted partition and still reach nobody, and rails of which pairs are kept apart."""
    talking = [item for item in items if item.reading.ran is not Verdict.SKIP]
    if not talking:
        return []
    well = {port for item in talking for port in _ports(item.task.way)}
    left: dict[RailName, list[Measured]] = {}
    pairs: dict[RailName, set[_Pair]] = {}
    for item in items:
        pairs.setdefault(item.task.way.source_rail, set()).add(_pair(item))
        if item.task.id in apart and not any(layout.lacking(seat) for seat in _seats(layout, item.task.way)):
            left.setdefault(item.task.way.source_rail, []).append(item)
    return list(
        chain.from_iterable(_of_rail(rail, group, well, apart, len(pairs[rail])) for rail, group in left.items())
    )


def _of_rail(
    rail: RailName, items: list[Measured], well: set[_Port], apart: dict[str, str], pairs: int
) -> list[Culprit]:
    """Blame ports that reach nobody while others of their rail do; of the rest say how much it is."""
    found: list[Culprit] = []
    cut = sorted({port for item in items for port in _ports(item.task.way)} - well)
    if any(at == rail for _, at in well):
        for port in cut:
            own = [item.task.id for item in items if port in _ports(item.task.way)]
            text = f"{rail} of {port[0]} reaches nobody by its partition keys, and others do: {apart[own[0]]}"
            found.append(Culprit("port", f"{rail} of {port[0]}", text, tuple(own)))
    known = {cell for culprit in found for cell in culprit.cells}
    rest = [item for item in items if item.task.id not in known]
    if rest:
        kept = len({_pair(item) for item in rest})
        text = f"partition keys keep {kept} of {pairs} pairs of {rail} apart: {apart[rest[0].task.id]}"
        found.append(Culprit("rail", rail, text, tuple(item.task.id for item in rest)))
    return found


def _pair(item: Measured) -> _Pair:
    return _Pair((item.task.way.source, item.task.way.target))


def _ports(way: Way) -> tuple[_Port, _Port]:
    return (way.source, way.source_rail), (way.target, way.target_rail)
