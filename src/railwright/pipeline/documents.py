"""Records of whole commands -> documents: the same facts as data, and as text for people."""

from collections.abc import Iterable
from typing import Any

from railwright.apply.model import StageRecord
from railwright.changes.itemized import itemized
from railwright.changes.model import FieldChange
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict
from railwright.pipeline.model import ApplyRecord, CleanRecord, StatusRecord
from railwright.pipeline.questions import question_text
from railwright.plan.model import Refusal
from railwright.report.doctor import finding_data, findings_text
from railwright.report.model import Document
from railwright.report.plain import plain, reference
from railwright.report.tables import count, duration, moment, one_line, table


def apply_document(record: ApplyRecord) -> Document:
    """Show how an apply went: stages with their batches, and what held them up."""
    payload = {
        "fabrics": list(record.fabrics),
        "wanted_by": record.wanted_by or None,
        "dry_run": record.dry_run,
        "interrupted": record.interrupted,
        "until": record.until,
        "stages": [_stage(stage) for stage in record.stages],
        "refusals": plain(record.refusals),
        "refused_nodes": plain(record.refused_nodes),
        "warnings": plain(record.warnings),
        "notes": list(record.notes),
        "findings": [finding_data(item) for item in record.findings],
        "exit_code": record.exit_code,
    }
    return Document("apply/v1alpha1", record.cluster, record.simulated, payload, _apply_text(record), record.exit_code)


def _stage(stage: StageRecord) -> dict[str, Any]:
    return {
        "name": stage.stage,
        "batch": stage.batch or None,
        "verdict": stage.verdict.value,
        "reason": stage.reason,
        "waiting_for": stage.waiting_for or None,
        "started_at": stage.started_at,
        "ended_at": stage.ended_at,
        "elapsed_s": round(stage.elapsed_s, 1),
        "expected_s": stage.expected_s,
        "writes": [
            reference(write.ref) | {"action": write.action.value, "at": plain(write.at)} for write in stage.writes
        ],
        "states": plain(stage.states),
    }


def _apply_text(record: ApplyRecord) -> str:
    rows = [
        (
            stage.stage,
            stage.batch or "-",
            stage.verdict.value,
            duration(stage.elapsed_s),
            count(len(stage.writes), "write"),
            stage.reason,
        )
        for stage in record.stages
    ]
    parts = [
        f"apply of {', '.join(record.fabrics)}"
        + _by(record.wanted_by)
        + (" (dry run: nothing was stored)" if record.dry_run else ""),
        table(("stage", "batch", "verdict", "took", "", "why"), rows),
        _holders(record.stages),
        _refusals("refused", record.refusals),
        _refusals("nodes left out", record.refused_nodes),
        _lines("notes", record.notes),
        findings_text(record.findings),
    ]
    if record.interrupted:
        parts.append("interrupted: what was done is in the ledger; run railwright apply again to go on")
    elif record.exit_code:
        parts.append("next  railwright status; after mending it, railwright apply goes on where it stopped")
    return _join(parts)


def _holders(stages: Iterable[StageRecord]) -> str:
    lines: list[str] = []
    for stage in stages:
        if stage.verdict in {Verdict.FAIL, Verdict.UNKNOWN, Verdict.PROGRESSING}:
            lines.extend(
                f"{state.what}: {state.readiness}: {state.waiting_for or state.reason}"
                for state in stage.states
                if state.readiness != "ready"
            )
    return _lines("held up by", lines)


def status_document(record: StatusRecord) -> Document:
    """Show where each stage stands."""
    payload = {
        "fabrics": [{"name": name, "applied_at": at} for name, at in record.applied],
        "wanted_by": record.wanted_by or None,
        "changed": list(record.changed),
        "stages": [
            {
                "name": stage.name,
                "verdict": stage.verdict.value,
                "reason": stage.reason,
                "waiting_for": stage.waiting_for or None,
                "since": stage.since or None,
                "states": plain(stage.states),
                "drift": [reference(ref) | {"fields": _fields(_items(ref, fields))} for ref, fields in stage.drift],
            }
            for stage in record.stages
        ],
        "not_admitted": [{"node": node, "why": why} for node, why in record.not_admitted],
        "refusals": plain(record.refusals),
        "warnings": plain(record.warnings),
        "problems": list(record.problems),
        "exit_code": record.exit_code,
    }
    return Document(
        "status/v1alpha1", record.cluster, record.simulated, payload, _status_text(record), record.exit_code
    )


def _status_text(record: StatusRecord) -> str:
    if not record.stages and record.problems:
        return "what railwright applied here is not known: " + "; ".join(record.problems)
    if not record.stages:
        return "railwright has applied no fabric here (its ledger is empty), and no rails.yaml was given"
    rows = [
        (
            stage.name,
            stage.verdict.value,
            moment(stage.since) or "-",
            stage.reason if stage.waiting_for in stage.reason else f"{stage.reason}; waiting for {stage.waiting_for}",
        )
        for stage in record.stages
    ]
    drift = [
        f"{ref}: {'; '.join(_change(field) for field in _items(ref, fields)) or 'is gone'}"
        for stage in record.stages
        for ref, fields in stage.drift
    ]
    return _join(
        [
            _status_head(record),
            "\n".join(record.changed),
            table(("stage", "verdict", "since", "why"), rows),
            _lines("drift: no longer what the plan wants", drift),
            _lines("not admitted", (f"{node}: {why}" for node, why in record.not_admitted)),
            _refusals("the plan would be refused today", record.refusals),
            _lines("could not be read", record.problems),
        ]
    )


def _status_head(record: StatusRecord) -> str:
    applied = dict(record.applied)
    names = [*applied, *(intent.name for intent in record.intents if intent.name not in applied)]
    said = (
        f"{name} (applied {moment(applied[name])})" if name in applied else f"{name} (never applied)" for name in names
    )
    return f"status of {', '.join(said)}{_by(record.wanted_by)}"


def _by(file: str) -> str:
    return f", as {file} wants it" if file else ""


def clean_document(record: CleanRecord) -> Document:
    """Show what was removed, what was put back, and what stays."""
    payload = {
        "fabrics": list(record.fabrics),
        "dry_run": record.dry_run,
        "interrupted": record.interrupted,
        "objects": [
            reference(item.ref)
            | {
                "action": item.action,
                "verdict": item.verdict.value,
                "reason": item.reason,
                "left": _fields(item.left),
            }
            for item in record.objects
        ],
        "ahead": [
            {
                "risk": item.risk.value,
                "what": item.what,
                "nodes": list(item.nodes),
                "expected_s": item.expected_s,
                "details": list(item.details),
            }
            for item in record.ahead
        ],
        "cannot_be_restored": list(record.cannot_be_restored),
        "notes": list(record.notes),
        "exit_code": record.exit_code,
    }
    return Document("clean/v1alpha1", record.cluster, record.simulated, payload, _clean_text(record), record.exit_code)


def _clean_text(record: CleanRecord) -> str:
    done: dict[str, int] = {}
    for item in record.objects:
        if item.verdict is Verdict.PASS:
            done[item.action] = done.get(item.action, 0) + 1
    summary = ", ".join(f"{number} {action}" for action, number in done.items()) or "nothing to undo"
    kept = [
        f"{item.ref}: {item.reason}"
        for item in record.objects
        if item.verdict is not Verdict.PASS or item.action == "keep"
    ]
    left = [f"{item.ref}: {_change(field)}" for item in record.objects for field in item.left]
    interrupted = "interrupted: what is left is in the ledger; run railwright clean again to go on"
    return _join(
        [
            f"clean of {', '.join(record.fabrics) or 'nothing'}"
            + (" (dry run: nothing was changed)" if record.dry_run else "")
            + f": {summary}",
            "\n".join(["a real run asks first", *map(question_text, record.ahead)]) if record.ahead else "",
            _lines("stays, or is not done", kept),
            _lines("no longer holds our value, so it was left", left),
            _lines("can't be put back (whole in -o json)", (_cut(line) for line in record.cannot_be_restored)),
            _lines("notes", record.notes),
            interrupted if record.interrupted else "",
        ]
    )


def _fields(fields: Iterable[FieldChange]) -> list[dict[str, Any]]:
    return [
        {"path": ".".join(field.path), "old": plain(field.old), "new": plain(field.new), "owner": field.owner or None}
        for field in fields
    ]


def _items(ref: Ref, fields: Iterable[FieldChange]) -> Iterable[FieldChange]:
    return (item for whole in fields for item in itemized(ref.kind, whole))


def _change(field: FieldChange) -> str:
    owner = f" (owner: {field.owner})" if field.owner else ""
    return f"{'.'.join(field.path)} is {_short(field.old)}, not {_short(field.new)}{owner}"


def _short(value: Any) -> str:
    return _cut(str(plain(value)), 60)


def _cut(text: str, longest: int = 160) -> str:
    return text if len(text) <= longest else text[:longest] + "..."


def _refusals(title: str, refusals: Iterable[Refusal]) -> str:
    lines: list[str] = []
    for refusal in refusals:
        lines.append(f"{refusal.code}  {refusal.where or refusal.node or ''}: {refusal.message}")
        lines += [f"  next  {refusal.hint}"] if refusal.hint else []
    return _lines(title, lines)


def _lines(title: str, lines: Iterable[str]) -> str:
    found = [f"  {one_line(line)}" for line in lines]
    return "\n".join([title, *found]) if found else ""


def _join(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)
