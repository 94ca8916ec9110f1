"""Names of what a fabric makes, and the one netdev name that a selector needs for a rail."""

from railwright.core.ids import NetDevice, NodeName
from railwright.facts.model import NodeHardware
from railwright.plan.model import Rail
from railwright.plan.notes import Notes
from railwright.plan.settings import Settings

LINK_TYPE = {False: "ether", True: "infiniband"}
"""
Netlink's names, which both device plugins compare with, to the letter.

Source: k8snetworkplumbingwg/sriov-network-device-plugin 40b6f507, pkg/devices/gen_net.go:92-96 (2026-06-25).
"""


def resource_name(settings: Settings, rail: Rail) -> str:
    """Resource name without its prefix: letters, digits and underscores, as every plugin takes it."""
    return f"{settings.stem}_{rail.name.replace('-', '_')}"


def mirrored(repository: str, registry: str | None) -> str:
    """Put a mirror in the place of the registry: nvcr.io/nvidia/mellanox -> MIRROR/nvidia/mellanox; none changes nothing."""
    return f"{registry}/{repository.partition('/')[2]}" if registry and repository else repository


def netdevs(rail: Rail) -> tuple[NetDevice, ...]:
    """Names that a rail has on its nodes, sorted."""
    return tuple(sorted({port.netdev for port in rail.ports}))


def one_master(settings: Settings, rail: Rail, notes: Notes) -> NetDevice:
    """
    Give the name of a rail's netdev, which a macvlan or IPoIB network names once for all nodes.

    Refuses the plan when nodes differ in it.
    """
    names = netdevs(rail)
    if len(names) > 1:
        notes.refuse(
            "rail-names-differ",
            f"{rail.name} of {settings.name} is called {', '.join(names)} on different nodes, and a "
            f"{'IPoIBNetwork' if settings.is_infiniband else 'MacvlanNetwork'} names one",
            expected="one name on all nodes",
            seen=", ".join(names),
            hint="one RailFabric for each group of nodes (spec.nodes), or method sriov, which selects by group",
        )
    return names[0] if names else NetDevice("")


def refuse_ambiguous(settings: Settings, rail: Rail, hardware: dict[NodeName, NodeHardware], notes: Notes) -> None:
    """Refuse a selector by name that would fit a second port of some node."""
    names = set(netdevs(rail))
    for port in rail.ports:
        others = (
            [
                item.netdev
                for item in hardware[port.node].ports
                if item.netdev in names and item.pci != port.pci and item.netdev is not None
            ]
            if port.node in hardware
            else []
        )
        if others:
            notes.refuse(
                "rail-selector-ambiguous",
                f"{rail.name} of {settings.name} is selected by the names {', '.join(sorted(names))}, which on "
                f"{port.node} also fit {', '.join(others)}",
                expected="exactly one port a node",
                seen=", ".join(sorted({port.netdev, *others})),
                hint="one RailFabric for each group of nodes (spec.nodes)",
            )


def network_name(rail: Rail, namespace: str, namespaces: tuple[str, ...]) -> str:
    """
    Name a rail's network object and NAD for one workload namespace.

    The kinds are cluster-scoped, or live in their operator's namespace: with several workload namespaces each needs a
    name of its own.
    """
    return rail.network if len(namespaces) == 1 else f"{rail.network}-{namespace}"
