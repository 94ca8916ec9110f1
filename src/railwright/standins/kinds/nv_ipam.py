"""
nv-ipam's controller: it gives each node that a pool means a block of the pool's addresses.

Source: Mellanox/network-operator b06827e0, manifests/state-nv-ipam-cni (own namespace only); the form of the pools
is the published definition's (nv-ipam.nvidia.com/v1alpha1 IPPool, 26.4.1). Not recorded from the real controller.
"""

import ipaddress
from datetime import datetime

from railwright.core.kinds import DEPLOYMENT, NODE, NV_IPAM_IP_POOL
from railwright.core.objects import KubeObject, dig, labels_of
from railwright.standins.model import Objects, Write
from railwright.standins.view import find, name_of, of_kind, set_status, term_matches

CONTROLLER = "nv-ipam-controller"


def react(world: Objects, now: datetime) -> tuple[Write, ...]:
    """Allocate blocks in the controller's namespace while it is available; blocks that are given stay."""
    del now
    writes: list[Write] = []
    for pool in of_kind(world, NV_IPAM_IP_POOL):
        controller = find(world, DEPLOYMENT, CONTROLLER, str(dig(pool, "metadata", "namespace", default="")))
        if controller is None or not dig(controller, "status", "availableReplicas", default=0):
            continue
        given = list(dig(pool, "status", "allocations", default=[]))
        wanted = _allocations(pool, given, [node for node in of_kind(world, NODE) if _is_meant(pool, node)])
        if wanted != given:
            writes += set_status(pool, {"allocations": wanted})
    return tuple(writes)


def _is_meant(pool: KubeObject, node: KubeObject) -> bool:
    terms = dig(pool, "spec", "nodeSelector", "nodeSelectorTerms", default=[])
    return not terms or any(term_matches(labels_of(node), term) for term in terms)


def _allocations(pool: KubeObject, given: list[dict[str, str]], nodes: list[KubeObject]) -> list[dict[str, str]]:
    network = ipaddress.ip_network(str(dig(pool, "spec", "subnet")))
    block = int(dig(pool, "spec", "perNodeBlockSize"))
    names = {name_of(node) for node in nodes}
    kept = [item for item in given if item["nodeName"] in names]
    taken = {item["startIP"] for item in kept}
    have = {item["nodeName"] for item in kept}
    start = int(network.network_address) + 1
    for name in sorted(names - have):
        while str(ipaddress.ip_address(start)) in taken:
            start += block
        last = start + block - 1
        if last >= int(network.broadcast_address):
            break
        first, end = str(ipaddress.ip_address(start)), str(ipaddress.ip_address(last))
        kept.append({"nodeName": name, "startIP": first, "endIP": end})
        taken.add(first)
    return kept
