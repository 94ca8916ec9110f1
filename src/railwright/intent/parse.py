"""
rails.yaml -> Intents, or every mistake in it at once.

Reading a file is the only I/O here; its size is looked at before its content.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from railwright.core.errors import UsageError
from railwright.intent.check_shape import check_shape
from railwright.intent.convert import to_intent
from railwright.intent.ipam_rules import check_ipam
from railwright.intent.mistakes import Mistake, error_of
from railwright.intent.model import Intent, Place
from railwright.intent.read_yaml import MAX_BYTES, read_documents
from railwright.intent.rules import Broken, check_rules
from railwright.intent.shape import DocumentShape, SpecShape
from railwright.intent.subnets import Network, check_subnets, subnets_of
from railwright.intent.tree import KeyPath, Node, key_mark_of, mark_of, path_text, walk

Checked = tuple[Node, DocumentShape, tuple[KeyPath, ...]]
"""A document: what was written, what of it is right, and the key paths that were cut out of it."""

_READ_BYTES = MAX_BYTES + 1
"""What is read of a file: enough to see that it is too large."""

_NEXT = "docs/rails-yaml.md shows how to write one"


def read_intents(path: Path | str) -> tuple[Intent, ...]:
    """
    Read a rails.yaml.

    Raises:
        UsageError: no such file, a folder, not readable, too large, or not UTF-8.
        IntentError: mistakes in it, all of them.
    """
    file = str(path)
    with _readable(file), Path(path).open("rb") as opened:
        content = opened.read(_READ_BYTES)
    return _parse_content(content, file)


def read_intents_from(stream: BinaryIO, name: str = "stdin") -> tuple[Intent, ...]:
    """
    Read a rails.yaml out of a stream; mistakes call it `name`.

    Raises:
        UsageError: not readable, too large, or not UTF-8.
        IntentError: mistakes in it, all of them.
    """
    with _readable(name):
        content = stream.read(_READ_BYTES)
    return _parse_content(content, name)


@contextmanager
def _readable(file: str) -> Iterator[None]:
    """Say in words why a file cannot be read."""
    try:
        yield
    except FileNotFoundError as error:
        message = f"{file}: there is no such file"
        raise UsageError(message, hint=_NEXT, context={"file": file}) from error
    except IsADirectoryError as error:
        message = f"{file}: is a folder (expected a YAML file)"
        raise UsageError(message, hint=_NEXT, context={"file": file}) from error
    except PermissionError as error:
        message = f"{file}: may not be read: {error.strerror}"
        raise UsageError(message, hint=_NEXT, context={"file": file}) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        message = f"{ascii(file)[1:-1]}: cannot be read: {reason}"
        raise UsageError(message, hint=_NEXT, context={"file": file}) from error


def _parse_content(content: bytes, file: str) -> tuple[Intent, ...]:
    """Parse the first _READ_BYTES of a file."""
    if len(content) > MAX_BYTES:
        message = f"{file}: is too large for a rails.yaml (expected at most {MAX_BYTES} bytes, seen more)"
        raise UsageError(message, hint=_NEXT, context={"file": file})
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - (content.rfind(b"\n", 0, error.start) + 1) + 1
        message = f"{file}:{line}:{column}: is not UTF-8 text (seen byte 0x{content[error.start]:02x})"
        raise UsageError(message, hint=_NEXT, context={"file": file}) from error
    return parse_intents(text, file)


def parse_intents(text: str, file: str = "rails.yaml") -> tuple[Intent, ...]:
    """
    Parse the text of a rails.yaml: one RailFabric a document.

    Raises:
        IntentError: mistakes in it, all of them, a line each.
    """
    roots, found = read_documents(text, file)
    mistakes = list(found)
    if not roots and not mistakes:
        expected = "a document with apiVersion, kind, metadata and spec"
        mistakes.append(Mistake(Place(file, 1, 1), "", "the file is empty", expected))
    checked: list[Checked] = []
    for root in roots:
        shape, wrong, cut = check_shape(root, file)
        mistakes.extend(wrong)
        checked.append((root, shape, cut))
        spec = shape.spec or SpecShape()
        mistakes.extend(_placed([*check_rules(spec), *check_subnets(spec), *check_ipam(spec)], root, cut, file))
    mistakes.extend(_between(checked, file))
    if mistakes:
        raise error_of(file, mistakes)
    return tuple(
        to_intent(shape, {path_text(path): Place(file, mark.line, mark.column) for path, mark in walk(root)})
        for root, shape, _ in checked
    )


def _placed(broken: list[Broken], root: Node, cut: tuple[KeyPath, ...], file: str) -> Iterator[Mistake]:
    """Give broken rules their places; those that only follow from what was cut out are left out."""
    for one in broken:
        if any(path[: len(one.path)] == one.path for path in cut):
            continue
        mark = key_mark_of(root, one.path) if one.at_key else mark_of(root, one.path)
        place = Place(file, mark.line, mark.column)
        yield Mistake(place, path_text(one.path), one.problem, one.expected, one.seen, one.hint)


def _between(checked: list[Checked], file: str) -> Iterator[Mistake]:
    """Check what the fabrics of one file must not share: names, resource names, subnets."""
    names: dict[str, Place] = {}
    stems: dict[str, Place] = {}
    earlier: list[tuple[Network, Place]] = []
    for root, shape, _ in checked:
        name = shape.metadata.name if shape.metadata else None
        if name is None:
            continue
        path: KeyPath = ("metadata", "name")
        place = _place_of(root, path, file)
        first = names.setdefault(name, place)
        if first is not place:
            yield Mistake(
                place, path_text(path), "the same name as another RailFabric", "each once", f'"{name}", at {first}'
            )
            continue
        prefix = shape.spec.resource_prefix if shape.spec else None
        path = ("spec", "resourcePrefix") if prefix is not None else path
        place = _place_of(root, path, file)
        first = stems.setdefault(prefix or name, place)
        if first is not place:
            problem = "gives resources the same names as another RailFabric"
            yield Mistake(place, path_text(path), problem, "each once", f'"{prefix or name}", at {first}')
        own = subnets_of(shape.spec) if shape.spec else ()
        placed = [(net, _place_of(root, key_path, file), path_text(key_path)) for key_path, net in own]
        for net, place, text in placed:
            for other, there in earlier:
                if net.version == other.version and net.overlaps(other):
                    problem = "overlaps a subnet of another RailFabric in this file"
                    yield Mistake(place, text, problem, seen=f"{net}, and {other} at {there}")
                    break
        earlier.extend((net, place) for net, place, _ in placed)


def _place_of(root: Node, path: KeyPath, file: str) -> Place:
    mark = mark_of(root, path)
    return Place(file, mark.line, mark.column)
