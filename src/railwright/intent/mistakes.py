"""One mistake in a file: where, at which key, what is wrong, what was expected and seen; and many as one error."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from railwright.core.errors import IntentError
from railwright.intent.model import Place

SHOWN_MISTAKES = 100
"""More are counted, not listed: nobody reads further, and a hostile file must not fill the terminal."""

_SEEN_CHARACTERS = 60
_GUESSED_CHARACTERS = 64
"""Longer words are no misspelt key; comparing them costs time."""


@dataclass(frozen=True)
class Mistake:
    """
    One mistake.

    Attributes:
        path: key path: "spec.network.mtu"; empty for a mistake of the file as a whole.
        expected, seen: the two sides; empty where there are none.
        hint: what to do, where it is not plain: 'did you mean "mtu"?'.
    """

    place: Place
    path: str
    problem: str
    expected: str = ""
    seen: str = ""
    hint: str = ""

    def __str__(self) -> str:
        """Write as `FILE:LINE:COLUMN: key path: problem (expected X, seen Y); hint`."""
        where = f"{self.place}: {self.path}: " if self.path else f"{self.place}: "
        sides = [f"expected {self.expected}"] if self.expected else []
        sides += [f"seen {self.seen}"] if self.seen else []
        told = f" ({', '.join(sides)})" if sides else ""
        return f"{where}{self.problem}{told}{f'; {self.hint}' if self.hint else ''}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Guess which of the known words was meant; empty when none is near."""
    candidates = {name.lower(): name for name in known}
    if len(word) > _GUESSED_CHARACTERS:
        return ""
    near = difflib.get_close_matches(word.lower(), candidates, n=1, cutoff=0.6)
    return f'did you mean "{candidates[near[0]]}"?' if near else ""


def show(value: object) -> str:
    """Write a value the way a mistake names it: with its type in words, short, without control characters."""
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    text = ascii(str(value))[1:-1]
    short = text if len(text) <= _SEEN_CHARACTERS else f"{text[:_SEEN_CHARACTERS]}..."
    return f'"{short}"'


def error_of(file: str, mistakes: Iterable[Mistake]) -> IntentError:
    """Put mistakes into one error, in the order of the file, each once."""
    ordered = sorted(set(mistakes), key=lambda one: (one.place.line, one.place.column, one.path, one.problem))
    lines = [str(mistake) for mistake in ordered[:SHOWN_MISTAKES]]
    if len(ordered) > SHOWN_MISTAKES:
        lines.append(f"{file}: and {len(ordered) - SHOWN_MISTAKES} more mistakes")
    return IntentError(
        "\n".join(lines),
        hint="railwright explain KEY says what a key means and what it may hold",
        context={"file": file, "mistakes": str(len(ordered))},
    )
