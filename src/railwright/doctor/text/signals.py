"""
What a text says, by meaning: groups of words of which each must be met near each other, in any order.

A signal is no literal line. `says("peermem|peer_mem", EINVAL)` is met by a line that names the module in any of its
spellings and gives the error in any wording, number or language; words may come in any order, with anything between.
A signal may look at a few lines at once, since logs of several processes are woven into each other and messages are
broken over lines. Only sets of lines and plain searching are used, so the time is linear, whatever the text is.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from railwright.doctor.model import Severity
from railwright.doctor.text.lines import Text

MAX_LOOKS = 2_000
"""Candidate lines of one signal that are looked at, from the end of the text backwards."""
MAX_HITS = 500
"""Hits of one signal that are counted."""
_DEBUG = ("ucx debug", "ucx trace", "ucx req ", "ucx data", "ucx func")
"""UCX tries every transport and says so at these levels: "failed" is nothing there."""
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")


@dataclass(frozen=True)
class Signal:
    """
    One way in which a text says that something is wrong.

    Attributes:
        groups: each must be met, by one of its alternatives, within `window` lines.
        unless: words that make it mean something else.
        window: lines that are looked at together, around each line that holds the rarest group.
        cause, remedy: more exact than the rule's, where this signal says more; empty for the rule's own.
        commands: with `remedy`.
        even_debug: lines that UCX writes while it tries what there is count too.
        severity: where this signal alone says something milder than the rule.
    """

    groups: tuple[tuple[str, ...], ...]
    unless: tuple[str, ...] = ()
    window: int = 1
    cause: str = ""
    remedy: str = ""
    commands: tuple[str, ...] = ()
    even_debug: bool = False
    severity: Severity | None = None


@dataclass(frozen=True)
class Hit:
    """Where a signal was met: the index of the last such line, and how many there are."""

    signal: Signal
    line: int
    count: int


def says(
    *groups: str,
    unless: str = "",
    window: int = 1,
    cause: str = "",
    remedy: str = "",
    commands: tuple[str, ...] = (),
    even_debug: bool = False,
    severity: Severity | None = None,
) -> Signal:
    """
    Spell a signal; alternatives are separated by "|" and written in lower case.

    An alternative that ends with a digit, or has a `~` at one of its ends, is only met where the word ends there:
    "error=14" is not in "error=140", "~ib0" not in "fib0".
    """
    return Signal(
        tuple(_alternatives(group) for group in groups),
        _alternatives(unless),
        window,
        cause,
        remedy,
        commands,
        even_debug,
        severity,
    )


def _alternatives(group: str) -> tuple[str, ...]:
    return tuple(item for item in group.split("|") if item)


def find(signal: Signal, text: Text) -> Hit | None:
    """Look for a signal; of its places the last is given: the nearest to where it ended."""
    last, count = -1, 0
    for index in _candidates(signal, text):
        if not signal.even_debug and _meets(_DEBUG, text.folded_lines[index]):
            continue
        around = _around(index, signal.window, text)
        if not all(_meets(group, around) for group in signal.groups) or _meets(signal.unless, around):
            continue
        last = max(last, index)
        count += 1
        if count >= MAX_HITS:
            break
    return Hit(signal, last, count) if count else None


def _candidates(signal: Signal, text: Text) -> Iterable[int]:
    """Lines that hold the rarest group, near lines that hold the others; latest first."""
    found = [lines for group in signal.groups if (lines := text.index.candidates(group)) is not None]
    if not found:  # words without letters, or two of them: any line may hold them
        last = len(text.folded_lines) - 1
        return range(last, max(-1, last - MAX_LOOKS), -1)
    if not all(found):
        return ()
    found.sort(key=len)
    lines = found[0]
    if signal.window == 1:
        for others in found[1:]:
            lines &= others
    return sorted(lines, reverse=True)[:MAX_LOOKS]


def _around(index: int, window: int, text: Text) -> str:
    if window == 1:
        return text.folded_lines[index]
    return "\n".join(text.folded_lines[max(0, index - window // 2) : index + window // 2 + 1])


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
