"""
What others on the cluster use already: ports in their device pools and SR-IOV policies, subnets of their pods.

A rail that a pod takes away, or whose functions are set up anew, must not be a port that somebody else hands out.
Source: k8snetworkplumbingwg/sriov-network-device-plugin 40b6f507 and Mellanox/k8s-rdma-shared-dev-plugin 410b0f3
(selectors); Measured: SR-IOV network operator 1.6.0 and its webhook, 2026-11: a second policy on a port is accepted.
"""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from railwright.core import kinds
from railwright.core.foreign_text import parse_json
from railwright.core.marks import is_ours
from railwright.core.objects import KubeObject, dig
from railwright.facts.model import ClusterFacts, LinkLayer, NicPort, NodeFacts
from railwright.intent.model import Method
from railwright.plan.notes import Notes
from railwright.plan.operands import nic_policy
from railwright.plan.rails import NodeRails
from railwright.plan.settings import Settings

_SHARED, _MOVED = "rdmaSharedDevicePlugin", "sriovDevicePlugin"
_POOL_LISTS = {_SHARED: "configList", _MOVED: "resourceList"}
NETWORKS = (
    kinds.MACVLAN_NETWORK,
    kinds.IPOIB_NETWORK,
    kinds.HOST_DEVICE_NETWORK,
    kinds.SRIOV_NETWORK,
    kinds.SRIOV_IB_NETWORK,
)
"""Kinds of which an operator makes a NAD, of the same name."""
_LINK_TYPES = {LinkLayer.ETHERNET: "ether", LinkLayer.INFINIBAND: "infiniband"}


@dataclass(frozen=True)
class _Use:
    """One claim to ports: what it is called, which methods of ours get in its way, and its selectors."""

    what: str
    against: frozenset[Method]
    selectors: tuple[Mapping[str, Any], ...]
    node_labels: Mapping[str, str]


def check_ports(node: NodeFacts, rails: NodeRails, settings: Settings, cluster: ClusterFacts, notes: Notes) -> None:
    """Refuse a node of which a rail is handed out by somebody else in a way that does not go together with ours."""
    for use in _uses(cluster):
        if settings.intent.method not in use.against:
            continue
        if any(node.labels.get(key) != value for key, value in use.node_labels.items()):
            continue
        for rail in rails.rails:
            if any(_fits(rail.port, selectors) for selectors in use.selectors):
                notes.refuse(
                    "port-used-by-others",
                    f"port {rail.port.netdev} ({rail.port.pci}) of {node.name} is in {use.what}, which we did not make, and"
                    f" method {settings.intent.method.value} would take it away",
                    expected="rails that nobody else hands out",
                    seen=use.what,
                    hint="leave the port out of spec.rails, or agree with the owner to take it out there",
                    node=node.name,
                )


def _uses(cluster: ClusterFacts) -> Iterable[_Use]:
    policy = nic_policy(cluster)
    for section, against in ((_SHARED, {Method.HOST_DEVICE, Method.SRIOV}), (_MOVED, set(Method))):
        for pool in _pools(policy, section):
            name = f"pool {pool.get('resourceName', '')} of the NicClusterPolicy"
            selectors = pool.get("selectors") or {}
            several = selectors if isinstance(selectors, list) else [selectors]
            yield _Use(name, frozenset(against), tuple(several), {})
    for item in cluster.of_kind(kinds.SRIOV_NETWORK_NODE_POLICY):
        selector = dig(item, "spec", "nicSelector", default={})
        if not is_ours(item) and selector:
            name = f"SriovNetworkNodePolicy {item['metadata']['name']}"
            labels = dig(item, "spec", "nodeSelector", default={})
            yield _Use(name, frozenset({Method.HOST_DEVICE, Method.SRIOV}), (_as_pool(selector),), labels)


def pool_names(policy: KubeObject) -> tuple[str, ...]:
    """Name every device pool of a NicClusterPolicy."""
    return tuple(str(pool.get("resourceName", "")) for section in _POOL_LISTS for pool in _pools(policy, section))


def _pools(policy: KubeObject | None, section: str) -> list[Mapping[str, Any]]:
    """Read the pools of a section; text that cannot be read holds none, and is refused where it is merged."""
    try:
        found = parse_json(dig(policy, "spec", section, "config", default="{}"))
    except ValueError:
        return []
    pools = found.get(_POOL_LISTS[section]) if isinstance(found, dict) else None
    return [pool for pool in pools or () if isinstance(pool, dict)]


def _as_pool(selector: Mapping[str, Any]) -> Mapping[str, Any]:
    """Spell a policy's nicSelector as the plugins spell theirs."""
    return {
        "vendors": [selector["vendor"]] if selector.get("vendor") else [],
        "deviceIDs": [selector["deviceID"]] if selector.get("deviceID") else [],
        "rootDevices": selector.get("rootDevices") or [],
        "pfNames": [str(name).partition("#")[0] for name in selector.get("pfNames") or []],
    }


def _fits(port: NicPort, selectors: Mapping[str, Any]) -> bool:
    """Whether a port may be meant: every selector that is known fits, and one that is not known narrows nothing."""
    have = {
        "vendors": port.vendor_id,
        "devices": port.device_id,
        "deviceIDs": port.device_id,
        "drivers": port.driver,
        "ifNames": port.netdev,
        "pfNames": port.netdev,
        "pciAddresses": port.pci,
        "rootDevices": port.pci,
        "linkTypes": _LINK_TYPES.get(port.link_layer),
    }
    wanted = {key: values for key, values in selectors.items() if isinstance(values, list) and values}
    names = {key: [str(value).partition("#")[0] for value in values] for key, values in wanted.items()}
    return all(have[key] is None or have[key] in values for key, values in names.items() if key in have)


def subnets_in_use(cluster: ClusterFacts) -> tuple[tuple[str, str], ...]:
    """List subnets that pods of others get addresses of, each with who says so."""
    pools = ((kinds.NV_IPAM_IP_POOL, "subnet"), (kinds.NV_IPAM_CIDR_POOL, "cidr"))
    theirs = [
        (item, str(dig(item, "spec", field, default=""))) for kind, field in pools for item in cluster.of_kind(kind)
    ]
    for kind in NETWORKS:
        for item in cluster.of_kind(kind):
            theirs += [(item, subnet) for subnet in _ranges(str(dig(item, "spec", "ipam", default="")))]
    found = [(subnet, f"{item['kind']} {item['metadata']['name']}") for item, subnet in theirs if not is_ours(item)]
    return tuple((subnet, owner) for subnet, owner in found if _is_subnet(subnet))


def _ranges(text: str) -> list[str]:
    """Find the prefixes in a CNI's ipam section: "192.168.2.225/28", or "10.1.0.2-10.1.0.9/24" of whereabouts."""
    try:
        section = parse_json(text or "{}")
    except ValueError:
        return []
    if not isinstance(section, dict):
        return []
    several = section.get("ipRanges") or []
    entries = [section, *(item for item in several if isinstance(item, dict))]
    values = [entry.get(key) for entry in entries for key in ("range", "subnet")]
    return [str(value).rpartition("-")[2] for value in values if value]


def _is_subnet(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True
