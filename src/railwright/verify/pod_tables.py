"""
Partition tables as the pods read them, in place of those of the PFs: a VF has a table of its own. Pure.

With both tables known one partition is chosen for both ends of a pair; where a pod has not read its own, each half has to
see by itself.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from railwright.core.ids import NodeName, RailName
from railwright.dataplane.model import Evidence, Reply
from railwright.dataplane.port import Port
from railwright.intent.model import Fabric, Method
from railwright.ports.endpoint import Endpoint, HeldRail
from railwright.verify.layout import Layout
from railwright.verify.model import Seat
from railwright.verify.partitions import valid_keys


def with_tables_of_pods(layout: Layout, endpoints: Iterable[Endpoint], places: Mapping[NodeName, Reply]) -> Layout:
    """
    Give the seats of VFs their own tables.

    Args:
        places: what each endpoint said of itself.
    """
    if layout.method != Method.SRIOV or layout.link is not Fabric.INFINIBAND:
        return layout
    read: dict[tuple[NodeName, RailName], Seat] = {}
    for endpoint in endpoints:
        reply = places.get(endpoint.node)
        for held in endpoint.rails:
            seat = layout.seat(endpoint.node, held.rail)
            if reply is not None and reply.evidence is not None and seat is not None:
                read |= _read(seat, held, reply.evidence)
    seats = tuple(read.get((seat.node, seat.rail), seat) for seat in layout.seats)
    return replace(layout, seats=seats, read_in_pods=frozenset(read))


def _read(seat: Seat, held: HeldRail, evidence: Evidence) -> dict[tuple[NodeName, RailName], Seat]:
    """Give the seat with its VF's table by its place; nothing where the table was not read, or holds no valid key."""
    port = _port(evidence, held)
    keys = valid_keys(port.pkeys) if port is not None else ()
    own = evidence.partitions.get(held.netdev)
    return {(seat.node, seat.rail): replace(seat, pkeys=keys, ipoib_partition=own)} if keys else {}


def _port(evidence: Evidence, held: HeldRail) -> Port | None:
    """Find the port of a rail: by its device where that is known, else by its netdev."""
    return next(
        (
            port
            for port in evidence.ports
            if (port.device == held.device if held.device else held.netdev in port.netdevs)
        ),
        None,
    )
