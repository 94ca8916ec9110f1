"""
Pasted text as lines that can be compared: bounded, without colour codes, folded, each with its number.

Logs come as people have them: coloured by terminals, with CRLF, as JSON with escaped quotes, wrapped in container
runtime prefixes, in one line of a megabyte, cut in the middle. What is shown as evidence is the line as it came,
without control characters.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from railwright.doctor.text.index import WordIndex

MAX_CHARACTERS = 64 * 1024 * 1024
"""What is longer is read in its last part: the end of a log is where it failed."""
MAX_LINE_CHARACTERS = 2048
"""A longer line is cut into pieces, which overlap so that no message is lost at a cut."""
_OVERLAP = 256
SHOWN_CHARACTERS = 220
"""Of a line that is shown as evidence."""

_CONTROL = re.compile(r"\x1b\[[0-9;?]{0,16}[ -/]?[@-~]|\x1b[@-Z\\-_]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]")
"""ANSI sequences and lone control characters; each alternative is bounded, so it takes linear time."""
_BLANKS = re.compile(r" {2,}")
_BREAKS = str.maketrans({"\r": "\n", "\u2028": "\n", "\u2029": "\n", "\x85": "\n"})
_QUOTES = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\xab": '"', "\xbb": '"', "\xa0": " ", "\t": " "}
)


@dataclass(frozen=True)
class Text:
    """
    A text, ready to be searched.

    Attributes:
        lines: as shown, those that are not blank.
        numbers: where each was in what came in, from 1; pieces of one long line have the same.
        folded_lines: the same as compared: lower case, plain quotes, single blanks.
        is_cut: its beginning was left out.
    """

    lines: tuple[str, ...]
    numbers: tuple[int, ...]
    folded_lines: tuple[str, ...]
    is_cut: bool = False

    @cached_property
    def index(self) -> WordIndex:
        """Which lines hold which words."""
        return WordIndex(self.folded_lines)


def read_text(text: str) -> Text:
    """Prepare a text; never raises, whatever it is."""
    is_cut = len(text) > MAX_CHARACTERS
    kept = text[-MAX_CHARACTERS:] if is_cut else text
    plain = _CONTROL.sub("", kept.replace("\r\n", "\n").translate(_BREAKS)).replace("\\t", " ").replace('\\"', '"')
    lines: list[str] = []
    numbers: list[int] = []
    for number, line in enumerate(plain.split("\n"), 1):
        if not line or line.isspace():
            continue
        if len(line) <= MAX_LINE_CHARACTERS and "\\n" not in line:
            lines.append(line)
            numbers.append(number)
            continue
        pieces = [piece for part in line.split("\\n") if part for piece in _pieces(part)]
        lines += pieces
        numbers += [number] * len(pieces)
    folded = _BLANKS.sub(" ", "\n".join(lines).translate(_QUOTES)).casefold()
    return Text(tuple(lines), tuple(numbers), tuple(folded.split("\n")), is_cut)


def _pieces(line: str) -> Iterator[str]:
    if len(line) <= MAX_LINE_CHARACTERS:
        yield line
        return
    for start in range(0, len(line), MAX_LINE_CHARACTERS - _OVERLAP):
        yield line[start : start + MAX_LINE_CHARACTERS]


def shown(line: str) -> str:
    """Write a line as evidence: single blanks, not too long."""
    text = " ".join(line.split())
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"
