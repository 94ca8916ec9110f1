"""The parts below the first look: witnesses with their raw lines, every cell, raw replies."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from heapq import nsmallest

from railwright.core.verdicts import Verdict
from railwright.report.verification.html.element import Element, Node, el, group
from railwright.report.verification.html.shades import CODES, badge
from railwright.report.verification.raw import FREE_TEXTS, redacted_reply
from railwright.verify.directness import NAMES
from railwright.verify.model import Cell, Says, Testimony, VerifyRecord, Way

MOST_WAYS, MOST_CELLS, MOST_RAW_CHARACTERS = 64, 3000, 3_000_000
"""What is beyond lies in record.json and raw.jsonl beside the page; the page says so."""
MOST_LINES = 12

_SAYS = {
    Says.AGREES: Verdict.PASS,
    Says.CONTRADICTS: Verdict.FAIL,
    Says.UNCLEAR: Verdict.UNKNOWN,
    Says.ABSENT: Verdict.SKIP,
}


def witnesses(record: VerifyRecord) -> tuple[Node, ...]:
    """Sum the witnesses up, and give each way's own: those that contradict first."""
    if not record.witnesses:
        return (el("p", "No witness was heard."),)
    by_way: dict[tuple[Way, str], list[Testimony]] = defaultdict(list)
    for item in record.witnesses:
        by_way[item.way, item.memory.value].append(item)
    first = nsmallest(MOST_WAYS, by_way.items(), key=lambda entry: (_weight(entry[1]), entry[0]))
    shown = [_way(way, memory, heard) for (way, memory), heard in first]
    more = len(by_way) - len(shown)
    rest = el("p", f"{more} more ways are in record.json beside this page.", class_="soft") if more > 0 else None
    return group((_sums(record.witnesses), *shown, rest))


def _weight(heard: list[Testimony]) -> int:
    order = (Says.CONTRADICTS, Says.UNCLEAR, Says.ABSENT, Says.AGREES)
    return min(order.index(item.says) for item in heard)


def _sums(items: tuple[Testimony, ...]) -> Element:
    said: dict[tuple[int, str, str], Counter[Says]] = defaultdict(Counter)
    for item in items:
        said[item.number, item.witness, item.memory.value][item.says] += 1
    numbers = [says.value for says in Says]
    head = el("tr", *_heads(("", "witness", "memory", *numbers), numbers))
    rows = [
        el(
            "tr",
            el("td", str(number)),
            el("td", NAMES.get(witness, witness)),
            el("td", memory),
            *(el("td", str(counts[says] or ""), class_="number") for says in Says),
        )
        for (number, witness, memory), counts in sorted(said.items())
    ]
    return el("div", el("table", el("thead", head), el("tbody", *rows)), class_="scroll")


def _heads(texts: Sequence[str], numbers: Collection[str]) -> list[Element]:
    """Head columns; those of numbers stand above them."""
    return [el("th", text, scope="col", class_="number" if text in numbers else None) for text in texts]


def _way(way: Way, memory: str, heard: list[Testimony]) -> Element:
    worst_says = min(
        heard, key=lambda item: (Says.CONTRADICTS, Says.UNCLEAR, Says.ABSENT, Says.AGREES).index(item.says)
    )
    rows = []
    for item in sorted(heard, key=lambda one: (one.number, one.witness)):
        lines = [
            *item.lines[:MOST_LINES],
            *([f"... {len(item.lines) - MOST_LINES} more lines"] if len(item.lines) > MOST_LINES else []),
        ]
        raw = el("pre", "\n".join(lines)) if lines else None
        files = el("p", "raw: " + ", ".join(item.evidence), class_="soft") if item.evidence else None
        rows.append(
            el(
                "tr",
                el("td", str(item.number)),
                el("td", NAMES.get(item.witness, item.witness)),
                el("td", _said(item.says)),
                el("td", *group((el("div", item.text), raw, files))),
            )
        )
    summary = el("summary", f"{way}, {memory} memory ", _said(worst_says.says))
    return el("details", summary, el("table", el("tbody", *rows)))


def _said(says: Says) -> Element:
    return el("span", says.value, class_=f"badge {CODES[_SAYS[says]]}")


def cells(record: VerifyRecord) -> tuple[Node, ...]:
    """List cells, worst first, with a filter; of a large run those that did not pass, and the first that did."""
    order = (Verdict.FAIL, Verdict.UNKNOWN, Verdict.SKIP, Verdict.PASS)
    shown = nsmallest(MOST_CELLS, record.cells, key=lambda cell: (order.index(cell.verdict), cell.id))
    head = ("cell", "from", "to", "rail", "family", "memory", "verdict", "direct", "fast", "Gb/s", "floor", "why")
    table = el(
        "table",
        el("thead", el("tr", *_heads(head, ("Gb/s", "floor")))),
        el("tbody", *(_row(cell) for cell in shown)),
        id="cells",
    )
    tools = el(
        "div",
        el("label", "find ", el("input", type="search", id="words", placeholder="node, rail, word")),
        el(
            "label",
            "verdict ",
            el(
                "select",
                el("option", "all", value=""),
                *(el("option", item.value, value=CODES[item]) for item in order),
                id="only",
            ),
        ),
        el("span", "", id="counted", aria_live="polite"),
        class_="tools",
    )
    more = len(record.cells) - len(shown)
    rest = el("p", f"{more} more cells are in record.json beside this page.", class_="soft") if more else None
    return group((tools, el("div", table, class_="scroll"), rest))


def _row(cell: Cell) -> Element:
    rails = cell.source_rail if cell.source_rail == cell.target_rail else f"{cell.source_rail} > {cell.target_rail}"
    latency = ", ".join(f"{name} {value:g} us" for name, value in cell.latency_us.items())
    wire = "; ".join(f"{key}={value}" for key, value in cell.wire.items())
    why = " ".join(part for part in (cell.reason, "(confirmed)" if cell.confirmed else "", latency) if part)
    return el(
        "tr",
        el("td", cell.id, title=wire or None),
        el("td", cell.source),
        el("td", cell.target),
        el("td", rails),
        el("td", f"{cell.family} {cell.direction.value}"),
        el("td", cell.memory.value),
        el("td", badge(cell.verdict)),
        el("td", cell.direct.value if cell.direct is not Verdict.SKIP else ""),
        el("td", cell.fast.value if cell.fast is not Verdict.SKIP else ""),
        el("td", f"{cell.average_gbps:.4g}" if cell.average_gbps is not None else "", class_="number"),
        el("td", f"{cell.floor_gbps:.4g}" if cell.floor_gbps is not None else "", class_="number"),
        el("td", why),
        data_v=CODES[cell.verdict],
    )


def raw_replies(record: VerifyRecord) -> tuple[Node, ...]:
    """Embed raw replies of cells that did not pass, and of one way that did; the others lie beside the page."""
    wanted = [name for cell in record.cells if cell.verdict is not Verdict.PASS for name in cell.evidence]
    first = next((cell for cell in record.cells if cell.verdict is Verdict.PASS), None)
    if first is not None:
        same = [cell for cell in record.cells if cell.way == first.way and cell.verdict is Verdict.PASS]
        wanted += [name for cell in same for name in cell.evidence]
    shown: list[Node] = []
    used = 0
    for name in dict.fromkeys(wanted):
        text = _indented(record.raw.get(name, ""))
        used += len(text)
        if not text or used > MOST_RAW_CHARACTERS:
            continue
        shown.append(el("details", el("summary", name), el("pre", text)))
    total = len(record.raw)
    note = f"{len(shown)} of {total} raw replies; all of them are in raw.jsonl beside this page."
    return (el("p", note, class_="soft"), *shown)


def _indented(text: str) -> str:
    if not text:
        return ""
    reply = redacted_reply(text)
    kept = {key: value for key, value in reply.items() if value not in ("", None, [], {}) and key not in FREE_TEXTS[:2]}
    words = "".join(f"\n--- {key} ---\n{reply[key]}" for key in FREE_TEXTS[:2] if reply.get(key))
    return json.dumps(kept, indent=1, ensure_ascii=False) + words
