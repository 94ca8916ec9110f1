r"""
The `route4`, `route6`, `route4_tables` and `route6_tables` sections: where the node sends its packets.

Samples: /proc/net/route (addresses are 32-bit numbers in the byte order of the machine, little-endian on both of ours)
"br-ex\t00000000\t0100000A\t0003\t0\t0\t48\t00000000\t0\t0\t0"; /proc/net/ipv6_route "00..00 00 00..00 00 fe80..01
00000400 00000002 00000000 00000003 br-ex"; `ip -o -4 route show table all` "default via 10.1.0.1 dev ens4 table 100",
"10.255.0.5 proto bgp src 10.255.0.4 metric 20 \\\tnexthop via 169.254.0.1 dev ens4 weight 1 \\\tnexthop via ...".
The files know the first next hop only, and for IPv4 the main table only: the output of `ip` fills that in.
"""

import ipaddress
from dataclasses import dataclass
from itertools import pairwise

from railwright.core.ids import NetDevice
from railwright.facts.model import Unseen
from railwright.facts.record import Record, wrong_line

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_UP = 0x1
_GATEWAY = 0x2
"""RTF_GATEWAY. Source: Linux include/uapi/linux/route.h."""
_REJECT = 0x200
"""RTF_REJECT: unreachable, prohibit, blackhole. Source: Linux include/uapi/linux/route.h."""
_LOCAL = 0x80000000
"""RTF_LOCAL: to this node itself. Source: Linux include/uapi/linux/ipv6_route.h."""
_NOT_FORWARDED = frozenset(
    {"local", "broadcast", "multicast", "anycast", "blackhole", "unreachable", "prohibit", "throw", "nat"}
)
"""Route types whose packets leave through no device. Source: ip-route(8), "ROUTE TYPES"."""
_MAIN = "main"
_PROTOCOL = "proto"
_BY_HAND = frozenset({"", "unspec", "redirect", "kernel", "boot", "static", "ra", "dhcp", "keepalived"})
"""
Who sets routes without having heard of them from routers' daemons; whatever else is named is one, numbers too.

Source: Linux include/uapi/linux/rtnetlink.h (RTPROT_*); ip-route(8), "protocol RTPROTO".
"""
_ROUTE4_FIELDS = 8
_ROUTE6_FIELDS = 10


@dataclass(frozen=True)
class Route:
    """
    One way out: packets to `network` leave through `netdev`, where a rule sends them to this `table`.

    Attributes:
        learned: whether it leads to a router and a routing daemon set it, as far as the output of `ip` says so.
        to_router: whether its packets are handed to a router, whoever set it.
    """

    network: Network
    netdev: NetDevice
    table: str = _MAIN
    learned: bool = False
    to_router: bool = False


def parse_routes(record: Record) -> tuple[tuple[Route, ...], tuple[Unseen, ...]]:
    """Read every route that packets can leave by; a line that can't be read is named."""
    routes: dict[Route, None] = {}
    unseen: list[Unseen] = []
    for section, parse in (("route4", _route4), ("route6", _route6)):
        for line in record.lines(section):
            if line.startswith("Iface"):
                continue
            try:
                route = parse(line.split())
            except (ValueError, OverflowError):
                unseen.append(wrong_line(section, line, "is no route"))
            else:
                if route is not None:
                    routes[route] = None
    for section, everywhere in (("route4_tables", "0.0.0.0/0"), ("route6_tables", "::/0")):
        for line in record.lines(section):
            try:
                routes.update(dict.fromkeys(_of_any_table(line.replace("\\", " ").split(), everywhere)))
            except (ValueError, IndexError):
                unseen.append(wrong_line(section, line, "is no route"))
    return tuple(routes), tuple(unseen)


def _route4(words: list[str]) -> Route | None:
    if len(words) < _ROUTE4_FIELDS:
        raise ValueError(words)
    flags = int(words[3], 16)
    address = ipaddress.IPv4Address(int(words[1], 16).to_bytes(4, "little"))
    mask = ipaddress.IPv4Address(int(words[7], 16).to_bytes(4, "little"))
    network = ipaddress.IPv4Network(f"{address}/{mask}", strict=False)
    if not flags & _UP or flags & _REJECT or words[0] == "*":
        return None
    return Route(network, NetDevice(words[0]), to_router=bool(flags & _GATEWAY))


def _route6(words: list[str]) -> Route | None:
    if len(words) < _ROUTE6_FIELDS:
        raise ValueError(words)
    flags = int(words[8], 16)
    address = ipaddress.IPv6Address(int(words[0], 16))
    network = ipaddress.IPv6Network((address, int(words[1], 16)), strict=False)
    if not flags & _UP or flags & (_REJECT | _LOCAL) or address.is_multicast:
        return None
    return Route(network, NetDevice(words[9]), to_router=bool(flags & _GATEWAY))


def _of_any_table(words: list[str], everywhere: str) -> list[Route]:
    if words[0] in _NOT_FORWARDED:
        return []
    if words[0] == "unicast":
        words = words[1:]
    network = ipaddress.ip_network(everywhere if words[0] == "default" else words[0], strict=False)
    if network.is_multicast:
        return []
    pairs = list(pairwise(words))
    table = next((value for key, value in pairs if key == "table"), _MAIN)
    to_router = "via" in words
    learned = to_router and next((value for key, value in pairs if key == _PROTOCOL), "") not in _BY_HAND
    found = [Route(network, NetDevice(value), table, learned, to_router) for key, value in pairs if key == "dev"]
    if not found:
        message = f"names no device: {' '.join(words)}"
        raise ValueError(message)
    return found


def routes_to(address: ipaddress.IPv4Address | ipaddress.IPv6Address, routes: tuple[Route, ...]) -> tuple[Route, ...]:
    """
    Find the routes with the longest prefix that holds an address, of each table, all where several are equally long.

    Metrics and rules are left out on purpose: a route that is only the second choice now may be the first tomorrow.
    """
    fitting = [route for route in routes if route.network.version == address.version and address in route.network]
    longest: dict[str, int] = {}
    for route in fitting:
        longest[route.table] = max(route.network.prefixlen, longest.get(route.table, 0))
    return tuple(route for route in fitting if route.network.prefixlen == longest[route.table])


def default_routes(routes: tuple[Route, ...], version: int) -> tuple[Route, ...]:
    """Find every default route of an IP version."""
    return tuple(route for route in routes if route.network.version == version and route.network.prefixlen == 0)
