"""
What a text says, by meaning: groups of words of which each must be met near each other, in any order.

A signal is no literal line. `says("peermem|peer_mem", EINVAL)` is met by a line that names the module in any of its
spellings and gives the error in any wording, number or language; words may come in any order, with anything between.
A signal may look at a few lines at once, since logs of several processes are woven into each other and messages are
broken over lines. Only plain searching of text is done, so the time is linear, whatever the text is.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from railwright.doctor.text.lines import Text

MAX_LOOKS = 5_000
"""Places of one signal's rarest words that are looked at, from the end of the text backwards."""
MAX_HITS = 1_000
"""Hits of one signal that are counted."""
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")


@dataclass(frozen=True)
class Signal:
    """
    One way in which a text says that something is wrong.

    Attributes:
        groups: each must be met, by one of its alternatives, within `window` lines.
        unless: words that make it mean something else.
        window: lines that are looked at together, around each line that holds the rarest group.
        elsewhere: groups that must be met anywhere in the text.
        cause, remedy: more exact than the rule's, where this signal says more; empty for the rule's own.
        commands: with `remedy`.
    """

    groups: tuple[tuple[str, ...], ...]
    unless: tuple[str, ...] = ()
    window: int = 1
    elsewhere: tuple[tuple[str, ...], ...] = ()
    cause: str = ""
    remedy: str = ""
    commands: tuple[str, ...] = ()


@dataclass(frozen=True)
class Hit:
    """Where a signal was met: the index of the line, and how many such lines there are."""

    signal: Signal
    line: int
    count: int


def says(
    *groups: str,
    unless: str = "",
    window: int = 1,
    elsewhere: tuple[str, ...] = (),
    cause: str = "",
    remedy: str = "",
    commands: tuple[str, ...] = (),
) -> Signal:
    """
    Spell a signal; alternatives are separated by "|" and written in lower case.

    An alternative that begins or ends with a digit or with `~` is only met where the word ends there: "error=14" is
    not in "error=140", "~ib0" not in "fib0".
    """
    return Signal(
        tuple(_alternatives(group) for group in groups),
        _alternatives(unless),
        window,
        tuple(_alternatives(group) for group in elsewhere),
        cause,
        remedy,
        commands,
    )


def _alternatives(group: str) -> tuple[str, ...]:
    return tuple(item for item in group.split("|") if item)


def find(signal: Signal, text: Text) -> Hit | None:
    """Look for a signal; of its places the last is given: the nearest to where it ended."""
    groups = (*signal.groups, *signal.elsewhere)
    if not all(any(text.may_hold(word) for word in group) for group in groups):
        return None
    if not all(_meets(group, text.folded) for group in signal.elsewhere):
        return None
    rarest = min(signal.groups, key=lambda group: sum(text.folded.count(word.strip("~")) for word in group))
    last, count = -1, 0
    for index in _lines_with(rarest, text):
        around = _around(index, signal.window, text)
        if not all(_meets(group, around) for group in signal.groups) or _meets(signal.unless, around):
            continue
        last = max(last, index)
        count += 1
        if count >= MAX_HITS:
            break
    return Hit(signal, last, count) if count else None


def _around(index: int, window: int, text: Text) -> str:
    if window == 1:
        return text.folded_lines[index]
    first = max(0, index - window // 2)
    end = min(len(text.folded_lines), index + window // 2 + 1)
    return text.folded[text.start_of(first) : text.start_of(end)]


def _lines_with(group: tuple[str, ...], text: Text) -> Iterator[int]:
    """Lines that hold one of the alternatives, each once, latest first for each alternative."""
    seen: set[int] = set()
    looks = 0
    for word in group:
        plain = word.strip("~")
        position = len(text.folded)
        while looks < MAX_LOOKS and (position := text.folded.rfind(plain, 0, position)) >= 0:
            looks += 1
            index = text.line_at(position)
            # The rest of this line is looked at as a whole: go on before it.
            position = text.start_of(index)
            if index not in seen:
                seen.add(index)
                yield index


def _meets(group: tuple[str, ...], text: str) -> bool:
    return any(_holds(word, text) for word in group)


def _holds(word: str, text: str) -> bool:
    plain = word.strip("~")
    before, after = word[0] == "~", word[-1] == "~" or word[-1].isdigit()
    position = text.find(plain)
    if not (before or after):
        return position >= 0
    while position >= 0:
        end = position + len(plain)
        is_whole = not (before and position and text[position - 1] in _LETTERS)
        if is_whole and not (after and end < len(text) and text[end] in _LETTERS):
            return True
        position = text.find(plain, position + 1)
    return False
