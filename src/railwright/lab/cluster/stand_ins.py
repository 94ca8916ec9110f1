"""
Who is played on the virtual cluster by watch; everything that they start is real.

The stand-ins are the simulator's: they read objects and answer with DaemonSets, ConfigMaps and NADs. Here their DaemonSets
run real device plugins, with the real ConfigMaps, in pods of real kubelets (operands.py). The operators' own Deployments
live on a made-up node (KWOK), so that they count as running and take no emulated processor.

Two kinds of cluster: one on which NVIDIA's Network Operator is there already, to try things by hand; and a bare OpenShift
cluster, for `railwright apply` to do its whole job on.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from railwright.core import kinds
from railwright.core.errors import ClusterUnreachable
from railwright.core.ids import NodeName
from railwright.core.kinds import DEPLOYMENT, NAMESPACE, NODE
from railwright.core.objects import Kind, KubeObject, Ref
from railwright.lab.cluster.images import PAUSE
from railwright.lab.cluster.openshift import devices_of, platform_objects
from railwright.lab.cluster.operands import MARK, OPERATORS_NODE, real_operands
from railwright.lab.cluster.plugins import CONTROLLER_REVISION, react_gpus, react_revisions
from railwright.lab.cluster.shape import Shape
from railwright.lab.controlplane.actors import Actors, acting
from railwright.lab.controlplane.client import Answered, PlaneClient
from railwright.lab.controlplane.definitions import named_kinds
from railwright.lab.controlplane.faster_time import FasterTime
from railwright.lab.controlplane.plane import Plane
from railwright.lab.controlplane.pods import KWOK_MARK, running_kwok
from railwright.lab.controlplane.seed import seed
from railwright.standins.all import STANDINS
from railwright.standins.kinds import network_operator, networks
from railwright.standins.model import React
from railwright.standins.operators import NETWORK

_REAL = frozenset({"deployment-controller", "daemon-set-controller", "kubelet", "multus"})
"""Nobody plays these: kube-controller-manager, kubelets and Multus are there."""
_UNFOLLOWED = frozenset({kinds.EVENT, kinds.SECRET})
NOT_SERVED = frozenset({kinds.NODE_NETWORK_CONFIGURATION_POLICY})
"""Nobody plays nmstate: a plan must not choose it."""


@asynccontextmanager
async def playing(kwok: Path, plane: Plane, client: PlaneClient, shape: Shape) -> AsyncIterator[Actors]:
    """
    Play operators for the length of a block, on a plane that serves their kinds.

    Args:
        kwok: the folder that ensure_programs gave for KWOK_PROGRAMS.

    Raises:
        ClusterUnreachable: the API server refuses what the cluster begins with.
    """
    async with running_kwok(kwok, plane):
        refused = await seed(client, beginning(shape))
        if refused:
            raise ClusterUnreachable(f"the virtual cluster has no beginning: {'; '.join(refused)}")
        await client.merge(Ref(NODE, "", OPERATORS_NODE), {"status": {"capacity": {"pods": "50"}}}, status=True)
        actors = Actors(client, played(shape), devices_of(shape), FasterTime(1.0))
        async with acting(actors, await _followed(client)):
            yield actors


def beginning(shape: Shape) -> tuple[KubeObject, ...]:
    """Give what is there before anybody does anything: the made-up node, and OpenShift or the one operator."""
    return (_operators_node(), *(platform_objects() if shape.bare else _network_operator()))


def played(shape: Shape) -> tuple[tuple[str, React], ...]:
    """Name who is played, and how."""
    if not shape.bare:
        return (
            ("network-operator", real_operands(network_operator.react)),
            ("network-operator-networks", networks.react_nvidia),
        )
    return (
        ("daemon-set-revisions", react_revisions),
        *((name, real_operands(react)) for name, react in STANDINS if name not in _REAL),
        ("gpu-device-plugin", react_gpus),
    )


async def _followed(client: PlaneClient) -> list[Kind]:
    """Give every kind that is served and that some stand-in may ask for."""
    served = []
    for kind in (*named_kinds(), CONTROLLER_REVISION):
        try:
            await client.resource(kind)
        except Answered:
            continue
        served.append(kind)
    return [kind for kind in served if kind not in _UNFOLLOWED]


def _operators_node() -> KubeObject:
    roles = {f"node-role.kubernetes.io/{role}": "" for role in ("control-plane", "master")}
    return {
        "apiVersion": NODE.api_version,
        "kind": NODE.kind,
        "metadata": {"name": OPERATORS_NODE, "labels": roles, "annotations": {**MARK, **KWOK_MARK}},
        "spec": {"taints": [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]},
    }


def _network_operator() -> tuple[KubeObject, ...]:
    """Give NVIDIA's Network Operator as its chart leaves it: a namespace, and a Deployment that runs."""
    name = NETWORK.deployments[0]
    labels = {"app": name}
    pod: dict[str, Any] = {
        "nodeName": NodeName(OPERATORS_NODE),
        "containers": [{"name": "manager", "image": PAUSE}],
    }
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    return (
        {"apiVersion": NAMESPACE.api_version, "kind": NAMESPACE.kind, "metadata": {"name": NETWORK.namespace}},
        {
            "apiVersion": DEPLOYMENT.api_version,
            "kind": DEPLOYMENT.kind,
            "metadata": {"name": name, "namespace": NETWORK.namespace, "annotations": MARK, "labels": labels},
            "spec": spec,
        },
    )
