"""
What Multus writes on a pod that joined its networks: network-status, with an interface and addresses a network.

It is written once a pod runs and its NetworkAttachmentDefinitions are there. Addresses are of no pool: they only differ.
Source: Network Plumbing Working Group, "Kubernetes Network Custom Resource Definition De-facto Standard" 1.3, section 5.
Measured: Multus 4.2.3, form of the annotation, 2026-11.
"""

import json
from datetime import datetime
from typing import Any

from railwright.core.kinds import NETWORK_ATTACHMENT_DEFINITION, NODE, POD
from railwright.core.multus import NETWORK_STATUS, NETWORKS
from railwright.core.objects import annotations_of, dig
from railwright.standins.model import Objects, Write
from railwright.standins.view import find, is_leaving, is_pod_ready, merge, name_of, node_of, of_kind, set_status


def react(world: Objects, now: datetime) -> tuple[Write, ...]:
    """Write the status of pods that run and have none."""
    del now
    writes: list[Write] = []
    nodes = sorted(name_of(node) for node in of_kind(world, NODE))
    for pod in of_kind(world, POD):
        wanted = annotations_of(pod).get(NETWORKS, "")
        if not wanted or NETWORK_STATUS in annotations_of(pod) or not is_pod_ready(pod) or is_leaving(pod):
            continue
        namespace = str(pod["metadata"]["namespace"])
        networks = [name.strip().rpartition("/")[2] for name in wanted.split(",")]
        if any(find(world, NETWORK_ATTACHMENT_DEFINITION, name, namespace) is None for name in networks):
            continue
        number = nodes.index(node_of(pod)) + 1 if node_of(pod) in nodes else 0
        writes += merge(
            pod, {"metadata": {"annotations": {NETWORK_STATUS: json.dumps(_status(namespace, networks, number))}}}
        )
        if not dig(pod, "status", "podIP"):
            writes += set_status(pod, {"podIP": f"10.128.{number}.10"})
    return tuple(writes)


def _status(namespace: str, networks: list[str], number: int) -> list[dict[str, Any]]:
    own = {"name": "ovn-kubernetes", "interface": "eth0", "ips": [f"10.128.{number}.10"], "default": True, "dns": {}}
    joined = [
        {
            "name": f"{namespace}/{network}",
            "interface": f"net{index + 1}",
            "ips": [f"192.168.{index}.{number}"],
            "dns": {},
        }
        for index, network in enumerate(networks)
    ]
    return [own, *joined]
