"""
Nested data by field path: all leaves of an object, and reading, setting and removing one.

A leaf is a scalar, an empty map, a list or map that is one value, or one value of a set list. What comes in is never
changed in place by `leaves` and `read`; `put` and `remove` change the (copied) data that they are given.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from railwright.changes.model import MISSING, FieldPath
from railwright.changes.shapes import Shapes, is_item, item_step, without_items
from railwright.core.objects import KubeObject

_NOT_FIELDS: frozenset[FieldPath] = frozenset(
    {
        ("apiVersion",),
        ("kind",),
        ("metadata", "name"),
        ("metadata", "namespace"),
        ("metadata", "resourceVersion"),
        ("metadata", "uid"),
        ("metadata", "generation"),
        ("metadata", "creationTimestamp"),
        ("metadata", "managedFields"),
    }
)
"""Identity and bookkeeping: nobody's wish, so never compared."""


def thaw(value: Any) -> Any:
    """Copy nested data into plain dicts and lists."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in value]
    return value


def leaves(obj: KubeObject, shapes: Shapes) -> dict[FieldPath, Any]:
    """List every leaf of an object, without identity and bookkeeping."""
    return {path: value for path, value in _walk(obj, (), shapes) if path not in _NOT_FIELDS}


def _walk(value: Any, path: FieldPath, shapes: Shapes) -> Iterator[tuple[FieldPath, Any]]:
    if path in _NOT_FIELDS:
        return
    steps = without_items(path)
    if isinstance(value, Mapping) and value and not (path and shapes.is_whole(steps)):
        for key, item in value.items():
            yield from _walk(item, (*path, key), shapes)
        return
    if isinstance(value, list | tuple) and value:
        keys = shapes.keys_of(steps)
        named = [item_step(item, keys) for item in value] if keys else []
        if named and None not in named and len(set(named)) == len(named):
            for step, item in zip(named, value, strict=True):
                yield from _walk(item, (*path, str(step)), shapes)
            return
        if shapes.is_set(steps) and all(isinstance(item, str) for item in value):
            for item in value:
                yield (*path, f"[={item}]"), item
            return
    yield path, thaw(value)


def read(obj: Any, path: FieldPath) -> Any:
    """Read what is at a path; MISSING when any step of it is not there."""
    for step in path:
        if is_item(step):
            index = _find(obj, step)
            if index is None:
                return MISSING
            obj = obj[index]
        elif isinstance(obj, Mapping) and step in obj:
            obj = obj[step]
        else:
            return MISSING
    return obj


def put(obj: dict[str, Any], path: FieldPath, value: Any) -> bool:
    """Set a leaf, making maps and lists on the way; False when something of another shape is in the way."""
    current: Any = obj
    for position, step in enumerate(path[:-1]):
        following = _child(current, step, empty=[] if is_item(path[position + 1]) else {})
        if following is None:
            return False
        current = following
    last = path[-1]
    if is_item(last):
        return _put_item(current, last, value)
    if not isinstance(current, dict):
        return False
    current[last] = thaw(value)
    return True


def remove(obj: dict[str, Any], path: FieldPath) -> None:
    """Remove what is at a path, if it is there."""
    parent: Any = read(obj, path[:-1])
    last = path[-1]
    if is_item(last):
        index = _find(parent, last)
        if index is not None:
            del parent[index]
    elif isinstance(parent, dict):
        parent.pop(last, None)


def merge_patch(old: Any, new: Any) -> dict[str, Any]:
    """Give the JSON merge patch (RFC 7396) that turns one object into another; empty when they are alike."""
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        if key not in old:
            patch[key] = thaw(value)
        elif isinstance(value, Mapping) and isinstance(old[key], Mapping):
            inner = merge_patch(old[key], value)
            if inner:
                patch[key] = inner
        elif value != old[key] or type(value) is not type(old[key]):
            patch[key] = thaw(value)
    return patch


def patched(old: Any, patch: Mapping[str, Any]) -> dict[str, Any]:
    """Give an object as a JSON merge patch (RFC 7396) leaves it."""
    result = thaw(old) if isinstance(old, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            result[key] = patched(result.get(key), value)
        else:
            result[key] = thaw(value)
    return result


def _child(current: Any, step: str, *, empty: Any) -> Any:
    """Go one step down, making what is missing; None when the shape does not allow it."""
    if is_item(step):
        index = _find(current, step)
        if index is not None:
            return current[index]
        if not isinstance(current, list) or step.startswith("[="):
            return None
        current.append({})
        return current[-1]
    if not isinstance(current, dict):
        return None
    following = current.setdefault(step, empty)
    return following if isinstance(following, dict | list) else None


def _put_item(current: Any, step: str, value: Any) -> bool:
    if not isinstance(current, list):
        return False
    index = _find(current, step)
    if index is None:
        current.append(thaw(value))
    else:
        current[index] = thaw(value)
    return True


def _find(items: Any, step: str) -> int | None:
    """Find an item of a list by its step."""
    if not isinstance(items, list | tuple):
        return None
    if step.startswith("[="):
        wanted = step[2:-1]
        return next((index for index, item in enumerate(items) if item == wanted), None)
    keys = tuple(part.partition("=")[0] for part in step[1:-1].split(","))
    return next((index for index, item in enumerate(items) if item_step(item, keys) == step), None)
