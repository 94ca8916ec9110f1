"""What each ConnectX port of a node is for: a rail's candidate, or something else, with the reason."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from railwright.catalog.model import Catalog
from railwright.core.ids import NetDevice, NodeName, PciAddress
from railwright.facts.model import Distance, Gpu, LinkLayer, NicPort, NodeHardware
from railwright.facts.pci import distance
from railwright.intent.model import Fabric
from railwright.plan.bluefield import Mode, is_bluefield, mode_of, name_of
from railwright.plan.model import OtherPort
from railwright.plan.nodes import connectx_ports

NEAR = Distance.PXB.rank
"""Only PCIe switches lie between the two."""
_ONLY_ROUTES = "vrf"
LAYER = {Fabric.ROCE: LinkLayer.ETHERNET, Fabric.INFINIBAND: LinkLayer.INFINIBAND}


@dataclass(frozen=True)
class Candidate:
    """A port that may become a rail: the distance to every GPU of the node, nearest first."""

    port: NicPort
    distances: tuple[tuple[Distance, Gpu], ...]

    @property
    def nearest(self) -> Distance | None:
        """Distance to the nearest GPU."""
        return self.distances[0][0] if self.distances else None

    @property
    def is_up(self) -> bool:
        """Whether the port works, as far as it says; a port without an RDMA device only has its carrier."""
        return self.port.state == "ACTIVE" if self.port.state else self.port.carrier is True


@dataclass(frozen=True)
class Known:
    """
    What is known of a node's ports besides its hardware.

    Attributes:
        named: the ports that a wish names: such a one may be a rail where it would not be chosen.
        dpus: what NicDevices say of BlueField ports: whether they are in DPU mode.
    """

    named: frozenset[PciAddress] = frozenset()
    dpus: Mapping[PciAddress, bool] = field(default_factory=dict)


_NOTHING = Known()


def candidates(
    node: NodeName, hardware: NodeHardware, fabric: Fabric, catalog: Catalog, known: Known = _NOTHING
) -> tuple[tuple[Candidate, ...], tuple[OtherPort, ...]]:
    """
    Tell a node's ConnectX ports apart.

    A port is near when only PCIe switches lie between it and a GPU; where a node has such ports, the others are
    north-south. Where it has none (Grace: GPU and NIC meet only at the CPU), every port of a GPU's socket counts.
    A BlueField in DPU mode is a candidate only when it is named; one whose mode is not known stays a candidate, and
    bluefield_rails.py refuses the node where it becomes a rail.
    """
    carrying: dict[PciAddress | None, str] = {}
    for traffic in hardware.carried:
        carrying.setdefault(traffic.pci, traffic.what)
    masters = _masters(hardware)
    found: list[Candidate] = []
    others: list[OtherPort] = []
    for port in connectx_ports(hardware):
        not_a_rail = _not_a_rail(port, carrying, masters, fabric, catalog)
        if not_a_rail is not None:
            others.append(OtherPort(node, port.pci, port.netdev, *not_a_rail))
            continue
        distances = sorted(((distance(gpu, port), gpu) for gpu in hardware.gpus), key=lambda d: (d[0].rank, d[1].pci))
        found.append(Candidate(port, tuple(distances)))
    withheld = {item.port.pci: why for item in found if (why := _in_dpu_mode(item.port, hardware, known, catalog))}
    limit = NEAR if any(_within(item, NEAR) for item in found if item.port.pci not in withheld) else Distance.NODE.rank
    kept: list[Candidate] = []
    for item in found:
        port = item.port
        if not _within(item, limit):
            reason = f"no GPU is nearer than {item.nearest or 'any'}"
            others.append(OtherPort(node, port.pci, port.netdev, "north-south", reason))
        elif port.pci in withheld:
            others.append(OtherPort(node, port.pci, port.netdev, "dpu", withheld[port.pci]))
        else:
            kept.append(item)
    return tuple(kept), tuple(sorted(others, key=lambda item: item.pci))


def _within(item: Candidate, rank: int) -> bool:
    return item.nearest is not None and item.nearest.rank <= rank


_STORAGE_WORDS = ("mount", "block device", "NVMe", "iSCSI", "SRP", "Ceph", "NFS", "Lustre", "GPFS")
"""What the node's traffic is called where it is storage's: in facts/sources/storage.py and facts/sources/sockets.py."""


def _masters(hardware: NodeHardware) -> dict[NetDevice, str]:
    """
    Name what each network device belongs to: a bond, team, bridge or switch takes all frames of its members.

    A macvlan child gets none of them, and a member that a pod takes away leaves its master without it. A VRF only
    routes.
    Source: Linux v6.6, net/core/dev.c, netdev_rx_handler_register (one a device) and drivers/net/vrf.c (none).
    """
    kinds = {netdev.name: netdev.kind for netdev in hardware.netdevs}
    return {
        netdev.name: f"{netdev.master} ({kinds[netdev.master]})" if kinds.get(netdev.master) else str(netdev.master)
        for netdev in hardware.netdevs
        if netdev.master is not None and kinds.get(netdev.master) != _ONLY_ROUTES
    }


def _not_a_rail(
    port: NicPort,
    carrying: dict[PciAddress | None, str],
    masters: dict[NetDevice, str],
    fabric: Fabric,
    catalog: Catalog,
) -> tuple[str, str] | None:
    """Role and reason of a port that is certainly no rail; None for a candidate."""
    traffic = carrying.get(port.pci)
    if traffic is not None:
        storage = any(word in traffic for word in _STORAGE_WORDS)
        return ("storage" if storage else "management", f"carries the node's {traffic}")
    if port.link_layer is not LAYER[fabric]:
        return "wrong link layer", f"{port.link_layer.value}, and the fabric is {fabric.value}"
    nic = catalog.nic(port.device_id, port.vendor_id)
    if nic is not None and nic.bluefield and fabric is Fabric.INFINIBAND and nic.infiniband is False:
        return "unused", f"{nic.name} is listed for Ethernet only"
    if port.netdev is None:
        return "unused", "it has no network device"
    if port.netdev in masters:
        return "member", f"it belongs to {masters[port.netdev]}"
    return None


def _in_dpu_mode(port: NicPort, hardware: NodeHardware, known: Known, catalog: Catalog) -> str:
    """Say why a port behind a BlueField's own processors is not chosen; "" for every other, and for one that is named."""
    if port.pci in known.named or not is_bluefield(port, catalog):
        return ""
    told = mode_of(port, hardware, known.dpus)
    if told.mode is not Mode.DPU:
        return ""
    return f"{name_of(port, catalog)} is in DPU mode ({told.how}); spec.rails may name it all the same"
