"""
Which ports of which nodes matter: the rails, with the GPU beside each.

With a plan they are the plan's. Without one they are told apart as plan does it: ConnectX ports that carry none of
the node's own traffic, near ones where there are near ones, else those of a GPU's socket.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from railwright.catalog.model import Catalog
from railwright.core.ids import FabricName, NodeName, PciAddress
from railwright.facts.model import Distance, Gpu, LinkLayer, NicPort, NodeFacts, NodeHardware
from railwright.facts.pci import distance
from railwright.intent.model import Fabric
from railwright.plan.model import Plan, fabric_label
from railwright.plan.rails import by_distance
from railwright.plan.roles import Candidate, candidates


@dataclass(frozen=True)
class RailHere:
    """
    One rail on one node.

    Attributes:
        index: place among the node's rails, in the order of their GPUs; the same rail has the same on every node.
        fabric: what is planned; None without a plan.
        name: the plan's name, else "rail 3".
    """

    node: NodeName
    index: int
    name: str
    port: NicPort
    gpu: Gpu | None
    distance: Distance | None
    fabric: Fabric | None = None

    @property
    def where(self) -> str:
        """The port for people: "worker-1 mlx5_0 (0000:18:00.0)"."""
        return f"{self.port.rdma or self.port.netdev or 'port'} ({self.port.pci})"

    @property
    def is_ethernet(self) -> bool:
        """Whether it speaks Ethernet now."""
        return self.port.link_layer is LinkLayer.ETHERNET

    @property
    def is_infiniband(self) -> bool:
        """Whether it speaks InfiniBand now."""
        return self.port.link_layer is LinkLayer.INFINIBAND


def is_admitted(node: NodeFacts) -> bool:
    """Whether the node carries our label of some fabric: in a roll-out the others are not done yet, and so unlike."""
    return any(label.startswith(fabric_label(FabricName(""))) for label in node.labels)


def rails_by_node(
    nodes: Iterable[NodeFacts], catalog: Catalog, plan: Plan | None
) -> Mapping[NodeName, tuple[RailHere, ...]]:
    """Rails of every node whose inside was read; a node without any is left out."""
    found: dict[NodeName, tuple[RailHere, ...]] = {}
    planned = _planned(plan)
    for node in nodes:
        if node.hardware is None:
            continue
        if plan is not None and planned:
            rails = tuple(_of_plan(node.name, node.hardware, planned.get(node.name, ())))
        else:
            rails = tuple(_by_distance(node.name, node.hardware, catalog))
        if rails:
            found[node.name] = rails
    return found


@dataclass(frozen=True)
class _Planned:
    name: str
    index: int
    fabric: Fabric
    pci: PciAddress
    gpu: PciAddress | None
    distance: Distance | None


def _planned(plan: Plan | None) -> dict[NodeName, list[_Planned]]:
    found: dict[NodeName, list[_Planned]] = {}
    for fabric in plan.fabrics if plan is not None else ():
        for rail in fabric.rails:
            for port in rail.ports:
                item = _Planned(str(rail.name), rail.index, fabric.fabric, port.pci, port.gpu, port.distance)
                found.setdefault(port.node, []).append(item)
    return found


def _of_plan(node: NodeName, hardware: NodeHardware, planned: Iterable[_Planned]) -> Iterable[RailHere]:
    ports = {port.pci: port for port in hardware.ports}
    gpus = {gpu.pci: gpu for gpu in hardware.gpus}
    for item in planned:
        port = ports.get(item.pci)
        if port is not None:
            gpu = gpus.get(item.gpu) if item.gpu is not None else None
            yield RailHere(node, item.index, item.name, port, gpu, item.distance, item.fabric)


def _by_distance(node: NodeName, hardware: NodeHardware, catalog: Catalog) -> Iterable[RailHere]:
    if not hardware.gpus:
        return
    found: list[Candidate] = []
    for fabric in Fabric:
        found += candidates(node, hardware, fabric, catalog)[0]
    near = [item for item in found if item.nearest is not None and item.nearest.rank <= Distance.PXB.rank]
    for index, paired in enumerate(by_distance(near or found)):
        yield RailHere(node, index, f"rail {index}", paired.port, paired.gpu, paired.distance)


def nearest_gpu(hardware: NodeHardware, port: NicPort) -> tuple[Distance, Gpu] | None:
    """The GPU that is nearest to a port; None without GPUs."""
    found = sorted(((distance(gpu, port), gpu) for gpu in hardware.gpus), key=lambda pair: (pair[0].rank, pair[1].pci))
    return found[0] if found else None
