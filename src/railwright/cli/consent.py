"""Ask the person at the terminal, or answer from the flags that they gave."""

import sys

from railwright.ports.approval import Question
from railwright.report.tables import count, duration


class Consent:
    """An Approval: `--yes` covers risks, `--take-over` covers fields of other owners; else ask, where someone can answer."""

    def __init__(self, *, yes: bool, take_over: bool) -> None:
        """Remember what was consented to beforehand."""
        self._yes = yes
        self._take_over = take_over

    def approve(self, question: Question) -> bool:
        """Answer, and show on stderr what was answered to."""
        sys.stderr.write(_text(question))
        consented = self._take_over if question.takes_over else self._yes
        if consented:
            flag = "--take-over" if question.takes_over else "--yes"
            sys.stderr.write(f"  yes ({flag})\n")
            return True
        if not sys.stdin.isatty():
            return False
        sys.stderr.write("  go on? [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _text(question: Question) -> str:
    lines = [f"{question.what} (risk: {question.risk.value})"]
    if question.nodes:
        lines.append(f"  {count(len(question.nodes), 'node')}: {', '.join(question.nodes)}")
    if question.expected_s:
        lines.append(f"  for about {duration(question.expected_s)} in all")
    lines.extend(f"  {detail}" for detail in question.details)
    return "\n".join(lines) + "\n"
