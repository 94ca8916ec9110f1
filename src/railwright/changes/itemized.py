"""
Differences of lists that the server merges as one value, shown item by item: what a MachineConfig puts on nodes.

Only for people: the list is written whole all the same, and an item that nobody wants any more goes with that.
Measured: kube-apiserver 1.36.3 with the published definition, 2026-11: spec.config has no schema, its lists are atomic.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from railwright.changes.model import MISSING, Change, FieldChange, FieldPath
from railwright.core import kinds
from railwright.core.objects import Kind

_ITEM_KEYS: Mapping[tuple[Kind, FieldPath], str] = {
    (kinds.MACHINE_CONFIG, ("spec", "config", "storage", "files")): "path",
    (kinds.MACHINE_CONFIG, ("spec", "config", "systemd", "units")): "name",
    (kinds.MACHINE_CONFIG, ("spec", "kernelArguments")): "",
}
"""By what the items of a list are told apart; "" for the values themselves."""


def items_of(change: Change) -> tuple[FieldChange, ...]:
    """List the fields of a change, long lists item by item."""
    return tuple(item for whole in change.fields for item in itemized(change.ref.kind, whole))


def itemized(kind: Kind, change: FieldChange) -> tuple[FieldChange, ...]:
    """Take the change of a whole list apart; any other change is given as it is."""
    key = _ITEM_KEYS.get((kind, change.path))
    if key is None:
        return (change,)
    old, new = _by_item(change.old, key), _by_item(change.new, key)
    if old is None or new is None:
        return (change,)
    names = dict.fromkeys((*old, *new))
    found = tuple(
        FieldChange((*change.path, name), _shown(old.get(name, MISSING)), _shown(new.get(name, MISSING)), change.owner)
        for name in names
        if old.get(name, MISSING) != new.get(name, MISSING)
    )
    return found or (change,)


def _by_item(value: Any, key: str) -> dict[str, Any] | None:
    """Name the items; None when the value is no list of such items."""
    if value is MISSING:
        return {}
    if not isinstance(value, list):
        return None
    if not key:
        return {f"[={item}]": item for item in value}
    if not all(isinstance(item, Mapping) and key in item for item in value):
        return None
    return {f"[{key}={item[key]}]": item for item in value}


def _shown(item: Any) -> Any:
    """Show a file by its text and mode, as people write it; anything else as it is."""
    source = item.get("contents", {}).get("source") if isinstance(item, Mapping) else None
    if not isinstance(source, str) or not source.startswith("data:"):
        return item
    head, _, body = source.partition(",")
    try:
        text = base64.b64decode(body, validate=True).decode() if head.endswith(";base64") else unquote(body)
    except (binascii.Error, ValueError):
        return item
    return {"mode": oct(item["mode"]) if isinstance(item.get("mode"), int) else "", "text": text}
