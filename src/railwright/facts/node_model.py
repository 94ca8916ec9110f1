"""What a node is made of, below GPUs and ports: parts of NodeHardware. Frozen values; None or empty is "not read"."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from railwright.core.ids import NetDevice, PciAddress


@dataclass(frozen=True)
class AcsState:
    """
    Access Control Services of one PCI function: `capability` is what it can do, `control` what is switched on.

    Source: Linux include/uapi/linux/pci_regs.h, PCI_ACS_*; the bits are the same in both registers.
    """

    capability: int
    control: int

    @property
    def source_validation(self) -> bool:
        """Whether requests with a foreign requester id are stopped (bit 0)."""
        return bool(self.control & 0x01)

    @property
    def request_redirect(self) -> bool:
        """Whether peer-to-peer requests are sent up to the root complex (bit 2)."""
        return bool(self.control & 0x04)

    @property
    def completion_redirect(self) -> bool:
        """Whether peer-to-peer completions are sent up to the root complex (bit 3)."""
        return bool(self.control & 0x08)

    @property
    def upstream_forwarding(self) -> bool:
        """Whether requests that came from below are sent up again (bit 4)."""
        return bool(self.control & 0x10)

    @property
    def direct_translated(self) -> bool:
        """Whether requests with translated addresses may take the direct way all the same (bit 6)."""
        return bool(self.control & 0x40)


@dataclass(frozen=True)
class PciConfig:
    """
    Registers of one PCI function's configuration space.

    Attributes:
        extended_read: the part above 256 bytes was readable; without it `acs` and `ats_enabled` are unknown.
        acs: None when there is no ACS capability, or it was not readable.
        ats_enabled: None when there is no ATS capability, or it was not readable.
        relaxed_ordering: whether the function may set that attribute; None without a PCI Express capability.
        max_payload_supported_bytes: what it could do; `max_payload_bytes` is what is set.
    """

    extended_read: bool
    acs: AcsState | None = None
    ats_enabled: bool | None = None
    relaxed_ordering: bool | None = None
    no_snoop: bool | None = None
    max_payload_bytes: int | None = None
    max_payload_supported_bytes: int | None = None
    max_read_request_bytes: int | None = None
    link_speed_gts: float | None = None
    link_width_lanes: int | None = None
    max_link_speed_gts: float | None = None
    max_link_width_lanes: int | None = None


@dataclass(frozen=True)
class PciBridge:
    """One bridge on the way from a host bridge to a GPU or NIC: a root port, or a port of a switch."""

    pci: PciAddress
    vendor_id: str
    device_id: str
    pci_path: tuple[PciAddress, ...]
    """Bridges from the root port down, itself last."""
    root: str
    numa: int | None
    driver: str
    config: PciConfig | None = None
    """None when its configuration space could not be read."""
    link_speed_gts: float | None = None
    link_width_lanes: int | None = None
    max_link_speed_gts: float | None = None
    max_link_width_lanes: int | None = None


@dataclass(frozen=True)
class VirtualFunction:
    """One virtual function, as its physical function and the host see it."""

    index: int
    pci: PciAddress | None
    driver: str = ""
    netdev: NetDevice | None = None
    """None when it has none in the host's network namespace: a pod may hold it."""
    mac: str = ""
    link_state: str = ""
    """"auto", "enable", "disable"; empty when not shown."""
    trust: bool | None = None
    spoof_check: bool | None = None
    vlan: int | None = None
    node_guid: str = ""
    """InfiniBand only, lower case, as "00:11:22:33:44:55:66:77"; empty when not shown."""
    port_guid: str = ""


@dataclass(frozen=True)
class QosState:
    """How a port sorts traffic; a field is None or empty where neither kernel nor `dcb` shows it."""

    pfc_priorities: tuple[int, ...] | None = None
    """Priorities with flow control; () when it is off for all."""
    trust: str = ""
    """"pcp" or "dscp"."""
    dscp_to_priority: Mapping[int, int] = field(default_factory=dict)
    traffic_class: int | None = None
    """Forced on RDMA traffic (/sys/class/infiniband/D/tc/1/traffic_class); None when nothing is."""
    default_roce_tos: int | None = None
    """What rdma_cm sets (configfs rdma_cm); None when not shown."""


@dataclass(frozen=True)
class IommuState:
    """
    The IOMMU as the running kernel has it.

    Attributes:
        present: whether devices are behind an IOMMU (groups exist); None when sysfs does not say.
        default_type: type of the GPUs' and NICs' groups when they agree: "identity" (passthrough), "DMA", "DMA-FQ";
            "mixed" when they differ; "" without an IOMMU, and when the type of one of them is not known.
        groups: group by PCI function, GPUs, NICs and their bridges only.
        group_types: type by group.
    """

    present: bool | None = None
    default_type: str = ""
    groups: Mapping[PciAddress, int] = field(default_factory=dict)
    group_types: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class NumaNode:
    """One NUMA node; `distances` to every node in their order."""

    index: int
    cpus: str
    """As the kernel lists them: "0-31,64-95"; empty for a node without processors."""
    distances: tuple[int, ...] = ()


@dataclass(frozen=True)
class HugePages:
    """Huge pages of one size."""

    size_bytes: int
    total: int
    free: int


@dataclass(frozen=True)
class Chassis:
    """What the firmware says of the machine, in its own words (SMBIOS); serial numbers are not read."""

    vendor: str = ""
    product: str = ""
    product_version: str = ""
    sku: str = ""
    board: str = ""
    board_vendor: str = ""
    board_version: str = ""
    bios_vendor: str = ""
    bios_version: str = ""
    bios_date: str = ""
    """As the firmware writes it: "09/10/2024", month first."""
    controller_version: str = ""
    """Of the embedded controller."""


@dataclass(frozen=True)
class Processor:
    """The processors, as /proc/cpuinfo has them."""

    vendor: str = ""
    """"GenuineIntel", "AuthenticAMD", "ARM"."""
    model: str = ""
    count: int | None = None
    under_hypervisor: bool | None = None
    """Whether a hypervisor says that it is there; None when processors do not say."""


@dataclass(frozen=True)
class ContainerRuntime:
    """
    The container runtime's settings that reach every container.

    Attributes:
        name: "cri-o" or "containerd"; empty when neither runs.
        version: as it says; empty when it can't be asked.
        settings: lines of its configuration that matter: "FILE: KEY = VALUE".
        limits: its own limits ("Max locked memory": "soft hard"), which containers inherit where nothing else is set.
        memlock: what a new container gets: "unlimited", KiB as text, "" when not known.
        memlock_origin: where that comes from: a file, or "limits of crio".
    """

    name: str = ""
    version: str = ""
    settings: tuple[str, ...] = ()
    limits: Mapping[str, str] = field(default_factory=dict)
    memlock: str = ""
    memlock_origin: str = ""


@dataclass(frozen=True)
class DataDirect:
    """A Data Direct function: a second PCI path of a NIC, made for the GPU beside it."""

    pci: PciAddress
    pci_path: tuple[PciAddress, ...]
    root: str
    numa: int | None
    driver: str = ""
    config: PciConfig | None = None


@dataclass(frozen=True)
class NodeSystem:
    """
    The software side of a node: settings and states that no device carries.

    Attributes:
        kernel_config: CONFIG_ options that matter ("CONFIG_PCI_P2PDMA": "y"); an option that is not set is "n".
        module_parameters: "ib_core.netns_mode": "Y", "nvidia.NVreg_OpenRmEnableUnsupportedGpus": "1".
        modprobe: lines of modprobe.d that speak of RDMA, GPU or storage modules: "FILE: options ib_core netns_mode=0".
        sysctls: "net.ipv4.conf.ens3f0np0.arp_ignore": "0".
        rules: lines of `ip rule`, IPv4 and IPv6.
        rdma_char_devices: names in /dev/infiniband, None when the folder could not be looked at: "uverbs0", "umad0".
        gpu_char_devices: names of the GPU stack in /dev: "nvidia0", "nvidiactl", "gdrdrv"; None likewise.
        memory_peers: names in /sys/kernel/mm/memory_peers: "nv_mem"; None when the kernel has no such folder.
        cni_plugins: programs in the CNI folders: "/opt/cni/bin": ("macvlan", ...).
        cni_configs: file names in the CNI configuration folders.
        nvidia_parameters: /proc/driver/nvidia/params.
        dma_buf: whether kernel and GPU driver can export GPU memory as dma-buf; None when it can't be told.
        dmesg: the last lines on NICs, GPUs, IOMMU, PCIe errors; None when the kernel log could not be read.
        mofed_inventories: folders of drivers that DOCA containers built and kept, by kernel version.
    """

    uptime_s: float | None = None
    kernel_config: Mapping[str, str] = field(default_factory=dict)
    module_parameters: Mapping[str, str] = field(default_factory=dict)
    modprobe: tuple[str, ...] = ()
    sysctls: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    rdma_char_devices: tuple[str, ...] | None = None
    gpu_char_devices: tuple[str, ...] | None = None
    memory_peers: tuple[str, ...] | None = None
    cni_plugins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cni_configs: tuple[str, ...] = ()
    nvidia_parameters: Mapping[str, str] = field(default_factory=dict)
    dma_buf: bool | None = None
    dmesg: tuple[str, ...] | None = None
    mofed_inventories: tuple[str, ...] = ()
