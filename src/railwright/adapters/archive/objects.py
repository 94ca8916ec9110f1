"""Text of Kubernetes objects -> objects, checked: hostile or broken text is an error with its place, or left out."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from railwright.adapters.archive.limits import MAX_NESTING, MAX_OBJECT_BYTES, MAX_VALUES, too_much
from railwright.adapters.archive.tree import Tree
from railwright.core.errors import UsageError
from railwright.core.objects import Kind, KubeObject

_NAME = re.compile(r"[^/%\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


def lines(tree: Tree, path: str, limit_bytes: int = MAX_OBJECT_BYTES) -> Iterator[bytes]:
    """Give a file line by line. Raises UsageError for a line above the limit."""
    rest = b""
    for chunk in tree.chunks(path):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
        if len(rest) > limit_bytes:
            raise too_much(f"{tree.where}: {path}", f"a line has more than {limit_bytes:,} bytes")
    if rest:
        yield rest


def from_json(text: bytes, where: str) -> Any:
    """
    Read one JSON value.

    Raises:
        UsageError: no JSON, or nested too deep.
    """
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        message = f"{where}: no JSON: {error}"
        raise UsageError(message, hint="get the archive again, and compare its checksum") from error
    check(value, where)
    return value


def check(value: Any, where: str) -> None:
    """Refuse what no API server would have accepted. Raises UsageError."""
    level, count = [value], 0
    for _ in range(MAX_NESTING):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        count += len(inner)
        if count > MAX_VALUES:
            raise too_much(where, f"one object has more than {MAX_VALUES:,} values")
        if not inner:
            return
        level = inner
    raise too_much(where, f"an object is nested more than {MAX_NESTING} deep")


def whole(value: Any, kind: Kind) -> KubeObject | None:
    """Give an object its type where the list left it out; None for what is no object with a name, or of another type."""
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        return None
    metadata = value["metadata"]
    namespace = metadata.get("namespace", "")
    if not _is_name(metadata.get("name")) or not (namespace == "" or _is_name(namespace)):
        return None
    typed = {"apiVersion": kind.api_version, "kind": kind.kind, **value}
    return typed if (typed["apiVersion"], typed["kind"]) == (kind.api_version, kind.kind) else None


def _is_name(value: Any) -> bool:
    """
    Whether an API server takes an object or a namespace of this name: paths of files are made of such names.

    Control characters, which no kind of ours may have in its names, are left out too.
    Source: kubernetes/apimachinery v0.33, pkg/api/validation/path/name.go, IsValidPathSegmentName.
    """
    return isinstance(value, str) and value not in {".", ".."} and _NAME.fullmatch(value) is not None
