"""Ports of an admitted node that pods hold: host-device moves a port, with its name, into one pod."""

from collections.abc import Iterable

from railwright.core.ids import FabricName
from railwright.facts.model import Distance, LinkLayer, NicPort
from railwright.facts.pci import distance
from railwright.intent.model import Method, RailSelector
from railwright.plan.model import ADMITTED, fabric_label
from railwright.plan.nodes import Selected, connectx_ports
from railwright.plan.notes import Notes
from railwright.plan.rails import fits
from railwright.plan.roles import LAYER, NEAR, Candidate
from railwright.plan.settings import Settings

_DRIVER = "mlx5_core"


def refuse_held(
    selected: Selected,
    found: tuple[Candidate, ...],
    wish: tuple[RailSelector, ...] | None,
    settings: Settings,
    notes: Notes,
) -> None:
    """
    Refuse a node of which pods hold ports that rails would be made of.

    Planned without them, the ports behind would move up: rails would get other ports' names, and the networks and
    addresses of the last ones would count as no longer wanted, under the pods that use them.

    Args:
        found: ports that may become rails.
        wish: selectors that the node's rails are asked for by; None where distance chooses them.
    """
    label = fabric_label(FabricName(settings.name))
    if settings.intent.method is not Method.HOST_DEVICE or selected.node.labels.get(label) != ADMITTED:
        return
    ports = [port for port in connectx_ports(selected.hardware) if _is_held(port, settings)]
    held = {port.pci: (port, _nearest(selected, port)) for port in ports}
    ranks = [rank for _, rank in held.values()] + [item.nearest.rank for item in found if item.nearest is not None]
    limit = NEAR if any(rank <= NEAR for rank in ranks) else Distance.NODE.rank
    missed = [pci for pci, (port, rank) in held.items() if (rank <= limit if wish is None else _any_fits(wish, port))]
    if not missed:
        return
    node = selected.node.name
    notes.refuse(
        "pods-hold-ports",
        f"pods hold {len(missed)} ports of {node} ({', '.join(missed)}); planned without them, rails would change places",
        expected="every ConnectX port with its network device in the node's own network namespace",
        seen=f"{_DRIVER} has {', '.join(missed)}, and the node has no network device of them",
        hint="run again when the pods that use the rails there have ended",
        node=node,
    )


def _is_held(port: NicPort, settings: Settings) -> bool:
    """Whether a port works without being seen; its link layer goes along where RDMA devices move with their port."""
    layers = {LAYER[settings.intent.fabric], LinkLayer.UNKNOWN}
    return port.netdev is None and port.driver == _DRIVER and port.link_layer in layers


def _nearest(selected: Selected, port: NicPort) -> int:
    return min((distance(gpu, port).rank for gpu in selected.hardware.gpus), default=Distance.SYS.rank)


def _any_fits(wish: Iterable[RailSelector], port: NicPort) -> bool:
    return any(fits(selector, port) for selector in wish)
