"""
What may not be cut: a function that we would take must not carry the node's own traffic.

With the DOCA driver every mlx5 function of a node counts as taken (its restart takes all of them down); with SR-IOV
every function of the card (firmware settings and resets are the card's); else the rail alone.
Source: Mellanox/network-operator #2176 (a restart of the driver cut the node off); that SR-IOV reaches the whole card
is inferred.
"""

from collections.abc import Collection, Iterable

from railwright.core.ids import NodeName, PciAddress, card_of
from railwright.facts.model import Carried, NodeHardware
from railwright.facts.rdma_modules import STORAGE
from railwright.intent.model import Method, NicDriver
from railwright.plan.nodes import CONNECTX_VENDOR
from railwright.plan.notes import Notes
from railwright.plan.settings import Settings

_MLX5 = "mlx5_core"


def taken_functions(hardware: NodeHardware, rails: Iterable[PciAddress], settings: Settings) -> dict[PciAddress, str]:
    """Every PCI function that the fabric takes on a node, with the reason."""
    rails = set(rails)
    taken = dict.fromkeys(rails, "it is a rail")
    cards = _cards_of(hardware, rails)
    for port in hardware.ports:
        if port.pci in taken:
            continue
        if settings.intent.method is Method.SRIOV and cards & {card_of(port.parent or port.pci), port.card_guid}:
            taken[port.pci] = "it is on the card of a rail, and SR-IOV sets up and resets whole cards"
        elif settings.nic_driver is NicDriver.DOCA and (port.vendor_id == CONNECTX_VENDOR or port.driver == _MLX5):
            taken[port.pci] = "the DOCA driver's restart takes every mlx5 function of the node down"
    return taken


def _cards_of(hardware: NodeHardware, rails: Collection[PciAddress]) -> set[str]:
    """Name the cards of rails, by PCI address and by GUID: a socket-direct card has functions on several PCI buses."""
    guids = {port.card_guid for port in hardware.ports if port.pci in rails and port.card_guid}
    return {card_of(pci) for pci in rails} | guids


def refuse_cut(
    node: NodeName, hardware: NodeHardware, rails: Iterable[PciAddress], settings: Settings, notes: Notes
) -> None:
    """Refuse a node whose own traffic would be cut, or of which that is not known."""
    rails = tuple(rails)
    refuse_storage_in_use(node, hardware, settings, notes)
    if not hardware.uplinks_known:
        notes.refuse(
            "uplink-unknown",
            f"what carries the own traffic of {node} is not known: {hardware.uplinks_problem}",
            expected="routes, mounts and the host's network namespace, readable",
            seen=hardware.uplinks_problem,
            hint="an unknown uplink is not an unused one: make it readable, or leave the node out with spec.nodes",
            node=node,
        )
        return
    by_port: dict[tuple[PciAddress | None, str], list[Carried]] = {}
    for carried, why in cuts(hardware, rails, settings):
        by_port.setdefault((carried.pci, why), []).append(carried)
    for (_, why), traffic in by_port.items():
        _refuse(node, traffic, why, _way_out(traffic[0], hardware, rails, settings), notes)


def refuse_storage_in_use(node: NodeName, hardware: NodeHardware, settings: Settings, notes: Notes) -> None:
    """Refuse a node whose storage goes over RDMA: the driver container unloads its modules, over any NIC."""
    if settings.nic_driver is not NicDriver.DOCA or hardware.mlx5_driver:
        return
    used = [f"{name} ({hardware.modules[name]})" for name in sorted(STORAGE) if hardware.modules.get(name, 0) > 0]
    if used:
        notes.refuse(
            "rdma-storage-in-use",
            f"storage of {node} goes over RDMA: the DOCA driver unloads {', '.join(used)}, over whichever NIC it works",
            expected="no RDMA storage module in use",
            seen=", ".join(used),
            hint="move that storage to TCP, or driver.nic: in-box with driver.memory: dma-buf, which unloads nothing",
            node=node,
        )


def cuts(hardware: NodeHardware, rails: Iterable[PciAddress], settings: Settings) -> tuple[tuple[Carried, str], ...]:
    """List what of the node's own runs over a function that would be taken, with the reason why that one is."""
    taken = taken_functions(hardware, rails, settings)
    parents = {port.pci: port.parent for port in hardware.ports if port.parent is not None}
    found = []
    for carried in hardware.carried:
        if carried.pci is None:
            continue
        function = carried.pci if carried.pci in taken else parents.get(carried.pci)
        if function in taken:
            found.append((carried, taken[function]))
    return tuple(found)


def path_text(carried: Carried) -> str:
    """Spell the path from the host's own interface down to the function."""
    return " > ".join((*carried.path, str(carried.pci)))


def _refuse(node: NodeName, traffic: list[Carried], why: str, way_out: str, notes: Notes) -> None:
    paths = "; ".join(dict.fromkeys(path_text(item) for item in traffic))
    what = ", ".join(dict.fromkeys(item.what for item in traffic))
    notes.refuse(
        "uplink-would-be-cut",
        f"{what} of {node} runs over {paths}, which would be taken: {why}",
        expected="no function that is taken carries the node's own traffic",
        seen=paths,
        hint=way_out,
        node=node,
    )


def _way_out(carried: Carried, hardware: NodeHardware, rails: tuple[PciAddress, ...], settings: Settings) -> str:
    if carried.pci in rails:
        return "this port is the node's own: leave it out of spec.rails, or move the node's traffic to another port"
    own = _cards_of(hardware, (carried.pci,)) if carried.pci is not None else set()
    on_the_card = bool(own & _cards_of(hardware, rails))
    if settings.intent.method is Method.SRIOV and on_the_card:
        return "move the node's traffic to another card, or leave the rails of this card out of spec.rails"
    if settings.nic_driver is NicDriver.DOCA:
        return "driver.nic: in-box with driver.memory: dma-buf takes only the rails, and suffices from kernel 5.12 on"
    return "move the node's traffic to another card"
