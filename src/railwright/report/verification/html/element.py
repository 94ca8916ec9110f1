"""HTML and SVG as values: text and attributes are escaped when they are written, and there is no other way in."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from railwright.core.foreign_text import inert

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9-]*")
_VOID = frozenset({"meta", "br", "hr", "input"})


@dataclass(frozen=True)
class Element:
    """One element with its attributes and children."""

    name: str
    attributes: tuple[tuple[str, str], ...]
    children: tuple["Node", ...]


@dataclass(frozen=True)
class Verbatim:
    """Text of our own that is not escaped: style and script; never anything that comes from a record."""

    text: str


Node = Element | Verbatim | str


def el(name: str, /, *children: Node | None, **attributes: str | float | bool | None) -> Element:
    """
    Make an element; children that are None are left out.

    Args:
        attributes: `class_` for class, underscores become hyphens (`aria_label`); None and False leave one out, True
            gives it an empty value.
    """
    pairs = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        spelled = key.rstrip("_").replace("_", "-")
        assert _NAME.fullmatch(spelled)
        pairs.append((spelled, "" if value is True else _number(value)))
    assert _NAME.fullmatch(name)
    return Element(name, tuple(pairs), tuple(child for child in children if child is not None))


def _number(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"


def group(nodes: Iterable[Node | None]) -> tuple[Node, ...]:
    """Collect children; None is left out."""
    return tuple(node for node in nodes if node is not None)


def data_block(name: str, value: Any) -> Element:
    """Embed data for the page's own script; a "<" in it can end nothing."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True)
    return Element(
        "script",
        (("type", "application/json"), ("id", name)),
        (Verbatim(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")),),
    )


def write(node: Node) -> str:
    """Write a node as text."""
    return "".join(_parts(node))


def _parts(node: Node) -> Iterator[str]:
    if isinstance(node, str):
        yield escape(inert(node), quote=False)
        return
    if isinstance(node, Verbatim):
        yield node.text
        return
    yield f"<{node.name}"
    for key, value in node.attributes:
        yield f' {key}="{escape(inert(value))}"'
    yield ">"
    if node.name in _VOID:
        return
    for child in node.children:
        yield from _parts(child)
    yield f"</{node.name}>"
