"""Stages of a plan: what each one is by its kind, and what is left of it on the cluster that it was compared with."""

from dataclasses import dataclass

from railwright.core.ids import StageName
from railwright.core.risk import Risk
from railwright.plan.expectation_model import Expectation


@dataclass(frozen=True)
class Ahead:
    """What one run of a stage may still do to nodes, and how long it takes."""

    risk: Risk
    expected_s: float


@dataclass(frozen=True)
class StagePlan:
    """
    One row of the stage table, filled in for this plan.

    Attributes:
        gate: what must be true, one line for people.
        risk: what it may do to nodes when all of it is carried out, or undone.
        per_batch: runs for each batch of nodes; the others once.
        expected_s: for one run of all of it; limit_s: when it is given up.
        hold_s: for how long the gate's answer must stay the same.
        applies: False when this plan has nothing to do in it (SKIP, with `skip_reason`).
        ahead: set where the cluster shows that less is left of it; None: all of it.
    """

    name: StageName
    gate: str
    risk: Risk
    expected_s: float
    limit_s: float
    hold_s: float
    undo: str
    per_batch: bool
    applies: bool
    skip_reason: str
    expectations: tuple[Expectation, ...] = ()
    ahead: Ahead | None = None

    @property
    def risk_ahead(self) -> Risk:
        """What it may still do to nodes."""
        return self.ahead.risk if self.ahead is not None else self.risk

    @property
    def expected_ahead_s(self) -> float:
        """How long one run of what is left takes."""
        return self.ahead.expected_s if self.ahead is not None else self.expected_s
