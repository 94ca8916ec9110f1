"""The shapes of what is read or made besides plans: snapshots, workloads, images, files, explanations, worlds, rehearsals."""

from typing import Any

from railwright.report.schemas.base import Shape, VerdictText
from railwright.report.schemas.plan import DecisionShape, WarningShape


class OperatorShape(Shape):
    """One operator that is subscribed to."""

    package: str | None
    namespace: str
    channel: str | None
    csv: str | None
    phase: str | None


class SnapshotPayload(Shape):
    """`railwright discover`; `facts` and `nodes` follow the fields of railwright.facts.model."""

    taken_at: str
    facts: dict[str, Any]
    operators: list[OperatorShape]
    nodes: list[dict[str, Any]]
    differences: list[dict[str, str]]


class HardwarePayload(Shape):
    """`railwright discover --local`; `hardware` follows railwright.facts.model.NodeHardware."""

    hardware: dict[str, Any]
    distances: list[dict[str, str]]
    differences: list[dict[str, str]]


class WorkloadPayload(Shape):
    """`railwright workload`; `objects` are whole manifests."""

    objects: list[dict[str, Any]]
    notes: list[str]
    environment: list[DecisionShape]


class ImageShape(Shape):
    """One image."""

    reference: str
    needed_by: str
    by: str
    os_tag: str
    architecture: str


class ImagesPayload(Shape):
    """`railwright images`; `objects` are whole manifests."""

    images: list[ImageShape]
    objects: list[dict[str, Any]]
    notes: list[str]


class FilesPayload(Shape):
    """`railwright render`."""

    folder: str
    files: list[str]
    warnings: list[WarningShape]


class ExplanationPayload(Shape):
    """`railwright explain`."""

    asked: str
    key: dict[str, Any] | None
    error: dict[str, Any] | None
    code: str | None
    stage: dict[str, str] | None
    rule: dict[str, Any] | None = None
    decisions: list[DecisionShape]


class PowerShape(Shape):
    """A right that equals root on nodes, or comes near it."""

    right: str
    why: str


class RbacPayload(Shape):
    """`railwright explain --rbac`; `objects` are whole manifests."""

    command: str
    objects: list[dict[str, Any]]
    powers: list[PowerShape]
    notes: list[str]


class NamedShape(Shape):
    """A world or a fault."""

    name: str
    description: str


class WorldsPayload(Shape):
    """`railwright demo --list`."""

    worlds: list[NamedShape]
    faults: list[NamedShape]


class RehearsedStage(Shape):
    """One stage of a demo."""

    name: str
    verdict: VerdictText
    reason: str


class RehearsalShape(Shape):
    """One configuration of a demo."""

    configuration: str
    cluster: str
    verdict: VerdictText
    stopped_at: str | None
    reason: str | None
    stages: list[RehearsedStage]
    undone: int
    left: int
    simulated_s: float
    elapsed_s: float


class DemoPayload(Shape):
    """`railwright demo`."""

    runs: list[RehearsalShape]
