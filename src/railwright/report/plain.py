"""Frozen values -> JSON-ready data: dataclasses become objects with their field names, references become four keys."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from railwright.changes.model import Missing
from railwright.core.objects import Kind, Ref


def plain(value: Any) -> Any:
    """
    Turn a value into None, bool, int, float, str, list and dict.

    A mapping whose keys are references becomes a list of objects; an absent field becomes null.
    """
    if isinstance(value, Ref):
        return reference(value)
    if isinstance(value, Kind):
        return str(value)
    if isinstance(value, Missing):
        return None
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value) if field.repr}
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, frozenset | set):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _mapping(value: Mapping[Any, Any]) -> Any:
    if any(isinstance(key, Ref) for key in value):
        return [reference(key) | {"value": plain(item)} for key, item in value.items()]
    return {str(plain(key)): plain(item) for key, item in value.items()}


def reference(ref: Ref) -> dict[str, Any]:
    """Write a reference the way manifests name objects; namespace is null for cluster-scoped kinds."""
    return {
        "apiVersion": ref.kind.api_version,
        "kind": ref.kind.kind,
        "namespace": ref.namespace or None,
        "name": ref.name,
    }
