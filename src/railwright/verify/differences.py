"""
What differs between the two ends of a failing cell, by what the endpoints said of themselves: measured, not concluded.

Causes are the doctor's business; here stand the two values side by side.
"""

from collections.abc import Mapping

from railwright.core.ids import NetDevice, NodeName, RailName
from railwright.dataplane.model import Evidence, Reply
from railwright.dataplane.port import Port
from railwright.verify.layout import Layout
from railwright.verify.model import Cell

_UNLIMITED = -1
_FEW_MEMLOCK_BYTES = 64 * 1024 * 1024


def differences(cell: Cell, places: Mapping[NodeName, Reply], layout: Layout) -> str:
    """Name differences, and what stands out at one end; "" when both look alike and well."""
    ends = ((cell.source, cell.source_rail), (cell.target, cell.target_rail))
    evidence = [_evidence(places, node) for node, _ in ends]
    used = [cell.wire.get(f"{end}_device", "") for end in ("source", "target")]
    ports = [
        _port(found, device, layout, node, rail)
        for found, device, (node, rail) in zip(evidence, used, ends, strict=True)
    ]
    seen: list[str] = []
    one, other = ports
    if one is not None and other is not None:
        for what, first, second in (
            ("active MTU", one.active_mtu_bytes, other.active_mtu_bytes),
            ("link layer", one.link_layer, other.link_layer),
            ("rate", one.rate, other.rate),
        ):
            if first and second and first != second:
                seen.append(f"{what} is {first} at {cell.source} and {second} at {cell.target}")
    modes = [found.netns_mode if found else "" for found in evidence]
    if all(modes) and modes[0] != modes[1]:
        seen.append(f"RDMA namespaces are {modes[0]} at {cell.source} and {modes[1]} at {cell.target}")
    for (node, rail), found, port in zip(ends, evidence, ports, strict=True):
        if port is not None and port.state and "ACTIVE" not in port.state:
            seen.append(f"{rail} of {node} is {port.state}")
        if found is not None and _UNLIMITED < found.memlock_bytes < _FEW_MEMLOCK_BYTES:
            seen.append(f"{node} may lock {found.memlock_bytes} bytes of memory")
        if found is not None and found.netns_mode == "exclusive" and not found.ports:
            seen.append(f"at {node} an RDMA device belongs to one namespace alone (exclusive), and none is in this one")
    for node, rail in ends:
        seat = layout.seat(node, rail)
        seen += [f"at {rail} of {node} {text}" for text in (seat.obstacles if seat else ())]
    return "; ".join(dict.fromkeys(seen))


def _evidence(places: Mapping[NodeName, Reply], node: NodeName) -> Evidence | None:
    reply = places.get(node)
    return reply.evidence if reply else None


def _port(evidence: Evidence | None, used: str, layout: Layout, node: NodeName, rail: RailName) -> Port | None:
    """Find the RDMA port of a rail: the one that its half used, and where it did not come that far by its netdev."""
    ports = evidence.ports if evidence is not None else ()
    netdev = _netdev(layout, node, rail)
    return next(
        (port for port in ports if (f"{port.device}/{port.port}" == used if used else netdev in port.netdevs)), None
    )


def _netdev(layout: Layout, node: NodeName, rail: RailName) -> NetDevice:
    seat = layout.seat(node, rail)
    return seat.netdev if seat and seat.netdev else NetDevice("")
