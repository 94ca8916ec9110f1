"""
The Plan, frozen: what will be on the cluster, in which stages, for which nodes, and why.

Shares of objects carry `stage` and `fabrics`: when they are applied, and for whom. Everything that manifests needs
is here as values; manifests adds no decision.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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
from railwright.core.risk import Risk
from railwright.facts.model import Distance, Platform, Topology
from railwright.intent.model import Fabric, Intent, Method

NODES_PREPARED = StageName("nodes-prepared")
OPERATORS_INSTALLED = StageName("operators-installed")
HARDWARE_LABELLED = StageName("hardware-labelled")
NIC_DRIVER_READY = StageName("nic-driver-ready")
VFS_READY = StageName("vfs-ready")
GPU_DRIVER_READY = StageName("gpu-driver-ready")
DEVICES_ALLOCATABLE = StageName("devices-allocatable")
NETWORKS_ATTACHED = StageName("networks-attached")
VERIFIED = StageName("verified")

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
    """"management", "storage", "north-south", "down", "wrong link layer", "unused"."""
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


# --- shares of objects -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OperatorShare:
    """One operator through OLM; `adopted` means that it is installed already and stays as it is."""

    package: str
    namespace: str
    operator_group: str
    target_namespaces: tuple[str, ...]
    subscription: str
    channel: str
    csv: str
    """The exact CSV that is approved: "nvidia-network-operator.v26.4.1"."""
    catalog: str
    catalog_namespace: str
    approval: str
    adopted: bool
    deployments: tuple[str, ...]
    namespace_labels: Mapping[str, str] = field(default_factory=dict)
    namespace_annotations: Mapping[str, str] = field(default_factory=dict)
    has_operator_group: bool = False
    """One is there already: none is made."""
    stage: StageName = OPERATORS_INSTALLED


@dataclass(frozen=True)
class NfdShare:
    """NodeFeatureDiscovery: the one instance; `name` and `namespace` of an existing one when adopted."""

    name: str
    namespace: str
    class_whitelist: tuple[str, ...]
    label_fields: tuple[str, ...]
    operand_image: str
    """Empty: the operator's own default."""
    adopted: bool
    tolerations: tuple[Mapping[str, str], ...] = ()
    stage: StageName = HARDWARE_LABELLED


@dataclass(frozen=True)
class DevicePool:
    """
    One resource of a device plugin, selecting exactly one port a node.

    Attributes:
        prefix: "" for the plugin's default.
        selectors: as the plugin reads them: {"ifNames": [...]} or {"pfNames": [...], "linkTypes": [...], "isRdma": True}.
        share_count: rdmaHcaMax, shared plugin only.
    """

    resource: str
    prefix: str
    selectors: Mapping[str, Any]
    fabric: FabricName
    share_count: int | None = None


@dataclass(frozen=True)
class DriverShare:
    """The DOCA driver container."""

    repository: str
    image: str
    version: str
    environment: Mapping[str, str]
    auto_upgrade: bool
    max_parallel: int
    drain_timeout_s: int
    startup_initial_delay_s: int = 10
    startup_period_s: int = 20
    pull_secrets: tuple[str, ...] = ()


@dataclass(frozen=True)
class NicPolicyShare:
    """
    NicClusterPolicy `nic-cluster-policy`; None for a section that no fabric wants.

    `node_labels` are alternatives: a node with any of these labels (key, value) is in.
    """

    fabrics: tuple[FabricName, ...]
    driver: DriverShare | None
    shared_pools: tuple[DevicePool, ...]
    host_pools: tuple[DevicePool, ...]
    ipoib: bool
    nv_ipam: bool
    ib_kubernetes: Mapping[str, str] | None
    component_repository: str
    component_version: str
    """Image tag of every component but the driver: "network-operator-v26.4.1"."""
    node_labels: tuple[tuple[str, str], ...]
    tolerations: tuple[Mapping[str, str], ...]
    adopted: bool
    pull_secrets: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """Sections that an adopted policy has already: their images stay, only pools are added to their configuration."""
    stage: StageName = NIC_DRIVER_READY


@dataclass(frozen=True)
class SriovConfigShare:
    """SriovOperatorConfig `default`."""

    namespace: str
    daemon_node_selector: Mapping[str, str]
    injector: bool
    webhook: bool
    adopted: bool
    stage: StageName = OPERATORS_INSTALLED


@dataclass(frozen=True)
class SriovPoolShare:
    """SriovNetworkPoolConfig: how many nodes at once, and the RDMA mode."""

    name: str
    namespace: str
    node_labels: Mapping[str, str]
    max_unavailable: int
    rdma_mode: str
    """"" leaves it alone; "shared" or "exclusive"."""
    fabric: FabricName
    stage: StageName = VFS_READY


@dataclass(frozen=True)
class SriovPolicyShare:
    """SriovNetworkNodePolicy: the VFs of one rail for one group of nodes."""

    name: str
    namespace: str
    resource: str
    """Without prefix."""
    node_labels: Mapping[str, str]
    pf_names: tuple[str, ...]
    root_devices: tuple[PciAddress, ...]
    vendor: str
    vfs: int
    mtu_bytes: int | None
    link_type: str
    """"eth" or "ib"."""
    priority: int
    fabric: FabricName
    stage: StageName = VFS_READY


@dataclass(frozen=True)
class GpuPolicyShare:
    """ClusterPolicy."""

    name: str
    kernel_module_type: str
    """"open" or "proprietary"; "" where an adopted policy's own choice stays."""
    peermem: bool
    use_host_mofed: bool
    gdrcopy: bool
    gds: bool
    driver_version: str
    """"" is the operator's default."""
    auto_upgrade: bool
    max_parallel: int
    drain_timeout_s: int
    tolerations: tuple[Mapping[str, str], ...]
    registry: str
    """"" is the operator's default."""
    pull_secrets: tuple[str, ...]
    adopted: bool
    gds_version: str = ""
    """Image version of nvidia-fs: the bundle has no default for it; "" leaves it to the operator."""
    rdma_taken: Mapping[str, bool] = field(default_factory=dict)
    """Fields of `driver.rdma` that are wrong for us in an adopted policy, with the value that we need."""
    stage: StageName = GPU_DRIVER_READY


@dataclass(frozen=True)
class IpPoolShare:
    """An nv-ipam IPPool of one rail."""

    name: str
    namespace: str
    subnet: str
    per_node_block: int
    gateway: str
    """"" for none."""
    exclude: tuple[tuple[str, str], ...]
    """Ranges: first and last address."""
    routes: tuple[str, ...]
    node_labels: Mapping[str, str]
    fabric: FabricName
    stage: StageName = NETWORKS_ATTACHED


@dataclass(frozen=True)
class NetworkShare:
    """
    One network of one rail in one workload namespace.

    Attributes:
        kind: "MacvlanNetwork", "IPoIBNetwork", "HostDeviceNetwork", "SriovNetwork", "SriovIBNetwork" or
            "NetworkAttachmentDefinition" (where the operator's kind lacks a field that is needed, such as a PKey).
        nad: name of the NAD that comes of it.
        master: netdev, for macvlan and ipoib.
        resource: without prefix, for host-device and SR-IOV.
        ipam: the CNI's ipam section as data.
        settings: what only some kinds have: vlan, link_state, meta_plugins, pkey, cni (whole config) ...
    """

    kind: str
    name: str
    namespace: str
    """Where the network object lives; "" for cluster-scoped kinds."""
    target_namespace: str
    nad: str
    rail: RailName
    fabric: FabricName
    master: str
    resource: str
    mtu_bytes: int | None
    ipam: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    stage: StageName = NETWORKS_ATTACHED


@dataclass(frozen=True)
class MachineFile:
    """A file that a MachineConfig puts on nodes."""

    path: str
    mode: int
    content: str


@dataclass(frozen=True)
class MachineShare:
    """One MachineConfig of one pool: everything of ours for that pool in one roll-out."""

    name: str
    pool: str
    kernel_arguments: tuple[str, ...]
    files: tuple[MachineFile, ...]
    reasons: tuple[str, ...]
    """One a part: why it is there."""
    fabrics: tuple[FabricName, ...]
    stage: StageName = NODES_PREPARED


@dataclass(frozen=True)
class KubeletShare:
    """KubeletConfig with the topology manager, opt-in."""

    name: str
    pool: str
    topology_policy: str
    stage: StageName = NODES_PREPARED


@dataclass(frozen=True)
class HostNetworkShare:
    """A NodeNetworkConfigurationPolicy that sets the MTU of rails' PFs."""

    name: str
    node_labels: Mapping[str, str]
    mtu_by_netdev: Mapping[str, int]
    fabric: FabricName
    stage: StageName = NODES_PREPARED


@dataclass(frozen=True)
class AccessShare:
    """What a workload namespace needs: ServiceAccount, SCC with IPC_LOCK, Role and binding."""

    namespace: str
    create_namespace: bool
    service_account: str
    scc: str
    fabrics: tuple[FabricName, ...]
    stage: StageName = NETWORKS_ATTACHED


@dataclass(frozen=True)
class NodeLabelShare:
    """Labels that apply puts on one node: admission, group, or holding operands back."""

    node: NodeName
    labels: Mapping[str, str]
    fabric: FabricName
    stage: StageName = NIC_DRIVER_READY
    held_back: bool = False
    """True: not admission, but nvidia.com/gpu.deploy.operands=false on a node that may not be touched."""


Share = (
    OperatorShare
    | NfdShare
    | NicPolicyShare
    | SriovConfigShare
    | SriovPoolShare
    | SriovPolicyShare
    | GpuPolicyShare
    | IpPoolShare
    | NetworkShare
    | MachineShare
    | KubeletShare
    | HostNetworkShare
    | AccessShare
    | NodeLabelShare
)


# --- stages ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Allocatable:
    """A node must offer exactly `count` of `resource` (at least, when `at_least`)."""

    node: NodeName
    resource: str
    count: int
    at_least: bool = False


@dataclass(frozen=True)
class NodeLabel:
    """A node must carry a label; `value` None for any value."""

    node: NodeName
    label: str
    value: str | None


@dataclass(frozen=True)
class PodsReady:
    """Every admitted node must run a ready pod of a DaemonSet whose name starts with `daemon_set`, containers `containers`."""

    node: NodeName
    namespace: str
    daemon_set: str
    containers: tuple[str, ...]


@dataclass(frozen=True)
class NadPresent:
    """A NAD must exist, its config must parse, its type and resource annotation must match."""

    namespace: str
    name: str
    type: str
    resource: str
    """Full resource name that the annotation must hold; "" when there is none."""


@dataclass(frozen=True)
class PoolUpdated:
    """A MachineConfigPool must be Updated, with our MachineConfig in it."""

    pool: str
    machine_config: str


@dataclass(frozen=True)
class RailUp:
    """Inside the node: the rail is ACTIVE with carrier and, as the fabric wants it, a RoCE v2 GID or LID and SM LID."""

    node: NodeName
    rail: RailName
    pci: PciAddress
    fabric: Fabric


@dataclass(frozen=True)
class DriverLoaded:
    """
    Inside the node: which drivers run.

    Attributes:
        mlx5: "doca" (an out-of-tree mlx5_core) or "in-box".
        gpu: "open" or "proprietary"; "" is not looked at.
        peermem: whether nvidia_peermem must be loaded.
        absent: modules that must not be loaded.
    """

    node: NodeName
    mlx5: str = ""
    gpu: str = ""
    peermem: bool | None = None
    absent: tuple[str, ...] = ()


Expectation = Allocatable | NodeLabel | PodsReady | NadPresent | PoolUpdated | RailUp | DriverLoaded


@dataclass(frozen=True)
class StagePlan:
    """
    One row of the stage table, filled in for this plan.

    Attributes:
        gate: what must be true, one line for people.
        per_batch: runs for each batch of nodes; the others once.
        expected_s: for one run of it; limit_s: when it is given up.
        hold_s: for how long the gate's answer must stay the same.
        applies: False when this plan has nothing to do in it (SKIP, with `skip_reason`).
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
