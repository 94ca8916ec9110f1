"""
What could not be seen before anything is started: rails that are then taken for quiet, VFs that choose a partition. Pure.

Nothing is left out for it, so it is said: a reader of the record must not take it for something that was looked at.
"""

from collections.abc import Iterable, Iterator, Mapping

from railwright.core.ids import NodeName, RailName
from railwright.dataplane.model import Reply
from railwright.intent.model import Fabric, Method
from railwright.ports.endpoint import Endpoint, HeldRail
from railwright.verify.busy import watched_of
from railwright.verify.layout import Layout
from railwright.verify.witnesses.counters import carried_bytes


def unseen_traffic(layout: Layout, endpoints: Iterable[Endpoint], places: Mapping[NodeName, Reply]) -> Iterator[str]:
    """
    Name the rails of which nobody knows whether others use them, a line for each reason.

    Args:
        layout: rails that are left out already are not named.
        places: what each endpoint said of itself when it was to watch its rails.
    """
    by_reason: dict[str, list[str]] = {}
    for endpoint, held in _used(layout, endpoints):
        why = _why_unseen(places.get(endpoint.node), held)
        if why:
            by_reason.setdefault(why, []).append(f"{held.rail} of {endpoint.node}")
    for why, rails in by_reason.items():
        yield f"whether others use {_first_of(rails)} was not seen, and nothing is left out for it: {why}"


def unchosen_partitions(layout: Layout, endpoints: Iterable[Endpoint]) -> Iterator[str]:
    """Say whose VFs choose their partition by themselves, since no file names one and no pod has read the table."""
    if layout.method != Method.SRIOV or layout.link is not Fabric.INFINIBAND or layout.partition is not None:
        return
    alone = [
        f"{held.rail} of {endpoint.node}"
        for endpoint, held in _used(layout, endpoints)
        if (endpoint.node, held.rail) not in layout.read_in_pods
    ]
    if alone:
        yield (
            f"{_first_of(alone)} did not read the partition table of its VF first, so each half of a transfer from or to it"
            " takes a partition by itself, and two halves may take different ones: spec.network.pkey names one for both"
        )


def _used(layout: Layout, endpoints: Iterable[Endpoint]) -> Iterator[tuple[Endpoint, HeldRail]]:
    for endpoint in endpoints:
        for held in endpoint.rails:
            seat = layout.seat(endpoint.node, RailName(held.rail))
            if seat is not None and not seat.skip:
                yield endpoint, held


def _why_unseen(reply: Reply | None, held: HeldRail) -> str:
    """Say why it is not known what a rail carries; "" when it is."""
    if reply is None or reply.evidence is None:
        problem = reply.problem if reply is not None else None
        return problem.message if problem is not None else "it said nothing of itself"
    watched = watched_of(reply.evidence, held)
    if watched is None:
        return "its port was not found"
    if watched.elapsed_s <= 0 or carried_bytes(watched.before, watched.after) is None:
        return "the counters of its port do not tell what it carries"
    return ""


def _first_of(rails: list[str]) -> str:
    more = f" (and {len(rails) - 1} more)" if len(rails) > 1 else ""
    return f"{rails[0]}{more}"
