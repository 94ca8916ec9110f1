r"""
Who owns which field, read from metadata.managedFields.

An example of what is read, one manager's `fieldsV1` (a leaf is `{}`; "." is the item itself):
    {"f:spec": {"f:channel": {}, "f:env": {"k:{\"name\":\"A\"}": {".": {}, "f:name": {}, "f:value": {}}}}}

Source: https://kubernetes.io/docs/reference/using-api/server-side-apply/ (field management; read 2026-11-30).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from railwright.changes.model import FieldPath
from railwright.changes.shapes import Shapes, Steps, without_items
from railwright.core.objects import FIELD_MANAGER, KubeObject, dig, kind_of


@dataclass(frozen=True)
class Owners:
    """
    Owned leaves.

    Attributes:
        ours: what our manager owns through server-side apply.
        others: each other manager's leaves, status left out.
        known: False when the object carries no managedFields at all: then nobody can be named.
        shapes: how lists and maps are merged, as far as managedFields show it.
    """

    ours: frozenset[FieldPath]
    others: Mapping[str, frozenset[FieldPath]]
    known: bool
    shapes: Shapes

    def of(self, path: FieldPath) -> str:
        """Name the other managers that own a path, something above it as one value, or something below it; "" if none."""
        return ", ".join(sorted(name for name, owned in self.others.items() if _touches(path, owned)))

    def we_own(self, path: FieldPath) -> bool:
        """Whether we own a path, something above it as one value, or something below it."""
        return _touches(path, self.ours)


def read_owners(live: KubeObject) -> Owners:
    """Read all owners of a live object's fields."""
    entries = dig(live, "metadata", "managedFields", default=[])
    ours: set[FieldPath] = set()
    others: dict[str, set[FieldPath]] = {}
    keys: dict[Steps, tuple[str, ...]] = {}
    sets: set[Steps] = set()
    owned: set[FieldPath] = set()
    for entry in entries:
        if entry.get("subresource"):
            continue
        fields = entry.get("fieldsV1") or {}
        paths = frozenset(_leaves(fields, (), keys, sets))
        owned |= paths
        if entry.get("manager") == FIELD_MANAGER:
            if entry.get("operation") == "Apply":
                ours |= paths
        else:
            others.setdefault(str(entry.get("manager", "unknown")), set()).update(paths)
    whole = {without_items(path) for path in owned if _is_filled(live, path)}
    shapes = Shapes(kind_of(live), keys, frozenset(sets), frozenset(whole - sets - set(keys)))
    return Owners(
        ours=frozenset(ours),
        others={name: frozenset(paths) for name, paths in others.items()},
        known=bool(entries),
        shapes=shapes,
    )


def _touches(path: FieldPath, owned: frozenset[FieldPath]) -> bool:
    if any(path[:length] in owned for length in range(1, len(path) + 1)):
        return True
    return any(other[: len(path)] == path for other in owned)


def _leaves(
    fields: Mapping[str, Any], path: FieldPath, keys: dict[Steps, tuple[str, ...]], sets: set[Steps]
) -> Iterator[FieldPath]:
    """Walk one fieldsV1 tree; `keys` and `sets` take down the lists that are merged."""
    for name, below in fields.items():
        mark, _, rest = name.partition(":")
        if mark == "f":
            step = rest
        elif mark == "k":
            named = json.loads(rest)
            keys[without_items(path)] = tuple(sorted(named))
            step = f"[{','.join(f'{key}={named[key]}' for key in sorted(named))}]"
        elif mark == "v":
            sets.add(without_items(path))
            step = f"[={json.loads(rest)}]"
        else:
            continue
        deeper = {key: value for key, value in below.items() if key != "."}
        if deeper:
            yield from _leaves(deeper, (*path, step), keys, sets)
        elif mark != "k":
            yield (*path, step)


def _is_filled(live: KubeObject, path: FieldPath) -> bool:
    """Whether a leaf of managedFields holds a whole map or list in the live object."""
    value: Any = live
    for step in path:
        if not isinstance(value, Mapping):
            return False
        value = value.get(step)
    return isinstance(value, Mapping | list) and bool(value)
