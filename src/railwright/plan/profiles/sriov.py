"""SR-IOV legacy: each pod gets a virtual function, made and given out by the SR-IOV operator."""

from typing import Any

from railwright.core.ids import FabricName
from railwright.plan.model import (
    ADMITTED,
    Group,
    NetworkShare,
    Rail,
    SriovPolicyShare,
    SriovPoolShare,
    fabric_label,
    group_label,
)
from railwright.plan.names import network_name, resource_name
from railwright.plan.network import ipam_of
from railwright.plan.nodes import CONNECTX_VENDOR
from railwright.plan.settings import Settings

RESOURCE_PREFIX = "openshift.io"


def policies(
    settings: Settings, rails: tuple[Rail, ...], groups: tuple[Group, ...], namespace: str, priority: int
) -> tuple[SriovPolicyShare, ...]:
    """One policy a rail and group: nodes of a group call the rail by one name."""
    fabric = FabricName(settings.name)
    found = []
    for group in groups:
        for rail in rails:
            port = next((port for port in rail.ports if port.node in group.nodes), None)
            if port is None:
                continue
            labels = {fabric_label(fabric): ADMITTED}
            if len(groups) > 1:
                labels[group_label(fabric)] = group.name
            suffix = f"-{group.name}" if len(groups) > 1 else ""
            found.append(
                SriovPolicyShare(
                    name=f"{rail.network}{suffix}",
                    namespace=namespace,
                    resource=resource_name(settings, rail),
                    node_labels=labels,
                    pf_names=(f"{port.netdev}#0-{settings.vfs - 1}",),
                    root_devices=(port.pci,) if port.pci else (),
                    vendor=CONNECTX_VENDOR,
                    vfs=settings.vfs,
                    mtu_bytes=settings.mtu_bytes,
                    link_type="ib" if settings.is_infiniband else "eth",
                    priority=priority,
                    fabric=fabric,
                )
            )
    return tuple(found)


def node_pool(settings: Settings, namespace: str, max_unavailable: int) -> SriovPoolShare:
    """How many nodes drain at once, and the RDMA mode where isolation was asked for."""
    fabric = FabricName(settings.name)
    return SriovPoolShare(
        name=settings.name,
        namespace=namespace,
        node_labels={fabric_label(fabric): ADMITTED},
        max_unavailable=max_unavailable,
        rdma_mode="exclusive" if settings.intent.rdma_isolation else "",
        fabric=fabric,
    )


def networks(
    settings: Settings, rails: tuple[Rail, ...], namespaces: tuple[str, ...], namespace: str
) -> tuple[NetworkShare, ...]:
    """One network a rail and workload namespace; a partition key needs a NAD by hand, as the kind has no field for it."""
    network = settings.intent.network
    by_hand = settings.is_infiniband and (network.pkey is not None or network.guid == "pool")
    shares = []
    for rail in rails:
        for target in namespaces:
            kind = (
                "NetworkAttachmentDefinition"
                if by_hand
                else "SriovIBNetwork"
                if settings.is_infiniband
                else "SriovNetwork"
            )
            name = network_name(rail, target, namespaces)
            shares.append(
                NetworkShare(
                    kind=kind,
                    name=name,
                    namespace=target if by_hand else namespace,
                    target_namespace=target,
                    nad=name,
                    rail=rail.name,
                    fabric=FabricName(settings.name),
                    master="",
                    resource=resource_name(settings, rail),
                    mtu_bytes=None,
                    ipam=ipam_of(settings, rail),
                    settings=_settings(settings, by_hand=by_hand),
                )
            )
    return tuple(shares)


def _settings(settings: Settings, *, by_hand: bool) -> dict[str, Any]:
    network = settings.intent.network
    found: dict[str, Any] = {"link_state": "enable" if settings.is_infiniband else "auto"}
    if by_hand:
        if network.pkey is not None:
            found["pkey"] = network.pkey
        if network.guid == "pool":
            found["ib_kubernetes"] = True
        if settings.intent.rdma_isolation:
            found["rdma_isolation"] = True
        return found
    if network.vlan is not None and not settings.is_infiniband:
        found["vlan"] = network.vlan
    if settings.intent.rdma_isolation:
        found["meta_plugins"] = {"type": "rdma"}
    return found
