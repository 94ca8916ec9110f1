"""
Node objects without machines: labels, capacity and allocatable, as a kubelet would have written them.

The API server has no opinion on whether a machine is behind a Node; device plugins are played by stand-ins.
"""

from collections.abc import Mapping

from railwright.core.ids import NodeName
from railwright.core.kinds import NODE
from railwright.core.objects import KubeObject, Ref
from railwright.lab.controlplane.client import PlaneClient

_BASE = {"cpu": "128", "memory": "2Ti", "pods": "250"}
_READY = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "no kubelet: an object only"}


def node_object(name: NodeName, *, labels: Mapping[str, str] | None = None) -> KubeObject:
    """Make a worker that is ready."""
    return {
        "apiVersion": NODE.api_version,
        "kind": NODE.kind,
        "metadata": {"name": name, "labels": {"node-role.kubernetes.io/worker": "", **(labels or {})}},
        "status": {"capacity": dict(_BASE), "allocatable": dict(_BASE), "conditions": [_READY]},
    }


async def set_allocatable(client: PlaneClient, name: NodeName, resources: Mapping[str, str | None]) -> KubeObject:
    """Say how many of each resource a node has, as its kubelet would; None takes a resource away."""
    patch = {"status": {"capacity": dict(resources), "allocatable": dict(resources)}}
    return await client.merge(Ref(NODE, "", name), patch, status=True)
