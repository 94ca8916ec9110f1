"""
Whose a BlueField card is: the host's, like any NIC (NIC mode), or its own processors' (DPU mode).

In DPU mode the card's processors own its embedded switch: what the host sends and receives passes them, SR-IOV's firmware
settings are not changed from the host, and nobody on the host sees whether they let RDMA through. A SuperNIC leaves the
factory in NIC mode, a DPU in DPU mode, and either can be set to the other: name and part number do not tell.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from railwright.catalog.model import Catalog
from railwright.core import kinds
from railwright.core.ids import NodeName, PciAddress
from railwright.core.objects import dig
from railwright.facts.model import ClusterFacts, LinkLayer, NicPort, NodeHardware

SECTION = "eswitch"
"""Where the node's record has what devlink says of switches."""


class Mode(StrEnum):
    """Who owns the card's switch."""

    NIC = "nic"
    DPU = "dpu"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Told:
    """The mode of a card and what it is known by."""

    mode: Mode
    how: str


def is_bluefield(port: NicPort, catalog: Catalog) -> bool:
    """Whether the port is a BlueField's, by its id, or by what the card calls itself where the id is not known."""
    nic = catalog.nic(port.device_id, port.vendor_id)
    return nic.bluefield if nic is not None else "bluefield" in port.card_name.lower()


def name_of(port: NicPort, catalog: Catalog) -> str:
    """What to call the card: its own words up to the first comma or semicolon, else the catalog's."""
    nic = catalog.nic(port.device_id, port.vendor_id)
    own = port.card_name.replace(";", ",").partition(",")[0].strip()
    return own or (nic.name if nic is not None else f"{port.vendor_id}:{port.device_id}")


def dpu_by_port(cluster: ClusterFacts, node: NodeName) -> Mapping[PciAddress, bool]:
    """
    Read what NicDevices say of a node's BlueField ports; a port that none names has no entry.

    Source: Mellanox/nic-configuration-operator 18d2933d, pkg/devicediscovery/devicediscovery.go: `dpu` is the
    INTERNAL_CPU_OFFLOAD_ENGINE in force, read from the card's firmware (2026-12-01).
    """
    found: dict[PciAddress, bool] = {}
    for ref, obj in cluster.objects.items():
        if ref.kind != kinds.NIC_DEVICE or dig(obj, "status", "node") != node:
            continue
        dpu, ports = dig(obj, "status", "dpu"), dig(obj, "status", "ports")
        if isinstance(dpu, bool) and isinstance(ports, list):
            found |= {PciAddress(str(dig(port, "pci", default="")).lower()): dpu for port in ports}
    return found


def mode_of(port: NicPort, hardware: NodeHardware, dpus: Mapping[PciAddress, bool]) -> Told:
    """
    Tell the mode of a BlueField's port.

    A host function that does not own the switch gets no answer from devlink. So does one of an old kernel without
    virtual functions, one on InfiniBand, and one without SR-IOV: silence counts only beside a port that was answered.
    Source: Linux v6.12, mlx5/core/eswitch.c, mlx5_eswitch_check; k8snetworkplumbingwg/sriov-network-operator,
    pkg/vendors/mellanox/mellanox.go, GetMellanoxBlueFieldMode (INTERNAL_CPU_ESWITCH_MANAGER EXT_HOST_PF is NIC mode).
    """
    if port.pci in dpus:
        return Told(Mode.DPU if dpus[port.pci] else Mode.NIC, "its NicDevice")
    if port.eswitch_mode:
        return Told(Mode.NIC, "devlink: the host owns its switch")
    unread = next((item.why for item in hardware.unseen if item.what in {SECTION, "node record"}), "")
    if unread:
        return Told(Mode.UNKNOWN, unread)
    if port.link_layer is not LinkLayer.ETHERNET or not port.sriov_total_vfs or port.driver != "mlx5_core":
        return Told(Mode.UNKNOWN, "devlink is not asked of a port without mlx5_core, SR-IOV and Ethernet")
    if any(other.eswitch_mode and not other.sriov_vfs for other in hardware.ports if other.parent is None):
        return Told(Mode.DPU, "devlink: the host does not own its switch")
    return Told(Mode.UNKNOWN, "devlink shows the switch of no port of this node")
