"""How a simulated node is set up, beyond its devices: kernel, container runtime, firmware. Frozen; faults replace parts."""

from dataclasses import dataclass

SYSCTLS = tuple(
    (f"net.ipv4.conf.{name}.{key}", value)
    for name in ("all", "default")
    for key, value in (("accept_local", "0"), ("arp_announce", "0"), ("arp_ignore", "0"), ("rp_filter", "0"))
)
CHASSIS = (
    ("sys_vendor", "Dell Inc."),
    ("product_name", "PowerEdge XE9680"),
    ("board_name", "0XE968"),
    ("bios_version", "2.3.5"),
    ("bios_date", "09/10/2024"),
)
NVIDIA_PARAMETERS = (
    ("EnableStreamMemOPs", "0"),
    ("EnablePCIERelaxedOrderingMode", "0"),
    ("RegistryDwords", '""'),
)


@dataclass(frozen=True)
class Settings:
    """
    Everything that an administrator, a vendor or an image decided.

    Attributes:
        memlock: what containers get where no MachineConfig says otherwise: KiB or "unlimited".
        netns_mode: of the RDMA subsystem, whatever the operator asked for ("exclusive"); empty for what it asked for.
        peermem_loads: whether the peermem container of the GPU driver gets its module loaded.
        kernel_config: options of the kernel; one that is left out is not set.
        dmesg: lines of the kernel log that speak of NICs, GPUs, IOMMU and PCIe; None when it may not be read.
        missing_cni: plugins that are not in the CNI folder.
        nps: NUMA nodes a socket.
        mlx5_version: of a driver that the host brought along; empty for the kernel's own.
        gpu_driver: likewise, "open 580.95.05".
    """

    memlock: str = "8192"
    runtime: str = "cri-o"
    runtime_version: str = "1.33.5"
    runtime_settings: tuple[str, ...] = ()
    """As in the record: "FILE: KEY = VALUE"."""
    netns_mode: str = ""
    peermem_loads: bool = True
    mlx5_version: str = ""
    gpu_driver: str = ""
    kernel_config: tuple[tuple[str, str], ...] = (
        ("CONFIG_PCI_P2PDMA", "y"),
        ("CONFIG_DMABUF_MOVE_NOTIFY", "y"),
        ("CONFIG_DMA_SHARED_BUFFER", "y"),
        ("CONFIG_ZONE_DEVICE", "y"),
        ("CONFIG_INFINIBAND_ON_DEMAND_PAGING", "y"),
    )
    module_parameters: tuple[tuple[str, str, str], ...] = ()
    """Module, parameter, value."""
    modprobe: tuple[str, ...] = ()
    """As in the record: "FILE: options ib_core netns_mode=0"."""
    sysctls: tuple[tuple[str, str], ...] = SYSCTLS
    rules: tuple[str, ...] = (
        "0:\tfrom all lookup local",
        "32766:\tfrom all lookup main",
        "32767:\tfrom all lookup default",
    )
    dmesg: tuple[str, ...] | None = ()
    missing_cni: tuple[str, ...] = ()
    cni_configs: tuple[str, ...] = ("00-multus.conf",)
    memory_peers: tuple[str, ...] = ()
    gpu_char_devices: tuple[str, ...] = ()
    """Beyond those that the GPU driver makes: "gdrdrv"."""
    nvidia_parameters: tuple[tuple[str, str], ...] = NVIDIA_PARAMETERS
    mofed_inventories: tuple[str, ...] = ()
    chassis: tuple[tuple[str, str], ...] = CHASSIS
    cpu_vendor: str = "GenuineIntel"
    cpu_model: str = "Intel(R) Xeon(R) Platinum 8480C"
    cpus: int = 224
    under_hypervisor: bool = False
    nps: int = 1
    memory_kib: int = 2 * 1024**3
    hugepages: tuple[tuple[int, int, int], ...] = ((2048, 0, 0), (1048576, 0, 0))
    """Size in KiB, total, free."""
    uptime_s: float = 86400.0
