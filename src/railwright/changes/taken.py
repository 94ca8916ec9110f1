"""What the ledger keeps of a write, so that it can be undone: the value that each field held before us."""

from railwright.changes.embedded import format_named
from railwright.changes.model import MISSING, Action, Change, FieldPath, TakenField
from railwright.changes.shapes import is_entry, is_item
from railwright.changes.tree import read
from railwright.core.objects import KubeObject


def taken_fields(change: Change, live: KubeObject | None) -> tuple[TakenField, ...]:
    """
    List what a change takes, leaves first, then the maps, lists and strings that it makes on the way.

    A map or list that was not there is kept as a field of its own with `ours` empty, so that undoing can remove it
    once it is empty again. A shared string is kept entry by entry, and whole, so that its very bytes can come back.
    Of an object that we create only the entries of its shared strings are kept: others may add theirs beside them.
    """
    if change.action is Action.CREATE or live is None:
        return tuple(item for dotted, name in change.embedded for item in _new_string(change, dotted, name))
    taken: dict[FieldPath, TakenField] = {}
    made: dict[FieldPath, TakenField] = {}
    for item in change.fields:
        taken[item.path] = TakenField(item.path, item.old, item.new)
        whole = item.path[:-1] if is_entry(item.path[-1]) else item.path
        if whole != item.path:
            taken.setdefault(whole, TakenField(whole, read(live, whole), read(change.desired, whole)))
        for length in range(len(whole) - 1, 0, -1):
            above = whole[:length]
            if item.new is not MISSING and read(live, above) is MISSING:
                empty: dict[str, object] | list[object] = [] if is_item(whole[length]) else {}
                made[above] = TakenField(above, MISSING, empty)
    for dotted, name in change.embedded:
        path = tuple(dotted.split("."))
        if path in taken and not any(is_entry(other[-1]) and other[:-1] == path for other in taken):
            taken |= {item.path: item for item in _new_string(change, dotted, name, previous=taken[path].previous)}
    deepest_first = sorted(made.values(), key=lambda item: -len(item.path))
    return (*taken.values(), *deepest_first)


def merge_taken(earlier: tuple[TakenField, ...], later: tuple[TakenField, ...]) -> tuple[TakenField, ...]:
    """Put the fields of two writes of one object together: the first previous value, the last value of ours."""
    merged = {item.path: item for item in earlier}
    for item in later:
        first = merged.get(item.path)
        merged[item.path] = TakenField(item.path, first.previous, item.ours) if first else item
    return tuple(merged.values())


def _new_string(change: Change, dotted: str, name: str, *, previous: object = MISSING) -> list[TakenField]:
    """List the entries of a shared string that was not there, or could not be read, before."""
    path = tuple(dotted.split("."))
    text = read(change.desired, path)
    if not isinstance(text, str):
        return []
    entries = format_named(name).entries(text) if previous is MISSING else {}
    whole = TakenField(path, previous, text)
    return [*(TakenField((*path, step), MISSING, value) for step, value in entries.items()), whole]
