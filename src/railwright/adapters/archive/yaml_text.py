r"""
YAML as kubectl and oc write it -> values, from the parser's events and without recursion.

    apiVersion: v1
    items:
    - apiVersion: v1
      kind: Pod
      metadata: {...}
    kind: PodList

A list is read an item at a time, so that a large one needs no more memory than its largest item. Scalars are read as
JSON has them: no dates, no "yes". Anchors and aliases are refused: no API tool writes them, and a few lines of them
make a billion values.

Source: YAML 1.2.2, chapter 10.2 (JSON schema); kubernetes-sigs/yaml (what kubectl and oc print with).
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from railwright.adapters.archive.limits import MAX_FILE_BYTES, MAX_NESTING, MAX_OBJECT_BYTES, MAX_VALUES, too_much
from railwright.adapters.archive.objects import from_json, lines, whole
from railwright.adapters.archive.tree import Tree, read_whole
from railwright.core.errors import UsageError
from railwright.core.objects import Kind, KubeObject

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?")
_WORDS = {"null": None, "Null": None, "NULL": None, "~": None, "": None, "true": True, "false": False}
_JSON_BYTES = 64 << 20


def values(tree: Tree, path: str) -> Iterator[Any]:
    """
    Read every object of a file: the items of a list, or the one object that it is.

    Raises:
        UsageError: not YAML or JSON, or beyond a limit.
    """
    where = f"{tree.where}: {path}"
    if tree.sizes[path] > MAX_FILE_BYTES:
        raise too_much(where, f"it has {tree.sizes[path]:,} bytes")
    if next(iter(tree.chunks(path)), b"").lstrip().startswith(b"{"):
        value = from_json(read_whole(tree, path, _JSON_BYTES), where)
        yield from value["items"] if isinstance(value.get("items"), list) else [value]
        return
    for text in _texts(tree, path):
        yield from_yaml(text, where)


def objects_of(tree: Tree, paths: tuple[str, ...], kind: Kind) -> Iterator[KubeObject]:
    """
    Read the objects of one kind from some files.

    Raises:
        UsageError: after everything that can be read, when a file cannot be.
    """
    broken: UsageError | None = None
    for path in paths:
        try:
            for value in values(tree, path):
                obj = whole(value, kind)
                if obj is not None:
                    yield obj
        except UsageError as error:
            broken = broken or error
    if broken is not None:
        raise broken


def from_yaml(text: bytes, where: str) -> Any:
    """
    Read one YAML document.

    Raises:
        UsageError: no YAML, an alias in it, or beyond a limit.
    """
    builder = _Builder(where)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        message = f"{where}: no YAML: {str(error).splitlines()[0]}"
        raise UsageError(message, hint="make sure that it is what was collected, unchanged") from error
    return builder.result


def _texts(tree: Tree, path: str) -> Iterator[bytes]:
    """Cut a file into its objects: lines of one item each, or all of it."""
    found: list[bytes] = []
    size_bytes, dash, in_items = 0, b"", False
    for line in lines(tree, path):
        if in_items and not dash and line.lstrip().startswith(b"- "):
            dash = line[: len(line) - len(line.lstrip())] + b"- "
        starts = bool(dash) and line.startswith(dash)
        if starts or (in_items and line[:1] not in {b" ", b""} and not line.startswith(b"- ")):
            if found:
                yield b"\n".join(found)
            in_items = starts
            found, size_bytes = [], 0
        if not in_items and line.rstrip() in {b"items:", b"items: []"}:
            # What stands before and after the items is the list's own.
            found, size_bytes, dash, in_items = [], 0, b"", True
            continue
        kept = b" " * len(dash) + line[len(dash) :] if starts else line
        found.append(kept)
        size_bytes += len(kept) + 1
        if size_bytes > MAX_OBJECT_BYTES:
            raise too_much(f"{tree.where}: {path}", f"one object has more than {MAX_OBJECT_BYTES:,} bytes")
    if found and (in_items or not dash):
        yield b"\n".join(found)


class _Builder:
    """Puts values together from events."""

    def __init__(self, where: str) -> None:
        self.result: Any = None
        self._where = where
        self._open: list[tuple[Any, bool]] = []
        """Mappings (True) and sequences (False) that are not at their end."""
        self._keys: list[Any] = []
        self._count = 0

    def take(self, event: Any) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._put(event.value if event.style or not event.implicit[0] else plain_scalar(event.value))
        elif isinstance(event, yaml.MappingStartEvent):
            self._start({}, is_mapping=True)
        elif isinstance(event, yaml.SequenceStartEvent):
            self._start([], is_mapping=False)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._open.pop()
        elif isinstance(event, yaml.AliasEvent):
            raise too_much(self._where, "it uses an alias, which no tool of Kubernetes writes")

    def _start(self, value: Any, *, is_mapping: bool) -> None:
        self._put(value)
        if len(self._open) >= MAX_NESTING:
            raise too_much(self._where, f"an object is nested more than {MAX_NESTING} deep")
        self._open.append((value, is_mapping))
        self._keys.append(_NO_KEY)
        # A key that is a collection itself leaves its place open: what follows is its value, and both are lost.

    def _put(self, value: Any) -> None:
        self._count += 1
        if self._count > MAX_VALUES:
            raise too_much(self._where, f"one object has more than {MAX_VALUES:,} values")
        while len(self._keys) > len(self._open):
            self._keys.pop()
        if not self._open:
            self.result = value
            return
        container, is_mapping = self._open[-1]
        if not is_mapping:
            container.append(value)
        elif self._keys[-1] is _NO_KEY:
            self._keys[-1] = value if isinstance(value, str) else str(value)
        else:
            container[self._keys[-1]] = value
            self._keys[-1] = _NO_KEY


_NO_KEY = object()


def plain_scalar(text: str) -> Any:
    """Read a scalar without quotes."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in "-0123456789":
        if _NUMBER.fullmatch(text):
            return int(text)
        if _DECIMAL.fullmatch(text):
            return float(text)
    return text
