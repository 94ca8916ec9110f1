"""
Rails that carry traffic before anything of ours is started: somebody uses them, whoever it is, so they are left out. Pure.

Pods that hold a rail are known before; what the node itself does over one, or a pod that asked for none, is seen here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from railwright.core.ids import NodeName, RailName
from railwright.dataplane.model import Evidence, Reply, Watched
from railwright.ports.endpoint import Endpoint, HeldRail
from railwright.verify.layout import Layout
from railwright.verify.witnesses.counters import carried_bytes

QUIET_GBPS = 0.1
"""
A port that nobody uses carries less: neighbours' broadcasts, subnet management, a ping. Estimate.
"""


def without_busy(layout: Layout, endpoints: Iterable[Endpoint], places: Mapping[NodeName, Reply]) -> Layout:
    """
    Leave out the seats whose ports carry more than a quiet one; a port whose counters don't tell stays (unseen.py says so).

    Args:
        places: what each endpoint said of itself, with the rails that it watched.
    """
    busy: dict[tuple[NodeName, RailName], str] = {}
    for endpoint in endpoints:
        reply = places.get(endpoint.node)
        for held in endpoint.rails:
            watched = watched_of(reply.evidence, held) if reply is not None and reply.evidence is not None else None
            rate_gbps = _rate_gbps(watched) if watched is not None else 0.0
            if rate_gbps > QUIET_GBPS:
                busy[endpoint.node, held.rail] = (
                    f"busy: {held.rail} of {endpoint.node} carried {rate_gbps:.3g} Gb/s before anything was started"
                )
    return replace(
        layout,
        seats=tuple(replace(seat, skip=seat.skip or busy.get((seat.node, seat.rail), "")) for seat in layout.seats),
    )


def watched_of(evidence: Evidence, held: HeldRail) -> Watched | None:
    """Find what was read of a rail's port, twice; None where the port was not found."""
    asked = (held.netdev, held.device)
    return next((item for item in evidence.watched if (item.rail.netdev, item.rail.device) == asked), None)


def _rate_gbps(watched: Watched) -> float:
    """Give what a port carried; 0.0 where its counters, or the time in between, don't tell."""
    moved = carried_bytes(watched.before, watched.after)
    return (moved or 0) * 8 / watched.elapsed_s / 1e9 if watched.elapsed_s > 0 else 0.0
