"""
Put the objects of a world on a control plane: namespaces first, then what is cluster-wide, then the rest.

Nodes are only objects here: labels, capacity and allocatable are written as they are given, and no kubelet contradicts.
Pods of a DaemonSet are left to whoever plays its controller: a copy would belong to nobody here, and stand beside theirs.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from railwright.core.kinds import NAMESPACE, POD
from railwright.core.objects import KubeObject, dig, ref_of
from railwright.lab.controlplane.client import Answered, PlaneClient

_SERVERS_OWN = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "managedFields",
    "selfLink",
    "ownerReferences",
)
"""Metadata that the API server gives, or that names objects by a uid of the other world."""
_EXISTS = 409


async def seed(client: PlaneClient, objects: Iterable[KubeObject]) -> tuple[str, ...]:
    """
    Create every object with its status, but for pods of DaemonSets.

    Returns:
        What the API server refused, a line an object; empty when all are there.
    """
    refused: list[str] = []
    for obj in sorted(objects, key=_order):
        ref = ref_of(obj)
        if _is_of_daemon_set(obj):
            continue
        try:
            await client.create(without_servers_own(obj), ref)
        except Answered as answer:
            if answer.status_code != _EXISTS:
                refused.append(f"{ref}: {answer}")
    return tuple(refused)


def without_servers_own(obj: KubeObject) -> KubeObject:
    """Copy an object without what its former API server wrote into its metadata."""
    metadata: Mapping[str, Any] = obj["metadata"]
    return {**obj, "metadata": {key: value for key, value in metadata.items() if key not in _SERVERS_OWN}}


def _is_of_daemon_set(obj: KubeObject) -> bool:
    owners = dig(obj, "metadata", "ownerReferences", default=())
    return ref_of(obj).kind == POD and any(owner["kind"] == "DaemonSet" for owner in owners)


def _order(obj: KubeObject) -> tuple[int, str]:
    ref = ref_of(obj)
    rank = 0 if ref.kind == NAMESPACE else 1 if not ref.namespace else 2
    return rank, str(ref)
