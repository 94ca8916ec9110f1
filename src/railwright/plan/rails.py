"""GPUs and NIC ports -> rails: per node by PCI distance, the same rail on every node by the order of its GPUs."""

from collections.abc import Iterable
from dataclasses import dataclass

from railwright.core.foreign_text import whole_number
from railwright.core.ids import FabricName, GroupName, NodeName, PciAddress
from railwright.facts.model import Distance, Gpu, NicPort
from railwright.intent.model import GroupOverride, Intent, RailSelector
from railwright.plan.model import Group, OtherPort, RailPort
from railwright.plan.nodes import Selected, matches
from railwright.plan.notes import Notes
from railwright.plan.roles import Candidate


@dataclass(frozen=True)
class Paired:
    """A rail on one node, before it has a name."""

    port: NicPort
    gpu: Gpu | None
    distance: Distance | None
    reason: str
    name: str = ""
    """As asked for; "" where its place among the node's rails names it."""


@dataclass(frozen=True)
class NodeRails:
    """The rails of one node, in order."""

    node: NodeName
    rails: tuple[Paired, ...]
    gpus: int
    gpu_id: str

    @property
    def by_name(self) -> dict[str, Paired]:
        """The node's rails by the name that they have on every node."""
        return {rail.name or f"rail{number}": rail for number, rail in enumerate(self.rails)}

    @property
    def signature(self) -> tuple[object, ...]:
        """Nodes with the same signature are wired alike: one selector fits all of them."""
        ports = tuple((rail.name, rail.port.device_id, rail.port.pci, rail.port.netdev) for rail in self.rails)
        return (self.gpu_id, self.gpus, ports)


def rails_of(
    selected: Selected, found: tuple[Candidate, ...], not_rails: tuple[OtherPort, ...], intent: Intent, notes: Notes
) -> NodeRails:
    """Choose one node's rails: by the wish that fits it, else by distance; what is no rail is not chosen by a wish."""
    hardware = selected.hardware
    wish = wish_of(intent, selected)
    paired = by_distance(found) if wish is None else _by_wish(selected, wish, found, not_rails, notes)
    ids = sorted({gpu.device_id for gpu in hardware.gpus})
    return NodeRails(selected.node.name, paired, len(hardware.gpus), "+".join(ids))


def by_distance(found: Iterable[Candidate]) -> tuple[Paired, ...]:
    """
    Pair ports with GPUs: the nearest pair first, working ports before others, each GPU once.

    A near port that is left over becomes a rail of its own beside its nearest GPU, unless it is down: then nobody
    meant to use it. Rails are in the order of their GPUs' addresses, never of names or indices.
    """
    found = tuple(found)
    pairs = sorted(
        (
            (d.rank, not up, gpu.pci, item.port.pci, d, gpu, item)
            for item in found
            for up in (item.is_up,)
            for d, gpu in item.distances
        ),
        key=lambda pair: pair[:4],
    )
    used_gpus: set[PciAddress] = set()
    paired: dict[PciAddress, Paired] = {}
    best: dict[PciAddress, int] = {item.port.pci: item.distances[0][0].rank for item in found if item.distances}
    for rank, _, gpu_pci, port_pci, apart, gpu, item in pairs:
        if port_pci in paired or gpu_pci in used_gpus or rank > best[port_pci]:
            continue
        used_gpus.add(gpu_pci)
        paired[port_pci] = Paired(item.port, gpu, apart, f"nearest to GPU {gpu.pci} ({apart.value})")
    for item in found:
        if item.port.pci in paired or not item.distances or not item.is_up:
            continue
        apart, gpu = item.distances[0]
        reason = f"second port beside GPU {gpu.pci} ({apart.value})"
        paired[item.port.pci] = Paired(item.port, gpu, apart, reason)
    return tuple(sorted(paired.values(), key=lambda rail: (rail.gpu.pci if rail.gpu else "", rail.port.pci)))


def wish_of(intent: Intent, selected: Selected) -> tuple[RailSelector, ...] | None:
    """Selectors that a node's rails are asked for by: its group's, else the fabric's; None where it has none."""
    group: GroupOverride | None = next((item for item in intent.groups if matches(item.nodes, selected.node)), None)
    return group.rails if group is not None else intent.rails


def _by_wish(
    selected: Selected,
    wish: tuple[RailSelector, ...],
    found: tuple[Candidate, ...],
    not_rails: tuple[OtherPort, ...],
    notes: Notes,
) -> tuple[Paired, ...]:
    paired: list[Paired] = []
    used: set[PciAddress] = set()
    for selector in wish:
        ports = [item for item in found if fits(selector, item.port) and item.port.pci not in used]
        # Of a device id there are usually several: each rail takes the next one.
        if not ports or (len(ports) > 1 and selector.device_id is None):
            _refuse_selector(selected, selector, ports, not_rails, notes)
            continue
        item = min(ports, key=lambda candidate: candidate.port.pci)
        used.add(item.port.pci)
        apart, gpu = _gpu_for(selector, item)
        if gpu is None and selector.gpu is not None:
            _refuse_gpu(selected, selector, notes)
        reason = "asked for" + (f", beside GPU {gpu.pci} ({apart.value})" if gpu and apart else "")
        paired.append(Paired(item.port, gpu, apart, reason, selector.name))
    return tuple(paired)


def fits(selector: RailSelector, port: NicPort) -> bool:
    """Whether a selector names this port."""
    if selector.pci_address is not None:
        return port.pci == selector.pci_address.lower()
    if selector.netdev is not None:
        return port.netdev == selector.netdev
    return port.device_id == (selector.device_id or "").lower()


def _gpu_for(selector: RailSelector, item: Candidate) -> tuple[Distance | None, Gpu | None]:
    if selector.gpu is None:
        return item.distances[0] if item.distances else (None, None)
    ordered = sorted((gpu for _, gpu in item.distances), key=lambda gpu: gpu.pci)
    index = whole_number(selector.gpu)
    by_index = ordered[index].pci if index is not None and index < len(ordered) else None
    wanted = by_index or PciAddress(selector.gpu.lower())
    return next(((apart, gpu) for apart, gpu in item.distances if gpu.pci == wanted), (None, None))


def _refuse_selector(
    selected: Selected,
    selector: RailSelector,
    ports: list[Candidate],
    not_rails: tuple[OtherPort, ...],
    notes: Notes,
) -> None:
    what = selector.pci_address or selector.netdev or selector.device_id or ""
    meant = {str(port.pci) for port in selected.hardware.ports if fits(selector, port)}
    why = [f"{item.netdev or item.pci}: {item.reason}" for item in not_rails if item.pci in meant]
    notes.refuse(
        "rail-selector-fits-no-port" if not ports else "rail-selector-fits-several",
        f"rail {selector.name} asks for {what}, which on {selected.node.name} fits {len(ports)} usable ConnectX ports"
        + (f" ({'; '.join(why)})" if why and not ports else ""),
        expected="exactly one",
        seen=", ".join(item.port.pci for item in ports) or "none",
        hint="railwright discover shows every port and what it is used for; spec.groups is for nodes that are unlike",
        node=selected.node.name,
    )


def _refuse_gpu(selected: Selected, selector: RailSelector, notes: Notes) -> None:
    there = [str(gpu.pci) for gpu in sorted(selected.hardware.gpus, key=lambda gpu: gpu.pci)]
    notes.refuse(
        "rail-gpu-not-there",
        f"rail {selector.name} asks for GPU {selector.gpu}, which {selected.node.name} does not have",
        expected=f"one of {', '.join(there)}, or its number from 0 to {len(there) - 1}",
        seen=str(selector.gpu),
        hint="leave gpu out: the nearest is taken",
        node=selected.node.name,
    )


def groups_of(fabric: FabricName, nodes: Iterable[NodeRails]) -> tuple[Group, ...]:
    """Put nodes that are wired alike together; the largest group first."""
    by_signature: dict[tuple[object, ...], list[NodeRails]] = {}
    for item in nodes:
        by_signature.setdefault(item.signature, []).append(item)
    ordered = sorted(by_signature.values(), key=lambda group: (-len(group), group[0].node))
    return tuple(
        Group(GroupName(f"g{number}"), fabric, tuple(sorted(item.node for item in group)), _machine(group[0]))
        for number, group in enumerate(ordered, 1)
    )


def _machine(item: NodeRails) -> str:
    ids = sorted({f"{rail.port.vendor_id}:{rail.port.device_id}" for rail in item.rails})
    return f"{item.gpus} x GPU {item.gpu_id}, {len(item.rails)} x {'+'.join(ids)}"


def rail_port(node: NodeName, rail: Paired) -> RailPort:
    """Write a rail on one node as the plan has it; the port has a netdev (roles.py saw to that)."""
    port = rail.port
    assert port.netdev is not None
    return RailPort(
        node=node,
        pci=port.pci,
        netdev=port.netdev,
        rdma=port.rdma,
        gpu=rail.gpu.pci if rail.gpu else None,
        distance=rail.distance,
        rate_gbps=port.rate_gbps,
        reason=rail.reason,
    )
