"""The shapes of apply, status and clean."""

from typing import Any, Literal

from railwright.report.schemas.base import ObjectName, Shape, VerdictText
from railwright.report.schemas.doctor import FindingShape
from railwright.report.schemas.plan import RefusalShape, WarningShape


class WrittenObject(ObjectName):
    """One write of a stage."""

    action: str
    at: str


class StateShape(Shape):
    """What a gate said of one object or expectation."""

    what: str
    readiness: Literal["ready", "progressing", "failed", "unknown"]
    reason: str
    waiting_for: str


class AppliedStage(Shape):
    """One run of one stage."""

    name: str
    batch: str | None
    verdict: VerdictText
    reason: str
    waiting_for: str | None
    started_at: str
    ended_at: str
    elapsed_s: float
    expected_s: float
    writes: list[WrittenObject]
    states: list[StateShape]


class ApplyPayload(Shape):
    """`railwright apply`."""

    fabrics: list[str]
    wanted_by: str | None
    dry_run: bool
    interrupted: bool
    until: str | None
    stages: list[AppliedStage]
    refusals: list[RefusalShape]
    refused_nodes: list[RefusalShape]
    warnings: list[WarningShape]
    notes: list[str]
    findings: list[FindingShape]
    exit_code: int


class AppliedFabric(Shape):
    """One fabric of the ledger."""

    name: str
    applied_at: str


class FieldShape(Shape):
    """A field that does not hold what was expected."""

    path: str
    old: Any
    new: Any
    owner: str | None


class DriftedObject(ObjectName):
    """An object that drifted; no fields when it is gone."""

    fields: list[FieldShape]


class StageStatusShape(Shape):
    """Where one stage stands."""

    name: str
    verdict: VerdictText
    reason: str
    waiting_for: str | None
    since: str | None
    states: list[StateShape]
    drift: list[DriftedObject]


class NotAdmitted(Shape):
    """A node that is left alone, and why."""

    node: str
    why: str


class StatusPayload(Shape):
    """`railwright status`."""

    fabrics: list[AppliedFabric]
    wanted_by: str | None
    changed: list[str]
    stages: list[StageStatusShape]
    not_admitted: list[NotAdmitted]
    refusals: list[RefusalShape]
    warnings: list[WarningShape]
    problems: list[str]
    exit_code: int


class UndoneObject(ObjectName):
    """One object that clean dealt with."""

    action: str
    verdict: VerdictText
    reason: str
    left: list[FieldShape]


class QuestionShape(Shape):
    """What a real run asks before it begins; `expected_s` is how long the nodes are affected, in all."""

    risk: Literal["none", "driver reload", "drain", "reboot"]
    what: str
    nodes: list[str]
    expected_s: float
    details: list[str]


class CleanPayload(Shape):
    """`railwright clean`; `ahead` is of a dry run alone."""

    fabrics: list[str]
    dry_run: bool
    interrupted: bool
    objects: list[UndoneObject]
    ahead: list[QuestionShape]
    cannot_be_restored: list[str]
    notes: list[str]
    exit_code: int
