"""
What was written, with positions: nodes of a YAML document, and the way from a key path to a place.

A key path is a tuple of keys and list indices here; `path_text` writes it as people read it: "spec.rails[0].name".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class Mark:
    """A position in the text; line and column count from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Scalar:
    """A value without parts; `text` is what stands in the file."""

    value: str | int | float | bool | None
    text: str
    mark: Mark


@dataclass(frozen=True)
class Sequence:
    """A list."""

    items: tuple["Node", ...]
    mark: Mark


@dataclass(frozen=True)
class Entry:
    """A key with its value; `mark` is where the key stands."""

    key: str
    mark: Mark
    value: "Node"


@dataclass(frozen=True)
class Mapping:
    """A mapping; its keys are distinct. `is_whole` is false where a key could not be used and was left out."""

    entries: tuple[Entry, ...]
    mark: Mark
    is_whole: bool = True

    def get(self, key: str) -> Entry | None:
        """Find a key."""
        return next((entry for entry in self.entries if entry.key == key), None)


Node = Scalar | Sequence | Mapping


def path_text(path: KeyPath) -> str:
    """Write a key path: ("spec", "rails", 0, "name") -> "spec.rails[0].name"."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{shown_key(step)}" if text else shown_key(step)
    return text


def shown_key(key: str) -> str:
    """Write a key on one line: what cannot be printed is escaped, and a long one is cut."""
    text = re.sub(r"[^ -~]", lambda match: ascii(match[0])[1:-1], key)
    return text if len(text) <= 80 else f"{text[:80]}..."


def plain(node: Node) -> Any:
    """Give the values alone: dicts, lists and scalars."""
    if isinstance(node, Mapping):
        return {entry.key: plain(entry.value) for entry in node.entries}
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return node.value


def find(node: Node, path: KeyPath) -> Node | None:
    """Follow a key path; None when it is not there."""
    here: Node | None = node
    for step in path:
        here = _step(here, step)
    return here


def mark_of(node: Node, path: KeyPath) -> Mark:
    """Where the value at a key path stands, or its nearest written parent."""
    mark = node.mark
    here: Node | None = node
    for step in path:
        here = _step(here, step)
        if here is None:
            break
        mark = here.mark
    return mark


def key_mark_of(node: Node, path: KeyPath) -> Mark:
    """Where the last key of a path stands; for a list item, the item."""
    parent = find(node, path[:-1]) if path else None
    if isinstance(parent, Mapping):
        entry = parent.get(str(path[-1]))
        if entry is not None:
            return entry.mark
    return mark_of(node, path)


def walk(node: Node, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Mark]]:
    """Every key path below a node with its place: of a key the key's, of a list item the item's."""
    if isinstance(node, Mapping):
        for entry in node.entries:
            yield (*path, entry.key), entry.mark
            yield from walk(entry.value, (*path, entry.key))
    elif isinstance(node, Sequence):
        for index, item in enumerate(node.items):
            yield (*path, index), item.mark
            yield from walk(item, (*path, index))


def _step(node: Node | None, step: str | int) -> Node | None:
    if isinstance(node, Mapping) and isinstance(step, str):
        entry = node.get(step)
        return entry.value if entry is not None else None
    if isinstance(node, Sequence) and isinstance(step, int) and step < len(node.items):
        return node.items[step]
    return None
