"""From the names of folders and files that gather scripts make (group, plural) to the kinds that railwright names."""

from functools import cache

from railwright.core import kinds
from railwright.core.needs import plural_of
from railwright.core.objects import Kind


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
