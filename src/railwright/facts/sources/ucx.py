r"""
UCX's table of the protocols that were used, printed at the end of a worker with UCX_PROTO_INFO=used.

Sample, each line behind "[time] [host:pid:thread]   ":

    | cli intra-node cfg#2                                                 |
    | remote memory write by ucp_put*(multi) from cuda/GPU1 to cuda/dev[2] |
    +-------+--------+-------------+---------------------------------------+
    | Count | Range  | Description |                Config                 |
    +-------+--------+-------------+---------------------------------------+
    |    48 | 0..inf | zero-copy   | cuda_ipc/cuda                         |
    +-------+--------+-------------+---------------------------------------+

Lines of several processes may be mixed: they are told apart by what stands in front. Rows of NIC lanes
("rc_mlx5/mlx5_0:1") are as UCX's source writes them and were not seen on hardware by the authors.
Measured: UCX 1.23 of nixl-cu13 1.5.1 between two H200 of one host, 2026-11-30, cases/facts/ucx.
"""

import re
from dataclasses import dataclass, field

from railwright.core.foreign_text import whole_number
from railwright.facts.measured import UcxProtocol, UcxUsage

_LINE = re.compile(r"(?P<who>\[[\d.]+\] \[[^\]]+\])\s+(?P<rest>[|+].*)")
_WHO = re.compile(r"\[[^\]]+\]$")
_RULES_OF_A_TABLE = 4
_COLUMNS = ["Count", "Range", "Description", "Config"]
_LANE = re.compile(r"[a-z][a-z_0-9]*/[\w:.\-]+")


@dataclass
class _Table:
    """One table on its way; `titles` are the lines above its columns."""

    titles: list[str] = field(default_factory=list)
    has_columns: bool = False
    rows: list[UcxProtocol] = field(default_factory=list)
    rules: int = 0


def parse_ucx_usage(text: str) -> UcxUsage:
    """Read every table; one that does not end, or that is of another make, is a problem and no row counts."""
    open_tables: dict[str, _Table] = {}
    rows: list[UcxProtocol] = []
    tables = 0
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        who = _process(match["who"])
        rest = match["rest"].rstrip()
        table = open_tables.setdefault(who, _Table())
        if rest.startswith("+"):
            table.rules += 1
            if table.rules == _RULES_OF_A_TABLE:
                rows += table.rows
                tables += 1
                # A table without rows has no rule of its own at its end: this one is the next table's first.
                open_tables[who] = _Table(rules=0 if table.rows else 1)
            continue
        problem = _take(table, rest)
        if problem:
            return UcxUsage(problem=problem)
    if any(not _is_between(table) for table in open_tables.values()):
        return UcxUsage(problem="a table of protocols was cut short")
    tables += sum(table.has_columns for table in open_tables.values())
    if not tables:
        return UcxUsage(problem="no table of protocols was printed")
    return UcxUsage(rows=tuple(rows))


def _is_between(table: _Table) -> bool:
    """Whether nothing is missing: no table was begun, or one that has no rows stands with all its three rules."""
    if not table.titles:
        return table.rules == 0
    return table.has_columns and not table.rows and table.rules == _RULES_OF_A_TABLE - 1


def _process(who: str) -> str:
    """Cut the time off, which differs from line to line: "[1795999571.971209] [vm:583  :0]" is "[vm:583  :0]"."""
    match = _WHO.search(who)
    return match[0] if match else who


def _take(table: _Table, rest: str) -> str:
    """Take one line between rules; a problem when it is of another make."""
    if not rest.endswith("|"):
        return f"a line that can't be read: {rest[:80]!r}"
    cells = [cell.strip() for cell in rest.strip("|").split("|")]
    if len(cells) == 1:
        if table.has_columns:
            return f"a line that can't be read: {rest[:80]!r}"
        table.titles.append(cells[0])
        return ""
    if cells == _COLUMNS and table.titles and not table.has_columns:
        table.has_columns = True
        return ""
    count = whole_number(cells[0])
    if not table.has_columns or len(cells) != 4 or count is None:
        return f"a line that can't be read: {rest[:80]!r}"
    table.rows.append(
        UcxProtocol(
            operation=table.titles[-1],
            count=count,
            size_range=cells[1],
            description=cells[2],
            lanes=tuple(_LANE.findall(cells[3])),
            line=rest,
        )
    )
    return ""
