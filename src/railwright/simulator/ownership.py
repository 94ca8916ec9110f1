"""
Who owns which field: managedFields as server-side apply keeps them.

A field is a path of keys down to a leaf; lists are leaves (atomic), except finalizers and ownerReferences, whose
items are owned one by one. Pure: values in, values out.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Path = tuple[str, ...]

_SYSTEM = {
    ("metadata", key)
    for key in (
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "generation",
        "managedFields",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
    )
}
_ABSENT = object()


@dataclass(frozen=True, order=True)
class Manager:
    """One line of managedFields: who, and how."""

    name: str
    operation: str
    """"Apply" or "Update"."""
    subresource: str = ""


Owners = dict[Manager, frozenset[Path]]


def leaves(value: Any, path: Path = ()) -> dict[Path, Any]:
    """Flatten to leaves, without what the server alone sets; apiVersion and kind left out."""
    found: dict[Path, Any] = {}
    if isinstance(value, Mapping) and (value or not path):
        for key, item in value.items():
            here = (*path, str(key))
            if here in _SYSTEM or here in {("apiVersion",), ("kind",)}:
                continue
            found |= leaves(item, here)
        return found
    if path == ("metadata", "finalizers"):
        return {(*path, f"v:{json.dumps(item)}"): item for item in value or ()}
    if path == ("metadata", "ownerReferences"):
        return {(*path, f"k:{json.dumps({'uid': item['uid']})}"): item for item in value or ()}
    found[path] = value
    return found


def read(obj: Any, path: Path) -> Any:
    """Follow a path, through items of the two lists that are owned one by one; `is_absent` tells of nothing there."""
    value = obj
    for step in path:
        if isinstance(value, list):
            value = next((item for item in value if _step_of(item) == step), _ABSENT)
        elif isinstance(value, Mapping) and step in value:
            value = value[step]
        else:
            return _ABSENT
    return value


def is_absent(value: Any) -> bool:
    """Whether `read` found nothing."""
    return value is _ABSENT


def _step_of(item: Any) -> str:
    if isinstance(item, Mapping):
        return f"k:{json.dumps({'uid': item.get('uid')})}"
    return f"v:{json.dumps(item)}"


def remove(obj: dict[str, Any], path: Path) -> None:
    """Take a leaf out of an object (a deep copy of ours); maps that get empty go with it."""
    parent = read(obj, path[:-1]) if len(path) > 1 else obj
    if isinstance(parent, list):
        parent[:] = [item for item in parent if _step_of(item) != path[-1]]
    elif isinstance(parent, dict):
        parent.pop(path[-1], None)
    if len(path) > 2 and not is_absent(parent) and not parent:
        remove(obj, path[:-1])


def put(obj: dict[str, Any], path: Path, value: Any) -> None:
    """Set a leaf of an object (a deep copy of ours)."""
    place: Any = obj
    for index, step in enumerate(path[:-1]):
        following = path[index + 1]
        made: Any = [] if following.startswith(("k:", "v:")) and path[0] == "metadata" else {}
        if not isinstance(place.get(step), dict | list):
            place[step] = made
        place = place[step]
    if isinstance(place, list):
        place[:] = [item for item in place if _step_of(item) != path[-1]] + [value]
    else:
        place[path[-1]] = value


def conflicts(applied: Mapping[Path, Any], live: Any, owners: Owners, manager: Manager) -> dict[Path, tuple[str, ...]]:
    """Fields that others own with another value than the one applied: path -> their names."""
    found: dict[Path, tuple[str, ...]] = {}
    for path, value in applied.items():
        have = read(live, path)
        if have == value or (value == {} and isinstance(have, Mapping)):
            continue
        others = sorted({other.name for other, paths in owners.items() if other != manager and _owns(paths, path)})
        if others and (not is_absent(have) or any(path in owners[other] for other in owners if other != manager)):
            found[path] = tuple(others)
    return found


def _owns(paths: frozenset[Path], path: Path) -> bool:
    """Whether a manager owns a field, something inside it, or the whole around it."""
    return path in paths or any(owned[: len(path)] == path or path[: len(owned)] == owned for owned in paths)


def holds(paths: frozenset[Path], path: Path) -> bool:
    """Whether a manager owns a field or something inside it."""
    return any(owned[: len(path)] == path for owned in paths)


def spell(path: Path) -> str:
    """Spell a path the way the API server does: .spec.mtu."""
    return "".join(f"[{step}]" if step.startswith(("k:", "v:")) else f".{step}" for step in path)


def fields_v1(paths: frozenset[Path]) -> dict[str, Any]:
    """Spell paths as FieldsV1."""
    tree: dict[str, Any] = {}
    for path in sorted(paths):
        place = tree
        for step in path:
            place = place.setdefault(step if step.startswith(("k:", "v:")) else f"f:{step}", {})
    return tree


def from_fields_v1(tree: Mapping[str, Any], path: Path = ()) -> frozenset[Path]:
    """Read paths back from FieldsV1."""
    found: set[Path] = set()
    for key, item in tree.items():
        if key == ".":
            continue
        here = (*path, key.removeprefix("f:"))
        found |= from_fields_v1(item, here) if item else {here}
    return frozenset(found)


def owners_of(obj: Mapping[str, Any]) -> Owners:
    """Read an object's managedFields."""
    return {
        Manager(line["manager"], line["operation"], line.get("subresource", "")): from_fields_v1(line["fieldsV1"])
        for line in obj.get("metadata", {}).get("managedFields", ())
    }


def managed_fields(owners: Owners, before: Any, api_version: str, time: str) -> list[dict[str, Any]]:
    """Spell managedFields; a line that did not change keeps its time."""
    old = {Manager(line["manager"], line["operation"], line.get("subresource", "")): line for line in before or ()}
    lines = []
    for manager, paths in sorted(owners.items()):
        if not paths:
            continue
        tree = fields_v1(paths)
        known = old.get(manager)
        if known is not None and known["fieldsV1"] == tree:
            lines.append(known)
            continue
        line: dict[str, Any] = {
            "manager": manager.name,
            "operation": manager.operation,
            "apiVersion": api_version,
            "time": time,
            "fieldsType": "FieldsV1",
            "fieldsV1": tree,
        }
        if manager.subresource:
            line["subresource"] = manager.subresource
        lines.append(line)
    return lines
