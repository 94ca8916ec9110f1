"""The shapes of findings."""

from typing import Any, Literal

from railwright.report.schemas.base import ObjectName, Shape
from railwright.report.schemas.plan import RefusalShape


class EvidenceShape(Shape):
    """One thing that was seen."""

    object: str
    field: str
    value: str
    node: str | None


class PatchShape(Shape):
    """Fields of one object as they should be."""

    ref: ObjectName
    body: dict[str, Any]


class RemedyShape(Shape):
    """What to do."""

    text: str
    commands: list[str]
    patch: PatchShape | None
    risk: Literal["none", "driver reload", "drain", "reboot"]
    disrupts: str


class FindingShape(Shape):
    """
    One thing that is wrong; `explains` are keys of the findings under it.

    `evidence` lists up to 1024 entries, of `evidence_total`.
    """

    rule: str
    title: str
    severity: Literal["info", "warning", "error"]
    layer: str
    nodes: list[str]
    evidence: list[EvidenceShape]
    evidence_total: int
    cause: str
    remedy: RemedyShape
    source: str
    key: str
    explained_by: str | None
    explains: list[str]


class UnknownShape(Shape):
    """One rule that could not answer, wholly or for some nodes."""

    rule: str
    missing: str
    why: str
    how: str
    nodes: list[str]


class InapplicableShape(Shape):
    """One rule about what this cluster has none of: it has neither passed nor failed."""

    rule: str
    why: str


class DoctorPayload(Shape):
    """`railwright doctor`; `passed` counts rules that looked and found nothing; `refusals` are the plan's."""

    taken_at: str | None
    wanted: str | None
    refusals: list[RefusalShape]
    findings: list[FindingShape]
    unknown: list[UnknownShape]
    passed: int
    passed_rules: list[str]
    not_applicable: list[InapplicableShape]
    fixed: list[str]
    problems: list[str]
    exit_code: int
