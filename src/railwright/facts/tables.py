"""
Which routes the node's own traffic can take, where rules send some packets to a routing table of their own.

Pure. A node with many rails often has a table for each, with a default route, for packets from that rail's address: what
leaves there has chosen the rail already. Such a route is no uplink; every other one counts, as do all when the rules
are not known.
"""

import ipaddress
from collections.abc import Iterable

from railwright.core.ids import NetDevice
from railwright.facts.model import NetDeviceFacts
from railwright.facts.sources.routes import Route
from railwright.facts.sources.rules import Rule

_ALWAYS = frozenset({"main", "local", "default", "254", "255", "253", "0", "unspec", "252", "compat"})
"""Tables that every packet comes to, and those that an old program can't name."""
_CILIUM = NetDevice("cilium_host")
"""
Where Cilium's proxy hands its packets to Cilium, which routes them like all pods' traffic.

Source: cilium/cilium v1.18, pkg/proxy/routes.go (installFromProxyRoutesIPv4), checked 2026-11-30.
"""


def routes_in_use(
    routes: tuple[Route, ...], rules: tuple[Rule, ...] | None, netdevs: Iterable[NetDeviceFacts]
) -> tuple[Route, ...]:
    """Leave out the routes that none but a port's own packets can take."""
    owners = [(ipaddress.ip_interface(text).ip, netdev.name) for netdev in netdevs for text in netdev.ip_addresses]
    return tuple(route for route in routes if route.table in _ALWAYS or _counts(route, rules, owners))


def _counts(
    route: Route,
    rules: tuple[Rule, ...] | None,
    owners: list[tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, NetDevice]],
) -> bool:
    version = route.network.version
    mine = [rule for rule in rules or () if rule.version == version]
    if not any(rule.table == "main" for rule in mine):
        return True  # no node is without it: the rules are not known
    for rule in (rule for rule in mine if rule.table == route.table):
        if rule.source is None:
            if not (rule.by_mark and route.netdev == _CILIUM):
                return True
        elif not rule.source.prefixlen or any(
            address in rule.source and name != route.netdev for address, name in owners
        ):
            return True
    return False
