"""
The shape of every payload, as models whose JSON Schemas are published in docs/reference/schemas.

A test holds real output of every command against them. Additions are allowed within a version, removals are not.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

VerdictText = Literal["PASS", "FAIL", "SKIP", "UNKNOWN", "PROGRESSING"]


class Shape(BaseModel):
    """Base: nothing that is not named here."""

    model_config = ConfigDict(extra="forbid")


class ObjectName(Shape):
    """A reference to an object; namespace is null for cluster-scoped kinds."""

    apiVersion: str  # noqa: N815 - as manifests spell it
    kind: str
    namespace: str | None
    name: str


class ChangedField(Shape):
    """One field that differs."""

    path: str
    old: Any
    new: Any
    owner: str | None
    conflict: bool


class PlannedObject(ObjectName):
    """One object of a stage."""

    change: Literal["create", "update", "unchanged", "adopt", "delete", "restore"]
    fields: list[ChangedField]


class PlannedStage(Shape):
    """One stage of a plan."""

    name: str
    applies: bool
    skip_reason: str | None
    objects: list[PlannedObject]
    gate: str
    risk: Literal["none", "driver reload", "drain", "reboot"]
    expected_s: float
    limit_s: float
    undo: str
    runs: int


class RailNode(Shape):
    """A rail's NIC on one node."""

    node: str
    nic_pci: str
    netdev: str
    rdma: str | None
    gpu_pci: str | None
    distance: Literal["PIX", "PXB", "PHB", "NODE", "SYS"] | None
    rate_gbps: float | None
    reason: str


class PlannedRail(Shape):
    """One rail."""

    name: str
    fabric: str
    resource: str
    network: str
    subnets: list[str]
    nodes: list[RailNode]


class RefusalShape(Shape):
    """Why something is refused."""

    code: str
    message: str
    where: str
    expected: str
    seen: str
    hint: str
    node: str | None


class PlannedNode(Shape):
    """One node's part in a plan."""

    name: str
    selected: bool
    admitted: list[str]
    refused: list[RefusalShape]
    why: str
    pool: str | None


class DecisionShape(Shape):
    """One value in force."""

    key: str
    value: str
    origin: str
    reason: str
    source: str


class WarningShape(Shape):
    """Something to know."""

    code: str
    message: str
    where: str


class PlannedFabric(Shape):
    """One fabric."""

    name: str
    method: Literal["shared", "host-device", "sriov"]
    fabric: Literal["roce", "infiniband"]
    environment: list[DecisionShape]


class OtherPortShape(Shape):
    """A ConnectX port that is no rail."""

    node: str
    pci: str
    netdev: str | None
    role: str
    reason: str


class BatchShape(Shape):
    """Nodes that go together."""

    name: str
    nodes: list[str]


class ReachShape(Shape):
    """A step that no selector holds back."""

    what: str
    nodes: list[str]
    mitigation: str


class Totals(Shape):
    """Sums over the stages that have something to do."""

    expected_s: float
    reboots: int
    drains: int
    driver_reloads: int
    nodes: int
    changes: dict[str, int]


class PlanPayload(Shape):
    """`railwright plan`."""

    fabrics: list[PlannedFabric]
    stages: list[PlannedStage]
    rails: list[PlannedRail]
    nodes: list[PlannedNode]
    other_ports: list[OtherPortShape]
    batches: list[BatchShape]
    reaches: list[ReachShape]
    decisions: list[DecisionShape]
    warnings: list[WarningShape]
    refusals: list[RefusalShape]
    totals: Totals


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


class HardwarePayload(Shape):
    """`railwright discover --local`; `hardware` follows railwright.facts.model.NodeHardware."""

    hardware: dict[str, Any]
    distances: list[dict[str, str]]


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
    is_partial: bool


class RemedyShape(Shape):
    """What to do."""

    text: str
    commands: list[str]
    patch: PatchShape | None
    risk: Literal["none", "driver reload", "drain", "reboot"]
    disrupts: str


class FindingShape(Shape):
    """One thing that is wrong; `explains` are keys of the findings under it."""

    rule: str
    title: str
    severity: Literal["info", "warning", "error"]
    layer: str
    nodes: list[str]
    evidence: list[EvidenceShape]
    cause: str
    remedy: RemedyShape
    source: str
    key: str
    explained_by: str | None
    explains: list[str]


class ApplyPayload(Shape):
    """`railwright apply`."""

    fabrics: list[str]
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


class CleanPayload(Shape):
    """`railwright clean`."""

    fabrics: list[str]
    dry_run: bool
    interrupted: bool
    objects: list[UndoneObject]
    cannot_be_restored: list[str]
    notes: list[str]
    exit_code: int


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


class ExplanationPayload(Shape):
    """`railwright explain`."""

    asked: str
    key: dict[str, Any] | None
    error: dict[str, Any] | None
    code: str | None
    rule: dict[str, Any] | None = None
    decisions: list[DecisionShape]


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


class UnknownShape(Shape):
    """One rule that could not answer, wholly or for some nodes."""

    rule: str
    missing: str
    why: str
    how: str
    nodes: list[str]


class DoctorPayload(Shape):
    """`railwright doctor`; `passed` counts rules that looked and found nothing."""

    taken_at: str | None
    findings: list[FindingShape]
    unknown: list[UnknownShape]
    passed: int
    passed_rules: list[str]
    fixed: list[str]
    problems: list[str]
    exit_code: int


PAYLOADS: dict[str, type[Shape]] = {
    "plan": PlanPayload,
    "snapshot": SnapshotPayload,
    "hardware": HardwarePayload,
    "apply": ApplyPayload,
    "status": StatusPayload,
    "clean": CleanPayload,
    "doctor": DoctorPayload,
    "workload": WorkloadPayload,
    "images": ImagesPayload,
    "files": FilesPayload,
    "explanation": ExplanationPayload,
    "worlds": WorldsPayload,
    "demo": DemoPayload,
}
"""By the schema's name, without its version."""


def payload_schema(name: str) -> dict[str, Any]:
    """JSON Schema of a whole document: envelope and payload. Raises KeyError for an unknown name."""
    schema = PAYLOADS[name].model_json_schema()
    schema["properties"] = {
        "schema": {"const": f"railwright.dev/{name}/v1alpha1"},
        "railwright": {"type": "string"},
        "cluster": {"type": "string"},
        "simulated": {"type": "boolean"},
        **schema["properties"],
    }
    schema["required"] = ["schema", "railwright", "cluster", "simulated", *schema.get("required", [])]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
