"""
What subnets, routes and addresses of one RailFabric must keep, as far as the file alone shows.

Whether they overlap the cluster's own networks is the plan's to say.
"""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from railwright.intent.rules import SPEC, Broken
from railwright.intent.shape import NetworkShape, RouteShape, SpecShape
from railwright.intent.tree import KeyPath

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address
Placed = tuple[KeyPath, Network]

LONGEST_PREFIX = {4: 29, 6: 125}
"""Of one rail's subnet: eight addresses are the fewest that give two nodes one pod each beside a router."""
MIN_MTU_IPV6 = 1280
"""RFC 8200 section 5."""


def check_subnets(spec: SpecShape) -> Iterator[Broken]:
    """Check subnets of the network and of single rails, routes and excluded addresses."""
    network = spec.network or NetworkShape()
    path = (*SPEC, "network")
    placed: list[Placed] = []
    for index, text in enumerate(network.subnets or []):
        yield from _take(text, (*path, "subnets", index), placed)
    rails: list[Placed] = []
    for index, rail in enumerate(spec.rails or []):
        if rail.subnet is not None:
            yield from _take(rail.subnet, (*SPEC, "rails", index, "subnet"), rails)
    yield from overlaps(placed)
    yield from overlaps(rails)
    yield from _one_place(spec)
    if network.subnets is not None and len(placed) == len(network.subnets):
        yield from _sizes(placed, len(spec.rails) if spec.rails else None)
    yield from _too_small_each(rails)
    everything = [*placed, *rails]
    yield from _routes(network, everything)
    yield from _excluded(network, everything)
    if network.mtu is not None and network.mtu < MIN_MTU_IPV6 and any(net.version == 6 for _, net in everything):
        yield Broken((*path, "mtu"), "too small for IPv6", f"at least {MIN_MTU_IPV6}", str(network.mtu))


def overlaps(placed: list[Placed]) -> Iterator[Broken]:
    """Find subnets that share addresses with an earlier one."""
    seen: list[Placed] = []
    for path, net in sorted(placed, key=lambda one: (one[1].version, int(one[1].network_address), one[1].prefixlen)):
        # Sorted by first address, a subnet can only overlap those whose last address has not been passed.
        seen = [one for one in seen if _reaches(one[1], net)]
        for _, other in seen:
            yield Broken(
                path, "overlaps another subnet of this file", "subnets that share no address", f"{net} and {other}"
            )
            break
        seen.append((path, net))


def _reaches(earlier: Network, later: Network) -> bool:
    """Whether the last address of one subnet is at or behind the first of another of its family."""
    return earlier.version == later.version and int(earlier.broadcast_address) >= int(later.network_address)


def subnets_of(spec: SpecShape) -> tuple[Placed, ...]:
    """Every subnet of a fabric that can be read, with its key path."""
    placed: list[Placed] = []
    for index, text in enumerate((spec.network.subnets if spec.network else None) or []):
        list(_take(text, (*SPEC, "network", "subnets", index), placed))
    for index, rail in enumerate(spec.rails or []):
        if rail.subnet is not None:
            list(_take(rail.subnet, (*SPEC, "rails", index, "subnet"), placed))
    return tuple(placed)


def _take(text: str, path: KeyPath, placed: list[Placed]) -> Iterator[Broken]:
    """Read a prefix into `placed`, or say what is wrong with it."""
    expected = "an IPv4 or IPv6 prefix such as 192.168.0.0/16"
    try:
        net = ip_network(text, strict=False)
    except ValueError:
        yield Broken(path, "not a subnet", expected, _short(text))
        return
    if "/" not in text:
        yield Broken(path, "a subnet without prefix length", expected, text)
    elif ip_address(text.partition("/")[0]) != net.network_address:
        yield Broken(path, "not the first address of the subnet", str(net), text)
    elif net.is_multicast or net.is_loopback or net.is_link_local or net.prefixlen == 0 or net.is_unspecified:
        yield Broken(path, "not a subnet for pods", "unicast addresses", text)
    else:
        placed.append((path, net))


def _sizes(placed: list[Placed], rails: int | None) -> Iterator[Broken]:
    """Check that the subnets suffice for the rails, family by family; `rails` None: not known from the file."""
    for version in (4, 6):
        family = [one for one in placed if one[1].version == version]
        if not family:
            continue
        if len(family) > 1:
            yield from _too_small_each(family)
            if rails is not None and len(family) != rails:
                expected = f"one prefix, or {rails}: one a rail"
                yield Broken(
                    family[0][0][:-1], f"subnets and rails differ in number (IPv{version})", expected, str(len(family))
                )
            continue
        path, net = family[0]
        longest = LONGEST_PREFIX[version] - ((rails or 1) - 1).bit_length()
        if net.prefixlen > longest:
            what = f"{rails} rails" if rails else "a rail"
            yield Broken(path, f"too small for {what}", f"/{longest} or shorter", str(net))


def _too_small_each(placed: list[Placed]) -> Iterator[Broken]:
    for path, net in placed:
        longest = LONGEST_PREFIX[net.version]
        if net.prefixlen > longest:
            yield Broken(path, "too small for a rail", f"/{longest} or shorter", str(net))


def _one_place(spec: SpecShape) -> Iterator[Broken]:
    """Subnets stand with the network or with every rail, not here and there."""
    with_subnet = [index for index, rail in enumerate(spec.rails or []) if rail.subnet is not None]
    if not with_subnet or not spec.rails:
        return
    if spec.network and spec.network.subnets is not None:
        path = (*SPEC, "rails", with_subnet[0], "subnet")
        yield Broken(
            path, "subnets at two places", "spec.network.subnets, or a subnet with every rail", "both", at_key=True
        )
    elif len(with_subnet) != len(spec.rails):
        lacking = next(index for index, rail in enumerate(spec.rails) if rail.subnet is None)
        yield Broken(
            (*SPEC, "rails", lacking), "has no subnet, other rails have one", "a subnet with every rail, or with none"
        )


def _routes(network: NetworkShape, placed: list[Placed]) -> Iterator[Broken]:
    for index, route in enumerate(network.routes or []):
        path = (*SPEC, "network", "routes", index)
        destination = _network(route.destination)
        if route.destination is not None and destination is None:
            expected = "an IPv4 or IPv6 prefix"
            yield Broken((*path, "destination"), "not a destination", expected, _short(route.destination))
        if route.gateway is None and not network.gateway and network.ipam != "nv-ipam-cidr":
            yield Broken(path, "has no gateway", "a gateway, or spec.network.gateway: true")
        yield from _gateway(route, destination, placed, (*path, "gateway"))
        if destination is not None and placed and all(net.version != destination.version for _, net in placed):
            problem = "no rail has addresses of its family"
            expected = f"a destination of the subnets' family (IPv{placed[0][1].version})"
            yield Broken((*path, "destination"), problem, expected, str(destination))


def _gateway(route: RouteShape, destination: Network | None, placed: list[Placed], path: KeyPath) -> Iterator[Broken]:
    if route.gateway is None:
        return
    address = _address(route.gateway)
    if address is None:
        yield Broken(path, "not an address", "an IPv4 or IPv6 address", _short(route.gateway))
    elif destination is not None and destination.version != address.version:
        yield Broken(
            path, "of another family than its destination", f"an IPv{destination.version} address", str(address)
        )
    elif placed and not any(address in net for _, net in placed):
        yield Broken(path, "outside every subnet of the rails", "an address that a rail can reach", str(address))


def _excluded(network: NetworkShape, placed: list[Placed]) -> Iterator[Broken]:
    for index, text in enumerate(network.exclude or []):
        path = (*SPEC, "network", "exclude", index)
        net = _network(text)
        if net is None:
            yield Broken(path, "not an address or prefix", "such as 192.168.0.1 or 192.168.0.128/26", _short(text))
        elif placed and not any(net.version == other.version and net.overlaps(other) for _, other in placed):
            yield Broken(path, "outside every subnet of the rails", "part of a subnet", text)


def _network(text: str | None) -> Network | None:
    try:
        return ip_network(text) if text is not None else None
    except ValueError:
        return None


def _address(text: str) -> Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


def _short(text: str) -> str:
    return ascii(text[:60])[1:-1] or "nothing"
