"""From the names of folders and files that gather scripts make (group, plural) to the kinds that railwright names."""

from functools import cache

from railwright.core import kinds
from railwright.core.objects import Kind

_ODD = {"NetworkAttachmentDefinition": "network-attachment-definitions"}


def plural_of(kind: Kind) -> str:
    """Name a kind as the API server does in paths."""
    name = kind.kind.lower()
    if kind.kind in _ODD:
        return _ODD[kind.kind]
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    return name if name.endswith("constraints") else f"{name}s"


@cache
def kinds_by_plural() -> dict[tuple[str, str], tuple[Kind, ...]]:
    """Find kinds by group and plural; several where railwright knows several versions."""
    found: dict[tuple[str, str], tuple[Kind, ...]] = {}
    for kind in sorted({value for value in vars(kinds).values() if isinstance(value, Kind)}):
        key = (kind.group, plural_of(kind))
        found[key] = (*found.get(key, ()), kind)
    return found


def kinds_of(group: str, plural: str) -> tuple[Kind, ...]:
    """Find the kinds of a folder; "core" is the group without a name."""
    return kinds_by_plural().get(("" if group == "core" else group, plural), ())


@cache
def known_kinds() -> frozenset[Kind]:
    """Every kind that railwright names."""
    return frozenset(kind for some in kinds_by_plural().values() for kind in some)
