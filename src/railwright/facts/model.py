"""The Snapshot: everything that is known of a cluster at one moment, frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from railwright.core.ids import NetDevice, NodeName, PciAddress, RdmaDevice
from railwright.core.objects import Kind, KubeObject, Ref
from railwright.ports.cluster import ServedKind


class Platform(StrEnum):
    """What kind of cluster it is."""

    OPENSHIFT = "openshift"
    KUBERNETES = "kubernetes"


class Topology(StrEnum):
    """Where the control plane runs, and whether it takes workloads."""

    STANDARD = "standard"
    COMPACT = "compact"
    """Every node is a control-plane node that takes workloads."""
    SINGLE_NODE = "single-node"
    HOSTED = "hosted"
    """The control plane is elsewhere (HyperShift)."""
    UNKNOWN = "unknown"


class LinkLayer(StrEnum):
    """What a port speaks; a DOWN port with an unknown layer is UNKNOWN, never guessed."""

    ETHERNET = "ethernet"
    INFINIBAND = "infiniband"
    UNKNOWN = "unknown"


class Distance(StrEnum):
    """How far apart two PCI devices of one node are, in nvidia-smi's names; nearest first."""

    PIX = "PIX"
    """At most one PCIe bridge (switch) between them."""
    PXB = "PXB"
    """Several bridges, without the host bridge."""
    PHB = "PHB"
    """Across a PCIe host bridge."""
    NODE = "NODE"
    """Across host bridges of one NUMA node."""
    SYS = "SYS"
    """Across NUMA nodes."""

    @property
    def rank(self) -> int:
        """0 is nearest."""
        return _DISTANCE_RANK[self]


_DISTANCE_RANK = {distance: rank for rank, distance in enumerate(Distance)}


@dataclass(frozen=True)
class Unseen:
    """Something that could not be looked at: what, and why (forbidden, not served, timed out, not collected)."""

    what: str
    why: str


@dataclass(frozen=True)
class Gpu:
    """One GPU; seen in PCI config space, so a driver is not needed."""

    pci: PciAddress
    device_id: str
    """Four hex digits: "2335"."""
    pci_path: tuple[PciAddress, ...]
    """Bridges from the root port down, the device itself last."""
    root: str
    """The host bridge: "pci0000:16"."""
    numa: int | None
    driver: str
    """Bound kernel driver; empty when none is."""


@dataclass(frozen=True)
class Gid:
    """One entry of a port's GID table."""

    index: int
    gid: str
    type: str
    """"RoCE v1", "RoCE v2" or "IB"."""
    netdev: NetDevice | None


@dataclass(frozen=True)
class NicPort:
    """One port of a NIC: a physical function, or a virtual one when `parent` is set."""

    pci: PciAddress
    vendor_id: str
    """Four hex digits: "15b3"."""
    device_id: str
    pci_path: tuple[PciAddress, ...]
    root: str
    numa: int | None
    driver: str
    netdev: NetDevice | None
    rdma: RdmaDevice | None
    rdma_port: int
    """Port number of the RDMA device, 1 for almost every NIC."""
    link_layer: LinkLayer
    state: str
    """"ACTIVE", "DOWN", "INIT", "ARMED"; "" when there is no RDMA device."""
    carrier: bool | None
    """Physical link; None when the kernel does not say."""
    rate_gbps: float | None
    """Link rate, 10**9 bit/s."""
    mtu_bytes: int | None
    """MTU of the netdev."""
    address: str
    """MAC, or the IPoIB hardware address."""
    node_guid: str
    lid: int | None
    sm_lid: int | None
    gids: tuple[Gid, ...] = ()
    sriov_total_vfs: int = 0
    sriov_vfs: int = 0
    parent: PciAddress | None = None
    ip_addresses: tuple[str, ...] = ()
    """With prefix length: "10.0.0.3/24"."""
    firmware: str = ""
    psid: str = ""
    link_speed_gts: float | None = None
    link_width_lanes: int | None = None
    max_link_speed_gts: float | None = None
    max_link_width_lanes: int | None = None


@dataclass(frozen=True)
class NetDeviceFacts:
    """One network device of the node."""

    name: NetDevice
    arp_type: int
    """1 Ethernet, 32 InfiniBand."""
    pci: PciAddress | None
    master: NetDevice | None
    lowers: tuple[NetDevice, ...]
    mtu_bytes: int
    operstate: str
    address: str
    ip_addresses: tuple[str, ...]
    kind: str
    """"vlan", "bond", "bridge", "openvswitch", "macvlan", "team", "ipoib", ...; empty for plain hardware."""


@dataclass(frozen=True)
class Carried:
    """
    Traffic of the node itself, and the port that carries it.

    Attributes:
        what: "default route (IPv4)", "API server", "cluster network", "NFS mount /data from 10.1.0.9", "NVMe-oF nvme2", ...
        path: devices from where the traffic enters down to the port: ("br-ex", "bond0.120", "bond0", "ens3f0np0").
        pci: the port's PCI function; None when the path does not end at one (wholly virtual).
    """

    what: str
    path: tuple[NetDevice, ...]
    pci: PciAddress | None


@dataclass(frozen=True)
class NodeHardware:
    """
    What the node script saw, parsed.

    A field that could not be read is None, or named in `unseen`: never an empty value in its place.
    `uplinks_known` is False when routes, mounts or the network namespace could not be trusted: then every port
    may carry the node's own traffic.
    """

    netns_is_host: bool | None
    gpus: tuple[Gpu, ...]
    ports: tuple[NicPort, ...]
    netdevs: tuple[NetDeviceFacts, ...]
    carried: tuple[Carried, ...]
    uplinks_known: bool
    uplinks_problem: str
    """Why uplinks are not known; empty when they are."""
    modules: Mapping[str, int]
    """Loaded kernel modules with their reference counts."""
    kernel_arguments: str
    kernel_version: str
    architecture: str
    """As uname says: "x86_64", "aarch64"."""
    page_size_bytes: int | None
    os_release: Mapping[str, str]
    rdma_netns_mode: str | None
    """"shared" or "exclusive"."""
    lockdown: str | None
    """"none", "integrity" or "confidentiality"."""
    secure_boot: bool | None
    memlock_limit: str | None
    """Of the container runtime's containers: "unlimited" or KiB as text."""
    nvidia_driver: str
    """"open 580.95.05", "proprietary 580.95.05" or "" when no driver is loaded."""
    mlx5_driver: str
    """Version of an out-of-tree mlx5_core; "" for the kernel's own or none."""
    unseen: tuple[Unseen, ...] = ()


@dataclass(frozen=True)
class NodeFacts:
    """One node: what the API says, and what the node says (`hardware`; None with `hardware_problem`)."""

    name: NodeName
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    taints: tuple[str, ...]
    """As "key=value:Effect"."""
    allocatable: Mapping[str, int]
    """Extended resources only (names with a "/"); counts."""
    ready: bool
    schedulable: bool
    is_control_plane: bool
    is_worker: bool
    architecture: str
    """As Kubernetes says: "amd64", "arm64"."""
    kernel_version: str
    os_image: str
    addresses: tuple[str, ...]
    hardware: NodeHardware | None
    hardware_problem: str = ""
    read_via: str = ""


@dataclass(frozen=True)
class PackageChannel:
    """One channel of a package in a catalog."""

    name: str
    head_csv: str
    """"nvidia-network-operator.v26.4.1"."""
    head_version: str


@dataclass(frozen=True)
class PackageFacts:
    """One operator package as the live catalog offers it (PackageManifest)."""

    package: str
    catalog: str
    catalog_namespace: str
    default_channel: str
    channels: tuple[PackageChannel, ...]


@dataclass(frozen=True)
class PodFacts:
    """One pod that matters: it uses GPUs or rails, or it belongs to an operator."""

    namespace: str
    name: str
    node: NodeName | None
    phase: str
    owner: str
    """"DaemonSet/x" of the controller; empty for a bare pod."""
    requests: Mapping[str, int]
    """Extended resources it asks for."""
    networks: str
    """Its k8s.v1.cni.cncf.io/networks annotation."""


@dataclass(frozen=True)
class PoolFacts:
    """One MachineConfigPool."""

    name: str
    node_selector: KubeObject
    machine_config_selector: KubeObject
    nodes: tuple[NodeName, ...]
    paused: bool
    updated: bool
    updating: bool
    degraded: bool
    message: str


@dataclass(frozen=True)
class ClusterFacts:
    """What the API server says of the cluster as a whole."""

    name: str
    simulated: bool
    platform: Platform
    openshift_version: str
    """"4.20.4"; empty on plain Kubernetes."""
    kubernetes_version: str
    topology: Topology
    cluster_networks: tuple[str, ...]
    service_networks: tuple[str, ...]
    machine_networks: tuple[str, ...]
    internal_networks: tuple[str, ...]
    """OVN-Kubernetes' own subnets (join, transit, masquerade), configured or default."""
    network_type: str
    """"OVNKubernetes", ...; empty when unknown."""
    proxy: bool
    fips: bool | None
    served_kinds: tuple[ServedKind, ...]
    packages: tuple[PackageFacts, ...]
    packages_problem: str
    """Why the catalog could not be read; empty when it could."""
    pools: tuple[PoolFacts, ...]
    pods: tuple[PodFacts, ...]
    objects: Mapping[Ref, KubeObject] = field(default_factory=dict)
    """Namespaces, OLM objects, custom resources of the four operators, DaemonSets and ConfigMaps of their
    namespaces, NADs, SCCs, MachineConfigs that matter, our ledger: whole objects."""
    unseen: tuple[Unseen, ...] = ()

    def serves(self, kind: Kind) -> bool:
        """Whether the API server serves this kind."""
        return any(served.kind == kind for served in self.served_kinds)

    def of_kind(self, kind: Kind, namespace: str | None = None) -> tuple[KubeObject, ...]:
        """Objects of one kind, sorted by reference; `namespace` None for every namespace."""
        refs = sorted(ref for ref in self.objects if ref.kind == kind and namespace in {None, ref.namespace})
        return tuple(self.objects[ref] for ref in refs)


@dataclass(frozen=True)
class Snapshot:
    """Facts of one moment; `raw_nodes` keeps each node's raw record so that a newer version can parse it again."""

    taken_at: str
    """RFC 3339, UTC."""
    cluster: ClusterFacts
    nodes: tuple[NodeFacts, ...]
    raw_nodes: Mapping[NodeName, str] = field(default_factory=dict)

    def node(self, name: NodeName) -> NodeFacts | None:
        """Find a node by name."""
        return next((node for node in self.nodes if node.name == name), None)


@dataclass(frozen=True)
class Scope:
    """
    What to read.

    Attributes:
        nodes: only these; empty for every node.
        hardware: whether to read the inside of nodes.
        node_timeout_s: deadline for each node.
        parallel_nodes: how many nodes are read at once.
    """

    nodes: tuple[NodeName, ...] = ()
    hardware: bool = True
    node_timeout_s: float = 30.0
    parallel_nodes: int = 16
