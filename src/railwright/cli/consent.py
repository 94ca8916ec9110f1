"""Ask the person at the terminal, or answer from the flags that they gave."""

import sys

from railwright.core.foreign_text import inert
from railwright.pipeline.questions import question_text
from railwright.ports.approval import Question


class Consent:
    """An Approval: `--yes` covers risks, `--take-over` covers fields of other owners; else ask, where someone can answer."""

    def __init__(self, *, yes: bool, take_over: bool, quiet: bool = False) -> None:
        """Remember what was consented to beforehand, and whether no progress is shown beside the questions."""
        self._yes = yes
        self._take_over = take_over
        self._quiet = quiet

    def approve(self, question: Question) -> bool:
        """Answer, and show on stderr what was answered to."""
        consented = self._take_over if question.takes_over else self._yes
        # Who has to answer sees everything; for the log of a run that goes on anyway once is enough.
        sys.stderr.write(inert(question_text(question, whole=self._quiet or not consented)) + "\n")
        if consented:
            flag = "--take-over" if question.takes_over else "--yes"
            sys.stderr.write(f"  yes ({flag})\n")
            return True
        if not sys.stdin.isatty():
            return False
        sys.stderr.write("  go on? [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in {"y", "yes"}
