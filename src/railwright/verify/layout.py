"""
What is to be verified, whoever holds it: seats (one rail on one node), and what the packets are to look like.

Comes from a plan with its facts, or from endpoints alone, as in the lab. Pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from railwright.core.ids import NodeName, RailName
from railwright.core.marks import VIRTUAL_NOT_REAL, is_virtual
from railwright.facts.model import NodeHardware, Snapshot
from railwright.intent.model import Fabric, Method
from railwright.plan.model import FabricPlan
from railwright.ports.endpoint import Endpoint
from railwright.verify.model import Seat
from railwright.verify.partitions import chosen, kept_apart, lacks, partition_number
from railwright.verify.seats import seat_of, shared_links
from railwright.verify.task import PATIENCE_S, Effort

_EMULATED_PATIENCE_S = 240.0
"""
Of halves on an emulated node: to load Python takes it most of a minute when four halves begin together.

Measured: 14 of 14 cells given up with 15 s, virtual cluster at a load of 23 on two cores, 2026-11-30.
"""
_EMULATED_TIMEOUT_EXPONENT = 20
"""
4.3 s, where 268 ms are the engine's own: an emulated node that is late is no network that loses packets.

Measured: 714 of about 5632 packets sent again with its own, virtual cluster at a load of 18 on two cores, 2026-11-30.
Source: InfiniBand Architecture Specification 1.2.1, section 9.7.6.1.3, Local ACK Timeout.
"""
EMULATED_EFFORT = Effort(
    duration_s=0.5, sizes_bytes=(32768,), sweep_bytes=(4096, 65536, 1 << 20), qps=2, depth=2, iterations=10
)
"""Little, because an emulated processor fills, moves and checks a few MiB a second, and no figure of it means anything."""
EMULATED_STEP_S = 60.0
"""What a step takes there when the machine is busy with other things: a half begins, meets the other and checks its bytes."""
EMULATED_PEER_SHARE = 0.2
"""Halves share emulated processors, so that equals differ by half and more; what is broken differs by far."""


@dataclass(frozen=True)
class Layout:
    """
    What is to be verified.

    Attributes:
        rails: names in order; the same index is the same rail on every node.
        has_floors: False where no hardware stands behind the numbers (soft-RoCE).
        bed: what runs it, in words; not_real: what that leaves out.
        partition: number of the InfiniBand partition that is wanted; None when the file asks for none.
        read_in_pods: seats of VFs whose keys are those of the VF; the keys of the others are their PF's.
        patience_s: how long one half of a cell waits for the other.
        timeout_exponent: how long a queue pair waits until it sends again, 4.096 us times two to this; None for the
            usual.
        is_emulated: whether emulated processors run it, which are given little to do.
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
    partition: int | None = None
    read_in_pods: frozenset[tuple[NodeName, RailName]] = frozenset()
    patience_s: float = PATIENCE_S
    timeout_exponent: int | None = None
    is_emulated: bool = False

    def seat(self, node: NodeName, rail: RailName) -> Seat | None:
        """Find a seat; None where the node lacks the rail."""
        return self._by_place.get((node, rail))

    def lacking(self, seat: Seat) -> str:
        """Say that a port is not in the partition that is wanted; "" when it is, or when that is not known."""
        return lacks(seat, self.partition) if self.partition is not None and self._has_keys_of_pods(seat) else ""

    def kept_apart(self, source: Seat, target: Seat) -> str:
        """Say why the keys of two ports keep their pods apart; "" when they don't, or when that is not known."""
        return kept_apart(source, target, self.partition) if self._has_keys_of_pods(source, target) else ""

    def partition_between(self, source: Seat | None, target: Seat | None) -> int | None:
        """Say which partition a pair uses: the file's, else one that both ports share; None leaves it to each half."""
        if self.partition is not None or source is None or target is None:
            return self.partition
        return chosen(source, target) if self._has_keys_of_pods(source, target) else None

    def behind(self, source: Seat, target: Seat) -> str:
        """Say what keeps two PFs apart whose VFs pods have: why a transfer may fail, and no reason not to try it."""
        apart = "" if self._has_keys_of_pods(source, target) else kept_apart(source, target, self.partition)
        return f"of the PFs, whose keys its VFs may or may not have: {apart}" if apart else ""

    def _has_keys_of_pods(self, *seats: Seat) -> bool:
        """Whether the keys of seats are those that pods use: facts are of PFs, and a VF has a table of its own."""
        return self.method != Method.SRIOV or all((seat.node, seat.rail) in self.read_in_pods for seat in seats)

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
            seat_of(rail, port, _hardware(snapshot, port.node), wanted) for port in rail.ports if port.node in nodes
        ]
    virtual = is_virtual(snapshot.cluster.name)
    if virtual:
        # What stands for a GPU there has no memory: to ask for any would fail, and say nothing.
        seats = [replace(seat, gpu=None, gpu_id="") for seat in seats]
    return Layout(
        fabric=fabric.name,
        method=fabric.method.value,
        link=fabric.fabric,
        cluster=snapshot.cluster.name,
        simulated=snapshot.cluster.simulated,
        bed=bed,
        nodes=tuple(sorted({seat.node for seat in seats})),
        rails=tuple(rail.name for rail in sorted(fabric.rails, key=lambda item: item.index)),
        seats=shared_links(tuple(sorted(seats, key=lambda seat: (seat.node, seat.rail)))),
        not_real=VIRTUAL_NOT_REAL if virtual else (),
        has_floors=not virtual,
        patience_s=_EMULATED_PATIENCE_S if virtual else PATIENCE_S,
        timeout_exponent=_EMULATED_TIMEOUT_EXPONENT if virtual else None,
        is_emulated=virtual,
        traffic_class=intent.traffic_class,
        path_mtu_bytes=intent.path_mtu_bytes,
        partition=partition_number(intent.network.pkey) if intent.network.pkey is not None else None,
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
