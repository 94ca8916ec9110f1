"""
Two rails of a node that were cabled, or wired, to each other's network.

On both rails nothing passes, with anyone. Over link-local addresses, which need no route, each of them then reaches
the other rail of a node that is well: that is shown, not concluded.
"""

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations

from railwright.core.ids import NodeName, RailName
from railwright.core.verdicts import Verdict
from railwright.dataplane.model import EngineRequest, RailEnd, Reply
from railwright.intent.model import Fabric
from railwright.ports.endpoint import HeldRail
from railwright.verify.families import engine
from railwright.verify.judge import Measured
from railwright.verify.model import Culprit, Direction, MemoryKind, Step, Way
from railwright.verify.run import Bench
from railwright.verify.task import Exchange, Task

_STEP = Step("engine", Direction.WRITE, MemoryKind.HOST)
_BYTES = (4096,)
_DURATION_S = 0.2
_LINK_LOCAL = "fe80:"
_TWO = 2
MOST_PROBES = 12


async def find_swapped(bench: Bench, items: Iterable[Measured], places: dict[NodeName, Reply]) -> list[Culprit]:
    """Probe rails that fail as a pair on one node; only where GIDs come from IP addresses."""
    found: list[Culprit] = []
    if bench.layout.link is not Fabric.ROCE:
        return found
    dead = _dead_ports(items)
    probes = 0
    for node, rails in dead.items():
        partner = next((other for other in bench.endpoints if other != node and other not in dead), None)
        for first, second in combinations(sorted(rails), 2):
            if partner is None or probes >= MOST_PROBES:
                break
            probes += 2
            crossed = [
                await _reaches(bench, Way(node, one, partner, other), places)
                for one, other in ((first, second), (second, first))
            ]
            if all(crossed):
                who = node if len(bench.endpoints) > _TWO else f"{node} or {partner} (two nodes don't tell which)"
                text = (
                    f"{first} and {second} of {who} are swapped: over link-local addresses each of {node} reaches"
                    f" the other rail of {partner}, and not its own"
                )
                cells = tuple(
                    sorted(
                        item.task.id
                        for item in items
                        if node in {item.task.way.source, item.task.way.target}
                        and item.task.way.source_rail in {first, second}
                        and item.reading.ran is Verdict.FAIL
                    )
                )
                found.append(Culprit("swapped-rails", f"{first} and {second} of {who}", text, cells))
    return found


def _dead_ports(items: Iterable[Measured]) -> dict[NodeName, set[RailName]]:
    """Find nodes with two or more rails on which nothing passed, with anyone; a node that all others fail with counts once."""
    passed: set[tuple[NodeName, RailName]] = set()
    failed: dict[NodeName, set[RailName]] = {}
    partners: dict[NodeName, set[NodeName]] = {}
    for item in items:
        way = item.task.way
        if way.source_rail != way.target_rail:
            continue
        for node, other in ((way.source, way.target), (way.target, way.source)):
            if item.reading.ran is Verdict.PASS:
                passed.add((node, way.source_rail))
            elif item.reading.ran is Verdict.FAIL:
                failed.setdefault(node, set()).add(way.source_rail)
                partners.setdefault(node, set()).add(other)
    dead = {node: {rail for rail in rails if (node, rail) not in passed} for node, rails in failed.items()}
    candidates = {node: rails for node, rails in dead.items() if len(rails) > 1}
    most = max((len(partners[node]) for node in candidates), default=0)
    ordered = sorted(node for node in candidates if len(partners[node]) == most)
    # Of two nodes that fail with each other alone, either may be the one: the first is probed, which shows the same.
    return (
        {ordered[0]: candidates[ordered[0]]} if ordered and most == 1 else {node: candidates[node] for node in ordered}
    )


async def _reaches(bench: Bench, way: Way, places: dict[NodeName, Reply]) -> bool:
    """Try one transfer over link-local addresses."""
    made = bench.task(_STEP, way, prefix="s")
    if not isinstance(made, Task):
        return False
    ends = [
        _link_local(places.get(node), end.held) for node, end in ((way.source, made.source), (way.target, made.target))
    ]
    source, target = ends
    if source is None or target is None:
        return False
    effort = replace(made.effort, sizes_bytes=_BYTES, duration_s=_DURATION_S, qps=1)
    exchange = engine.bandwidth(replace(made, effort=effort))[0]
    listen, connect = exchange.listen, exchange.connect
    if not isinstance(listen, EngineRequest) or not isinstance(connect, EngineRequest):
        return False
    again = Exchange("link-local", replace(listen, rail=target), replace(connect, rail=source), exchange.limit_s)
    outcome = await bench.exchange(replace(made, effort=effort), again)
    return all(reply.problem is None for reply in outcome.replies)


def _link_local(place: Reply | None, held: HeldRail) -> RailEnd | None:
    """
    Find the link-local GID of a rail's own device.

    Where devices are shared every pod sees those of all others, and `net1` is the name of a netdev in each of them.
    """
    ports = place.evidence.ports if place and place.evidence else ()
    own = [port for port in ports if port.device == held.device] if held.device else []
    own = own or [port for port in ports if held.netdev in port.netdevs] or list(ports)
    for port in own:
        for gid in port.gids:
            if gid.netdev == held.netdev and gid.gid.lower().startswith((_LINK_LOCAL, "fe80::")):
                return RailEnd(netdev=gid.netdev, device=port.device, port=port.port, gid_index=gid.index)
    return None
