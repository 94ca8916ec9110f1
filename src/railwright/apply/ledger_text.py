"""
Ledger entries and notes as text, and back: one JSON document an entry.

An entry as it stands in a ConfigMap; a field that was not there before has no `previous` but `"missing": true`:

    {"format": 2, "apiVersion": "v1", "kind": "Node", "namespace": "", "name": "worker-1", "created": false, "uid": "5a...",
     "fields": [{"path": ["metadata", "labels", "a"], "previous": {"missing": true}, "ours": {"value": "b"}}],
     "fabrics": ["east-west"], "order": 17, "stage": "nic-driver-ready", "embedded": [], "recorded_at": "..."}
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from railwright.apply.model import FabricNote, LedgerEntry, StageNote
from railwright.changes.model import MISSING, Missing, TakenField
from railwright.core.errors import ClusterError
from railwright.core.ids import FabricName, StageName
from railwright.core.objects import Kind, Ref
from railwright.core.verdicts import Verdict

_STAGE_PREFIX = "stage."
FORMAT = 2
"""
Of what is written here. Form 1, before formats were written down, is read too: entries without `recorded_at`, notes
without `before` and `subnets`. A later form is not guessed at.
"""


def entry_key(ref: Ref, order: int) -> str:
    """Key of an entry in its ConfigMap: readable, in order, and valid whatever the object is called."""
    words = (ref.kind.api_version, ref.kind.kind, ref.namespace, ref.name)
    digest = hashlib.sha256("\0".join(words).encode()).hexdigest()[:12]
    return f"{order:06d}.{ref.kind.kind}.{digest}"


def entry_to_text(entry: LedgerEntry) -> str:
    """Write an entry."""
    return json.dumps(
        {
            "format": FORMAT,
            "apiVersion": entry.ref.kind.api_version,
            "kind": entry.ref.kind.kind,
            "namespace": entry.ref.namespace,
            "name": entry.ref.name,
            "created": entry.created,
            "uid": entry.uid,
            "fields": [_field_to_data(item) for item in entry.fields],
            "fabrics": list(entry.fabrics),
            "order": entry.order,
            "stage": entry.stage,
            "embedded": [list(pair) for pair in entry.embedded],
            "recorded_at": entry.recorded_at,
        },
        separators=(",", ":"),
        ensure_ascii=False,
    )


def text_to_entry(text: str, where: str) -> LedgerEntry:
    """
    Read an entry; `where` names ConfigMap and key for the error.

    Raises:
        ClusterError: the text is no entry of ours: somebody edited it, or a newer railwright wrote it.
    """
    try:
        data = json.loads(text)
        _check_format(data.get("format", 1), where)
        return LedgerEntry(
            ref=Ref(Kind(data["apiVersion"], data["kind"]), data["namespace"], data["name"]),
            created=bool(data["created"]),
            uid=data["uid"],
            fields=tuple(_data_to_field(item) for item in data["fields"]),
            fabrics=tuple(FabricName(name) for name in data["fabrics"]),
            order=int(data["order"]),
            stage=StageName(data["stage"]),
            embedded=tuple((str(path), str(how)) for path, how in data["embedded"]),
            recorded_at=data.get("recorded_at", ""),
        )
    except (AttributeError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise _unreadable(where, error) from error


def note_to_data(note: FabricNote) -> dict[str, str]:
    """Write a fabric's note as the data of its ConfigMap."""
    stages = {_STAGE_PREFIX + item.stage: stage_to_text(item) for item in note.stages}
    before = {"before": json.dumps(note.before)} if note.before else {}
    subnets = {"subnets": json.dumps(note.subnets)} if note.subnets else {}
    return {
        "format": str(FORMAT),
        "name": note.name,
        "document": note.document,
        "applied_at": note.applied_at,
        **before,
        **subnets,
        **stages,
    }


def stage_key(stage: StageName) -> str:
    """Key of a stage's note in its fabric's ConfigMap."""
    return _STAGE_PREFIX + stage


def stage_to_text(note: StageNote) -> str:
    """Write a stage's note."""
    return json.dumps({"verdict": note.verdict.value, "reason": note.reason, "ended_at": note.ended_at})


def data_to_note(data: Mapping[str, str], where: str) -> FabricNote:
    """
    Read a fabric's note.

    Raises:
        ClusterError: the data is no note of ours.
    """
    try:
        _check_format(data.get("format", 1), where)
        stages = tuple(
            _text_to_stage(StageName(key.removeprefix(_STAGE_PREFIX)), text)
            for key, text in sorted(data.items())
            if key.startswith(_STAGE_PREFIX)
        )
        before = tuple((str(key), str(value)) for key, value in json.loads(data.get("before", "[]")))
        subnets = tuple(str(text) for text in json.loads(data.get("subnets", "[]")))
        return FabricNote(FabricName(data["name"]), data["document"], data["applied_at"], stages, before, subnets)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _unreadable(where, error) from error


def _text_to_stage(stage: StageName, text: str) -> StageNote:
    data = json.loads(text)
    return StageNote(stage, Verdict(data["verdict"]), data["reason"], data["ended_at"])


def _field_to_data(item: TakenField) -> dict[str, Any]:
    return {"path": list(item.path), "previous": _value_to_data(item.previous), "ours": _value_to_data(item.ours)}


def _data_to_field(data: Mapping[str, Any]) -> TakenField:
    return TakenField(tuple(data["path"]), _data_to_value(data["previous"]), _data_to_value(data["ours"]))


def _value_to_data(value: Any) -> dict[str, Any]:
    return {"missing": True} if isinstance(value, Missing) else {"value": value}


def _data_to_value(data: Mapping[str, Any]) -> Any:
    return MISSING if data.get("missing") else data["value"]


def _unreadable(where: str, error: Exception) -> ClusterError:
    return ClusterError(
        f"the ledger cannot be read: {where} is not as railwright writes it, up to ledger format {FORMAT}"
        f" ({type(error).__name__}: {error})",
        hint="use the version of railwright that wrote it, or repair the ConfigMap from a backup; until then nothing is written",
    )


def _check_format(written: object, where: str) -> None:
    """
    See that a form is known.

    Raises:
        ClusterError: a newer railwright wrote it.
        ValueError: it is no number.
    """
    if int(str(written)) > FORMAT:
        raise ClusterError(
            f"the ledger was written by a newer railwright: {where} has ledger format {written}, and this one reads up to"
            f" {FORMAT}",
            hint="use that version, or a newer one; this one changes nothing on this cluster",
        )
