"""GPUs, NIC ports and network devices of a node: parts of NodeHardware. Frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from railwright.core.ids import NetDevice, PciAddress, RdmaDevice
from railwright.facts.node_model import PciConfig, QosState, VirtualFunction


class LinkLayer(StrEnum):
    """What a port speaks; a DOWN port with an unknown layer is UNKNOWN, never guessed."""

    ETHERNET = "ethernet"
    INFINIBAND = "infiniband"
    UNKNOWN = "unknown"


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
    config: PciConfig | None = None
    """None when its configuration space could not be read."""
    iommu_group: int | None = None
    link_speed_gts: float | None = None
    link_width_lanes: int | None = None
    max_link_speed_gts: float | None = None
    max_link_width_lanes: int | None = None
    bar_bytes: tuple[int, ...] = ()
    """Sizes of its memory windows; a full-size one is as large as its memory."""
    model: str = ""
    """"NVIDIA H200"; like the next two only where NVIDIA's driver says it."""
    vbios: str = ""
    """"96.00.a5.00.1a"; empty too while the driver has not asked the GPU."""
    firmware: str = ""
    """What runs on the GPU's own processor (GSP): "580.159.04", the driver's version; empty where none does."""


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
    subsystem_id: str = ""
    """Vendor and device of the board: "15b3:0051"; DPUs and NICs of one chip differ here."""
    config: PciConfig | None = None
    """None when its configuration space could not be read."""
    iommu_group: int | None = None
    phys_state: str = ""
    """"LinkUp", "Disabled", "Polling"; "" when there is no RDMA device."""
    port_guid: str = ""
    pkeys: tuple[int, ...] = ()
    """Partition keys that are set, with the membership bit 0x8000."""
    vfs: tuple[VirtualFunction, ...] = ()
    eswitch_mode: str = ""
    """"legacy", "switchdev"; empty when not shown."""
    qos: QosState | None = None
    counters: Mapping[str, int] = field(default_factory=dict)
    """Port counters of the RDMA device, as the kernel names them: "link_downed", "symbol_error", ..."""
    hw_counters: Mapping[str, int] = field(default_factory=dict)
    """"out_of_sequence", "np_cnp_sent", ..."""
    ethtool: Mapping[str, int] = field(default_factory=dict)
    """Statistics of the netdev that matter: pauses, discards, errors; only where ethtool is there."""
    card_guid: str = ""
    """The same for every function of a card, on whichever PCI bus; "" when there is no RDMA device."""
    card_name: str = ""
    """What the card calls itself: "NVIDIA BlueField-3 B3140H E-series FHHL SuperNIC"; "" where it can't be read."""
    part_number: str = ""
    """Of the card; boards of one chip differ here."""
    part_revision: str = ""
    """"A5"."""


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
    address: str
    ip_addresses: tuple[str, ...]
    kind: str
    """"vlan", "bond", "bridge", "openvswitch", "macvlan", "team", "ipoib", ...; empty for plain hardware."""
    carrier: bool | None = None
    carrier_changes: int | None = None
    """Since the device is there."""
    speed_mbps: int | None = None
    alias: str = ""
    """ifalias: CNI plugins keep a moved device's own name there."""
    port_name: str = ""
    """phys_port_name: "p0", or "pf0vf3" for the representor of a virtual function."""
    pkey: int | None = None
    """Partition of an IPoIB device."""
    dynamic_addresses: tuple[str, ...] = ()
    """Those of `ip_addresses` that DHCP or router advertisements gave."""
    tunnel_from: str = ""
    """Of a tunnel: the node's address that its packets start at; empty or "any" where the route decides."""
    tunnel_over: NetDevice | None = None
    """Of a tunnel: the device that its packets are bound to."""
