"""
The Plan, frozen: what will be on the cluster, in which stages, for which nodes, and why.

Everything that manifests needs is here as values; manifests adds no decision. Shares of objects are defined in
share_model.py, expectations of gates in expectation_model.py, and are imported from here.
"""

from dataclasses import dataclass

from railwright.core.ids import (
    FabricName,
    GroupName,
    NetDevice,
    NodeName,
    PciAddress,
    RailName,
    RdmaDevice,
    StageName,
)
from railwright.facts.model import Distance, Platform, Topology
from railwright.intent.model import Fabric, Intent, Method
from railwright.plan.expectation_model import (
    Allocatable,
    DriverLoaded,
    Expectation,
    InsideNode,
    MemoryLockable,
    NadPresent,
    NodeLabel,
    PodsReady,
    PoolUpdated,
    RailUp,
    VfsManaged,
)
from railwright.plan.move_model import Move
from railwright.plan.share_model import (
    AccessShare,
    CidrPoolShare,
    DevicePool,
    DriverShare,
    FeatureLabel,
    FeatureRuleShare,
    GpuPolicyShare,
    HostNetworkShare,
    IpPoolShare,
    KubeletShare,
    MachineFile,
    MachineShare,
    NetworkShare,
    NfdShare,
    NicPolicyShare,
    NodeLabelShare,
    OperatorShare,
    Share,
    SriovConfigShare,
    SriovPolicyShare,
    SriovPoolShare,
)
from railwright.plan.stage_model import Ahead, StagePlan
from railwright.plan.stage_names import (
    DEVICES_ALLOCATABLE,
    GPU_DRIVER_READY,
    HARDWARE_LABELLED,
    NETWORKS_ATTACHED,
    NIC_DRIVER_READY,
    NODES_PREPARED,
    OPERATORS_INSTALLED,
    VERIFIED,
    VFS_READY,
)

__all__ = [
    "ADMITTED",
    "DEVICES_ALLOCATABLE",
    "GPU_DRIVER_READY",
    "HARDWARE_LABELLED",
    "NETWORKS_ATTACHED",
    "NIC_DRIVER_READY",
    "NODES_PREPARED",
    "OPERATORS_INSTALLED",
    "VERIFIED",
    "VFS_READY",
    "AccessShare",
    "Ahead",
    "Allocatable",
    "Basis",
    "Batch",
    "CidrPoolShare",
    "Decision",
    "DevicePool",
    "DriverLoaded",
    "DriverShare",
    "Expectation",
    "FabricPlan",
    "FeatureLabel",
    "FeatureRuleShare",
    "GpuPolicyShare",
    "Group",
    "HostNetworkShare",
    "InsideNode",
    "IpPoolShare",
    "KubeletShare",
    "MachineFile",
    "MachineShare",
    "MemoryLockable",
    "Move",
    "NadPresent",
    "NetworkShare",
    "NfdShare",
    "NicPolicyShare",
    "NodeLabel",
    "NodeLabelShare",
    "NodePlan",
    "OperatorShare",
    "OtherPort",
    "Plan",
    "PlanWarning",
    "PodsReady",
    "PoolUpdated",
    "Rail",
    "RailPort",
    "RailUp",
    "Reach",
    "Refusal",
    "Share",
    "SriovConfigShare",
    "SriovPolicyShare",
    "SriovPoolShare",
    "StagePlan",
    "VfsManaged",
    "fabric_label",
    "group_label",
]

ADMITTED = "admitted"


def fabric_label(fabric: FabricName) -> str:
    """Node label that admits a node to a fabric; its value is "admitted"."""
    return f"railwright.dev/fabric.{fabric}"


def group_label(fabric: FabricName) -> str:
    """Node label that tells the groups of a fabric apart; its value is the group's name."""
    return f"railwright.dev/group.{fabric}"


# --- why -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Decision:
    """One value in force: `origin` is catalog, hardware, cluster, file, flag or default."""

    key: str
    value: str
    origin: str
    reason: str
    source: str = ""
    """Document with section, or "Measured: ..."; empty when it is the person's own wish."""


@dataclass(frozen=True)
class PlanWarning:
    """Something to know; `code` is stable and kebab-case."""

    code: str
    message: str
    where: str = ""

    def __str__(self) -> str:
        """Write it in one line, as people read it."""
        return f"{self.code}: {self.message}" + (f" ({self.where})" if self.where else "")


@dataclass(frozen=True)
class Refusal:
    """
    Why (part of) the plan must not be carried out.

    Attributes:
        code: stable, kebab-case: "uplink-would-be-cut".
        where: node, key path or object.
        expected, seen: the two sides; empty where there are none.
        hint: the way out.
        node: set when only this node is refused (the plan goes on without it); None refuses the whole plan.
    """

    code: str
    message: str
    where: str = ""
    expected: str = ""
    seen: str = ""
    hint: str = ""
    node: NodeName | None = None


# --- rails and nodes -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RailPort:
    """A rail's NIC on one node, and its GPU there."""

    node: NodeName
    pci: PciAddress
    netdev: NetDevice
    rdma: RdmaDevice | None
    gpu: PciAddress | None
    """None when the node has no GPU near enough to name one."""
    distance: Distance | None
    rate_gbps: float | None
    reason: str
    """Why this port: "nearest to GPU 0000:1b:00.0 (PIX)"."""


@dataclass(frozen=True)
class Rail:
    """One rail of one fabric."""

    name: RailName
    fabric: FabricName
    index: int
    ports: tuple[RailPort, ...]
    """One a node, sorted by node."""
    resource: str
    """Full extended resource name: "rdma/east_west_rail0"."""
    network: str
    """Name of its NAD, in each workload namespace."""
    subnets: tuple[str, ...]

    def port_on(self, node: NodeName) -> RailPort | None:
        """The rail's port on a node."""
        return next((port for port in self.ports if port.node == node), None)


@dataclass(frozen=True)
class OtherPort:
    """A ConnectX port that is no rail, and why."""

    node: NodeName
    pci: PciAddress
    netdev: NetDevice | None
    role: str
    """"management", "storage", "north-south", "member", "dpu", "down", "wrong link layer", "unused"."""
    reason: str


@dataclass(frozen=True)
class Group:
    """Nodes wired alike."""

    name: GroupName
    fabric: FabricName
    nodes: tuple[NodeName, ...]
    machine: str
    """What they are, in words: "8 x GPU 2335, 8 x 15b3:1021"."""


@dataclass(frozen=True)
class NodePlan:
    """One node's part: `admitted` fabrics; `refused` says why not, empty when admitted or not selected."""

    node: NodeName
    admitted: tuple[FabricName, ...]
    refused: tuple[Refusal, ...]
    selected: bool
    """False: not asked for; untouched."""
    reason: str
    pool: str = ""
    """Its MachineConfigPool; empty on plain Kubernetes."""
    was_admitted: bool = False
    """Carries the label already."""


@dataclass(frozen=True)
class Batch:
    """Nodes that go through the middle stages together; the first batch of each group is its canary."""

    name: str
    """"canary", "batch-2", ..."""
    nodes: tuple[NodeName, ...]


@dataclass(frozen=True)
class Reach:
    """A step that no selector holds back, and every node that it reaches."""

    what: str
    nodes: tuple[NodeName, ...]
    mitigation: str
    """What is done about nodes that may not be touched; empty when there are none."""


# --- the whole --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FabricPlan:
    """One fabric of the plan."""

    name: FabricName
    intent: Intent
    method: Method
    fabric: Fabric
    rails: tuple[Rail, ...]
    groups: tuple[Group, ...]
    environment: tuple[Decision, ...]
    """NCCL and UCX variables that fit it: key is the variable's name."""


@dataclass(frozen=True)
class Basis:
    """What of the cluster the plan was made on."""

    cluster: str
    simulated: bool
    platform: Platform
    topology: Topology
    openshift_version: str
    kubernetes_version: str
    facts_known: bool
    """False for a plan made without node facts (`render` alone)."""
    node_systems: tuple[tuple[str, str], ...] = ()
    """What nodes run, sorted: system as driver tags name it, and architecture: ("rhel9.6", "amd64")."""


@dataclass(frozen=True)
class Plan:
    """Everything decided."""

    basis: Basis
    fabrics: tuple[FabricPlan, ...]
    stages: tuple[StagePlan, ...]
    shares: tuple[Share, ...]
    nodes: tuple[NodePlan, ...]
    batches: tuple[Batch, ...]
    other_ports: tuple[OtherPort, ...]
    reaches: tuple[Reach, ...]
    decisions: tuple[Decision, ...]
    warnings: tuple[PlanWarning, ...]
    refusals: tuple[Refusal, ...]
    """Of the whole plan; those of single nodes are in `nodes`."""
    moves: tuple[Move, ...] = ()
    """What is installed and becomes another version; known once the plan was compared with the cluster."""
    without_gpu_operands: tuple[NodeName, ...] = ()
    """Admitted nodes to which the GPU Operator has not come: it is kept off them until their batch's turn (turns.py)."""

    @property
    def is_refused(self) -> bool:
        """Whether nothing of it may be carried out."""
        return bool(self.refusals)

    @property
    def rails(self) -> tuple[Rail, ...]:
        """Rails of every fabric."""
        return tuple(rail for fabric in self.fabrics for rail in fabric.rails)

    @property
    def admitted(self) -> tuple[NodeName, ...]:
        """Nodes that some fabric admits."""
        return tuple(node.node for node in self.nodes if node.admitted)

    def stage(self, name: StageName) -> StagePlan:
        """Find a stage. Raises KeyError for one that is not in the table (a bug of ours)."""
        for stage in self.stages:
            if stage.name == name:
                return stage
        raise KeyError(name)
