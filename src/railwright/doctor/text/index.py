"""
Which lines of a text hold which words: one pass over the text, then sets of lines, so that time is linear in the text.

An entry is a run of letters; words are looked up by all of their runs, each of which may be part of a longer one
("refus" is in "refused"). What comes out are candidates: they hold every run, not yet the words as written.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache

_RUN = re.compile(r"[^\W\d_]{3,}")
_ASCII_RUN = re.compile(r"[a-z]{3,}")
"""The same for folded lines of ASCII alone, in half the time."""


class WordIndex:
    """Candidate lines by words; built once for a text."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Read every line once."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, line in enumerate(lines):
            for run in set((_ASCII_RUN if line.isascii() else _RUN).findall(line)):
                found[run].append(number)
        self._lines: Mapping[str, list[int]] = found
        self._vocabulary = " ".join(found)
        self._by_run: dict[str, frozenset[int]] = {}
        self._by_group: dict[tuple[str, ...], frozenset[int] | None] = {}

    def candidates(self, group: tuple[str, ...]) -> frozenset[int] | None:
        """Lines that may hold one of these alternatives; None when every line may (words without letters)."""
        if group not in self._by_group:
            self._by_group[group] = self._union(group)
        return self._by_group[group]

    def _union(self, group: tuple[str, ...]) -> frozenset[int] | None:
        lines: set[int] = set()
        for words in group:
            runs = runs_of(words)
            if not runs:
                return None
            lines |= self._intersection(runs)
        return frozenset(lines)

    def _intersection(self, runs: tuple[str, ...]) -> frozenset[int]:
        lines = self._with_run(runs[0])
        for run in runs[1:]:
            if not lines:
                break
            lines &= self._with_run(run)
        return lines

    def _with_run(self, run: str) -> frozenset[int]:
        known = self._by_run.get(run)
        if known is None:
            known = frozenset(number for word in self._containing(run) for number in self._lines[word])
            self._by_run[run] = known
        return known

    def _containing(self, run: str) -> Iterable[str]:
        """Entries of the index that hold a run."""
        text = self._vocabulary
        position = text.find(run)
        while position >= 0:
            end = text.find(" ", position)
            end = len(text) if end < 0 else end
            yield text[text.rfind(" ", 0, position) + 1 : end]
            position = text.find(run, end)


@cache
def runs_of(words: str) -> tuple[str, ...]:
    """Runs of letters in words, longest first: it is the rarest."""
    return tuple(sorted(set(_RUN.findall(words)), key=lambda run: (-len(run), run)))
