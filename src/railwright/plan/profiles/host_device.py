"""Host device: the port itself is moved into one pod, given out by the SR-IOV network device plugin."""

from railwright.core.ids import FabricName, NodeName
from railwright.facts.model import NodeHardware
from railwright.plan.model import DevicePool, NetworkShare, Rail
from railwright.plan.names import LINK_TYPE, netdevs, network_name, refuse_ambiguous, resource_name
from railwright.plan.network import ipam_of
from railwright.plan.notes import Notes
from railwright.plan.settings import Settings

RESOURCE_PREFIX = "nvidia.com"
"""HostDeviceNetwork's controller writes it itself, so no other works. Measured: Network Operator 26.4.1, 2026-11."""


def pools(
    settings: Settings, rails: tuple[Rail, ...], hardware: dict[NodeName, NodeHardware], notes: Notes
) -> tuple[DevicePool, ...]:
    """One resource a rail; by name and link type, so that no port of the node's own can slip in."""
    found = []
    for rail in rails:
        refuse_ambiguous(settings, rail, hardware, notes)
        selectors = {
            "vendors": ["15b3"],
            "pfNames": list(netdevs(rail)),
            "linkTypes": [LINK_TYPE[settings.is_infiniband]],
            "isRdma": True,
        }
        found.append(DevicePool(resource_name(settings, rail), RESOURCE_PREFIX, selectors, FabricName(settings.name)))
    return tuple(found)


def networks(settings: Settings, rails: tuple[Rail, ...], namespaces: tuple[str, ...]) -> tuple[NetworkShare, ...]:
    """One network a rail and namespace."""
    return tuple(
        NetworkShare(
            kind="HostDeviceNetwork",
            name=network_name(rail, namespace, namespaces),
            namespace="",
            target_namespace=namespace,
            nad=network_name(rail, namespace, namespaces),
            rail=rail.name,
            fabric=FabricName(settings.name),
            master="",
            resource=resource_name(settings, rail),
            mtu_bytes=None,
            ipam=ipam_of(settings, rail),
        )
        for rail in rails
        for namespace in namespaces
    )
