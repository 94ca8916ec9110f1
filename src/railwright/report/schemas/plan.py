"""The shape of a plan."""

from typing import Any, Literal

from railwright.report.schemas.base import ObjectName, Shape


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


class MoveShape(Shape):
    """Something installed that becomes another version."""

    what: str
    object: str
    seen: str
    wanted: str
    nodes: list[str]
    stage: str
    risk: Literal["none", "driver reload", "drain", "reboot"]
    held_by: str | None
    how: str


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
    moves: list[MoveShape]
    reaches: list[ReachShape]
    decisions: list[DecisionShape]
    warnings: list[WarningShape]
    refusals: list[RefusalShape]
    totals: Totals
