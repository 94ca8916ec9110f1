"""
Hold one document against the shape: pydantic's faults, told in the words of keys.py.

Goes out: the shape of what is right (what is wrong is cut out, so that the rest can still be checked), and mistakes.
"""

from collections import abc
from typing import Any, cast

from pydantic import ValidationError

from railwright.core.redaction import is_secret
from railwright.intent.keys import KEYS, KeyDoc, children, find_key, parents_of, row_of
from railwright.intent.mistakes import Mistake, did_you_mean, show
from railwright.intent.model import Place
from railwright.intent.shape import DocumentShape
from railwright.intent.tree import (
    KeyPath,
    Mapping,
    Mark,
    Node,
    Scalar,
    find,
    key_mark_of,
    mark_of,
    path_text,
    plain,
    walk,
)

MAX_ROUNDS = 8
"""How often wrong parts are cut out; each round cuts everything that pydantic names, so two are usual."""


def check_shape(root: Node, file: str) -> tuple[DocumentShape, tuple[Mistake, ...], tuple[KeyPath, ...]]:
    """
    Check types, words and bounds of one document.

    Returns:
        The shape of what is right; the mistakes; and the key paths that were cut out.
    """
    data = plain(root)
    if not isinstance(data, dict):
        place = Place(file, root.mark.line, root.mark.column)
        mistake = Mistake(place, "", "a document must be a mapping", "apiVersion, kind, metadata and spec", show(data))
        return DocumentShape(), (mistake,), ((),)
    mistakes, cut = _without_value(root, file)
    for path in cut:
        _remove(data, path)
    for _ in range(MAX_ROUNDS):
        try:
            shape = DocumentShape.model_validate(data)
        except ValidationError as error:
            for fault in error.errors(include_url=False, include_context=True, include_input=True):
                path = _path_of(fault["loc"])
                if not _only_follows(str(fault["type"]), path, cut, root):
                    mistakes.append(_mistake_of(cast("abc.Mapping[str, Any]", fault), path, root, file))
                cut.append(path)
                _remove(data, path)
        else:
            return shape, (*mistakes, *_missing(root, data, cut, file)), tuple(cut)
    return DocumentShape(), tuple(mistakes), ((),)


def _only_follows(kind: str, path: KeyPath, cut: list[KeyPath], root: Node) -> bool:
    """Whether a fault is there only because of what was cut out before, or of keys that could not be read."""
    written = find(root, path)
    return any(len(path) < len(gone) and gone[: len(path)] == path for gone in cut) or (
        kind == "too_short" and isinstance(written, Mapping) and not written.is_whole
    )


def _without_value(root: Node, file: str) -> tuple[list[Mistake], list[KeyPath]]:
    """Find keys and list items that hold nothing: neither left out nor set."""
    mistakes: list[Mistake] = []
    cut: list[KeyPath] = []
    for path, mark in walk(root):
        node = find(root, path)
        if isinstance(node, Scalar) and node.value is None:
            key = find_key(path_text(path))
            expected = key.expected if key else "a value"
            hint = "give it a value, or leave the key out"
            mistakes.append(Mistake(_place(file, mark), path_text(path), "has no value", expected, "nothing", hint))
            cut.append(path)
    return mistakes, cut


def _path_of(location: tuple[int | str, ...]) -> KeyPath:
    """Take pydantic's own marks out of a location."""
    return tuple(step for step in location if step != "[key]")


def _mistake_of(fault: abc.Mapping[str, Any], path: KeyPath, root: Node, file: str) -> Mistake:
    """Say one fault of pydantic's in our words."""
    text = path_text(path)
    kind = str(fault["type"])
    if kind == "extra_forbidden":
        return _unknown_key(path, root, file)
    key = row_of(text)
    expected = _expected(path, key)
    written = find(root, path)
    seen = show(fault["input"]) if written is None else _seen(written, is_hidden=is_secret(path[-1], plain(written)))
    if fault["loc"][-1] == "[key]":
        mark = key_mark_of(root, path)
        return Mistake(_place(file, mark), text, "not a valid key", "a label's key", show(path[-1]))
    place = _place(file, mark_of(root, path))
    if kind.endswith("_type"):
        expected = _typed(path, key) or expected
        return Mistake(place, text, "wrong type", expected, seen, _quotes(kind, written))
    if kind == "too_short":
        return Mistake(place, text, "is empty", expected, hint="leave the key out instead")
    hint = did_you_mean(str(fault["input"]), key.choices)
    if text == "spec.network.ipam" and fault["input"] == "dhcp":
        hint = "dhcp is not supported: the InfiniBand plugins refuse it, and nothing says that a rail has a server"
    if kind == "string_too_long":
        expected = (
            f"{expected} (at most {fault['ctx']['max_length']} characters)" if "at most" not in expected else expected
        )
    return Mistake(place, text, "not a value for this key", expected, seen, hint)


def _seen(node: Node, *, is_hidden: bool) -> str:
    """Show a value as it was written; where a Secret's name belongs, somebody may have put the secret itself."""
    if is_hidden and isinstance(node, Scalar):
        return "a text that is not shown"
    if isinstance(node, Scalar) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return f"the number {node.text[:60]}"
    return show(plain(node))


def _expected(path: KeyPath, key: KeyDoc) -> str:
    """Say what was expected at a path: of a list's item or a map's value, what one of them may hold."""
    return key.item if key.item and _is_inside(path, key) else key.expected


def _typed(path: KeyPath, key: KeyDoc) -> str:
    """Say which type was expected; empty when the row's own words say it."""
    if _is_inside(path, key):
        return "a mapping" if "mappings" in key.type else f"a string: {key.item}" if key.item else "a string"
    if key.type in {"integer", "boolean", "string", "mapping"}:
        article = "an" if key.type == "integer" else "a"
        return f"{article} {key.type}" + (f": {key.allowed_text}" if key.allowed_text else "")
    return f"a {key.type}" if key.type.startswith(("list", "mapping")) else ""


def _is_inside(path: KeyPath, key: KeyDoc) -> bool:
    """Whether a path leads into the list or map that a row is about, and not to the key itself."""
    return _row_path(path) != key.path


def _quotes(kind: str, node: Node | None) -> str:
    """Tell a number apart from a string of digits."""
    if not isinstance(node, Scalar):
        return ""
    if kind == "string_type":
        return f'write "{node.text[:60]}", in quotes'
    if kind in {"int_type", "bool_type"} and isinstance(node.value, str):
        bare = node.value.strip().lower()
        if kind == "int_type" and bare.lstrip("+-").isdecimal():
            return "write it without quotes"
        if kind == "bool_type" and bare in {"yes", "on", "y"}:
            return "write true"
        if kind == "bool_type" and bare in {"no", "off", "n"}:
            return "write false"
        if kind == "bool_type" and bare in {"true", "false"}:
            return "write it without quotes"
    return ""


def _unknown_key(path: KeyPath, root: Node, file: str) -> Mistake:
    """Guess which key was meant, here or elsewhere."""
    name = str(path[-1])
    here = children(_row_path(path[:-1]))
    hint = did_you_mean(name, here)
    elsewhere = parents_of(name)
    if not hint and elsewhere:
        hint = f"{name} belongs at {elsewhere[0]}"
    if not hint:
        near = did_you_mean(name, {key.path.rpartition(".")[2] for key in KEYS})
        hint = near or f"keys here: {', '.join(here)}"
    return Mistake(_place(file, key_mark_of(root, path)), path_text(path), "unknown key", hint=hint)


def _missing(root: Node, data: Any, cut: list[KeyPath], file: str) -> list[Mistake]:
    """Find keys that must be written and were not."""
    mistakes = []
    for key in KEYS:
        if not key.required:
            continue
        parent, _, name = key.path.rpartition(".")
        for path in _instances(data, parent):
            here = (*path, name)
            holder = find_data(data, path)
            if isinstance(holder, dict) and name not in holder and here not in cut:
                place = _place(file, key_mark_of(root, path))
                mistakes.append(Mistake(place, path_text(here), "is missing", key.expected))
    return mistakes


def _instances(data: Any, row_path: str) -> list[KeyPath]:
    """Every place in the data that a row's path ("spec.rails[]") stands for."""
    places: list[KeyPath] = [()]
    for step in row_path.split(".") if row_path else []:
        name, is_list = step.removesuffix("[]"), step.endswith("[]")
        places = [(*place, name) for place in places if find_data(data, (*place, name)) is not None]
        if is_list:
            places = [
                (*place, index)
                for place in places
                if isinstance(found := find_data(data, place), list)
                for index in range(len(found))
            ]
    return places


def find_data(data: Any, path: KeyPath) -> Any:
    """Follow a key path into plain data; None when it is not there."""
    for step in path:
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            return None
    return data


def _remove(data: Any, path: KeyPath) -> None:
    """
    Cut out what stands at a path.

    An item of a list takes its list along, or the places of the items behind it would no longer be right.
    """
    while path and isinstance(path[-1], int):
        path = path[:-1]
    parent = find_data(data, path[:-1]) if path else None
    if isinstance(parent, dict):
        parent.pop(path[-1], None)


def _row_path(path: KeyPath) -> str:
    """Write a path the way keys.py does: any index is []."""
    text = ""
    for step in path:
        text += "[]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _place(file: str, mark: Mark) -> Place:
    return Place(file, mark.line, mark.column)
