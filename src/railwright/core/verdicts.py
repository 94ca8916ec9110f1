"""The four answers of a check, and how several become one."""

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """What a check answers; PROGRESSING only ever for a stage."""

    PASS = "PASS"  # noqa: S105 - a verdict, no password
    FAIL = "FAIL"
    """Measured and wrong."""
    SKIP = "SKIP"
    """Does not apply; the reason says why."""
    UNKNOWN = "UNKNOWN"
    """Applies, but could not be looked at; never a pass."""
    PROGRESSING = "PROGRESSING"
    """Not there yet, and the world is still moving."""


_ORDER = (Verdict.FAIL, Verdict.UNKNOWN, Verdict.PROGRESSING, Verdict.PASS)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Give the worst of several: FAIL, UNKNOWN, PROGRESSING, PASS; SKIP when nothing else is there."""
    seen = set(verdicts)
    return next((verdict for verdict in _ORDER if verdict in seen), Verdict.SKIP)
