"""Rails on BlueField cards: a card whose mode is not known refuses its node, one that was asked for is warned of."""

from collections.abc import Iterable, Mapping

from railwright.catalog.model import Catalog
from railwright.core.ids import PciAddress
from railwright.facts.model import LinkLayer, NodeHardware
from railwright.plan.bluefield import Mode, is_bluefield, mode_of, name_of
from railwright.plan.model import OtherPort
from railwright.plan.notes import Notes
from railwright.plan.rails import NodeRails


def warn_left_out(not_rails: Iterable[OtherPort], notes: Notes) -> None:
    """Say which ports beside a GPU are not chosen because they are a DPU's; one that is far from every GPU is no loss."""
    for port in not_rails:
        if port.role == "dpu":
            notes.warn(
                "bluefield-left-out",
                f"{port.netdev or port.pci} of {port.node} is beside a GPU and no rail: {port.reason}",
                port.node,
            )


def check_bluefields(
    rails: NodeRails, hardware: NodeHardware, dpus: Mapping[PciAddress, bool], catalog: Catalog, notes: Notes
) -> None:
    """Refuse a node of which a rail may be a DPU's, unless the rail was asked for by name; then warn."""
    for rail in rails.rails:
        port = rail.port
        if port.link_layer is not LinkLayer.ETHERNET or not is_bluefield(port, catalog):
            continue
        told, called = mode_of(port, hardware, dpus), f"{port.netdev or port.pci} ({name_of(port, catalog)})"
        if told.mode is Mode.UNKNOWN and not rail.name:
            notes.refuse(
                "bluefield-mode-unknown",
                f"whether {called} of {rails.node} is in NIC mode or in DPU mode is not known: {told.how}",
                expected="NIC mode (INTERNAL_CPU_OFFLOAD_ENGINE DISABLED)",
                hint=f"mstconfig -d {port.pci} query INTERNAL_CPU_OFFLOAD_ENGINE says it, where devlink (iproute2) on the "
                "node or a NicDevice does not; a port that spec.rails names is taken",
                node=rails.node,
            )
        elif told.mode is not Mode.NIC:
            what = "in DPU mode" if told.mode is Mode.DPU else "in a mode that is not known"
            notes.warn(
                "bluefield-asked-for",
                f"{called} of {rails.node} is {what} ({told.how}) and was asked for: in DPU mode the card's own processors "
                "must let RDMA through, and the SR-IOV operator changes no firmware settings of it",
                rails.node,
            )
