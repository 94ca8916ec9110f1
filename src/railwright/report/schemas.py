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


PAYLOADS: dict[str, type[Shape]] = {
    "plan": PlanPayload,
    "snapshot": SnapshotPayload,
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
