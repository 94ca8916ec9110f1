"""
The part of YAML that kubectl, oc and their like print, read line by line: several times as fast as a whole parser.

    metadata:
      labels:
        app: x
    spec:
    - name: 'it''s'
      args: []

Whatever is not certainly of this part (flow collections, folded or continued text, escapes, comments, anchors, tags) is
Unusual, and the whole parser reads it: the two never disagree, which tests hold them to.

Source: YAML 1.2.2, chapters 7.3 (flow scalars) and 8 (block styles).
"""

import re
from typing import Any

from railwright.adapters.archive.limits import MAX_NESTING
from railwright.adapters.archive.scalars import plain_scalar

_QUOTED_KEY = re.compile(r"""(?:'([^']*)'|"([^"\\]*)"):(?: +(.*)|$)""")
_SPECIAL = frozenset("-?:,[]{}#&*!|>'\"%@` ")
"""What a scalar without quotes may not begin with; "-" may stand before anything but a blank."""
_SINGLE = re.compile(r"'((?:[^']|'')*)'")
_DOUBLE = re.compile(r'"([^"\\]*)"')
_ODD = re.compile(r"[^\x20-\x7e\n]")
_LONGEST_KEY = 1000
"""YAML ends the key of a mapping after 1024 characters, marks included; the whole parser counts them. Source: YAML 1.2.2, 7.4."""
_EMPTY: dict[str, type] = {"{}": dict, "[]": list}


class Unusual(Exception):
    """This text is for the whole parser."""


def _is_plain(text: str) -> bool:
    """Whether a text that is not empty is a scalar without quotes."""
    if text[0] in _SPECIAL and not (text[0] == "-" and text[1:2] not in {"", " "}):
        return False
    return ": " not in text and " #" not in text and text[-1] != ":"


def _key_of(line: str) -> tuple[str, str] | None:
    """Cut a line into its key and what stands behind it; None when it has no key."""
    place = line.find(": ")
    if place < 0 and line[-1:] != ":":
        return None
    key, rest = (line[:place], line[place + 2 :].lstrip(" ")) if place >= 0 else (line[:-1], "")
    if key and key[0] not in _SPECIAL and key[-1] not in " :" and " #" not in key:
        return key, rest
    match = _QUOTED_KEY.fullmatch(line)
    if match is None:
        return None
    return (match[1] if match[1] is not None else match[2]), match[3] or ""


def from_block(text: str) -> Any:
    """Read one document. Raises Unusual."""
    if _ODD.search(text):
        raise Unusual
    raw = text.split("\n")
    lines = [line.rstrip(" ") for line in raw]
    reader = _Reader(lines, raw)
    reader.skip_blank()
    if reader.at >= len(lines):
        raise Unusual
    value = reader.block(reader.indent(), 0)
    reader.skip_blank()
    if reader.at < len(lines):
        raise Unusual
    return value


class _Reader:
    """Lines without their trailing blanks, lines as they are, and the number of the next one."""

    def __init__(self, lines: list[str], raw: list[str]) -> None:
        self._lines, self._raw = lines, raw
        self.at = 0

    def skip_blank(self) -> None:
        while self.at < len(self._lines) and not self._lines[self.at]:
            self.at += 1

    def indent(self) -> int:
        """Give how far the next line that is not blank is indented; -1 at the end."""
        self.skip_blank()
        if self.at >= len(self._lines):
            return -1
        line = self._lines[self.at]
        return len(line) - len(line.lstrip(" "))

    def block(self, indent: int, depth: int) -> Any:
        """Read the collection that begins at this indentation."""
        if depth >= MAX_NESTING:
            raise Unusual
        line = self._lines[self.at]
        if line.startswith("- ", indent) or line[indent:] == "-":
            return self._sequence(indent, depth)
        return self._mapping(indent, depth)

    def _sequence(self, indent: int, depth: int) -> list[Any]:
        found: list[Any] = []
        while self.indent() == indent and self._lines[self.at].startswith("- ", indent):
            line = self._lines[self.at]
            inside = len(line) - len(line[indent + 1 :].lstrip(" "))
            rest = line[inside:]
            if rest.startswith("- ") or _key_of(rest) is not None:
                # What stands behind the dash is a collection of its own, indented by the dash.
                self._lines[self.at] = " " * inside + rest
                found.append(self.block(inside, depth + 1))
            else:
                self.at += 1
                found.append(self._scalar(rest, indent))
        return found

    def _mapping(self, indent: int, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self.indent() == indent:
            cut = _key_of(self._lines[self.at][indent:])
            if cut is None or cut[0] in found or len(cut[0]) > _LONGEST_KEY:
                raise Unusual
            key, rest = cut
            self.at += 1
            found[key] = self._scalar(rest, indent) if rest else self._under(indent, depth)
        if not found or self.indent() > indent:
            raise Unusual
        return found

    def _under(self, indent: int, depth: int) -> Any:
        """Read what stands under a key: something deeper, a sequence at the key's own indentation, or nothing."""
        inside = self.indent()
        if inside > indent:
            return self.block(inside, depth + 1)
        if inside == indent and self._lines[self.at].startswith("- ", indent):
            return self._sequence(indent, depth + 1)
        return None

    def _scalar(self, text: str, indent: int) -> Any:
        """Read a scalar that ends on its line, or a literal block."""
        if text in {"|", "|-"}:
            return self._literal(indent, keep_end=text == "|")
        if self.indent() > indent:
            raise Unusual
        if _is_plain(text):
            return plain_scalar(text)
        if text in _EMPTY:
            return _EMPTY[text]()
        if match := _SINGLE.fullmatch(text):
            return match[1].replace("''", "'")
        if match := _DOUBLE.fullmatch(text):
            return match[1]
        raise Unusual

    def _literal(self, indent: int, *, keep_end: bool) -> str:
        """Read the lines of a literal block: all that are deeper than its parent."""
        inside = self.indent()
        first = self.at
        if inside <= indent or not self._lines[first - 1]:
            raise Unusual  # an empty one, or one that begins with blank lines
        while self.at < len(self._lines) and (not self._lines[self.at] or self._deep(self.at) >= inside):
            self.at += 1
        if self.at < len(self._lines) and self._deep(self.at) > indent:
            raise Unusual
        if self.at == len(self._lines) and self._raw[-1]:
            raise Unusual  # its last line has no end
        lines = [line[inside:] for line in self._raw[first : self.at]]
        if any(len(line) > inside and not line.strip() for line in self._raw[first : self.at]):
            raise Unusual
        while lines and not lines[-1]:
            lines.pop()
        return "\n".join(lines) + ("\n" if keep_end and lines else "")

    def _deep(self, at: int) -> int:
        line = self._lines[at]
        return len(line) - len(line.lstrip(" "))
