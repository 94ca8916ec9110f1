"""
nv-ipam's controller: it gives each node that a pool means a block of the pool's addresses, or a subnet of its own.

Source: Mellanox/network-operator b06827e0, manifests/state-nv-ipam-cni (own namespace only); the form of the pools
is the published definitions' (nv-ipam.nvidia.com/v1alpha1 IPPool and CIDRPool, 26.4.1). Not recorded from the real
controller.
"""

import ipaddress
from datetime import datetime

from railwright.core.kinds import DEPLOYMENT, NODE, NV_IPAM_CIDR_POOL, NV_IPAM_IP_POOL
from railwright.core.objects import KubeObject, dig, labels_of
from railwright.standins.model import Objects, Write
from railwright.standins.view import find, name_of, of_kind, set_status, term_matches

CONTROLLER = "nv-ipam-controller"


def react(world: Objects, now: datetime) -> tuple[Write, ...]:
    """Allocate in the controller's namespace while it is available; what is given stays."""
    del now
    writes: list[Write] = []
    for pool in (*of_kind(world, NV_IPAM_IP_POOL), *of_kind(world, NV_IPAM_CIDR_POOL)):
        controller = find(world, DEPLOYMENT, CONTROLLER, str(dig(pool, "metadata", "namespace", default="")))
        if controller is None or not dig(controller, "status", "availableReplicas", default=0):
            continue
        given = list(dig(pool, "status", "allocations", default=[]))
        names = {name_of(node) for node in of_kind(world, NODE) if _is_meant(pool, node)}
        kept = [item for item in given if item["nodeName"] in names]
        new = sorted(names - {item["nodeName"] for item in kept})
        wanted = _blocks(pool, kept, new) if pool["kind"] == NV_IPAM_IP_POOL.kind else _subnets(pool, kept, new)
        if wanted != given:
            writes += set_status(pool, {"allocations": wanted})
    return tuple(writes)


def _is_meant(pool: KubeObject, node: KubeObject) -> bool:
    terms = dig(pool, "spec", "nodeSelector", "nodeSelectorTerms", default=[])
    return not terms or any(term_matches(labels_of(node), term) for term in terms)


def _blocks(pool: KubeObject, kept: list[dict[str, str]], names: list[str]) -> list[dict[str, str]]:
    network = ipaddress.ip_network(str(dig(pool, "spec", "subnet")))
    block = int(dig(pool, "spec", "perNodeBlockSize"))
    taken = {item["startIP"] for item in kept}
    start = int(network.network_address) + 1
    for name in names:
        while str(ipaddress.ip_address(start)) in taken:
            start += block
        last = start + block - 1
        if last >= int(network.broadcast_address):
            break
        first, end = str(ipaddress.ip_address(start)), str(ipaddress.ip_address(last))
        kept.append({"nodeName": name, "startIP": first, "endIP": end})
        taken.add(first)
    return kept


def _subnets(pool: KubeObject, kept: list[dict[str, str]], names: list[str]) -> list[dict[str, str]]:
    cidr = ipaddress.ip_network(str(dig(pool, "spec", "cidr")))
    taken = {item["prefix"] for item in kept}
    free = (str(net) for net in cidr.subnets(new_prefix=int(dig(pool, "spec", "perNodeNetworkPrefix"))))
    index = dig(pool, "spec", "gatewayIndex")
    for name in names:
        prefix = next((text for text in free if text not in taken), None)
        if prefix is None:
            break
        kept.append({"nodeName": name, "prefix": prefix} | _router(prefix, index))
        taken.add(prefix)
    return kept


def _router(prefix: str, index: int | None) -> dict[str, str]:
    if index is None:
        return {}
    network = ipaddress.ip_network(prefix)
    return {"gateway": str(ipaddress.ip_address(int(network.network_address) + index))}
