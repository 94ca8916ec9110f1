"""
Intent, frozen: one RailFabric of rails.yaml. None always means "left out", never "off".

Units: MTU in bytes; durations in seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from railwright.core.ids import FabricName


class Method(StrEnum):
    """How a pod gets its RDMA device."""

    SHARED = "shared"
    HOST_DEVICE = "host-device"
    SRIOV = "sriov"


class Fabric(StrEnum):
    """The link type."""

    ROCE = "roce"
    INFINIBAND = "infiniband"


class Ipam(StrEnum):
    """Who gives pods their addresses on a rail."""

    NV_IPAM = "nv-ipam"
    """One subnet a rail, of which each node has a block."""
    NV_IPAM_CIDR = "nv-ipam-cidr"
    """A subnet a node, cut out of the rail's: for rails that are routed between nodes."""
    WHEREABOUTS = "whereabouts"
    STATIC = "static"


class NicDriver(StrEnum):
    """Which mlx5 driver nodes run."""

    DOCA = "doca"
    """The DOCA (OFED) driver container of the NVIDIA Network Operator."""
    IN_BOX = "in-box"
    """The kernel's own."""


class GpuDriver(StrEnum):
    """Which kernel module of the GPU driver."""

    OPEN = "open"
    PROPRIETARY = "proprietary"


class GpuMemory(StrEnum):
    """How a NIC reaches GPU memory."""

    DMA_BUF = "dma-buf"
    PEERMEM = "nvidia-peermem"


@dataclass(frozen=True)
class Place:
    """Where in a file something stands; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        """Write as file:line:column."""
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class NodeSelection:
    """Which nodes; both left out means workers with a GPU and a ConnectX port (decided by plan)."""

    names: tuple[str, ...] | None = None
    labels: Mapping[str, str] | None = None


@dataclass(frozen=True)
class RailSelector:
    """One rail asked for by name: exactly one of the three selectors is set."""

    name: str
    pci_address: str | None = None
    netdev: str | None = None
    device_id: str | None = None
    gpu: str | None = None
    """PCI address or index of the GPU to pair it with; None: the nearest."""
    subnet: str | None = None
    """Only of spec.rails: a rail's network is one object for all nodes, so groups have none of their own."""


@dataclass(frozen=True)
class GroupOverride:
    """Rails of nodes that are unlike the others; the name says which rail of the fabric each is."""

    nodes: NodeSelection
    rails: tuple[RailSelector, ...]


@dataclass(frozen=True)
class Route:
    """A route that pods get on their rail."""

    destination: str
    gateway: str | None = None


@dataclass(frozen=True)
class NetworkIntent:
    """The pods' networks on the rails."""

    subnets: tuple[str, ...] | None = None
    """One prefix (cut into equal subnets, one a rail) or one a rail; with both families, IPv4 and IPv6 mixed."""
    mtu_bytes: int | None = None
    ipam: Ipam | None = None
    gateway: bool | None = None
    """Whether each subnet's first address is a router (routed rails)."""
    routes: tuple[Route, ...] = ()
    pkey: str | None = None
    """InfiniBand partition, "0x8001"."""
    guid: str | None = None
    """"auto" or "pool" (ib-kubernetes)."""
    vlan: int | None = None
    exclude: tuple[str, ...] = ()
    """Addresses or prefixes that pods never get."""
    per_node_prefix: int | None = None
    """Length of each node's own subnet, with nv-ipam-cidr."""


@dataclass(frozen=True)
class DriverIntent:
    """Drivers and modules."""

    nic: NicDriver | None = None
    nic_version: str | None = None
    gpu: GpuDriver | None = None
    gpu_version: str | None = None
    memory: GpuMemory | None = None
    gdrcopy: bool | None = None
    gds: bool | None = None


@dataclass(frozen=True)
class OperatorsIntent:
    """How the four operators are installed."""

    approval: str | None = None
    """"Manual" (default) or "Automatic"."""
    channels: Mapping[str, str] = field(default_factory=dict)
    """By package name."""
    catalogs: Mapping[str, str] = field(default_factory=dict)
    """Mirrored CatalogSources by package name."""
    upgrade: bool | None = None
    """Whether operators of ours move to what their channel offers by now."""


@dataclass(frozen=True)
class ProxyIntent:
    """The way out for driver containers that fetch packages where they run."""

    http: str | None = None
    https: str | None = None
    no_proxy: tuple[str, ...] = ()

    def environment(self) -> Mapping[str, str]:
        """Give it as the variables that containers read; empty when nothing was asked for."""
        found = {"HTTP_PROXY": self.http, "HTTPS_PROXY": self.https, "NO_PROXY": ",".join(self.no_proxy)}
        return {name: value for name, value in found.items() if value}


@dataclass(frozen=True)
class UpgradePolicy:
    """How driver roll-outs go over the nodes."""

    auto: bool | None = None
    max_parallel: int | None = None
    drain_timeout_s: int | None = None


@dataclass(frozen=True)
class Intent:
    """One RailFabric; `places` has the file position of each key path that was written ("spec.network.mtu")."""

    name: FabricName
    method: Method
    fabric: Fabric
    nodes: NodeSelection = NodeSelection()
    rails: tuple[RailSelector, ...] | None = None
    """None means auto."""
    groups: tuple[GroupOverride, ...] = ()
    network: NetworkIntent = NetworkIntent()
    driver: DriverIntent = DriverIntent()
    operators: OperatorsIntent = OperatorsIntent()
    upgrade: UpgradePolicy = UpgradePolicy()
    workload_namespaces: tuple[str, ...] = ()
    vfs_per_rail: int | None = None
    pods_per_rail: int | None = None
    """Shared method: how many pods may share one port (rdmaHcaMax)."""
    rdma_isolation: bool | None = None
    """SR-IOV: RDMA device in the pod's own namespace (rdmaMode exclusive)."""
    traffic_class: int | None = None
    path_mtu_bytes: int | None = None
    resource_prefix: str | None = None
    """Name stem of resources and networks; the fabric's name when left out."""
    tolerations: tuple[Mapping[str, str], ...] = ()
    pull_secret: str | None = None
    image_registry: str | None = None
    """Mirror that replaces the vendor's registry in image repositories."""
    proxy: ProxyIntent = ProxyIntent()
    numa_aligned: bool | None = None
    """Opt-in KubeletConfig with the topology manager."""
    places: Mapping[str, Place] = field(default_factory=dict, compare=False)
    document: str = field(default="", compare=False)
    """This RailFabric as YAML, for the ledger."""

    def place(self, key_path: str) -> Place | None:
        """Where a key, or its nearest written parent, stands."""
        while key_path and key_path not in self.places:
            key_path = key_path.rpartition(".")[0]
        return self.places.get(key_path)
