"""Shared device: many pods on a port, through the RDMA shared device plugin, with a macvlan or IPoIB child each."""

from railwright.core.ids import FabricName, NodeName
from railwright.facts.model import NodeHardware
from railwright.plan.model import DevicePool, NetworkShare, Rail
from railwright.plan.names import LINK_TYPE, netdevs, network_name, one_master, refuse_ambiguous, resource_name
from railwright.plan.network import ipam_of
from railwright.plan.notes import Notes
from railwright.plan.settings import Settings

RESOURCE_PREFIX = "rdma"
"""
The plugin's own default; the operator's webhook refuses it when it is written out.

Source: Mellanox/network-operator b06827e0, api/v1alpha1/validator/nicpolicy_webhook.go:53-54 (2026-08-19).
"""


def pools(
    settings: Settings, rails: tuple[Rail, ...], hardware: dict[NodeName, NodeHardware], notes: Notes
) -> tuple[DevicePool, ...]:
    """One resource a rail, selecting exactly one port a node."""
    found = []
    for rail in rails:
        refuse_ambiguous(settings, rail, hardware, notes)
        selectors = {"ifNames": list(netdevs(rail)), "linkTypes": [LINK_TYPE[settings.is_infiniband]]}
        found.append(DevicePool(resource_name(settings, rail), "", selectors, FabricName(settings.name), settings.pods))
    return tuple(found)


def networks(
    settings: Settings, rails: tuple[Rail, ...], namespaces: tuple[str, ...], notes: Notes
) -> tuple[NetworkShare, ...]:
    """One network a rail and namespace, over the very port of the rail's resource."""
    return tuple(
        NetworkShare(
            kind="IPoIBNetwork" if settings.is_infiniband else "MacvlanNetwork",
            name=network_name(rail, namespace, namespaces),
            namespace="",
            target_namespace=namespace,
            nad=network_name(rail, namespace, namespaces),
            rail=rail.name,
            fabric=FabricName(settings.name),
            master=master,
            resource="",
            mtu_bytes=None if settings.is_infiniband else settings.mtu_bytes,
            ipam=ipam_of(settings, rail),
        )
        for rail, master in [(rail, one_master(settings, rail, notes)) for rail in rails]
        for namespace in namespaces
    )
