"""Diagnose text alone: no cluster, no node, only what somebody pasted."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from railwright.doctor.diagnose import ordered
from railwright.doctor.model import Diagnosis, Finding, RuleInfo


@dataclass(frozen=True)
class TextRule:
    """A rule on text: `judge` takes its lines, redacted and without colour, and names line numbers in its evidence."""

    info: RuleInfo
    judge: Callable[[tuple[str, ...]], Iterable[Finding]]


TEXT_RULES: tuple[TextRule, ...] = ()
"""The table of rules on text."""


def diagnose_text(text: str, rules: tuple[TextRule, ...] = TEXT_RULES) -> Diagnosis:
    """Say what the lines tell; a rule that finds nothing in them has not passed anything."""
    lines = tuple(text.splitlines())
    return ordered(tuple(finding for rule in rules for finding in rule.judge(lines)), (), ())
