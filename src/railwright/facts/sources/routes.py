r"""
The `route4`, `route6` and `route4_tables` sections: where the node sends its packets.

Samples: /proc/net/route (addresses are 32-bit numbers in the byte order of the machine, little-endian on both of ours)
"br-ex\t00000000\t0100000A\t0003\t0\t0\t48\t00000000\t0\t0\t0"; /proc/net/ipv6_route "00..00 00 00..00 00 fe80..01
00000400 00000002 00000000 00000003 br-ex"; `ip -o -4 route show table all` "default via 10.1.0.1 dev ens4 table 100".
/proc/net/route knows the main table and the first next hop only: the optional third section fills that in.
"""

import ipaddress
from dataclasses import dataclass

from railwright.core.ids import NetDevice
from railwright.facts.model import Unseen
from railwright.facts.record import Record, wrong_line

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_UP = 0x1
_REJECT = 0x200
"""RTF_REJECT: unreachable, prohibit, blackhole. Source: Linux include/uapi/linux/route.h."""
_NOT_FORWARDED = frozenset(
    {"local", "broadcast", "multicast", "anycast", "blackhole", "unreachable", "prohibit", "throw", "nat"}
)
"""Route types whose packets leave through no device. Source: ip-route(8), "ROUTE TYPES"."""
_ROUTE4_FIELDS = 8
_ROUTE6_FIELDS = 10


@dataclass(frozen=True)
class Route:
    """One way out: packets to `network` leave through `netdev`."""

    network: Network
    netdev: NetDevice


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
    for line in record.lines("route4_tables"):
        try:
            routes.update(dict.fromkeys(_of_any_table(line.replace("\\", " ").split())))
        except (ValueError, IndexError):
            unseen.append(wrong_line("route4_tables", line, "is no route"))
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
    return Route(network, NetDevice(words[0]))


def _route6(words: list[str]) -> Route | None:
    if len(words) < _ROUTE6_FIELDS:
        raise ValueError(words)
    flags = int(words[8], 16)
    address = ipaddress.IPv6Address(int(words[0], 16))
    network = ipaddress.IPv6Network((address, int(words[1], 16)), strict=False)
    if not flags & _UP or flags & _REJECT or address.is_multicast:
        return None
    return Route(network, NetDevice(words[9]))


def _of_any_table(words: list[str]) -> list[Route]:
    if words[0] in _NOT_FORWARDED:
        return []
    if words[0] == "unicast":
        words = words[1:]
    network = ipaddress.IPv4Network("0.0.0.0/0" if words[0] == "default" else words[0], strict=False)
    found = [Route(network, NetDevice(words[at + 1])) for at, word in enumerate(words[:-1]) if word == "dev"]
    if not found:
        message = f"names no device: {' '.join(words)}"
        raise ValueError(message)
    return found


def routes_to(address: ipaddress.IPv4Address | ipaddress.IPv6Address, routes: tuple[Route, ...]) -> tuple[Route, ...]:
    """
    Find the routes with the longest prefix that holds an address, all of them where several are equally long.

    Metrics are left out on purpose: a route that is only the second choice now may be the first one tomorrow.
    """
    fitting = [route for route in routes if route.network.version == address.version and address in route.network]
    longest = max((route.network.prefixlen for route in fitting), default=0)
    return tuple(route for route in fitting if route.network.prefixlen == longest)


def default_routes(routes: tuple[Route, ...], version: int) -> tuple[Route, ...]:
    """Find every default route of an IP version."""
    return tuple(route for route in routes if route.network.version == version and route.network.prefixlen == 0)
