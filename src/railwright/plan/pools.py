"""
nv-ipam's pools of a fabric: an IPPool a rail, of which each node has a block, or a CIDRPool, of which it has a subnet.

Source: Mellanox/nvidia-k8s-ipam 3ce4a34, api/v1alpha1 (cidrpool_validate.go, helpers.go: index 1 is the first address;
the router is never handed out).
"""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass

from railwright.core.ids import FabricName
from railwright.core.kinds import NV_IPAM_CIDR_POOL, NV_IPAM_IP_POOL
from railwright.core.marks import is_ours
from railwright.core.objects import dig
from railwright.facts.model import ClusterFacts
from railwright.intent.model import Ipam
from railwright.plan.model import ADMITTED, CidrPoolShare, IpPoolShare, Rail, fabric_label
from railwright.plan.network import excluded_in, pool_name
from railwright.plan.notes import Notes
from railwright.plan.routes import networks_of_rail, router_of, routes_of
from railwright.plan.settings import Settings
from railwright.plan.subnets import LONGEST_PREFIX, Network

ROUTER_INDEX = 1
_NOT_FOR_PODS = {4: 3, 6: 2}
"""Addresses of a node's subnet that no pod gets: its own, the router's, and with IPv4 the broadcast address."""


@dataclass(frozen=True)
class Given:
    """
    What address pools give nodes, and gave them already.

    Attributes:
        nodes: how many need a block or subnet now.
        default: addresses a node, where the subnet has room for that.
        in_force: block (or length of the node's subnet) of each pool of ours that is there, by kind, subnet and name:
            another one would give every node other addresses, under pods that have some.
    """

    nodes: int
    default: int
    in_force: Mapping[tuple[str, str, str], int]

    def block(self, name: str, network: Network, needed: int, notes: Notes) -> int:
        """Choose a block that fits, the one in force if it does; 0 when none does."""
        room = network.num_addresses - 2
        live = self.in_force.get((NV_IPAM_IP_POOL.kind, str(network), name), 0)
        if min(needed, self.default) <= live and live * self.nodes <= room:
            return live
        block = self.default
        while block > needed and block * self.nodes > room:
            block //= 2
        block = max(block, 1)
        if block * self.nodes > room or block < min(needed, self.default):
            return 0
        if live:
            what = f"{network} has no room for {self.nodes} blocks of {live}: nodes get {block} addresses each"
            _warn_of_change(what, f"IPPool {name}", notes)
        return block

    def node_prefix(self, name: str, network: Network, needed: int, asked: int | None, notes: Notes) -> int:
        """Choose the length of each node's subnet: the one asked for, the one in force, or one that fits; 0 when none."""
        live = self.in_force.get((NV_IPAM_CIDR_POOL.kind, str(network), name), 0)
        wanted = asked or live or _prefix_for(max(needed, self.default), network)
        smallest = asked or _prefix_for(needed, network)
        while wanted < smallest and not self._has_room(network, wanted):
            wanted += 1
        if wanted < network.prefixlen or not self._has_room(network, wanted):
            return 0
        if live and live != wanted:
            _warn_of_change(
                f"each node's subnet of {network} becomes a /{wanted}, from /{live}", f"CIDRPool {name}", notes
            )
        return wanted

    def _has_room(self, network: Network, prefix: int) -> bool:
        return prefix >= network.prefixlen and 2 ** (prefix - network.prefixlen) >= self.nodes


def _warn_of_change(what: str, where: str, notes: Notes) -> None:
    message = f"{what}, other ones, and pods that have an address of it must be restarted"
    notes.warn("address-blocks-change", message, where)


def _prefix_for(pods: int, network: Network) -> int:
    """Length of the smallest subnet that holds a router and so many pods."""
    bits = (pods + _NOT_FOR_PODS[network.version] - 1).bit_length()
    return min(network.max_prefixlen - bits, LONGEST_PREFIX[network.version])


def given_by(cluster: ClusterFacts, nodes: int, default: int) -> Given:
    """Read what the pools that we made earlier give."""
    fields = ((NV_IPAM_IP_POOL, "subnet", "perNodeBlockSize"), (NV_IPAM_CIDR_POOL, "cidr", "perNodeNetworkPrefix"))
    in_force = {
        (kind.kind, str(dig(item, "spec", subnet)), str(item["metadata"]["name"])): int(
            dig(item, "spec", size, default=0)
        )
        for kind, subnet, size in fields
        for item in cluster.of_kind(kind)
        if is_ours(item)
    }
    return Given(nodes, default, in_force)


def pools_of(
    settings: Settings, rails: tuple[Rail, ...], namespace: str, given: Given, notes: Notes
) -> tuple[IpPoolShare | CidrPoolShare, ...]:
    """
    Make nv-ipam's pools, one a rail and family.

    Args:
        namespace: the Network Operator's; nv-ipam looks at no other.
    """
    make = {Ipam.NV_IPAM: _block_pool, Ipam.NV_IPAM_CIDR: _node_pool}.get(settings.ipam)
    if make is None:
        return ()
    pools = (
        make(settings, rail, network, namespace, given, notes) for rail in rails for network in networks_of_rail(rail)
    )
    return tuple(pool for pool in pools if pool is not None)


def _block_pool(
    settings: Settings, rail: Rail, network: Network, namespace: str, given: Given, notes: Notes
) -> IpPoolShare | None:
    needed = settings.pods_on_a_port()
    block = given.block(pool_name(rail, network), network, needed, notes)
    if not block:
        _refuse_small(settings, rail, network, f"{given.nodes * needed} addresses or more", notes, given.nodes)
        return None
    return IpPoolShare(
        name=pool_name(rail, network),
        namespace=namespace,
        subnet=str(network),
        per_node_block=block,
        gateway=router_of(settings, rail, network),
        exclude=excluded_in(settings, network),
        routes=_destinations(settings, rail, network),
        node_labels={fabric_label(FabricName(settings.name)): ADMITTED},
        fabric=FabricName(settings.name),
    )


def _node_pool(
    settings: Settings, rail: Rail, network: Network, namespace: str, given: Given, notes: Notes
) -> CidrPoolShare | None:
    name, needed, asked = pool_name(rail, network), settings.pods_on_a_port(), settings.intent.network.per_node_prefix
    prefix = given.node_prefix(name, network, needed, asked, notes)
    if not prefix:
        size = f"a /{asked}" if asked else f"{needed} pods"
        _refuse_small(settings, rail, network, f"{given.nodes} subnets of {size}", notes, given.nodes)
        return None
    key = f"{settings.name}: spec.network.perNodePrefix"
    notes.decide(
        key, prefix, "file" if asked else "default", f"each node's own subnet on a rail, for {needed} pods or more"
    )
    room = 2 ** (network.max_prefixlen - prefix) - _NOT_FOR_PODS[network.version]
    if room < needed:
        notes.warn(
            "node-subnet-small",
            f"a node's subnet of /{prefix} holds {room} pods on {rail.name}, and {needed} may be on a node",
            settings.name,
        )
    return CidrPoolShare(
        name=name,
        namespace=namespace,
        cidr=str(network),
        per_node_prefix=prefix,
        gateway_index=ROUTER_INDEX,
        exclude=excluded_in(settings, network),
        # Without it a node's pods would reach no other node's on their own rail.
        routes=tuple(dict.fromkeys((str(network), *_destinations(settings, rail, network)))),
        node_labels={fabric_label(FabricName(settings.name)): ADMITTED},
        fabric=FabricName(settings.name),
    )


def _destinations(settings: Settings, rail: Rail, network: Network) -> tuple[str, ...]:
    routes = routes_of(settings, rail)
    return tuple(r.destination for r in routes if ipaddress.ip_network(r.destination).version == network.version)


def _refuse_small(settings: Settings, rail: Rail, network: Network, expected: str, notes: Notes, nodes: int) -> None:
    notes.refuse(
        "subnet-too-small",
        f"{network} of rail {rail.name} has too few addresses for {nodes} nodes with {settings.pods_on_a_port()} pods each",
        where=str(settings.intent.place("spec.network.subnets") or settings.name),
        expected=expected,
        seen=f"{network.num_addresses - 2} addresses",
        hint="a larger prefix in spec.network.subnets",
    )
