"""An earlier run as the measure: what is slower than it was, and what is no longer looked at. Pure."""

from dataclasses import replace

from railwright.core.verdicts import Verdict
from railwright.verify.model import Cell, Regression, VerifyRecord

REGRESSION_SHARE = 0.9
"""Below this share of the earlier average a cell has become slower; runs on one fabric differ by a few percent."""

LATENCY_SHARE = 0.75
"""The same for latency: a run's own hosts change it by more."""

Key = tuple[str, str, str, str, str, str, str]


def key_of(cell: Cell) -> Key:
    """Give what makes cells of two runs the same."""
    return (
        cell.source,
        cell.target,
        cell.source_rail,
        cell.target_rail,
        cell.direction.value,
        cell.memory.value,
        cell.family,
    )


def spoken(cell: Cell) -> str:
    """Name a cell for people."""
    return f"{cell.way}, {cell.family} {cell.direction.value} of {cell.memory.value} memory"


def _slower(cell: Cell, earlier: Cell) -> list[Regression]:
    """Compare averages, and of latencies the middle: the tail differs from run to run."""
    found = []
    now_gbps, before_gbps = cell.average_gbps, earlier.average_gbps
    if now_gbps is not None and before_gbps and now_gbps < REGRESSION_SHARE * before_gbps:
        found.append(Regression(cell.id, spoken(cell), before_gbps, now_gbps))
    now_us, before_us = cell.latency_us.get("p50"), earlier.latency_us.get("p50")
    if now_us is not None and before_us and now_us * LATENCY_SHARE > before_us:
        found.append(Regression(cell.id, spoken(cell), None, None, before_us, now_us))
    return found


def compared(record: VerifyRecord, baseline: VerifyRecord) -> VerifyRecord:
    """Put regressions and shrunk coverage beside a record; verdicts stay as they were measured."""
    before = {key_of(cell): cell for cell in baseline.cells}
    regressions = []
    for cell in record.cells:
        earlier = before.get(key_of(cell))
        if earlier is not None:
            regressions += _slower(cell, earlier)
    judged = {Verdict.PASS, Verdict.FAIL}
    now = {key_of(cell) for cell in record.cells if cell.verdict in judged}
    lost = [cell for key, cell in before.items() if cell.verdict in judged and key not in now]
    ways = dict.fromkeys(f"{cell.way} ({cell.memory.value} memory)" for cell in lost)
    coverage = replace(record.coverage, shrunk=tuple(ways))
    return replace(record, regressions=tuple(regressions), coverage=coverage)
