"""What is inside a simulated node: PCI devices, network devices, routes, mounts, kernel. Frozen; faults replace parts."""

from dataclasses import dataclass, field

from railwright.core.ids import NetDevice, PciAddress, RdmaDevice
from railwright.standins.model import NodeDevices, Port


@dataclass(frozen=True)
class Gpu:
    """One GPU; `path` is its sysfs path from pciDDDD:BB on, itself last."""

    pci: str
    path: str
    numa: int
    device_id: str = "2335"


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

    @property
    def is_ib(self) -> bool:
        """Whether it speaks InfiniBand."""
        return self.link_layer == "InfiniBand"


@dataclass(frozen=True)
class Virtual:
    """A network device without hardware: bridge, bond, VLAN."""

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
    gateway: str = "10.0.0.1"
    mounts: tuple[str, ...] = ()
    """Lines of /proc/1/mounts beyond the root file system."""
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
    modules: tuple[str, ...] = ("mlx5_core", "mlx5_ib", "ib_core", "ib_uverbs", "nfs", "ice")
    secure_boot: bool = False
    routes_readable: bool = True
    readable: bool = True
    address: str = "10.0.0.10"
    labels: tuple[tuple[str, str], ...] = field(default=())

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
            if nic.vendor_id == "15b3"
        )
        return NodeDevices(len(self.gpus), ports)
