"""
YAML text -> trees with positions, safely.

Comes in: text, at most MAX_BYTES. Goes out: a tree a document, and every mistake met. PyYAML gives the stream of
events; the trees are built here, without recursion, so that deep nesting, repeated aliases and huge numbers end as
a mistake and not as a crash. Scalars are read as YAML 1.2 says: `no`, `on` and `2024-01-01` are strings.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from railwright.intent.mistakes import Mistake
from railwright.intent.model import Place
from railwright.intent.tree import Entry, KeyPath, Mapping, Mark, Node, Scalar, Sequence, path_text, shown_key

MAX_BYTES = 1 << 20
MAX_DEPTH = 20
"""Deeper than anything that rails.yaml knows (spec.groups[].rails[].name is 6)."""
MAX_NODES = 20_000
"""With every alias counted as often as it is used."""

_NOT_PRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NULL = re.compile(r"(?:~|null|Null|NULL|)\Z")
_BOOL = re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")
_INT = re.compile(r"(?:[-+]?[0-9]{1,18}|0o[0-7]{1,18}|0x[0-9a-fA-F]{1,16})\Z")
_FLOAT = re.compile(
    r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
)
_TAGS = {
    "tag:yaml.org,2002:str",
    "tag:yaml.org,2002:int",
    "tag:yaml.org,2002:bool",
    "tag:yaml.org,2002:null",
    "tag:yaml.org,2002:float",
    "tag:yaml.org,2002:map",
    "tag:yaml.org,2002:seq",
    "!",
}


class _Stop(Exception):
    """Reading cannot go on."""


@dataclass
class _Open:
    """A list or mapping that is being read."""

    mark: Mark
    is_mapping: bool
    anchor: str | None
    path: KeyPath
    entries: dict[str, Entry] = field(default_factory=dict)
    items: list[Node] = field(default_factory=list)
    key: tuple[str, Mark] | None = None
    key_is_due: bool = True
    is_whole: bool = True
    size: int = 1


def read_documents(text: str, file: str) -> tuple[tuple[Node, ...], tuple[Mistake, ...]]:
    """
    Read every document of a YAML text; empty ones are left out.

    Returns:
        The documents that could be read, and the mistakes; after a mistake of syntax nothing more is read.
    """
    reader = _Reader(file)
    problem = _unfit(text, file)
    if problem is not None:
        return (), (problem,)
    try:
        for event in _events(text.removeprefix("\ufeff"), file):
            reader.take(event)
    except _Stop as stop:
        reader.mistakes.extend(one for one in stop.args if isinstance(one, Mistake))
    return tuple(reader.documents), tuple(reader.mistakes)


def scalar_value(text: str) -> str | int | float | bool | None:
    """Read a plain scalar as YAML 1.2's core schema does; a number of 19 digits or more stays a string."""
    if _NULL.match(text):
        return None
    if _BOOL.match(text):
        return text.lower() == "true"
    if _INT.match(text):
        return int(text, 8 if text.startswith("0o") else 16 if text.startswith("0x") else 10)
    if len(text) <= 40 and _FLOAT.match(text) and not text.lstrip("+-").isdecimal():
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return text


def _unfit(text: str, file: str) -> Mistake | None:
    """Find what makes the text no candidate for YAML at all."""
    size_bytes = len(text.encode("utf-8", errors="replace"))
    if size_bytes > MAX_BYTES:
        return Mistake(
            Place(file, 1, 1), "", "the file is too large", f"at most {MAX_BYTES} bytes", f"{size_bytes} bytes"
        )
    match = _NOT_PRINTABLE.search(text, 1 if text.startswith("\ufeff") else 0)
    if match is None:
        return None
    before = text[: match.start()]
    place = Place(file, before.count("\n") + 1, match.start() - (before.rfind("\n") + 1) + 1)
    return Mistake(place, "", "a character that YAML does not allow", "text", ascii(match[0]))


def _events(text: str, file: str) -> Iterator[Any]:
    """Give the parser's events; its errors become the mistake that ends the reading."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        yield from yaml.parse(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file, 1, 1)
        context = f" {error.context}" if error.context else ""
        hint = "indent with spaces: YAML allows no tabs there" if _is_tab(text, place) else ""
        raise _Stop(
            Mistake(place, "", f"not YAML: {error.problem or 'it cannot be read'}{context}", hint=hint)
        ) from error
    except (yaml.YAMLError, UnicodeError, ValueError) as error:
        raise _Stop(Mistake(Place(file, 1, 1), "", f"not YAML: {str(error).splitlines()[0]}")) from error


def _is_tab(text: str, place: Place) -> bool:
    """Whether a tab stands at or before a place, in the indentation of its line."""
    lines = text.split("\n")
    if place.line > len(lines):
        return False
    line = lines[place.line - 1]
    return "\t" in line[: len(line) - len(line.lstrip())]


class _Reader:
    """Builds trees out of events; keeps what is open on a stack of its own."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.documents: list[Node] = []
        self.mistakes: list[Mistake] = []
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Node, int]] = {}
        self._nodes = 0

    def take(self, event: Any) -> None:
        """Take the next event. Raises _Stop when reading cannot go on."""
        if isinstance(event, yaml.DocumentStartEvent):
            self._anchors = {}
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._start(event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._end()
        elif isinstance(event, yaml.ScalarEvent):
            mark = _mark(event)
            self._count(1, mark)
            node = Scalar(self._value_of(event, mark), event.value, mark)
            self._keep(event.anchor, node, 1)
            self._add(node, 1)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)

    def _alias(self, event: Any) -> None:
        mark = _mark(event)
        known = self._anchors.get(event.anchor)
        if known is None:
            raise _Stop(
                self._mistake(mark, f"the alias *{shown_key(event.anchor)} is not defined before, or holds itself")
            )
        node, size = known
        self._count(size, mark)
        # What does not fit its key is a mistake here; what stands inside of it, at the line where it is written.
        self._add(replace(node, mark=mark), size)

    def _start(self, event: Any) -> None:
        mark = _mark(event)
        self._count(1, mark)
        if len(self._open) >= MAX_DEPTH:
            raise _Stop(self._mistake(mark, "nested too deeply", f"at most {MAX_DEPTH} levels"))
        if event.tag is not None and event.tag not in _TAGS:
            self.mistakes.append(self._mistake(mark, f"the tag {shown_key(event.tag)} is not supported"))
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        self._open.append(_Open(mark, is_mapping, event.anchor, self._path()))

    def _end(self) -> None:
        done = self._open.pop()
        node: Node
        node = (
            Mapping(tuple(done.entries.values()), done.mark, done.is_whole)
            if done.is_mapping
            else Sequence(tuple(done.items), done.mark)
        )
        self._keep(done.anchor, node, done.size)
        self._add(node, done.size)

    def _add(self, node: Node, size: int) -> None:
        """Put a finished node where it belongs."""
        if not self._open:
            if not (isinstance(node, Scalar) and node.value is None):
                self.documents.append(node)
            return
        parent = self._open[-1]
        parent.size += size
        if not parent.is_mapping:
            parent.items.append(node)
        elif parent.key_is_due:
            self._take_key(parent, node)
        else:
            if parent.key is not None:
                parent.entries[parent.key[0]] = Entry(parent.key[0], parent.key[1], node)
            parent.key = None
            parent.key_is_due = True

    def _take_key(self, parent: _Open, node: Node) -> None:
        """Remember a key until its value comes; a key that can't be used has its value dropped."""
        parent.key_is_due = False
        if not (isinstance(node, Scalar) and isinstance(node.value, str)):
            seen = node.text if isinstance(node, Scalar) else "a mapping" if isinstance(node, Mapping) else "a list"
            hint = "write it in quotes" if isinstance(node, Scalar) and node.value is not None else ""
            parent.is_whole = False
            self.mistakes.append(
                self._mistake(node.mark, "a key must be a string", seen=shown_key(seen) or "nothing", hint=hint)
            )
            return
        key = node.value
        first = parent.entries.get(key)
        if first is not None:
            path = path_text((*parent.path, key))
            place = Place(self.file, node.mark.line, node.mark.column)
            self.mistakes.append(Mistake(place, path, f"duplicate key (first at line {first.mark.line})"))
        elif key == "<<":
            hint = "write the keys out: YAML 1.2 has no merge keys"
            self.mistakes.append(self._mistake(node.mark, "merge keys are not supported", hint=hint))
        else:
            parent.key = (key, node.mark)

    def _path(self) -> KeyPath:
        """Key path of the list or mapping that starts now."""
        if not self._open:
            return ()
        parent = self._open[-1]
        if parent.is_mapping:
            return (*parent.path, parent.key[0]) if parent.key else parent.path
        return (*parent.path, len(parent.items))

    def _value_of(self, event: Any, mark: Mark) -> str | int | float | bool | None:
        text = str(event.value)
        if event.tag is not None and event.tag not in _TAGS:
            self.mistakes.append(self._mistake(mark, f"the tag {shown_key(event.tag)} is not supported"))
        if event.tag in {None, "!"} and not event.implicit[0]:
            return text
        return text if event.tag == "tag:yaml.org,2002:str" else scalar_value(text)

    def _keep(self, anchor: str | None, node: Node, size: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = (node, size)

    def _count(self, size: int, mark: Mark) -> None:
        self._nodes += size
        if self._nodes > MAX_NODES:
            raise _Stop(
                self._mistake(mark, "the file holds too much", f"at most {MAX_NODES} values, aliases written out")
            )

    def _mistake(self, mark: Mark, problem: str, expected: str = "", seen: str = "", hint: str = "") -> Mistake:
        return Mistake(Place(self.file, mark.line, mark.column), "", problem, expected, seen, hint)


def _mark(event: Any) -> Mark:
    return Mark(event.start_mark.line + 1, event.start_mark.column + 1)
