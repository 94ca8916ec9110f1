"""
From failing cells to the fewest places that explain them: a node, a port, one direction of it, a rail, a pair. Pure.

A place explains a failing cell when it is part of it and no cell of that place passed: whatever passed through it
clears it. Of the places that explain most, the narrowest is named. What two nodes can't tell apart is said as such.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from railwright.core.ids import NodeName, RailName
from railwright.core.verdicts import Verdict
from railwright.verify.model import Cell, Culprit, MemoryKind
from railwright.verify.path_mtu import PATH_MTU_WORDS
from railwright.verify.witnesses.counters import LOSS_WORDS

Blame = tuple[NodeName, RailName]
"""A port whose own half said what is wrong with it."""


@dataclass
class _Place:
    """One candidate: what it is, and its cells so far."""

    kind: str
    where: str
    scope: str
    width: int
    """How much of the fabric it is: of places that explain as much, the smaller one is meant."""
    failed: set[str] = field(default_factory=set)
    passed: int = 0
    partners: set[NodeName] = field(default_factory=set)


def narrow(cells: Iterable[Cell], blames: dict[str, Blame]) -> tuple[Culprit, ...]:
    """
    Name where failures come from.

    Args:
        blames: by cell id, the port whose half said itself what is wrong.
    """
    judged = [cell for cell in cells if cell.verdict in {Verdict.PASS, Verdict.FAIL}]
    reasons = {cell.id: cell.reason for cell in judged}
    left = {cell.id for cell in judged if cell.verdict is Verdict.FAIL}
    found = _blamed(judged, {cell: blames[cell] for cell in left if cell in blames}, reasons)
    left -= {cell for culprit in found for cell in culprit.cells}
    has_floors = any(cell.floor_gbps is not None for cell in judged)
    for question in _QUESTIONS:
        asked = [cell for cell in judged if cell.id not in left or _failed_at(cell) == question]
        wrong = {cell.id for cell in asked if cell.id in left}
        clear = {
            cell.id
            for cell in asked
            if cell.verdict is Verdict.PASS and _answers(cell, question, has_floors=has_floors)
        }
        found += _explain([cell for cell in asked if cell.id in wrong | clear], wrong, reasons)
    return _merged(found)


def _blamed(judged: list[Cell], blames: dict[str, Blame], reasons: dict[str, str]) -> list[Culprit]:
    """Name ports by what their own halves said; a node, when that is the same of each of its rails."""
    own: dict[Blame, tuple[str, ...]] = {}
    for cell in sorted(blames):
        own[blames[cell]] = (*own.get(blames[cell], ()), cell)
    said: dict[tuple[NodeName, str], list[Blame]] = {}
    for (node, rail), cells in sorted(own.items()):
        words = reasons[cells[0]].removeprefix(f"{rail} of {node}: ")
        said.setdefault((node, words), []).append((node, rail))
    found = []
    for (node, words), ports in said.items():
        if len(ports) > 1 and {rail for _, rail in ports} == _rails_of(judged, node):
            cells = tuple(sorted(cell for port in ports for cell in own[port]))
            found.append(Culprit("node", node, f"every rail of {node}: {words}", cells))
        else:
            found += [
                Culprit("port", f"{rail} of {node}", reasons[own[node, rail][0]], own[node, rail]) for _, rail in ports
            ]
    return found


def _rails_of(cells: list[Cell], node: NodeName) -> set[RailName]:
    ends = [end for cell in cells for end in ((cell.source, cell.source_rail), (cell.target, cell.target_rail))]
    return {rail for at, rail in ends if at == node}


def _merged(found: list[Culprit]) -> tuple[Culprit, ...]:
    """Name a place once, however many questions it failed at."""
    places: dict[tuple[str, str], Culprit] = {}
    for item in found:
        known = places.setdefault((item.kind, item.where), item)
        if known is not item:
            places[item.kind, item.where] = replace(known, cells=tuple(sorted({*known.cells, *item.cells})))
    return tuple(places.values())


_QUESTIONS = ("ran", "bytes", "fast", "direct")


def _failed_at(cell: Cell) -> str:
    """Name the question at which a cell failed: each has clues of its own."""
    if cell.bytes_checked is Verdict.FAIL:
        return "bytes"
    if cell.fast is Verdict.FAIL:
        return "fast"
    return "direct" if cell.direct is Verdict.FAIL else "ran"


def _answers(cell: Cell, question: str, *, has_floors: bool) -> bool:
    """Whether a cell that passed says anything of a question: what checks no bytes clears nobody of flipping them."""
    if question == "bytes":
        return cell.bytes_checked is Verdict.PASS
    if question == "direct":
        return cell.direct is Verdict.PASS
    if question == "ran":
        return True
    if cell.average_gbps is None or cell.floor_gbps is None:
        return cell.average_gbps is not None and not has_floors
    return cell.average_gbps >= cell.floor_gbps


def _explain(cells: list[Cell], left: set[str], reasons: dict[str, str]) -> list[Culprit]:
    """Cover failing cells with the fewest places, the largest share first."""
    found: list[Culprit] = []
    left = set(left)
    places = [place for place in _places(cells) if place.failed and not place.passed]
    while left:
        best = max(places, key=lambda place: (len(place.failed & left), -place.width), default=None)
        explained = best.failed & left if best else set()
        if best is None or not explained:
            break
        found.append(_culprit(best, explained, reasons))
        left -= explained
    return found + [Culprit("way", _way(cell), cell.reason, (cell.id,)) for cell in cells if cell.id in left]


def _way(cell: Cell) -> str:
    return f"{cell.way}, {cell.family} {cell.direction} of {cell.memory} memory"


def _places(cells: list[Cell]) -> list[_Place]:
    """Every candidate, for cells of any kind, and for GPU memory alone."""
    places: dict[tuple[str, str, str], _Place] = {}
    for cell in cells:
        scopes = [("", 0)]
        if cell.memory is MemoryKind.GPU:
            scopes.append(("GPU memory", 1))
        scopes.append((f"{cell.family}", 2))
        # On a tie the whole place is meant: "only engine" is said where something else was tried there and passed.
        for scope, more in scopes:
            for kind, where, width, partner in _of_cell(cell):
                key = (kind, where, scope)
                place = places.setdefault(key, _Place(kind, where, scope, 10 * width + more))
                place.partners |= partner
                if cell.verdict is Verdict.FAIL:
                    place.failed.add(cell.id)
                else:
                    place.passed += 1
    return list(places.values())


def _of_cell(cell: Cell) -> list[tuple[str, str, int, set[NodeName]]]:
    """Places that a cell is part of: kind, name, width, and whom they met in it."""
    pair = " and ".join(sorted((cell.source, cell.target)))
    rails = cell.source_rail if cell.source_rail == cell.target_rail else f"{cell.source_rail} to {cell.target_rail}"
    found: list[tuple[str, str, int, set[NodeName]]] = [
        ("direction", f"from {cell.source} to {cell.target} on {rails}", 1, set()),
        ("pair", f"{rails} between {pair}", 2, set()),
        ("sending", f"what {cell.source_rail} of {cell.source} sends", 3, {cell.target}),
        ("receiving", f"what {cell.target_rail} of {cell.target} receives", 3, {cell.source}),
        ("pair", f"every rail between {pair}", 4, set()),
        ("port", f"{cell.source_rail} of {cell.source}", 5, {cell.target}),
        ("port", f"{cell.target_rail} of {cell.target}", 5, {cell.source}),
        ("node", cell.source, 6, {cell.target}),
        ("node", cell.target, 6, {cell.source}),
        ("everything", "the whole fabric", 8, set()),
    ]
    if cell.source_rail == cell.target_rail:
        found.append(("rail", cell.source_rail, 7, set()))
    return found


_TEXTS: dict[str, Callable[[_Place], str]] = {
    "direction": lambda place: f"{place.where} fails, and nothing else does",
    "pair": lambda place: f"{place.where} fails; which end it is can't be told from this pair alone",
    "sending": lambda place: f"{place.where} fails, to each of {len(place.partners)} others; what it receives is well",
    "receiving": lambda place: f"{place.where} fails, from each of {len(place.partners)} others; what it sends is well",
    "port": lambda place: (
        f"{place.where} fails with each of {len(place.partners)} others, and they are well among each other"
    ),
    "node": lambda place: (
        f"every rail of {place.where} fails with each of {len(place.partners)} others, and they are well among each other"
    ),
    "rail": lambda place: f"{place.where} fails between all nodes, and other rails don't: look at what joins its ports",
    "everything": lambda _: "it fails everywhere",
}


def _telling(reason: str) -> tuple[bool, int]:
    """Sort reasons: one that names what was lost, or what is too large, before one that names its effect; the shortest."""
    return (LOSS_WORDS not in reason and PATH_MTU_WORDS not in reason, len(reason))


def _culprit(place: _Place, explained: set[str], reasons: dict[str, str]) -> Culprit:
    words = sorted({reasons[cell] for cell in explained if reasons[cell]}, key=_telling)
    scope = f" (only {place.scope})" if place.scope else ""
    text = f"{_TEXTS[place.kind](place)}{scope}" + (f": {words[0]}" if words else "")
    return Culprit(place.kind, place.where, text, tuple(sorted(explained)))
