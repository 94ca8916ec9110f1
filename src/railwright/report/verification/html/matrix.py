"""
Rails and node pairs at one look.

Up to some dozens of pairs: a table, a row a pair, a column a rail. Beyond: a row a node and a column a rail in a table,
and a map a rail, drawn by the page's script from one letter a way, with details of the way that is pointed at.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable

from railwright.core.ids import NodeName, RailName
from railwright.core.verdicts import Verdict, worst
from railwright.report.verification.html.element import Element, Node, data_block, el, group
from railwright.report.verification.html.shades import CODES, NOTHING, SIGNS, sign
from railwright.verify.model import Cell, VerifyRecord

MOST_PAIRS_IN_TABLE = 66
"""12 nodes."""

_Ways = dict[tuple[NodeName, NodeName, RailName], list[Cell]]


def matrix(record: VerifyRecord) -> Element:
    """Draw what fits its size."""
    ways = _ways(record.cells)
    pairs = sorted({(source, target) for source, target, _ in ways})
    rails = sorted({rail for _, _, rail in ways}, key=_natural)
    undirected = {tuple(sorted(pair)) for pair in pairs}
    if not pairs:
        return el("p", "No cell was run.")
    if len(undirected) <= MOST_PAIRS_IN_TABLE:
        return el("div", _pair_table(ways, pairs, rails), class_="scroll")
    return el("div", *_large(ways, rails))


def _natural(name: str) -> tuple[str, int]:
    digits = name[len(name.rstrip("0123456789")) :]
    return name.rstrip("0123456789"), int(digits or 0)


def _ways(cells: Iterable[Cell]) -> _Ways:
    found: _Ways = defaultdict(list)
    for cell in cells:
        if cell.source_rail == cell.target_rail:
            found[cell.source, cell.target, cell.source_rail].append(cell)
    return found


def _pair_table(ways: _Ways, pairs: list[tuple[NodeName, NodeName]], rails: list[RailName]) -> Element:
    head = el(
        "tr",
        el("th", "from", scope="col"),
        el("th", "to", scope="col"),
        *(el("th", rail, scope="col") for rail in rails),
    )
    rows = [
        el(
            "tr",
            el("th", source, scope="row"),
            el("th", target, scope="row"),
            *(_way_cell(ways.get((source, target, rail), [])) for rail in rails),
        )
        for source, target in pairs
    ]
    caption = el(
        "caption", "Each way: the worst of its cells, and the best average that its engine or perftest reached."
    )
    return el("table", caption, el("thead", head), el("tbody", *rows), class_="matrix")


def _way_cell(cells: list[Cell]) -> Element:
    if not cells:
        return el("td", "\u00b7", class_="none", title="nothing was planned here")
    verdict = worst(cell.verdict for cell in cells)
    rate = best_gbps(cells)
    reasons = "; ".join(dict.fromkeys(cell.reason for cell in cells if cell.verdict is verdict and cell.reason))
    counted = Counter(cell.verdict for cell in cells)
    title = ", ".join(f"{number} {answer.value}" for answer, number in counted.items())
    return el(
        "td",
        sign(verdict),
        el("span", f"{rate:.3g}" if rate is not None else "", class_="rate"),
        class_=CODES[verdict],
        title=f"{title}{': ' + reasons if reasons and verdict is not Verdict.PASS else ''}",
    )


def best_gbps(cells: Iterable[Cell]) -> float | None:
    """Give the best average of a way's cells in one direction, GPU memory first."""
    rates = [
        (cell.memory == "gpu", cell.average_gbps) for cell in cells if cell.average_gbps and cell.direction != "both"
    ]
    return max(rates)[1] if rates else None


# --- more nodes than a table of pairs holds ----------------------------------------------------------------------------


def _large(ways: _Ways, rails: list[RailName]) -> tuple[Node, ...]:
    nodes = sorted({node for source, target, _ in ways for node in (source, target)}, key=_natural)
    return group(
        (
            el(
                "p",
                "A map a rail: rows send, columns receive. Point at it, or focus it and use the arrow keys; "
                "the table below says the same by node.",
                class_="screen",
            ),
            el(
                "div",
                *(
                    el(
                        "figure",
                        el("figcaption", rail),
                        el(
                            "canvas",
                            class_="map",
                            data_rail=str(index),
                            tabindex="0",
                            role="application",
                            aria_label=f"{rail}: verdicts of {len(nodes)} by {len(nodes)} nodes",
                        ),
                    )
                    for index, rail in enumerate(rails)
                ),
                class_="maps screen",
            ),
            el("p", "", id="pointed", class_="screen", aria_live="polite"),
            el("div", _node_table(ways, nodes, rails), class_="scroll"),
            _legend(),
            data_block("maps", {"nodes": nodes, "rails": rails, "verdicts": _letters(ways, nodes, rails)}),
        )
    )


def _letters(ways: _Ways, nodes: list[NodeName], rails: list[RailName]) -> list[list[str]]:
    """A letter a way: rails, then a text a sending node with a letter a receiving one."""
    return [
        [
            "".join(
                CODES[worst(cell.verdict for cell in ways[source, target, rail])]
                if (source, target, rail) in ways
                else NOTHING
                for target in nodes
            )
            for source in nodes
        ]
        for rail in rails
    ]


def _node_table(ways: _Ways, nodes: list[NodeName], rails: list[RailName]) -> Element:
    by_port: dict[tuple[NodeName, RailName], Counter[Verdict]] = defaultdict(Counter)
    for (source, target, rail), cells in ways.items():
        verdict = worst(cell.verdict for cell in cells)
        by_port[source, rail][verdict] += 1
        by_port[target, rail][verdict] += 1
    ordered = sorted(nodes, key=lambda node: (-_failed(by_port, node, rails), _natural(node)))
    head = el("tr", el("th", "node", scope="col"), *(el("th", rail, scope="col") for rail in rails))
    rows = [
        el("tr", el("th", node, scope="row"), *(_port_cell(by_port.get((node, rail), Counter())) for rail in rails))
        for node in ordered
    ]
    caption = el(
        "caption", "Each port: ways through it that passed, of all that were judged. Nodes with failures first."
    )
    return el("table", caption, el("thead", head), el("tbody", *rows), class_="matrix")


def _failed(by_port: dict[tuple[NodeName, RailName], Counter[Verdict]], node: NodeName, rails: list[RailName]) -> int:
    return sum(by_port[node, rail][Verdict.FAIL] for rail in rails if (node, rail) in by_port)


def _port_cell(counts: Counter[Verdict]) -> Element:
    if not counts:
        return el("td", "\u00b7", class_="none")
    verdict = worst(counts)
    judged = counts[Verdict.PASS] + counts[Verdict.FAIL] + counts[Verdict.UNKNOWN]
    title = ", ".join(f"{number} {answer.value}" for answer, number in counts.items())
    return el(
        "td",
        sign(verdict),
        el("span", f"{counts[Verdict.PASS]}/{judged}", class_="rate"),
        class_=CODES[verdict],
        title=title,
    )


def _legend() -> Element:
    return el("p", *(el("span", f"{SIGNS[item]} {item.value} ", class_=f"badge {CODES[item]}") for item in SIGNS))
