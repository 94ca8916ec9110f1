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

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import yaml

from railwright.adapters.archive.block_yaml import Unusual, from_block
from railwright.adapters.archive.limits import MAX_FILE_BYTES, MAX_NESTING, MAX_OBJECT_BYTES, MAX_VALUES, too_much
from railwright.adapters.archive.objects import from_json, lines, whole
from railwright.adapters.archive.plurals import known_kinds
from railwright.adapters.archive.scalars import plain_scalar
from railwright.adapters.archive.tree import Tree, read_whole
from railwright.core.errors import UsageError
from railwright.core.objects import Kind, KubeObject

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
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
                elif not _is_of_another_version(value, kind):
                    broken = broken or _not_of(kind, f"{tree.where}: {path}")
        except UsageError as error:
            broken = broken or error
    if broken is not None:
        raise broken


def _is_of_another_version(value: Any, kind: Kind) -> bool:
    """Whether it is an object of the same kind, in another version that railwright knows."""
    said = (value.get("apiVersion"), value.get("kind")) if isinstance(value, dict) else ("", "")
    return said[1] == kind.kind and any((known.api_version, known.kind) == said for known in known_kinds())


def _not_of(kind: Kind, where: str) -> UsageError:
    message = f"{where}: something in it is no {kind.kind} of {kind.api_version}"
    return UsageError(message, hint="make sure that it is what was collected, unchanged")


def from_yaml(text: bytes, where: str) -> Any:
    """
    Read one YAML document.

    Raises:
        UsageError: no YAML, an alias in it, or beyond a limit.
    """
    if text.count(b"\n") < MAX_VALUES // 4:
        with suppress(Unusual, UnicodeDecodeError):
            return from_block(text.decode())
    return from_any_yaml(text, where)


def from_any_yaml(text: bytes, where: str) -> Any:
    """Do the same with the whole parser."""
    builder = _Builder(where)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        message = f"{where}: no YAML: {str(error).splitlines()[0]}"
        raise UsageError(message, hint="make sure that it is what was collected, unchanged") from error
    return builder.result


def _texts(tree: Tree, path: str) -> Iterator[bytes]:
    """Cut a file into its objects: lines of one item of a list each, or of one document."""
    cutter = _Cutter()
    for line in lines(tree, path):
        text = cutter.take(line)
        if text:
            yield text
        if cutter.size_bytes > MAX_OBJECT_BYTES:
            raise too_much(f"{tree.where}: {path}", f"one object has more than {MAX_OBJECT_BYTES:,} bytes")
    text = cutter.cut()
    if text:
        yield text


class _Cutter:
    """Takes lines and gives whole objects; what stands before and after the items of a list is left out."""

    def __init__(self) -> None:
        self.size_bytes = 0
        self._found: list[bytes] = []
        self._dash = b""
        """How the items of this list begin: "- ", after the blanks of the first of them."""
        self._is_list = self._in_items = False

    def take(self, line: bytes) -> bytes:
        """Take a line; gives the object that ended before it, if one did."""
        if line.rstrip() == b"---":
            text = self.cut()
            self._dash, self._is_list, self._in_items = b"", False, False
            return text
        if not self._in_items and line.rstrip() in {b"items:", b"items: []"}:
            self._drop()
            self._dash, self._is_list, self._in_items = b"", True, True
            return b""
        if self._in_items and not self._dash and line.lstrip().startswith(b"- "):
            self._dash = line[: len(line) - len(line.lstrip())] + b"- "
        starts = bool(self._dash) and line.startswith(self._dash)
        text = b""
        if starts or (self._in_items and line[:1] not in {b" ", b""} and not line.startswith(b"- ")):
            text = self.cut()
            self._in_items = starts
        kept = b" " * len(self._dash) + line[len(self._dash) :] if starts else line
        self._found.append(kept)
        self.size_bytes += len(kept) + 1
        return text

    def cut(self) -> bytes:
        """Give the lines of one object, if there are any, and begin anew."""
        is_object = self._found and (self._in_items or not self._is_list)
        text = b"\n".join([*self._found, b""]) if is_object else b""
        self._drop()
        return text if text.strip() else b""

    def _drop(self) -> None:
        self._found, self.size_bytes = [], 0


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
            is_text = event.style or not event.implicit[0] or self._awaits_key()
            self._put(event.value if is_text else plain_scalar(event.value))
        elif isinstance(event, yaml.MappingStartEvent):
            self._start({}, is_mapping=True)
        elif isinstance(event, yaml.SequenceStartEvent):
            self._start([], is_mapping=False)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._open.pop()
        elif isinstance(event, yaml.AliasEvent):
            raise too_much(self._where, "it uses an alias, which no tool of Kubernetes writes")

    def _awaits_key(self) -> bool:
        return bool(self._open) and self._open[-1][1] and self._keys[len(self._open) - 1] is _NO_KEY

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
            self._keys[-1] = value if isinstance(value, str) else repr(value)
        else:
            container[self._keys[-1]] = value
            self._keys[-1] = _NO_KEY


_NO_KEY = object()
