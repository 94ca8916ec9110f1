"""Shares of objects: what the plan puts on the cluster, as values; `stage` and `fabrics` say when, and for whom."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from railwright.core.ids import FabricName, NodeName, PciAddress, RailName, StageName
from railwright.core.objects import Kind
from railwright.plan.stage_names import (
    GPU_DRIVER_READY,
    HARDWARE_LABELLED,
    NETWORKS_ATTACHED,
    NIC_DRIVER_READY,
    NODES_PREPARED,
    OPERATORS_INSTALLED,
    VFS_READY,
)


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
class FeatureLabel:
    """
    A node label, without its prefix, and what a PCI device of the node must be for it.

    Attributes:
        device: operator and values by attribute: {"vendor": ("In", ("15b3",))}.
    """

    name: str
    device: Mapping[str, tuple[str, tuple[str, ...]]]


@dataclass(frozen=True)
class FeatureRuleShare:
    """A NodeFeatureRule of ours, where NFD's own labels are not enough; `namespace` is empty for a cluster-scoped kind."""

    name: str
    namespace: str
    kind: Kind
    labels: tuple[FeatureLabel, ...]
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
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    """Those that the hardware needs and that are not set yet."""
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
    environment: Mapping[str, str] = field(default_factory=dict)
    """Of the driver container: proxies."""
    on_openshift: bool = True
    """Whether drivers are built by OpenShift's toolkit, and containers run under CRI-O."""
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
class CidrPoolShare:
    """An nv-ipam CIDRPool of one rail: each node gets a subnet of its own."""

    name: str
    namespace: str
    cidr: str
    per_node_prefix: int
    gateway_index: int
    """Which address of each node's subnet is its router; 1 is the first."""
    exclude: tuple[tuple[str, str], ...]
    """Ranges: first and last address."""
    routes: tuple[str, ...]
    """Destinations, through each node's router."""
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
    stage: StageName = NIC_DRIVER_READY
    """Its selector is the admission label, so no node takes it up before that is there."""


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
    """True: not admission, but what keeps an operator's operands or another driver off a node, so far or altogether."""


Share = (
    OperatorShare
    | NfdShare
    | FeatureRuleShare
    | NicPolicyShare
    | SriovConfigShare
    | SriovPoolShare
    | SriovPolicyShare
    | GpuPolicyShare
    | IpPoolShare
    | CidrPoolShare
    | NetworkShare
    | MachineShare
    | KubeletShare
    | HostNetworkShare
    | AccessShare
    | NodeLabelShare
)
