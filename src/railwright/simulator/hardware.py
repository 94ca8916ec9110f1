"""What is inside a simulated node: PCI devices, network devices, routes, mounts, kernel. Frozen; faults replace parts."""

from dataclasses import dataclass, field

from railwright.core.ids import NetDevice, PciAddress, RdmaDevice
from railwright.simulator.settings import Settings
from railwright.standins.model import NodeDevices, Port

LINK_SPEEDS_GTS = (2.5, 5.0, 8.0, 16.0, 32.0, 64.0)
PCI_SIZES_BYTES = (128, 256, 512, 1024, 2048, 4096)
ACS_CAPABLE = 0x5F
"""All of Access Control Services but egress control: what switches of servers offer."""


@dataclass(frozen=True)
class PciRegisters:
    """
    What stands in a PCI function's configuration space.

    Attributes:
        acs_control: what of ACS is switched on; 0 where the kernel or the firmware left it off.
        acs_capability: what of ACS there is; 0 for a function without it.
        ats: whether address translation services are on; None for a function without them.
        readable: whether the part above 64 bytes can be read.
    """

    link_speed_gts: float = 32.0
    link_width_lanes: int = 16
    max_link_speed_gts: float = 32.0
    max_link_width_lanes: int = 16
    relaxed_ordering: bool = True
    no_snoop: bool = True
    max_payload_bytes: int = 256
    max_payload_supported_bytes: int = 512
    max_read_request_bytes: int = 4096
    acs_control: int = 0
    acs_capability: int = 0
    ats: bool | None = None
    readable: bool = True


ENDPOINT = PciRegisters()
BRIDGE = PciRegisters(acs_capability=ACS_CAPABLE)
FEW_COUNTERS = (
    ("link_downed", 0),
    ("link_error_recovery", 0),
    ("symbol_error", 0),
    ("port_rcv_errors", 0),
    ("port_xmit_discards", 0),
    ("port_xmit_wait", 0),
)
FEW_HW_COUNTERS = (
    ("out_of_sequence", 0),
    ("packet_seq_err", 0),
    ("local_ack_timeout_err", 0),
    ("rnr_nak_retry_err", 0),
    ("np_cnp_sent", 0),
    ("rp_cnp_handled", 0),
)
ETHTOOL = (
    ("rx_discards_phy", 0),
    ("rx_prio3_pause", 0),
    ("tx_prio3_pause", 0),
    ("rx_out_of_buffer", 0),
    ("rx_crc_errors_phy", 0),
)


@dataclass(frozen=True)
class Gpu:
    """One GPU; `path` is its sysfs path from pciDDDD:BB on, itself last."""

    pci: str
    path: str
    numa: int
    device_id: str = "2335"
    registers: PciRegisters = ENDPOINT
    vbios: str = "96.00.a5.00.1a"
    driver: str | None = None
    """Bound kernel driver whatever the GPU operator does ("vfio-pci", "nouveau"); None for what the operator binds."""


@dataclass(frozen=True)
class Nic:
    """One function of a network card."""

    pci: str
    path: str
    numa: int
    netdev: str
    mac: str
    vendor_id: str = "15b3"
    device_id: str = "1021"
    driver: str = "mlx5_core"
    rdma: str = ""
    """Empty for a NIC without RDMA."""
    link_layer: str = "Ethernet"
    """"Ethernet" or "InfiniBand"."""
    rate_gbps: int = 400
    carrier: bool = True
    sm_lid: int = 1
    """0: no subnet manager; InfiniBand only."""
    lid: int = 0
    total_vfs: int = 16
    mtu: int = 1500
    ips: tuple[str, ...] = ()
    master: str = ""
    is_rail: bool = True
    """Only for who builds worlds; the node record says nothing of it."""
    registers: PciRegisters = ENDPOINT
    subsystem_id: str = "0051"
    firmware: str = "28.43.2026"
    psid: str = "MT_0000000838"
    card: str = "NVIDIA ConnectX-7 HHHL Adapter Card"
    """What its vital product data calls it."""
    part_number: str = "MCX75310AAS-NEAT"
    state: str = ""
    """Of the RDMA port ("INIT", "ARMED"), where it is not what carrier and subnet manager make of it."""
    pkeys: tuple[int, ...] = (0xFFFF,)
    counters: tuple[tuple[str, int], ...] = FEW_COUNTERS
    hw_counters: tuple[tuple[str, int], ...] = FEW_HW_COUNTERS
    ethtool: tuple[tuple[str, int], ...] = ETHTOOL
    carrier_changes: int = 2
    alias: str = ""
    """ifalias, where CNI plugins leave a device's own name."""
    pfc_priorities: tuple[int, ...] = (3,)
    trust: str = "dscp"
    traffic_class: int | None = None
    eswitch_mode: str = "legacy"
    """Empty where another owns the card's switch: a DPU's own processors."""
    vf_guids: bool = True
    """Whether virtual functions of an InfiniBand port got their GUIDs."""
    vf_link_state: str = "auto"
    vf_trust: bool = False
    vf_lid: int | None = None
    """LID of virtual functions; 65535 where the subnet manager does not virtualise. None for what the port has."""
    has_char_device: bool = True
    """Whether /dev/infiniband has the device files of it."""
    dynamic_ips: tuple[str, ...] = ()
    """Those of `ips` that DHCP gave."""
    vf_leases: tuple[str, ...] = ()
    """Addresses that DHCP gave to the first virtual function, which nobody uses."""
    same_card_as: str = ""
    """PCI address of another function of the same card, where that is on another bus (socket direct)."""
    link_local: bool = True
    """Whether IPv6 is on, so that there is a link-local address and a GID of it."""
    physfn: str = ""
    """PCI address of its physical function, where this is a virtual one that the host itself uses."""

    @property
    def is_ib(self) -> bool:
        """Whether it speaks InfiniBand."""
        return self.link_layer == "InfiniBand"


@dataclass(frozen=True)
class Virtual:
    """A network device without hardware: bridge, bond, team, VLAN, macvlan child."""

    name: str
    kind: str
    mtu: int = 1500
    lowers: tuple[str, ...] = ()
    master: str = ""
    ips: tuple[str, ...] = ()


@dataclass(frozen=True)
class Machine:
    """One node."""

    name: str
    gpus: tuple[Gpu, ...] = ()
    nics: tuple[Nic, ...] = ()
    virtuals: tuple[Virtual, ...] = ()
    default_route: str = "br-ex"
    """Where IPv4 leaves; empty for nowhere."""
    default_route6: str = ""
    """Where IPv6 leaves; empty for nowhere."""
    gateway: str = "10.0.0.1"
    mounts: tuple[str, ...] = ()
    """Lines of /proc/1/mounts beyond the root file system, or of the kubelet's own mounts."""
    other_routes: tuple[str, ...] = ()
    """Lines of `ip -o -4 route show table all` that are in no main table."""
    connections: tuple[tuple[str, int], ...] = ()
    """Own address and port of what storage serves or uses, as the record has it."""
    block_devices: tuple[str, ...] = ()
    """Lines of the record's section `storage`."""
    nvme: tuple[str, ...] = ()
    """Controllers beside the node's own disk, as in the record."""
    iscsi: tuple[str, ...] = ()
    """Sessions, as in the record."""
    tunnel_address: str = ""
    """Where Open vSwitch's tunnels start; empty for the node's own address."""
    roles: tuple[str, ...] = ("worker",)
    architecture: str = "x86_64"
    page_size_bytes: int = 4096
    kernel: str = "5.14.0-570.62.1.el9_6.x86_64"
    os_image: str = "Red Hat Enterprise Linux CoreOS 9.6.20251106-0 (Plow)"
    os_release: tuple[str, ...] = (
        'NAME="Red Hat Enterprise Linux CoreOS"',
        "ID=rhel",
        'VERSION_ID="9.6"',
        "OPENSHIFT_VERSION=4.20",
        "OSTREE_VERSION=9.6.20251106-0",
        "VARIANT_ID=coreos",
    )
    kernel_arguments: str = "BOOT_IMAGE=(hd0,gpt3)/ostree/rhcos root=UUID=0 rw ignition.platform.id=metal"
    modules: tuple[str, ...] = (
        "mlx5_core",
        "mlx5_ib",
        "ib_core",
        "ib_uverbs",
        "ib_umad",
        "rdma_cm",
        "rdma_ucm",
        "nfs",
        "ice",
    )
    module_users: tuple[tuple[str, int], ...] = ()
    """Reference counts of modules that are not as usual."""
    secure_boot: bool = False
    netns_is_host: bool = True
    routes_readable: bool = True
    readable: bool = True
    address: str = "10.0.0.10"
    labels: tuple[tuple[str, str], ...] = field(default=())
    bridges: tuple[tuple[str, PciRegisters], ...] = ()
    """Bridges that are not as BRIDGE, by PCI address."""
    iommu: str = ""
    """Type of the IOMMU's groups: "identity" (passthrough), "DMA", "DMA-FQ"; empty when there is none."""
    settings: Settings = field(default_factory=Settings)

    @property
    def cards(self) -> tuple[Gpu | Nic, ...]:
        """GPUs, then NICs."""
        return (*self.gpus, *self.nics)

    @property
    def bridge_paths(self) -> tuple[str, ...]:
        """Sysfs paths of every bridge above a GPU or a NIC, each once, in order."""
        found: dict[str, None] = {}
        for device in self.cards:
            steps = device.path.split("/")
            found.update(dict.fromkeys("/".join(steps[:end]) for end in range(2, len(steps))))
        return tuple(sorted(found))

    def bridge(self, pci: str) -> PciRegisters:
        """Registers of a bridge."""
        return dict(self.bridges).get(pci, BRIDGE)

    def devices(self) -> NodeDevices:
        """What device plugins and config daemons find."""
        ports = tuple(
            Port(
                pci=PciAddress(nic.pci),
                netdev=NetDevice(nic.netdev),
                rdma=RdmaDevice(nic.rdma),
                vendor_id=nic.vendor_id,
                device_id=nic.device_id,
                link_type="infiniband" if nic.is_ib else "ether",
                sriov_total_vfs=nic.total_vfs,
                mac=nic.mac,
                mtu_bytes=nic.mtu,
                speed_mbps=nic.rate_gbps * 1000,
            )
            for nic in self.nics
            if nic.vendor_id == "15b3" and not nic.physfn
        )
        return NodeDevices(len(self.gpus), ports)
