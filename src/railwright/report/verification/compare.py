"""Two runs side by side: what fails now and did not, what is slower, what is no longer looked at. Pure."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from railwright.core.verdicts import Verdict
from railwright.report.model import Document
from railwright.report.plain import plain
from railwright.report.tables import count
from railwright.verify.baseline import compared, key_of, spoken
from railwright.verify.model import Cell, VerifyRecord

_SHOWN = 30


def diff_document(before: VerifyRecord, after: VerifyRecord) -> Document:
    """Show what changed; exit code 5 when something got worse."""
    known = {key_of(cell): cell for cell in before.cells}
    now = {key_of(cell): cell for cell in after.cells}
    both = [(known[key], cell) for key, cell in now.items() if key in known]
    worse = [pair for pair in both if _rank(pair[1]) < _rank(pair[0]) and pair[1].verdict is not Verdict.SKIP]
    better = [pair for pair in both if _rank(pair[1]) > _rank(pair[0]) and pair[0].verdict is not Verdict.SKIP]
    judged = compared(replace(after, regressions=()), before)
    payload: dict[str, Any] = {
        "before": _what(before),
        "after": _what(after),
        "worse": [_pair(pair) for pair in worse],
        "better": [_pair(pair) for pair in better],
        "slower": plain(judged.regressions),
        "no_longer_covered": list(judged.coverage.shrunk),
        "cells_in_both": len(both),
    }
    bad = bool(worse or judged.regressions)
    parts = [
        f"{_named(before)}  ->  {_named(after)}; {count(len(both), 'cell')} in both",
        _lines(
            "worse", (f"{spoken(new)}: {old.verdict.value} -> {new.verdict.value}: {new.reason}" for old, new in worse)
        ),
        _lines(
            "slower",
            (f"{item.what}: {item.change}" for item in judged.regressions),
        ),
        _lines("no longer covered", judged.coverage.shrunk),
        _lines("better", (f"{spoken(new)}: {old.verdict.value} -> {new.verdict.value}" for old, new in better)),
    ]
    text = "\n\n".join(part for part in parts if part)
    if len([part for part in parts if part]) == 1:
        text += "\n\nnothing got worse, and nothing got better"
    simulated = before.summary.simulated or after.summary.simulated
    return Document("verify-diff/v1alpha1", after.summary.cluster, simulated, payload, text, 5 if bad else 0)


def _rank(cell: Cell) -> int:
    return (Verdict.FAIL, Verdict.UNKNOWN, Verdict.SKIP, Verdict.PASS).index(cell.verdict)


def _pair(pair: tuple[Cell, Cell]) -> dict[str, Any]:
    old, new = pair
    return {"cell": spoken(new), "before": old.verdict.value, "after": new.verdict.value, "reason": new.reason}


def _what(record: VerifyRecord) -> dict[str, Any]:
    summary = record.summary
    return {"cluster": summary.cluster, "started_at": summary.started_at, "verdict": summary.verdict.value}


def _named(record: VerifyRecord) -> str:
    return f"{record.summary.cluster} {record.summary.started_at} {record.summary.verdict.value}"


def _lines(title: str, lines: Iterable[str]) -> str:
    found = [f"  {line}" for line in lines]
    if len(found) > _SHOWN:
        found = [*found[:_SHOWN], f"  and {len(found) - _SHOWN} more: -o json has all"]
    return "\n".join([title, *found]) if found else ""
