"""
What is to be verified, whoever holds it: seats (one rail on one node), and what the packets are to look like.

Comes from a plan with its facts, or from endpoints alone, as in the lab. Pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from railwright.core.ids import NodeName, RailName, card_of
from railwright.facts.model import Gpu, NicPort, NodeHardware, Snapshot
from railwright.intent.model import Fabric, GpuMemory
from railwright.plan.model import FabricPlan, Rail, RailPort
from railwright.ports.endpoint import Endpoint
from railwright.verify.floors import pcie_payload_gbps
from railwright.verify.model import Seat

_NVIDIA = "10de"


@dataclass(frozen=True)
class Layout:
    """
    What is to be verified.

    Attributes:
        rails: names in order; the same index is the same rail on every node.
        has_floors: False where no hardware stands behind the numbers (soft-RoCE).
        bed: what runs it, in words; not_real: what that leaves out.
    """

    fabric: str
    method: str
    link: Fabric
    cluster: str
    simulated: bool
    bed: str
    nodes: tuple[NodeName, ...]
    rails: tuple[RailName, ...]
    seats: tuple[Seat, ...]
    not_real: tuple[str, ...] = ()
    has_floors: bool = True
    traffic_class: int | None = None
    path_mtu_bytes: int | None = None

    def seat(self, node: NodeName, rail: RailName) -> Seat | None:
        """Find a seat; None where the node lacks the rail."""
        return self._by_place.get((node, rail))

    @cached_property
    def _by_place(self) -> dict[tuple[NodeName, RailName], Seat]:
        return {(seat.node, seat.rail): seat for seat in self.seats}

    @property
    def gpus_per_node(self) -> int:
        """The most GPUs that the rails of one node are paired with."""
        by_node: dict[NodeName, set[str]] = {}
        for seat in self.seats:
            if seat.gpu is not None:
                by_node.setdefault(seat.node, set()).add(seat.gpu)
        return max((len(found) for found in by_node.values()), default=0)


def layout_of_plan(fabric: FabricPlan, snapshot: Snapshot, *, nodes: tuple[NodeName, ...], bed: str) -> Layout:
    """Take the rails of a planned fabric on these nodes, with what the facts say of each."""
    intent = fabric.intent
    wanted = intent.driver.memory
    seats: list[Seat] = []
    for rail in sorted(fabric.rails, key=lambda item: item.index):
        seats += [
            _seat(rail, port, _hardware(snapshot, port.node), wanted) for port in rail.ports if port.node in nodes
        ]
    return Layout(
        fabric=fabric.name,
        method=fabric.method.value,
        link=fabric.fabric,
        cluster=snapshot.cluster.name,
        simulated=snapshot.cluster.simulated,
        bed=bed,
        nodes=tuple(sorted({seat.node for seat in seats})),
        rails=tuple(rail.name for rail in sorted(fabric.rails, key=lambda item: item.index)),
        seats=_shared_links(tuple(sorted(seats, key=lambda seat: (seat.node, seat.rail)))),
        traffic_class=intent.traffic_class,
        path_mtu_bytes=intent.path_mtu_bytes,
    )


def layout_of_endpoints(
    endpoints: Sequence[Endpoint],
    *,
    bed: str,
    not_real: tuple[str, ...],
    method: str,
    link: Fabric = Fabric.ROCE,
    traffic_class: int | None = None,
    path_mtu_bytes: int | None = None,
) -> Layout:
    """Take what endpoints hold; without facts there is no floor, and nothing is known of GPUs' places."""
    seats = [
        Seat(
            node=endpoint.node,
            rail=held.rail,
            netdev=held.netdev,
            rdma=held.device or None,
            gpu=held.gpu or None,
        )
        for endpoint in endpoints
        for held in endpoint.rails
    ]
    rails: dict[RailName, None] = {}
    for seat in seats:
        rails.setdefault(seat.rail)
    return Layout(
        fabric="lab",
        method=method,
        link=link,
        cluster=bed,
        simulated=any(endpoint.simulated for endpoint in endpoints),
        bed=bed,
        nodes=tuple(dict.fromkeys(endpoint.node for endpoint in endpoints)),
        rails=tuple(rails),
        seats=tuple(seats),
        not_real=not_real,
        has_floors=False,
        traffic_class=traffic_class,
        path_mtu_bytes=path_mtu_bytes,
    )


def narrowed(layout: Layout, *, nodes: Iterable[str] = (), rails: Iterable[str] = ()) -> Layout:
    """Keep only these nodes and rails; empty keeps all."""
    wanted_nodes, wanted_rails = set(nodes), set(rails)
    seats = tuple(
        seat
        for seat in layout.seats
        if (not wanted_nodes or seat.node in wanted_nodes) and (not wanted_rails or seat.rail in wanted_rails)
    )
    return replace(
        layout,
        nodes=tuple(node for node in layout.nodes if not wanted_nodes or node in wanted_nodes),
        rails=tuple(rail for rail in layout.rails if not wanted_rails or rail in wanted_rails),
        seats=seats,
    )


def _hardware(snapshot: Snapshot, node: NodeName) -> NodeHardware | None:
    facts = snapshot.node(node)
    return facts.hardware if facts else None


def _seat(rail: Rail, port: RailPort, hardware: NodeHardware | None, memory: GpuMemory | None) -> Seat:
    nic = next((item for item in hardware.ports if item.pci == port.pci), None) if hardware else None
    gpu = next((item for item in hardware.gpus if item.pci == port.gpu), None) if hardware else None
    capability, obstacles = _capability(hardware, nic, gpu, memory)
    return Seat(
        node=port.node,
        rail=rail.name,
        pci=port.pci,
        netdev=port.netdev,
        rdma=port.rdma,
        gpu=port.gpu,
        distance=port.distance.value if port.distance else "",
        rate_gbps=port.rate_gbps,
        pcie_gbps=_pcie_gbps(hardware, nic),
        numa=nic.numa if nic else None,
        switch=_shared_bridge(nic, gpu),
        capability=capability,
        obstacles=obstacles,
        peermem="nvidia_peermem" in hardware.modules if hardware else None,
        nic_id=f"{nic.vendor_id}:{nic.device_id}" if nic else "",
        gpu_id=f"{_NVIDIA}:{gpu.device_id}" if gpu else "",
    )


def _pcie_gbps(hardware: NodeHardware | None, nic: NicPort | None) -> float | None:
    """Say what the NIC's PCIe link carries when it runs as it can: a link that trained badly lowers no floor."""
    if hardware is None or nic is None:
        return None
    above = hardware.bridge(nic.pci_path[-2]) if len(nic.pci_path) > 1 else None
    speeds = (nic.max_link_speed_gts or nic.link_speed_gts, above.max_link_speed_gts if above else None)
    widths = (nic.max_link_width_lanes or nic.link_width_lanes, above.max_link_width_lanes if above else None)
    speed = min((item for item in speeds if item), default=None)
    width = min((item for item in widths if item), default=None)
    return pcie_payload_gbps(speed, width)


def _badly_trained(what: str, device: NicPort | Gpu) -> str:
    """Say that a PCIe link runs slower or narrower than its device can; "" when it does not, or is not known."""
    now = (device.link_speed_gts, device.link_width_lanes)
    best = (device.max_link_speed_gts, device.max_link_width_lanes)
    if None in now or None in best or now == best:
        return ""
    return f"the {what}'s PCIe link runs at {now[0]:g} GT/s x{now[1]}, and could at {best[0]:g} GT/s x{best[1]}"


def _shared_bridge(nic: NicPort | None, gpu: Gpu | None) -> str:
    if nic is None or gpu is None:
        return ""
    shared = [one for one, other in zip(nic.pci_path[:-1], gpu.pci_path[:-1], strict=False) if one == other]
    return shared[-1] if shared else ""


def _capability(
    hardware: NodeHardware | None, nic: NicPort | None, gpu: Gpu | None, memory: GpuMemory | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Say what facts speak for a direct path and what against; nothing where nothing is known."""
    if hardware is None:
        return (), ()
    good: list[str] = []
    bad: list[str] = []
    if hardware.nvidia_driver:
        good.append(f"GPU driver: {hardware.nvidia_driver}")
    if memory is GpuMemory.PEERMEM:
        loaded = "nvidia_peermem" in hardware.modules
        (good if loaded else bad).append(f"nvidia_peermem is {'loaded' if loaded else 'not loaded'}")
    elif hardware.nvidia_driver.startswith("proprietary"):
        bad.append("the proprietary GPU module exports no dma-buf")
    if nic is not None and gpu is not None:
        redirecting = _redirecting(hardware, nic, gpu)
        if redirecting:
            bad.append(f"ACS sends requests between GPU and NIC up to the root complex at {', '.join(redirecting)}")
    links = [_badly_trained("NIC", nic) if nic else "", _badly_trained("GPU", gpu) if gpu else ""]
    return tuple(good), (*bad, *(text for text in links if text))


def _redirecting(hardware: NodeHardware, nic: NicPort, gpu: Gpu) -> tuple[str, ...]:
    """
    Name the bridges at which ACS redirects what goes between the two: where their paths part, below a shared bridge.

    Source: Linux drivers/pci/p2pdma.c, calc_map_type_and_dist (ACS matters on the way below the common bridge).
    """
    shared = set(nic.pci_path[:-1]) & set(gpu.pci_path[:-1])
    if not shared:
        return ()
    found = []
    for pci in dict.fromkeys(item for item in (*nic.pci_path[:-1], *gpu.pci_path[:-1]) if item not in shared):
        bridge = hardware.bridge(pci)
        acs = bridge.config.acs if bridge and bridge.config else None
        if acs is not None and acs.request_redirect and not acs.direct_translated:
            found.append(str(pci))
    return tuple(found)


def _shared_links(seats: tuple[Seat, ...]) -> tuple[Seat, ...]:
    """Rails on one card share its PCIe link, and all rails run at once: each gets its part of it."""
    cards: dict[tuple[NodeName, str], int] = {}
    for seat in seats:
        if seat.pci is not None:
            card = (seat.node, card_of(seat.pci))
            cards[card] = cards.get(card, 0) + 1
    return tuple(
        seat
        if seat.pci is None or seat.pcie_gbps is None
        else replace(seat, pcie_gbps=round(seat.pcie_gbps / cards[seat.node, card_of(seat.pci)], 2))
        for seat in seats
    )
