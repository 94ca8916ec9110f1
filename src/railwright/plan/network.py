"""Subnets of rails, and who gives pods their addresses."""

import ipaddress
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from railwright.core.ids import FabricName
from railwright.core.kinds import NV_IPAM_IP_POOL
from railwright.core.objects import dig
from railwright.facts.model import ClusterFacts
from railwright.intent.model import Ipam
from railwright.plan.model import ADMITTED, IpPoolShare, Rail, fabric_label
from railwright.plan.notes import Notes
from railwright.plan.others import subnets_in_use
from railwright.plan.ours import is_ours
from railwright.plan.settings import Settings

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

DEFAULT_SUBNETS = ("192.168.0.0/16", "172.24.0.0/14", "10.192.0.0/11")
"""Private ranges (RFC 1918), tried in this order when none was asked for."""
_LONGEST_PREFIX = {4: 29, 6: 125}


@dataclass(frozen=True)
class RailSubnets:
    """The subnets of each rail, in rail order: one, or one of each family."""

    by_rail: tuple[tuple[str, ...], ...]


def subnets_for(
    settings: Settings, rails: int, cluster: ClusterFacts, taken: Iterable[str], notes: Notes
) -> RailSubnets:
    """
    Give each rail its subnets: one prefix is cut into equal parts, a list gives one a rail.

    Args:
        taken: subnets of other fabrics.
    """
    if rails == 0:
        return RailSubnets(())
    busy = [*_busy(cluster), *((text, "another fabric") for text in taken)]
    asked = settings.intent.network.subnets or _by_rail(settings)
    where = str(settings.intent.place("spec.network.subnets") or settings.name)
    if asked is None:
        in_use = [*busy, *subnets_in_use(cluster)]
        free = next((text for text in DEFAULT_SUBNETS if not _overlaps(text, in_use)), None)
        if free is None:
            notes.refuse(
                "no-free-subnet",
                f"every subnet that would be taken by itself ({', '.join(DEFAULT_SUBNETS)}) is in use",
                hint="name a free one in spec.network.subnets",
            )
            return RailSubnets(())
        notes.decide(
            f"{settings.name}: spec.network.subnets",
            free,
            "default",
            "private, and free of the cluster's networks and of others' address pools",
            "RFC 1918",
        )
        asked = (free,)
    for text in asked:
        for other, owner in _overlaps(text, busy):
            notes.refuse(
                "subnet-overlaps",
                f"subnet {text} overlaps {other}, which is the {owner}'s",
                where=where,
                expected="a range that nothing else uses",
                seen=f"{text} and {other}",
                hint="name a free one in spec.network.subnets",
            )
        for other, owner in _overlaps(text, subnets_in_use(cluster)):
            notes.warn("subnet-of-others", f"subnet {text} overlaps {other}, which {owner} hands out", settings.name)
    families = [[net for text in asked if (net := ipaddress.ip_network(text)).version == version] for version in (4, 6)]
    cut = [_cut(family, rails, where, notes) for family in families if family]
    return RailSubnets(tuple(tuple(str(part[index]) for part in cut if part) for index in range(rails)))


def _by_rail(settings: Settings) -> tuple[str, ...] | None:
    """Give the subnets that rails were asked for with, in their order; None when they were not."""
    subnets = tuple(rail.subnet for rail in settings.intent.rails or () if rail.subnet is not None)
    return subnets or None


def _cut(family: list[Any], rails: int, where: str, notes: Notes) -> list[Network]:
    if len(family) == rails:
        return list(family)
    if len(family) > 1:
        notes.refuse(
            "subnets-do-not-fit-rails",
            f"{len(family)} subnets of one family for {rails} rails",
            where=where,
            expected=f"one prefix, or {rails}",
            seen=str(len(family)),
            hint="several rails in one subnet answer ARP for each other; give one prefix, it is cut into equal parts",
        )
        return []
    prefix = family[0].prefixlen + math.ceil(math.log2(rails))
    if prefix > _LONGEST_PREFIX[family[0].version]:
        notes.refuse(
            "subnet-too-small",
            f"{family[0]} cannot be cut into {rails} subnets that hold addresses",
            where=where,
            expected=f"/{_LONGEST_PREFIX[family[0].version] - math.ceil(math.log2(rails))} or larger",
            seen=f"/{family[0].prefixlen}",
        )
        return []
    parts = family[0].subnets(new_prefix=prefix)
    return [next(parts) for _ in range(rails)]


def _busy(cluster: ClusterFacts) -> list[tuple[str, str]]:
    kinds = (
        ("cluster network", cluster.cluster_networks),
        ("service network", cluster.service_networks),
        ("machine network", cluster.machine_networks),
        ("network plugin", cluster.internal_networks),
    )
    return [(text, owner) for owner, networks in kinds for text in networks]


def _overlaps(text: str, busy: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    mine = ipaddress.ip_network(text)
    found = []
    for other, owner in busy:
        theirs = ipaddress.ip_network(other, strict=False)
        if _overlap(mine, theirs):
            found.append((other, owner))
    return found


def _overlap(first: Network, second: Network) -> bool:
    if isinstance(first, ipaddress.IPv4Network):
        return isinstance(second, ipaddress.IPv4Network) and first.overlaps(second)
    return isinstance(second, ipaddress.IPv6Network) and first.overlaps(second)


def ipam_of(settings: Settings, rail: Rail) -> dict[str, Any]:
    """The CNI's ipam section for a rail's network."""
    routes = [
        {"dst": route.destination} | ({"gw": route.gateway} if route.gateway else {})
        for route in settings.intent.network.routes
    ]
    if settings.ipam is Ipam.NV_IPAM:
        # Its routes stand in the pool.
        return {"type": "nv-ipam", "poolName": pool_name(rail), "poolType": "ippool"}
    if settings.ipam is Ipam.STATIC:
        return {"type": "static"} | ({"routes": routes} if routes else {})
    ranges = [{"range": subnet} | _excluded(settings, subnet) for subnet in rail.subnets]
    section: dict[str, Any] = {"type": "whereabouts"}
    section |= ranges[0] if len(ranges) == 1 else {"ipRanges": ranges}
    return section | ({"routes": routes} if routes else {})


def pool_name(rail: Rail) -> str:
    """Name of a rail's address pool."""
    return rail.network


def _excluded(settings: Settings, subnet: str) -> dict[str, Any]:
    network = ipaddress.ip_network(subnet)
    first = ipaddress.ip_address(int(network.network_address) + 1)
    excluded = [f"{first}/{network.max_prefixlen}"] if settings.intent.network.gateway else []
    excluded += [text for text in settings.intent.network.exclude if _inside(text, network)]
    return {"exclude": excluded} if excluded else {}


def _inside(text: str, network: Network) -> bool:
    mine = ipaddress.ip_network(text, strict=False)
    return _overlap(mine, network)


@dataclass(frozen=True)
class Blocks:
    """
    How a fabric's address pools are cut into blocks, one a node.

    Attributes:
        nodes: how many need a block now.
        default: addresses a node, where the subnet has room for that.
        in_force: block of each pool of ours that is there, by subnet and name: another one would give every node other
            addresses, under pods that have some.
    """

    nodes: int
    default: int
    in_force: Mapping[tuple[str, str], int]

    def choose(self, name: str, network: Network, needed: int, notes: Notes) -> int:
        """Choose a block that fits, the one in force if it does; 0 when none does."""
        room = network.num_addresses - 2
        live = self.in_force.get((str(network), name), 0)
        if min(needed, self.default) <= live and live * self.nodes <= room:
            return live
        block = self.default
        while block > needed and block * self.nodes > room:
            block //= 2
        block = max(block, 1)
        if block * self.nodes > room or block < min(needed, self.default):
            return 0
        if live:
            notes.warn(
                "address-blocks-change",
                f"{network} has no room for {self.nodes} blocks of {live}: nodes get {block} addresses each, other ones, and"
                " pods that have an address of it must be restarted",
                f"IPPool {name}",
            )
        return block


def blocks_of(cluster: ClusterFacts, nodes: int, default: int) -> Blocks:
    """Read the blocks of the pools that we made earlier."""
    live = [item for item in cluster.of_kind(NV_IPAM_IP_POOL) if is_ours(item)]
    in_force = {
        (str(dig(item, "spec", "subnet")), str(item["metadata"]["name"])): int(
            dig(item, "spec", "perNodeBlockSize", default=0)
        )
        for item in live
    }
    return Blocks(nodes, default, in_force)


def pools_of(
    settings: Settings, rails: tuple[Rail, ...], namespace: str, blocks: Blocks, notes: Notes
) -> tuple[IpPoolShare, ...]:
    """
    Make nv-ipam's pools, one a rail; a node gets a block of it.

    Args:
        namespace: the Network Operator's; nv-ipam looks at no other.
    """
    if settings.ipam is not Ipam.NV_IPAM:
        return ()
    shares = []
    needed = settings.pods_on_a_port()
    for rail in rails:
        if len(rail.subnets) != 1:
            notes.refuse(
                "nv-ipam-takes-one-family",
                f"rail {rail.name} has {len(rail.subnets)} subnets, and an nv-ipam pool takes one",
                hint="spec.network.ipam: whereabouts for dual stack",
            )
            continue
        network = ipaddress.ip_network(rail.subnets[0])
        block = blocks.choose(pool_name(rail), network, needed, notes)
        if not block:
            notes.refuse(
                "subnet-too-small",
                f"{network} of rail {rail.name} has too few addresses for {blocks.nodes} nodes with {needed} pods each",
                expected=f"{blocks.nodes * needed} or more",
                seen=str(network.num_addresses - 2),
                hint="a larger prefix in spec.network.subnets",
            )
            continue
        shares.append(_pool(settings, rail, network, block, namespace))
    return tuple(shares)


def _pool(settings: Settings, rail: Rail, network: Network, block: int, namespace: str) -> IpPoolShare:
    gateway = ipaddress.ip_address(int(network.network_address) + 1) if settings.intent.network.gateway else None
    excluded = [
        (str(part.network_address), str(part.broadcast_address))
        for text in settings.intent.network.exclude
        if _inside(text, network) and (part := ipaddress.ip_network(text, strict=False))
    ]
    return IpPoolShare(
        name=pool_name(rail),
        namespace=namespace,
        subnet=str(network),
        per_node_block=block,
        gateway=str(gateway) if gateway else "",
        exclude=tuple(excluded),
        routes=tuple(route.destination for route in settings.intent.network.routes),
        node_labels={fabric_label(FabricName(settings.name)): ADMITTED},
        fabric=FabricName(settings.name),
    )
