"""
Desired + live objects -> Changes: what a write would do, field by field.

Only what a manifest sets is compared, as server-side apply would merge it; what the server or others add beside it is
theirs. Several manifests of one object (labels of one node, a policy in two stages) are one wish: each change sends
what its own and earlier manifests set, and of later ones what we own already, so that a write never gives up
something that the plan still wants.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from railwright.changes.embedded import SHARED_STRINGS, format_named, merge
from railwright.changes.equality import same
from railwright.changes.model import MISSING, Action, Change, Changes, FieldChange, FieldPath, TakenField
from railwright.changes.owners import Owners, read_owners
from railwright.changes.shapes import Shapes, without_items
from railwright.changes.tree import leaves, put, read, thaw
from railwright.core.errors import Refused
from railwright.core.objects import KubeObject, Ref
from railwright.manifests.model import Manifest

UNREADABLE = "whoever wrote text that cannot be read"
SOMEBODY = "someone else's entry"

_IDENTITY = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))


def compare(
    items: tuple[Manifest, ...],
    live: Mapping[Ref, KubeObject],
    ours: frozenset[Ref],
    *,
    taken: Mapping[Ref, tuple[TakenField, ...]] | None = None,
) -> Changes:
    """
    Compare every manifest of the plan with what is there.

    Args:
        items: all manifests of the plan, not only one stage's: what none of them sets any more is given up.
        live: whole objects; one that is left out does not exist.
        ours: objects in the ledger; another one that exists is adopted, never updated as if it were ours.
        taken: the ledger's fields, which tell our entries inside shared strings from others'; without it every
            entry that no manifest sets is taken for someone else's and stays.

    Raises:
        Refused: a partial manifest's object does not exist, and we must not make it.
    """
    changes = []
    by_ref: dict[Ref, list[Manifest]] = {}
    for item in items:
        by_ref.setdefault(item.ref, []).append(item)
    for item in items:
        found = live.get(item.ref)
        same_object = by_ref[item.ref]
        index = next(number for number, other in enumerate(same_object) if other is item)
        if found is None and item.partial:
            raise Refused(
                f"{item.ref} is not there, and railwright must not create it: only some of its fields would be set",
                hint="run railwright plan again: the cluster has changed since the plan was made",
                context={"object": str(item.ref)},
            )
        if found is None:
            changes.append((item.stage, _absent(item, _wish(same_object[: index + 1], [], None))))
            continue
        owners = read_owners(found)
        wish = _wish(same_object[: index + 1], same_object[index + 1 :], owners)
        ledger = None if taken is None else taken.get(item.ref, ())
        changes.append((item.stage, _present(item, wish, _Live(found, owners, ledger), known=item.ref in ours)))
    return Changes(tuple(changes))


def drift(items: tuple[Manifest, ...], live: Mapping[Ref, KubeObject]) -> Mapping[Ref, tuple[FieldChange, ...]]:
    """Name every field that no longer holds what the manifests want; objects that are absent are left out."""
    there = tuple(item for item in items if item.ref in live)
    found: dict[Ref, tuple[FieldChange, ...]] = {}
    for _, change in compare(there, live, frozenset(live)).items:
        differing = tuple(item for item in change.fields if item.new is not MISSING)
        if differing:
            found[change.ref] = differing
    return found


@dataclass(frozen=True)
class _Live:
    """A live object with what is known of its owners; `taken` None when the ledger was not given."""

    obj: KubeObject
    owners: Owners
    taken: tuple[TakenField, ...] | None


@dataclass(frozen=True)
class _Wish:
    """What one write sends, as an object; `embedded` are its shared strings: path and format."""

    obj: dict[str, Any]
    embedded: tuple[tuple[str, str], ...]


def _wish(now: list[Manifest], later: list[Manifest], owners: Owners | None) -> _Wish:
    """Put manifests of one object together; of later ones only what we own already."""
    shapes = owners.shapes if owners else Shapes(now[-1].ref.kind)
    obj: dict[str, Any] = thaw(now[0].obj)
    for item in now[1:]:
        for path, value in leaves(item.obj, shapes).items():
            put(obj, path, value)
    for item in later:
        for path, value in leaves(item.obj, shapes).items():
            if owners and owners.we_own(path) and read(obj, path) is MISSING:
                put(obj, path, value)
    embedded = dict(pair for item in [*now, *later] for pair in item.embedded)
    there = tuple((path, name) for path, name in embedded.items() if isinstance(read(obj, _steps(path)), str))
    return _Wish(obj, there)


def _absent(item: Manifest, wish: _Wish) -> Change:
    return Change(item.ref, Action.CREATE, wish.obj, node=item.node, embedded=wish.embedded)


def _present(item: Manifest, wish: _Wish, live: _Live, *, known: bool) -> Change:
    """Compare one wish with the live object."""
    shapes = live.owners.shapes
    desired = thaw(wish.obj)
    fields: list[FieldChange] = []
    strings = set()
    for dotted, name in wish.embedded:
        path = _steps(dotted)
        strings.add(path)
        text, differing = _merged(path, name, str(read(desired, path)), live)
        put(desired, path, text)
        fields += differing
    wanted = leaves(desired, shapes)
    for path, value in wanted.items():
        seen = read(live.obj, path)
        if path not in strings and not same(path, seen, value) and not _adds_nothing(value, seen, path, shapes):
            fields.append(FieldChange(path, seen, value, live.owners.of(path)))
    kept = _kept_strings(desired, wanted, live, item.ref)
    fields += [field for string in kept for field in string.fields]
    given_up = _given_up(desired, wanted, live, {string.path[:-1] for string in kept})
    fields += given_up
    wanted = leaves(desired, shapes)
    complete = all(live.owners.we_own(path) for path in wanted)
    surplus = any(path not in wanted and not _covers(path, wanted) for path in live.owners.ours)
    action = Action.UPDATE if known else Action.ADOPT
    if not fields and complete and not surplus:
        action = Action.UNCHANGED
    embedded = (*wish.embedded, *((".".join(string.path), string.name) for string in kept))
    back = tuple(field.path for field in given_up if field.new is not MISSING)
    change = Change(item.ref, action, desired, tuple(fields), node=item.node, embedded=embedded, given_back=back)
    return replace(change, live_version=str(live.obj["metadata"].get("resourceVersion", "")))


def _merged(path: FieldPath, name: str, wanted_text: str, live: _Live) -> tuple[str, list[FieldChange]]:
    """Merge one shared string; the differences are entry by entry."""
    current = read(live.obj, path)
    if current is MISSING or current == wanted_text:
        added = [FieldChange(path, MISSING, wanted_text, "")] if current is MISSING else []
        return wanted_text, added
    fmt = format_named(name)
    wanted = fmt.entries(wanted_text)
    owner = live.owners.of(path)
    try:
        dropped = _dropped_entries(path, wanted, fmt.entries(str(current)), live)
        text, before = merge(fmt, str(current), wanted, dropped)
    except ValueError:
        return wanted_text, [FieldChange(path, current, wanted_text, owner or UNREADABLE)]
    changes = []
    for step, value in {**wanted, **dropped}.items():
        entry_path = (*path, step)
        old = before.get(step, MISSING)
        if not same(entry_path, old, value):
            changes.append(FieldChange(entry_path, old, value, _entry_owner(entry_path, old, owner, live)))
    return text, changes


def _entry_owner(path: FieldPath, old: Any, owner: str, live: _Live) -> str:
    """Name whose entry it is: nobody's when it is new or in our ledger; else the string's owner, or someone's."""
    if old is MISSING:
        return ""
    if live.taken is not None:
        is_ours = any(item.path == path and same(path, item.ours, old) for item in live.taken)
        return "" if is_ours else owner or SOMEBODY
    return owner


def _dropped_entries(path: FieldPath, wanted: Iterable[str], before: Mapping[str, Any], live: _Live) -> dict[str, Any]:
    """Find entries that are ours by the ledger, still hold our value, and are wanted no more."""
    length = len(path)
    return {
        item.path[-1]: item.previous
        for item in live.taken or ()
        if item.path[:length] == path
        and len(item.path) == length + 1
        and item.path[-1] not in set(wanted)
        and item.ours is not MISSING
        and same(item.path, before.get(item.path[-1], MISSING), item.ours)
    }


@dataclass(frozen=True)
class _Kept:
    """A shared string that no manifest wants any more and that holds entries of others: it stays without ours."""

    path: FieldPath
    name: str
    fields: tuple[FieldChange, ...]


def _kept_strings(desired: dict[str, Any], wanted: Mapping[FieldPath, Any], live: _Live, ref: Ref) -> list[_Kept]:
    """
    Take our entries out of strings that are wanted no more, whoever owns them by now, and put the rest into `desired`.

    Who edits such a string owns it from then on; our entries in it are known from the ledger.
    """
    kept = []
    strings = {tuple(dotted.split(".")): name for (kind, dotted), name in SHARED_STRINGS.items() if kind == ref.kind}
    for path, name in sorted(strings.items()):
        current = read(live.obj, path)
        if current is MISSING or path in wanted or _covers(path, wanted):
            continue
        rest = _without_ours(path, name, current, live)
        if rest is None:
            continue
        if path in live.owners.ours or rest[1]:
            put(desired, path, rest[0])
        kept.append(_Kept(path, name, tuple(rest[1])))
    return kept


def _given_up(
    desired: dict[str, Any], wanted: Mapping[FieldPath, Any], live: _Live, kept: set[FieldPath]
) -> list[FieldChange]:
    """
    Find fields that we own and no longer set: the write removes them, unless another manager owns them too.

    What we took from others gets its value of before, if it still holds ours.

    Args:
        kept: sections in which a string with entries of others stays: it is of no use without what is beside it.
    """
    fields: list[FieldChange] = []
    for path in sorted(live.owners.ours):
        current = read(live.obj, path)
        if current is MISSING or path in wanted or path in _IDENTITY or _covers(path, wanted):
            continue
        if read(desired, path) is not MISSING or live.owners.of(path):
            continue
        if any(path[: len(section)] == section for section in kept):
            put(desired, path, current)
        else:
            fields.append(FieldChange(path, current, _value_of_before(path, current, live), ""))
    return fields


def _value_of_before(path: FieldPath, current: Any, live: _Live) -> Any:
    """Give what a field held before we took it; MISSING when it was not there, or when somebody has changed it since."""
    taken = next((item for item in live.taken or () if item.path == path), None)
    return taken.previous if taken is not None and same(path, current, taken.ours) else MISSING


def _without_ours(path: FieldPath, name: str, current: Any, live: _Live) -> tuple[str, list[FieldChange]] | None:
    """Take our entries out of a shared string; None when nothing of anybody else is left in it."""
    fmt = format_named(name)
    try:
        before = fmt.entries(str(current))
    except ValueError:
        return str(current), []
    if live.taken is None:
        return str(current), []
    dropped = _dropped_entries(path, (), before, live)
    text, _ = merge(fmt, str(current), {}, dropped)
    if not fmt.entries(text):
        return None
    return text, [FieldChange((*path, step), before.get(step, MISSING), value, "") for step, value in dropped.items()]


def _adds_nothing(value: Any, seen: Any, path: FieldPath, shapes: Shapes) -> bool:
    """Whether a wanted empty map or keyed list is there already, filled by others: merging adds nothing."""
    steps = without_items(path)
    if value == {}:
        return isinstance(seen, Mapping) and not shapes.is_whole(steps)
    return value == [] and isinstance(seen, list) and bool(shapes.keys_of(steps) or shapes.is_set(steps))


def _covers(path: FieldPath, wanted: Mapping[FieldPath, Any]) -> bool:
    """Whether a path lies above or below a wanted leaf that is one value: then that leaf speaks for it."""
    above = (path[:length] for length in range(1, len(path)))
    return any(wanted.get(leaf, {}) != {} for leaf in above) or any(leaf[: len(path)] == path for leaf in wanted)


def _steps(dotted: str) -> FieldPath:
    return tuple(dotted.split("."))
