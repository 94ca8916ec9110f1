"""Progress on stderr: one line an event; on a terminal the waiting line is rewritten in place."""

import sys
from typing import TextIO

from railwright.core.foreign_text import inert
from railwright.core.verdicts import Verdict
from railwright.ports.progress import (
    Event,
    Measuring,
    Note,
    Progress,
    Reading,
    Silent,
    StageEnded,
    StageStarted,
    Waiting,
    Wrote,
)
from railwright.report.tables import count, duration

_COLOURS = {Verdict.PASS: "32", Verdict.FAIL: "31", Verdict.UNKNOWN: "33", Verdict.PROGRESSING: "33", Verdict.SKIP: "2"}
_FIRST_REPEAT_S, _REPEAT_S = 30.0, 300.0
_CLEAR_LINE = "\r\x1b[2K"


def progress(*, quiet: bool) -> Progress:
    """Choose how progress is shown."""
    return Silent() if quiet else Lines(sys.stderr)


class Lines:
    """A Progress that writes lines."""

    def __init__(self, stream: TextIO) -> None:
        """Write to `stream`; whether it is a terminal decides on colour and on rewriting."""
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._pending = False
        self._said = ("", 0.0)

    def emit(self, event: Event) -> None:
        """Show one event."""
        match event:
            case Reading(what, done, total):
                if self._is_terminal or done == total:
                    self._passing(f"reading {what}: {done} of {total}", final=done == total)
            case StageStarted():
                where = f" on {count(len(event.nodes), 'node')} ({event.batch})" if event.batch else ""
                risk = f", risk: {event.risk}" if event.risk != "none" else ""
                self._line(
                    f"stage {event.number} of {event.total} {event.stage}{where}: about {duration(event.expected_s)}{risk}"
                )
            case Wrote():
                self._line(f"    {event.action}{' (dry run)' if event.dry_run else ''} {event.ref}")
            case Waiting() if self._is_terminal or self._is_news(event):
                self._passing(
                    f"    waiting {duration(event.elapsed_s)} of about {duration(event.expected_s)}"
                    f" (limit {duration(event.limit_s)}): {event.waiting_for}",
                    final=not self._is_terminal,
                )
            case StageEnded():
                batch = f" {event.batch}" if event.batch else ""
                said = f" {event.stage}{batch} after {duration(event.elapsed_s)}: {event.reason}"
                self._line(said, before=f"  {self._colour(event.verdict)}")
            case Measuring(what, done, total, failed):
                bad = f", {failed} failed" if failed else ""
                self._passing(f"    {done} of {total} cells{bad}  {what}", final=not self._is_terminal or done >= total)
            case Note(text):
                self._line(text)

    def _is_news(self, event: Waiting) -> bool:
        """In a log the same wait is said again when it took twice as long, and every five minutes."""
        text, since_s = self._said
        again_s = min(2 * since_s, since_s + _REPEAT_S)
        if event.waiting_for == text and since_s <= event.elapsed_s < max(again_s, _FIRST_REPEAT_S):
            return False
        self._said = (event.waiting_for, event.elapsed_s)
        return True

    def _colour(self, verdict: Verdict) -> str:
        return f"\x1b[{_COLOURS[verdict]}m{verdict.value}\x1b[0m" if self._is_terminal else verdict.value

    def _line(self, text: str, *, before: str = "") -> None:
        self._stream.write((_CLEAR_LINE if self._pending else "") + before + inert(text) + "\n")
        self._pending = False
        self._stream.flush()

    def _passing(self, text: str, *, final: bool) -> None:
        if final:
            self._line(text)
            return
        self._stream.write(_CLEAR_LINE + inert(text))
        self._pending = True
        self._stream.flush()
