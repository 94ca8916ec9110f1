"""A rule on text: what it is, and the ways in which a text says it."""

from dataclasses import dataclass

from railwright.core.risk import Risk
from railwright.doctor.model import RuleInfo
from railwright.doctor.text.signals import Signal


@dataclass(frozen=True)
class TextRule:
    """
    One rule on text.

    Attributes:
        info: what it is, as its page shows it.
        cause: why it is so, where a signal says nothing more exact.
        remedy, commands: what to do, likewise.
        signals: any of them is enough.
        risk, disrupts: what carrying out the remedy may do.
    """

    info: RuleInfo
    cause: str
    remedy: str
    signals: tuple[Signal, ...]
    commands: tuple[str, ...] = ()
    risk: Risk = Risk.NONE
    disrupts: str = ""
