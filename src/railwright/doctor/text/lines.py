"""
Pasted text as lines that can be compared: bounded, without colour codes, folded, each with its number.

Logs come as people have them: coloured by terminals, with CRLF, as JSON with escaped quotes, wrapped in container
runtime prefixes, in one line of a megabyte, cut in the middle. What is shown as evidence is the line as it came,
without control characters.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate

MAX_CHARACTERS = 64 * 1024 * 1024
"""What is longer is read in its last part: the end of a log is where it failed."""
MAX_LINE_CHARACTERS = 2048
"""A longer line is cut into pieces, which overlap so that no message is lost at a cut."""
_OVERLAP = 256
SHOWN_CHARACTERS = 220
"""Of a line that is shown as evidence."""

_CONTROL = re.compile(r"\x1b\[[0-9;?]{0,16}[ -/]?[@-~]|\x1b[@-Z\\-_]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]")
"""ANSI sequences and lone control characters; each alternative is bounded, so it takes linear time."""
_WORD = re.compile(r"[a-z]{4,}")
_BREAKS = str.maketrans({"\r": "\n", "\u2028": "\n", "\u2029": "\n", "\x85": "\n"})
_QUOTES = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\xab": '"', "\xbb": '"', "\xa0": " ", "\t": " "}
)


@dataclass(frozen=True)
class Text:
    """
    A text, ready to be searched.

    Attributes:
        lines: as shown.
        numbers: where each was in what came in, from 1; pieces of one long line have the same.
        folded: the lines as compared: lower case, plain quotes, one text with the same line breaks.
        is_cut: its beginning was left out.
    """

    lines: tuple[str, ...]
    numbers: tuple[int, ...]
    folded: str
    is_cut: bool = False

    @cached_property
    def folded_lines(self) -> tuple[str, ...]:
        """Lines as compared."""
        return tuple(self.folded.split("\n"))

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(line) + 1 for line in self.folded_lines), initial=0))

    @cached_property
    def vocabulary(self) -> str:
        """Every run of four letters or more, each once: what is not in it is not in the text."""
        return " ".join(set(_WORD.findall(self.folded)))

    def may_hold(self, words: str) -> bool:
        """Whether words can be in the text at all; False is certain, and cheap."""
        return all(run in self.vocabulary for run in _runs(words))

    def line_at(self, position: int) -> int:
        """Index of the line that holds a position of `folded`."""
        return bisect_right(self._starts, position) - 1

    def start_of(self, index: int) -> int:
        """Position in `folded` where a line begins; one past the last line is the end of the text."""
        return self._starts[index]


@cache
def _runs(words: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(words))


def read_text(text: str) -> Text:
    """Prepare a text; never raises, whatever it is."""
    is_cut = len(text) > MAX_CHARACTERS
    kept = text[-MAX_CHARACTERS:] if is_cut else text
    plain = _CONTROL.sub("", kept.replace("\r\n", "\n").translate(_BREAKS)).replace("\\t", " ").replace('\\"', '"')
    lines: list[str] = []
    numbers: list[int] = []
    for number, line in enumerate(plain.split("\n"), 1):
        if len(line) <= MAX_LINE_CHARACTERS and "\\n" not in line:
            lines.append(line)
            numbers.append(number)
            continue
        pieces = [piece for part in line.split("\\n") for piece in _pieces(part)]
        lines += pieces
        numbers += [number] * len(pieces)
    return Text(tuple(lines), tuple(numbers), "\n".join(lines).translate(_QUOTES).casefold(), is_cut)


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
