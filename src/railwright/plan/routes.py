"""
Routers and routes of rails: each route is made where its router can be reached, and nowhere else.

A pod whose interface gets a route through a router that it cannot reach does not start.
Source: containernetworking/plugins 8f32968f, pkg/ipam/ipam_linux.go (ConfigureIface); Mellanox/nvidia-k8s-ipam 3ce4a34,
api/v1alpha1 (one router a pool; a route without one is refused).
"""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

from railwright.intent.model import Ipam, Route
from railwright.plan.model import Rail
from railwright.plan.notes import Notes
from railwright.plan.settings import Settings
from railwright.plan.subnets import Network


@dataclass(frozen=True)
class RailRoute:
    """A route on one rail; `gateway` is empty where it is each node's own router."""

    destination: str
    gateway: str


def first_address(network: Network) -> str:
    """Give the address that routers of rails have."""
    return str(ipaddress.ip_address(int(network.network_address) + 1))


def networks_of_rail(rail: Rail) -> tuple[Network, ...]:
    """Read a rail's subnets: one, or one of each family."""
    return tuple(ipaddress.ip_network(text) for text in rail.subnets)


def routes_of(settings: Settings, rail: Rail) -> tuple[RailRoute, ...]:
    """Choose the routes that pods get on a rail."""
    own = networks_of_rail(rail)
    found = (_on_rail(route, own, settings) for route in settings.intent.network.routes)
    return tuple(route for route in found if route is not None)


def _on_rail(route: Route, own: tuple[Network, ...], settings: Settings) -> RailRoute | None:
    version = ipaddress.ip_network(route.destination).version
    network = next((item for item in own if item.version == version), None)
    if network is None:
        return None
    if route.gateway is not None:
        reached = ipaddress.ip_address(route.gateway) in network
        return RailRoute(route.destination, route.gateway) if reached else None
    return RailRoute(route.destination, "" if settings.ipam is Ipam.NV_IPAM_CIDR else first_address(network))


def router_of(settings: Settings, rail: Rail, network: Network) -> str:
    """Name the router of a rail's subnet; empty when there is none. Several are refused by check_routes."""
    if settings.intent.network.gateway:
        return first_address(network)
    return next(iter(_routers(settings, rail, network)), "")


def check_routes(settings: Settings, rails: Iterable[Rail], notes: Notes) -> None:
    """Refuse routes that no rail can take, and more routers than a pool knows; warn of one way over several rails."""
    rails = tuple(rails)
    for index, route in enumerate(settings.intent.network.routes):
        where = str(settings.intent.place(f"spec.network.routes[{index}]") or settings.name)
        on = [rail for rail in rails if _on_rail(route, networks_of_rail(rail), settings) is not None]
        if rails and not on:
            notes.refuse(
                "route-reaches-no-rail",
                f"the route to {route.destination} fits no rail of {settings.name}",
                where=where,
                expected="a router inside a rail's subnet, of the destination's family",
                seen=f"{route.gateway or 'the first address'}; rails have {', '.join(rails[0].subnets) or 'none'} ...",
                hint="name a router that a rail can reach, or leave the route out",
            )
        if len(on) > 1:
            notes.warn(
                "route-over-several-rails",
                f"pods reach {route.destination} over {len(on)} rails: RoCE keeps to the rail of its address, but what the"
                " kernel routes itself (ping, TCP) takes the first and may be dropped on its way back (rp_filter)",
                settings.name,
            )
    if settings.ipam is Ipam.NV_IPAM:
        for rail in rails:
            _check_routers(settings, rail, notes)


def _check_routers(settings: Settings, rail: Rail, notes: Notes) -> None:
    for network in networks_of_rail(rail):
        routers = _routers(settings, rail, network)
        if settings.intent.network.gateway:
            routers = tuple(dict.fromkeys((first_address(network), *routers)))
        if len(routers) > 1:
            notes.refuse(
                "several-routers",
                f"rail {rail.name} has {len(routers)} routers, and an nv-ipam pool knows one",
                where=str(settings.intent.place("spec.network.routes") or settings.name),
                expected="one router a rail",
                seen=", ".join(routers),
                hint="one router for all routes of a rail, or spec.network.ipam: whereabouts",
            )


def _routers(settings: Settings, rail: Rail, network: Network) -> tuple[str, ...]:
    """Routers that routes of a rail name, in one of its subnets, each once."""
    named = (route.gateway for route in routes_of(settings, rail) if route.gateway)
    return tuple(dict.fromkeys(text for text in named if ipaddress.ip_address(text) in network))
