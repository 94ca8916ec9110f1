"""Plain-text tables and durations, for reports that are read in a terminal or a log."""

import re
from collections.abc import Sequence

MOST_CHARACTERS = 2_000
"""Of one value in text for people; JSON and YAML have it whole."""
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z")


def table(header: Sequence[str], rows: Sequence[Sequence[str]], indent: str = "  ") -> str:
    """Align columns with two spaces between them; the last column is not padded. Empty for no rows."""
    if not rows:
        return ""
    every = [header, *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in every) for column in range(len(header))]
    lines = []
    for row in every:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        lines.append(indent + "  ".join([*cells, row[-1]]).rstrip())
    return "\n".join(lines)


def one_line(text: str) -> str:
    """Write a value of somebody else's so that it is no line of ours, and buries none: without line ends, not too long."""
    flat = " ".join(text.splitlines())
    return flat if len(flat) <= MOST_CHARACTERS else f"{flat[:MOST_CHARACTERS]}… ({len(flat):,} characters)"


def duration(seconds: float) -> str:
    """Write a duration the way people say it: "45 s", "7 min", "1 h 20 min"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"


def moment(stamp: str) -> str:
    """Write a stamp the way people read it: "2026-03-02T08:10:10Z" -> "2026-03-02 08:10 UTC"; anything else as it is."""
    match = _STAMP.fullmatch(stamp)
    return f"{match[1]} {match[2]} UTC" if match else stamp


def count(number: int, noun: str) -> str:
    """Write a number with its noun: "1 node", "2 nodes", "3 policies"."""
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"
    return f"{number} {plural}"
