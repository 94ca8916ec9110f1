"""Refusals as an error for people."""

from collections.abc import Iterable

from railwright.core.errors import Refused
from railwright.plan.model import Refusal


def refused(refusals: Iterable[Refusal]) -> Refused:
    """Make one error of all refusals: each says what, where, expected, seen and the way out."""
    lines = []
    for item in refusals:
        where = f" [{item.where}]" if item.where else ""
        sides = f" (expected {item.expected}, seen {item.seen})" if item.expected or item.seen else ""
        way_out = f"\n    way out: {item.hint}" if item.hint else ""
        lines.append(f"{item.code}: {item.message}{where}{sides}{way_out}")
    return Refused("\n".join(lines), hint="railwright plan shows everything that was decided, and why")


def not_confirmed(what: str, done: tuple[str, ...]) -> Refused:
    """Say that nobody said yes, and what was done until then."""
    before = f"; done before: {', '.join(done)}" if done else "; nothing was done"
    return Refused(f"not confirmed: {what}{before}", hint="confirm at the terminal, or pass --yes")
