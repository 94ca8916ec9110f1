"""Ask a person before something that may hurt."""

from dataclasses import dataclass
from typing import Protocol

from railwright.core.ids import NodeName
from railwright.core.risk import Risk


@dataclass(frozen=True)
class Question:
    """
    One thing to be confirmed.

    Attributes:
        risk: the worst that it may do.
        what: the step, one line.
        nodes: every node it reaches.
        expected_s: how long those nodes are affected, in seconds, all of them together.
        details: lines to show with it: pods that use GPUs or rails there, fields taken from others, what can't be undone.
        again: those of the details that progress says once more, each when it is done.
        takes_over: fields of another owner are overwritten: needs its own consent.
    """

    risk: Risk
    what: str
    nodes: tuple[NodeName, ...] = ()
    expected_s: float = 0.0
    details: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    takes_over: bool = False


class Approval(Protocol):
    """Somebody who can say yes."""

    def approve(self, question: Question) -> bool:
        """Say whether to go on; without a terminal and without consent beforehand the answer is no."""
