"""
Rails that carry traffic before anything of ours is started: somebody uses them, whoever it is, so they are left out. Pure.

Pods that hold a rail are known before; what the node itself does over one, or a pod that asked for none, is seen here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from railwright.core.ids import NodeName, RailName
from railwright.dataplane.model import Reply
from railwright.ports.endpoint import Endpoint
from railwright.verify.layout import Layout
from railwright.verify.witnesses.counters import carried_bytes

QUIET_GBPS = 0.1
"""
A port that nobody uses carries less: neighbours' broadcasts, subnet management, a ping. Estimate.
"""


def without_busy(layout: Layout, endpoints: Iterable[Endpoint], places: Mapping[NodeName, Reply]) -> Layout:
    """
    Leave out the seats whose ports carry more than a quiet one; a port whose counters don't tell stays.

    Args:
        places: what each endpoint said of itself, with the rails that it watched.
    """
    busy: dict[tuple[NodeName, RailName], str] = {}
    for endpoint in endpoints:
        reply = places.get(endpoint.node)
        watched = reply.evidence.watched if reply is not None and reply.evidence is not None else ()
        for item in watched:
            moved = carried_bytes(item.before, item.after)
            rate_gbps = (moved or 0) * 8 / item.elapsed_s / 1e9 if item.elapsed_s > 0 else 0.0
            held = next((held for held in endpoint.rails if held.netdev == item.rail.netdev), None)
            if held is not None and rate_gbps > QUIET_GBPS:
                busy[endpoint.node, held.rail] = (
                    f"busy: {held.rail} of {endpoint.node} carried {rate_gbps:.3g} Gb/s before anything was started"
                )
    return replace(
        layout,
        seats=tuple(replace(seat, skip=seat.skip or busy.get((seat.node, seat.rail), "")) for seat in layout.seats),
    )
