"""A login that may do what some roles say and nothing else, for a bed with stand-ins."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from support.bed_world import Bed, FasterCluster

from railwright.adapters.clock import RealClock
from railwright.adapters.kubeconfig import read_login
from railwright.adapters.nodes import ExecNodes
from railwright.adapters.transport import Transport
from railwright.core.ids import NodeName
from railwright.core.objects import KubeObject, ref_of
from railwright.lab.controlplane.client import Answered
from railwright.lab.controlplane.plane import Plane
from railwright.ports.cluster import Cluster
from railwright.ports.node import Node, NodeAnswer
from railwright.ports.world import World

_EXISTS = 409
_EFFECT_S = 0.3
"""Roles take effect when the API server's own watch has them."""
HOME = "default"


@dataclass(frozen=True)
class AskingNode:
    """Asks the API server for the way in, as on a cluster, where no kubelet answers; then a made-up machine does."""

    cluster: Cluster
    inside: Node

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
        tried = await ExecNodes(self.cluster).read(node, script, timeout_s=timeout_s)
        return tried if "may not" in tried.problem else await self.inside.read(node, script, timeout_s=timeout_s)


def user_of(account: str) -> str:
    return f"system:serviceaccount:{HOME}:{account}"


def subject_of(account: str) -> str:
    return f"ServiceAccount:{HOME}/{account}"


async def put(bed: Bed, objects: Iterable[KubeObject]) -> None:
    """Create objects that may be there already."""
    for obj in objects:
        try:
            await bed.client.create(obj, ref_of(obj))
        except Answered as answer:
            if answer.status_code != _EXISTS:
                raise


@asynccontextmanager
async def limited(plane: Plane, bed: Bed, account: str, objects: Iterable[KubeObject]) -> AsyncIterator[World]:
    """Log in as an account that has exactly these roles."""
    them = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account, "namespace": HOME}}
    await put(bed, [them, *objects])
    token = await bed.client.token_of(HOME, account)
    await RealClock().sleep(_EFFECT_S)
    login = read_login(None, {"KUBECONFIG": str(plane.kubeconfig)}, Path("/nonexistent"))
    cluster = FasterCluster(login.name, Transport(replace(login, token=token)), bed.time)
    try:
        yield World(cluster, AskingNode(cluster, bed.world.node), bed.time)
    finally:
        await cluster.close()
