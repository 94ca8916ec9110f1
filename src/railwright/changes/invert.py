"""
The inverse of what was written: delete what we made, give back what fields held before us.

A field comes back only while it still holds our value; what somebody has changed since then stays, and is named in
`left`. The result restores by JSON merge patch, guarded by the resourceVersion that was compared with.
"""

from dataclasses import dataclass, replace
from typing import Any

from railwright.changes.embedded import Format, format_named
from railwright.changes.equality import same
from railwright.changes.model import MISSING, Action, Change, FieldChange, FieldPath, TakenField
from railwright.changes.owners import Owners, read_owners
from railwright.changes.shapes import is_entry, key_names
from railwright.changes.tree import leaves, merge_patch, put, read, remove, thaw
from railwright.core.objects import KubeObject, Ref

Embedded = tuple[tuple[str, str], ...]


def invert(
    ref: Ref,
    *,
    created: bool,
    uid: str,
    taken: tuple[TakenField, ...],
    embedded: Embedded,
    live: KubeObject | None,
) -> Change | None:
    """
    Say how one ledger entry is undone.

    Args:
        created: whether we made the object; `uid` is the one it got then, "" when its first write was not confirmed.
        taken: fields of it, as `taken_fields` gave them.
        embedded: its shared strings: path and format.
        live: the object now; None when it is gone.

    Returns:
        DELETE with the live object, or RESTORE with the merge patch (empty when all that is left to do is to name
        what stays); None when there is nothing to do.
    """
    if live is None:
        return None
    case = _Case(ref, taken, embedded, live, read_owners(live))
    return _undo_creation(case, uid) if created else _restore(case)


@dataclass(frozen=True)
class _Case:
    """One ledger entry, with the live object that it is about and the owners of its fields."""

    ref: Ref
    taken: tuple[TakenField, ...]
    embedded: Embedded
    live: KubeObject
    owners: Owners

    @property
    def version(self) -> str:
        return str(self.live["metadata"].get("resourceVersion", ""))


def _undo_creation(case: _Case, uid: str) -> Change | None:
    """Delete what we made, unless it is another object by now, or holds entries of others in its shared strings."""
    live_uid = str(case.live["metadata"].get("uid", ""))
    undone = Change(case.ref, Action.RESTORE, {}, live_version=case.version, embedded=case.embedded)
    if uid and uid != live_uid:
        remade = FieldChange(("metadata", "uid"), live_uid, MISSING, "whoever made it again")
        return replace(undone, left=(remade,))
    if not uid and not case.owners.ours:
        return None
    foreign = _foreign_entries(case)
    if not foreign:
        return replace(undone, action=Action.DELETE, desired=case.live)
    whole = {tuple(dotted.split(".")) for dotted, _ in case.embedded}
    entries = tuple(item for item in case.taken if item.path not in whole)
    restored = _restore(replace(case, taken=entries)) or undone
    return replace(restored, left=(*restored.left, *foreign))


def _foreign_entries(case: _Case) -> tuple[FieldChange, ...]:
    """Find entries in shared strings that the ledger does not hold; none when it holds nothing of that string."""
    ours = {item.path for item in case.taken}
    found = []
    for dotted, name in case.embedded:
        path = tuple(dotted.split("."))
        text = read(case.live, path)
        if path not in ours or not isinstance(text, str):
            continue
        try:
            entries = format_named(name).entries(text)
        except ValueError:
            continue
        found += [
            FieldChange((*path, step), value, MISSING, case.owners.of(path))
            for step, value in entries.items()
            if (*path, step) not in ours
        ]
    return tuple(found)


def _restore(case: _Case) -> Change | None:
    """Work out the object as it should be again, and the patch that leads there."""
    taken, live, owners = case.taken, case.live, case.owners
    target = thaw(live)
    formats = {tuple(dotted.split(".")): format_named(name) for dotted, name in case.embedded}
    with_entries = {item.path[:-1] for item in taken if is_entry(item.path[-1])}
    done: list[FieldChange] = []
    left: list[FieldChange] = []
    for path in sorted(with_entries):
        _restore_string(path, formats[path], [item for item in taken if item.path[: len(path)] == path], target, left)
    needed = _sections_needed(taken, with_entries, target)
    for item in taken:
        if is_entry(item.path[-1]) or item.path in with_entries or _is_made(item) or _is_key(item.path):
            continue
        if item.previous is MISSING and any(item.path[: len(section)] == section for section in needed):
            left.append(FieldChange(item.path, read(target, item.path), MISSING, ""))
            continue
        _restore_field(item, target, left)
    for item in sorted((item for item in taken if _is_made(item)), key=lambda item: -len(item.path)):
        _remove_made(item, target, owners)
    left = [FieldChange(item.path, item.old, item.new, owners.of(_outer(item.path))) for item in left]
    patch = merge_patch(live, target)
    if not patch and not left:
        return None
    if patch:
        done = [
            FieldChange(item.path, read(live, item.path), read(target, item.path), "")
            for item in taken
            if not is_entry(item.path[-1]) and read(live, item.path) != read(target, item.path)
        ]
        patch["metadata"] = {**patch.get("metadata", {}), "resourceVersion": case.version}
    return Change(case.ref, Action.RESTORE, patch, tuple(done), case.version, left=tuple(left), embedded=case.embedded)


def _sections_needed(taken: tuple[TakenField, ...], strings: set[FieldPath], target: dict[str, Any]) -> set[FieldPath]:
    """Name the sections that we made and that hold entries of others by now: what is beside the string stays with it."""
    made = {item.path for item in taken if item.path in strings and item.previous is MISSING}
    return {path[:-1] for path in made if read(target, path) is not MISSING}


def _restore_field(item: TakenField, target: dict[str, Any], left: list[FieldChange]) -> None:
    current = read(target, item.path)
    if same(item.path, current, item.previous):
        return
    if not same(item.path, current, item.ours):
        left.append(FieldChange(item.path, current, item.previous, ""))
    elif item.previous is MISSING:
        remove(target, item.path)
    elif not put(target, item.path, item.previous):
        left.append(FieldChange(item.path, current, item.previous, ""))


def _restore_string(
    path: FieldPath, fmt: Format, items: list[TakenField], target: dict[str, Any], left: list[FieldChange]
) -> None:
    """Restore one shared string entry by entry; its first bytes come back when their meaning does."""
    whole = next((item for item in items if item.path == path), None)
    current = read(target, path)
    if current is MISSING:
        if whole and whole.previous is not MISSING:
            left.append(FieldChange(path, current, whole.previous, ""))
        return
    try:
        entries = fmt.entries(str(current))
    except ValueError:
        left.append(FieldChange(path, current, whole.previous if whole else MISSING, ""))
        return
    before = dict(entries)
    for item in items:
        if item.path != path:
            _restore_entry(item, entries, left)
    if whole and whole.previous is MISSING and not entries:
        remove(target, path)
    elif whole and isinstance(whole.previous, str) and _means(fmt, whole.previous, entries):
        put(target, path, whole.previous)
    elif entries != before:
        put(target, path, fmt.text(entries))


def _restore_entry(item: TakenField, entries: dict[str, Any], left: list[FieldChange]) -> None:
    step = item.path[-1]
    now = entries.get(step, MISSING)
    if same(item.path, now, item.previous):
        return
    if not same(item.path, now, item.ours):
        left.append(FieldChange(item.path, now, item.previous, ""))
    elif item.previous is MISSING:
        del entries[step]
    else:
        entries[step] = item.previous


def _means(fmt: Format, text: str, entries: dict[str, Any]) -> bool:
    try:
        return fmt.entries(text) == entries
    except ValueError:
        return False


def _is_key(path: FieldPath) -> bool:
    """Whether a field is a key of its list item: it goes with the item, never alone."""
    return len(path) > 1 and path[-1] in key_names(path[-2])


def _is_made(item: TakenField) -> bool:
    """Whether it is a map or list that we made on the way to a field."""
    return item.previous is MISSING and item.ours in ({}, [])


def _remove_made(item: TakenField, target: dict[str, Any], owners: Owners) -> None:
    """Remove a map or list that we made, when all that is left in it is the server's defaults, owned by nobody."""
    inside = read(target, item.path)
    if inside is MISSING:
        return
    keys = key_names(item.path[-1])
    if keys and isinstance(inside, dict) and set(inside) <= keys:
        inside = {}
    if inside in ({}, []) or (owners.known and not owners.of(item.path) and not _has_ours(item.path, target, owners)):
        remove(target, item.path)


def _has_ours(path: FieldPath, target: dict[str, Any], owners: Owners) -> bool:
    """Whether something below a path is still owned by us: it stays, so what holds it stays."""
    remaining = leaves(target, owners.shapes)
    return any(leaf[: len(path)] == path and leaf in owners.ours for leaf in remaining)


def _outer(path: FieldPath) -> FieldPath:
    return path[:-1] if path and is_entry(path[-1]) else path
