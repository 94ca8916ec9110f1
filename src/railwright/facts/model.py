"""The Snapshot: everything that is known of a cluster at one moment, frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from railwright.core.ids import NetDevice, NodeName, PciAddress
from railwright.core.objects import Kind, KubeObject, Ref
from railwright.facts.device_model import Gid, Gpu, LinkLayer, NetDeviceFacts, NicPort
from railwright.facts.node_model import (
    Chassis,
    ContainerRuntime,
    DataDirect,
    HugePages,
    IommuState,
    NodeSystem,
    NumaNode,
    PciBridge,
    Processor,
)
from railwright.facts.pod_model import ContainerFacts, EventFacts, LogRef, PodFacts
from railwright.ports.cluster import ServedKind

__all__ = [
    "Carried",
    "Chassis",
    "ClusterFacts",
    "ContainerFacts",
    "ContainerRuntime",
    "DataDirect",
    "Distance",
    "EventFacts",
    "Gid",
    "Gpu",
    "HugePages",
    "IommuState",
    "LinkLayer",
    "LogRef",
    "NetDeviceFacts",
    "NicPort",
    "NodeFacts",
    "NodeHardware",
    "NodeSystem",
    "NumaNode",
    "PackageChannel",
    "PackageFacts",
    "PciBridge",
    "Platform",
    "PodFacts",
    "PoolFacts",
    "Processor",
    "Scope",
    "Snapshot",
    "Topology",
    "Unseen",
]


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
    bridges: tuple[PciBridge, ...] = ()
    """Every bridge above a GPU, a NIC or a Data Direct function, by PCI address."""
    data_direct: tuple[DataDirect, ...] = ()
    iommu: IommuState = field(default_factory=IommuState)
    processor: Processor = field(default_factory=Processor)
    numa_nodes: tuple[NumaNode, ...] = ()
    huge_pages: tuple[HugePages, ...] = ()
    chassis: Chassis = field(default_factory=Chassis)
    runtime: ContainerRuntime = field(default_factory=ContainerRuntime)
    system: NodeSystem = field(default_factory=NodeSystem)
    module_users: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Loaded modules that use others, by the module that they use; none where the kernel does not say."""

    def bridge(self, pci: PciAddress) -> PciBridge | None:
        """Find a bridge by its address."""
        return next((bridge for bridge in self.bridges if bridge.pci == pci), None)


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
    not_ready_since: str = ""
    """Since when the node is not ready, RFC 3339; empty for one that is, and where it is not told."""


@dataclass(frozen=True)
class PackageChannel:
    """One channel of a package in a catalog."""

    name: str
    head_csv: str
    """"nvidia-network-operator.v26.4.1"."""
    related_images: tuple[str, ...] = ()
    """What the head's bundle brings, as it names it; empty where the catalog does not say."""


@dataclass(frozen=True)
class PackageFacts:
    """One operator package as the live catalog offers it (PackageManifest)."""

    package: str
    catalog: str
    catalog_namespace: str
    default_channel: str
    channels: tuple[PackageChannel, ...]


@dataclass(frozen=True)
class PoolFacts:
    """One MachineConfigPool."""

    name: str
    nodes: tuple[NodeName, ...]
    paused: bool
    updated: bool
    updating: bool
    degraded: bool
    message: str
    labels: Mapping[str, str] = field(default_factory=dict)


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
    whole_in: frozenset[tuple[Kind, str]] = frozenset()
    """Kinds of which every object of a namespace was seen, whatever is missing elsewhere."""
    events: tuple[EventFacts, ...] = ()
    """Of the operators' namespaces and of the pods in `pods`, oldest first; read when Scope.events asks."""
    logs: Mapping[LogRef, str] = field(default_factory=dict)
    """Ends of the logs of the operators' pods; read when Scope.logs asks."""

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
        events: whether to read events.
        logs: whether to read the logs of the operators' pods: those that are not ready or have restarted, and one
            healthy one a DaemonSet; with the log before a crash.
        log_limit_bytes: of each log only the end, at most so much.
    """

    nodes: tuple[NodeName, ...] = ()
    hardware: bool = True
    node_timeout_s: float = 30.0
    parallel_nodes: int = 16
    events: bool = False
    logs: bool = False
    log_limit_bytes: int = 64 * 1024
