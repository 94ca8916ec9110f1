"""Defaults of the catalog, each as the type that its user needs."""

from railwright.catalog.model import Catalog


def number(catalog: Catalog, name: str) -> int:
    """Read a whole number. Raises TypeError when the catalog holds something else (a bug of ours)."""
    value = catalog.default(name).value
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(name)
    return value


def flag(catalog: Catalog, name: str) -> bool:
    """Read a yes or no. Raises TypeError when the catalog holds something else (a bug of ours)."""
    value = catalog.default(name).value
    if not isinstance(value, bool):
        raise TypeError(name)
    return value


def words(catalog: Catalog, name: str) -> tuple[str, ...]:
    """Read a list of words. Raises TypeError when the catalog holds something else (a bug of ours)."""
    value = catalog.default(name).value
    if not isinstance(value, tuple):
        raise TypeError(name)
    return value


def text(catalog: Catalog, name: str) -> str:
    """Read a word. Raises TypeError when the catalog holds something else (a bug of ours)."""
    value = catalog.default(name).value
    if not isinstance(value, str):
        raise TypeError(name)
    return value
