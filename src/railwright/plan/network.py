"""The `ipam` section of a rail's network: who gives pods their addresses, and which routes they get."""

import ipaddress
from typing import Any

from railwright.intent.model import Ipam
from railwright.plan.model import Rail
from railwright.plan.routes import networks_of_rail, router_of, routes_of
from railwright.plan.settings import Settings
from railwright.plan.subnets import Network, overlap

_POOL_TYPES = {Ipam.NV_IPAM: "ippool", Ipam.NV_IPAM_CIDR: "cidrpool"}


def ipam_of(settings: Settings, rail: Rail) -> dict[str, Any]:
    """The CNI's ipam section for a rail's network."""
    pool_type = _POOL_TYPES.get(settings.ipam)
    if pool_type is not None:
        # Routes stand in the pools. With both families a pod gets one address of each pool that is named.
        names = ",".join(pool_name(rail, network) for network in networks_of_rail(rail))
        return {"type": "nv-ipam", "poolName": names, "poolType": pool_type}
    routes = [{"dst": route.destination, "gw": route.gateway} for route in routes_of(settings, rail)]
    section: dict[str, Any] = {"type": settings.ipam.value}
    if settings.ipam is Ipam.WHEREABOUTS:
        section |= _ranges(settings, rail)
    return section | ({"routes": routes} if routes else {})


def _ranges(settings: Settings, rail: Rail) -> dict[str, Any]:
    """Write whereabouts' ranges: the router is inside, and only what is excluded is never given to a pod."""
    ranges = [{"range": str(network)} | _excluded(settings, rail, network) for network in networks_of_rail(rail)]
    return ranges[0] if len(ranges) == 1 else {"ipRanges": ranges}


def pool_name(rail: Rail, network: Network) -> str:
    """Name the address pool of a rail for one of its subnets."""
    return rail.network if len(rail.subnets) == 1 else f"{rail.network}-v{network.version}"


def _excluded(settings: Settings, rail: Rail, network: Network) -> dict[str, Any]:
    router = router_of(settings, rail, network)
    excluded = [f"{router}/{network.max_prefixlen}"] if router else []
    excluded += [str(part) for part in _parts(settings, network)]
    return {"exclude": list(dict.fromkeys(excluded))} if excluded else {}


def excluded_in(settings: Settings, network: Network) -> tuple[tuple[str, str], ...]:
    """Give what pods never get of a subnet, as first and last address."""
    return tuple((str(part.network_address), str(part.broadcast_address)) for part in _parts(settings, network))


def _parts(settings: Settings, network: Network) -> list[Network]:
    """Read what is excluded of a subnet; of a prefix that is wider than it, the subnet itself."""
    found = [ipaddress.ip_network(text, strict=False) for text in settings.intent.network.exclude]
    return [part if part.prefixlen >= network.prefixlen else network for part in found if overlap(part, network)]
