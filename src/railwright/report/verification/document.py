"""VerifyRecord -> Document: verdict and claim first, then what fails and where, then how much was looked at."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from railwright.core.foreign_text import inert
from railwright.core.verdicts import Verdict
from railwright.report.model import Document
from railwright.report.plain import plain
from railwright.report.tables import count, duration, table
from railwright.verify.model import Cell, Coverage, Says, ScheduleSummary, Testimony, VerifyRecord
from railwright.verify.planned import Planned

_ROWS_SHOWN = 40
_REASONS_SHOWN = 12
_SHRUNK_SHOWN = 6


def verify_document(record: VerifyRecord) -> Document:
    """Show one run."""
    summary = record.summary
    return Document(
        "verify/v1alpha1", summary.cluster, summary.simulated, payload_of(record), verify_text(record), record.exit_code
    )


def payload_of(record: VerifyRecord) -> dict[str, Any]:
    """Give the record as data, without the raw replies: they lie beside it in the folder of --to."""
    data: dict[str, Any] = plain(record)
    data["raw"] = {}
    return data


def plan_text(planned: Planned) -> str:
    """Say before the start what will be done, how long it takes and what it holds."""
    summary = planned.summary()
    by_family = Counter((step.family, step.memory.value) for step in summary.steps)
    lines = [
        (
            f"verify of {planned.layout.fabric}: {count(summary.cells, 'cell')} on {count(len(planned.layout.nodes), 'node')}"
            f" with {count(len(planned.layout.rails), 'rail')}, {summary.rounds} of"
            f" {count(summary.rounds_possible, 'round')} of disjoint pairs, about {duration(summary.expected_s)}"
        ),
        f"  holds {count(summary.held_gpus, 'GPU')} and {count(summary.held_rails, 'rail')} meanwhile",
        "  runs " + ", ".join(f"{name} ({memory}) x {number}" for (name, memory), number in by_family.items()),
    ]
    lines += [f"  {text}" for text in planned.around]
    lines += [f"  left out: {item.reason} ({count(item.cells, 'cell')})" for item in planned.left_out]
    return inert("\n".join(lines)) + "\n"


def verify_text(record: VerifyRecord) -> str:
    """Write the text for people."""
    summary = record.summary
    parts = [
        f"{summary.verdict.value}  {summary.claim}",
        (
            f"direct: {summary.direct.value}   fast: {summary.fast.value}   {summary.method} over {summary.fabric},"
            f" {duration(summary.elapsed_s)}, by {summary.bed}"
        ),
        _lines(
            "what fails, and where", (f"{item.text}  [{count(len(item.cells), 'cell')}]" for item in record.culprits)
        ),
        _matrix(record.cells),
        _reasons("not known", record.cells, Verdict.UNKNOWN),
        _reasons("left out", record.cells, Verdict.SKIP),
        _witnesses(record.witnesses),
        _coverage(record.coverage, record.schedule),
        _lines(
            "slower than before",
            (f"{item.what}: {item.change}" for item in record.regressions),
        ),
        _lines("what this bed leaves out", summary.not_real),
        _lines("notes", summary.notes),
        "interrupted: what was measured until then is above" if summary.interrupted else "",
        _next(record),
    ]
    return "\n\n".join(part for part in parts if part)


def findings_text(record: VerifyRecord) -> str:
    """Write only what was found: verdict, both answers, and where it fails."""
    summary = record.summary
    parts = [
        f"{summary.verdict.value}  {summary.claim}",
        f"direct: {summary.direct.value}   fast: {summary.fast.value}",
        _lines("what fails, and where", (item.text for item in record.culprits)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _next(record: VerifyRecord) -> str:
    if record.summary.verdict is Verdict.FAIL and not record.summary.simulated:
        return "next  railwright doctor says why; verify --to DIR keeps the evidence of a run"
    return ""


def _matrix(cells: tuple[Cell, ...]) -> str:
    """One row a way and memory, worst first: verdict and speed of each family."""
    rows: dict[tuple[str, str, str, str], list[Cell]] = {}
    for cell in cells:
        rails = cell.source_rail if cell.source_rail == cell.target_rail else f"{cell.source_rail}>{cell.target_rail}"
        rows.setdefault((cell.source, cell.target, rails, cell.memory.value), []).append(cell)
    if not rows:
        return ""
    ordered = sorted(rows.items(), key=lambda item: (_badness(item[1]), item[0]))
    lines = [
        (source, target, rail, memory, *(_cell_text(own, name) for name in _columns(cells)))
        for (source, target, rail, memory), own in ordered[:_ROWS_SHOWN]
    ]
    more = f"\n  and {len(ordered) - _ROWS_SHOWN} more ways: -o json has all" if len(ordered) > _ROWS_SHOWN else ""
    header = ("from", "to", "rail", "memory", *_columns(cells))
    return "Gb/s on average, or percentiles (p50/p99 us)\n" + table(header, lines) + more


def _columns(cells: Iterable[Cell]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{cell.family} {cell.direction.value}" for cell in cells))


def _badness(cells: list[Cell]) -> int:
    order = (Verdict.FAIL, Verdict.UNKNOWN, Verdict.PASS, Verdict.SKIP)
    return min(order.index(cell.verdict) for cell in cells)


def _cell_text(cells: list[Cell], column: str) -> str:
    found = [cell for cell in cells if f"{cell.family} {cell.direction.value}" == column]
    if not found:
        return "-"
    cell = found[0]
    if cell.latency_us:
        value = f"{cell.latency_us.get('p50', 0):.0f}/{cell.latency_us.get('p99', 0):.0f}"
    else:
        value = f"{cell.average_gbps:.3g}" if cell.average_gbps is not None else ""
    return value if cell.verdict is Verdict.PASS and value else f"{cell.verdict.value} {value}".rstrip()


def _reasons(title: str, cells: tuple[Cell, ...], verdict: Verdict) -> str:
    reasons = Counter(cell.reason for cell in cells if cell.verdict is verdict)
    shown = reasons.most_common(_REASONS_SHOWN)
    lines = [f"{reason or 'no reason given'}  [{count(number, 'cell')}]" for reason, number in shown]
    if len(reasons) > len(shown):
        lines.append(f"and {len(reasons) - len(shown)} more reasons: -o json has all")
    return _lines(title, lines)


def _witnesses(witnesses: tuple[Testimony, ...]) -> str:
    said: dict[tuple[int, str, str], Counter[Says]] = {}
    for item in witnesses:
        said.setdefault((item.number, item.witness, item.memory.value), Counter())[item.says] += 1
    rows = [
        (str(number), name, memory, ", ".join(f"{says.value} {total}" for says, total in sorted(answers.items())))
        for (number, name, memory), answers in sorted(said.items())
    ]
    return "witnesses of directness\n" + table(("", "witness", "memory", "ways"), rows) if rows else ""


def _coverage(coverage: Coverage, schedule: ScheduleSummary) -> str:
    verdicts = ", ".join(f"{number} {verdict.value}" for verdict, number in sorted(coverage.by_verdict.items()))
    lines = [
        f"{count(coverage.cells, 'cell')}: {verdicts}",
        (
            f"{coverage.ways} of {coverage.ways_possible} ways, {coverage.nodes} of {coverage.nodes_possible} nodes,"
            f" {schedule.rounds} of {schedule.rounds_possible} rounds"
        ),
    ]
    lines += [f"left out: {item.reason} ({count(item.cells, 'cell')})" for item in coverage.left_out]
    lines += [f"covered before, and not now: {text}" for text in coverage.shrunk[:_SHRUNK_SHOWN]]
    if len(coverage.shrunk) > _SHRUNK_SHOWN:
        lines.append(f"and {len(coverage.shrunk) - _SHRUNK_SHOWN} more ways that were covered before")
    return _lines("coverage", lines)


def _lines(title: str, lines: Iterable[str]) -> str:
    found = [f"  {line}" for line in lines]
    return "\n".join([title, *found]) if found else ""
