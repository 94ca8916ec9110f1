"""
NVIDIA's Network Operator, played on the virtual cluster by watch; everything that it starts is real.

The stand-in is the simulator's: it reads NicClusterPolicy and network objects and answers with DaemonSets, ConfigMaps and
NADs. Here its DaemonSet runs the real shared device plugin, with the real ConfigMap, in pods of real kubelets. Operands whose
images cannot run here are pods that only wait. The operator's own Deployment lives on a made-up node (KWOK), so that it
counts as running and takes no emulated processor.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from railwright.core import kinds
from railwright.core.ids import NodeName
from railwright.core.kinds import DAEMON_SET, DEPLOYMENT, NAMESPACE, NODE
from railwright.core.objects import KubeObject, Ref, dig, ref_of
from railwright.lab.cluster.images import PAUSE, SHARED_DEVICE_PLUGIN
from railwright.lab.controlplane.actors import Actors, acting
from railwright.lab.controlplane.client import PlaneClient
from railwright.lab.controlplane.faster_time import FasterTime
from railwright.lab.controlplane.plane import Plane
from railwright.lab.controlplane.pods import KWOK_MARK, running_kwok
from railwright.standins.kinds import network_operator, networks
from railwright.standins.model import Objects, React, Write
from railwright.standins.operators import NETWORK

MARK = {"railwright.dev/stand-in": "played by the virtual cluster"}
_OPERATORS_NODE = "operators"
_FOLLOWED = (
    *(kinds.NODE, kinds.POD, kinds.NAMESPACE, kinds.CONFIG_MAP, kinds.DAEMON_SET, kinds.DEPLOYMENT),
    *(kinds.NIC_CLUSTER_POLICY, kinds.MACVLAN_NETWORK, kinds.IPOIB_NETWORK, kinds.HOST_DEVICE_NETWORK),
    kinds.NETWORK_ATTACHMENT_DEFINITION,
)
_KUBELET = "/var/lib/kubelet"
_SHARED = "rdma-shared-dp-ds"
_SETTINGS, _SETTINGS_PLACE = "rdma-devices", "/k8s-rdma-shared-dev-plugin"
"""The ConfigMap that the policy's `config` goes into, and where the plugin reads it."""


@asynccontextmanager
async def playing(kwok: Path, plane: Plane, client: PlaneClient) -> AsyncIterator[None]:
    """
    Play the operator for the length of a block.

    Args:
        kwok: the folder that ensure_programs gave for KWOK_PROGRAMS.
    """
    async with running_kwok(kwok, plane):
        for obj in _operators():
            await client.create(obj, ref_of(obj))
        await client.merge(Ref(NODE, "", _OPERATORS_NODE), {"status": {"capacity": {"pods": "20"}}}, status=True)
        standins = (
            ("network-operator", real_operands(network_operator.react)),
            ("network-operator-networks", networks.react_nvidia),
        )
        async with acting(Actors(client, standins, {}, FasterTime(1.0)), _FOLLOWED):
            yield


def _operators() -> tuple[KubeObject, ...]:
    """Give the made-up node, and the operator's namespace and Deployment on it."""
    name = NETWORK.deployments[0]
    labels = {"app": name}
    pod: dict[str, Any] = {
        "nodeName": NodeName(_OPERATORS_NODE),
        "containers": [{"name": "manager", "image": PAUSE}],
    }
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    taint = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
    role = {"node-role.kubernetes.io/control-plane": ""}
    return (
        {
            "apiVersion": NODE.api_version,
            "kind": NODE.kind,
            "metadata": {"name": _OPERATORS_NODE, "labels": role, "annotations": {**MARK, **KWOK_MARK}},
            "spec": {"taints": [taint]},
        },
        {"apiVersion": NAMESPACE.api_version, "kind": NAMESPACE.kind, "metadata": {"name": NETWORK.namespace}},
        {
            "apiVersion": DEPLOYMENT.api_version,
            "kind": DEPLOYMENT.kind,
            "metadata": {"name": name, "namespace": NETWORK.namespace, "annotations": MARK, "labels": labels},
            "spec": spec,
        },
    )


def real_operands(react: React) -> React:
    """Let a stand-in's DaemonSets run what is real here."""

    def reacting(world: Objects, now: datetime) -> tuple[Write, ...]:
        return tuple(_real(write) for write in react(world, now))

    return reacting


def _real(write: Write) -> Write:
    pod = dig(write.body, "spec", "template", "spec")
    if write.ref.kind != DAEMON_SET or pod is None:
        return write
    spec = write.body["spec"]
    template = {**spec["template"], "spec": _pod(write.ref.name, pod)}
    return Write(write.verb, write.ref, {**write.body, "spec": {**spec, "template": template}})


def _pod(daemon_set: str, pod: Mapping[str, Any]) -> dict[str, Any]:
    """Spell the pod of an operand: a real device plugin, or one that only waits."""
    (container, *_) = pod["containers"]
    common = {**pod, "terminationGracePeriodSeconds": 0, "automountServiceAccountToken": False}
    if daemon_set != _SHARED:
        waiting = {"name": container["name"], "image": PAUSE, "imagePullPolicy": "Never"}
        return {**common, "containers": [waiting]}
    folders = {"plugins": f"{_KUBELET}/device-plugins", "registry": f"{_KUBELET}/plugins_registry", "devices": "/dev"}
    plugin = {
        "name": container["name"],
        "image": SHARED_DEVICE_PLUGIN,
        "imagePullPolicy": "Never",
        "securityContext": {"privileged": True},
        "volumeMounts": [
            *({"name": name, "mountPath": path} for name, path in folders.items()),
            {"name": "settings", "mountPath": _SETTINGS_PLACE},
        ],
    }
    volumes = [
        *({"name": name, "hostPath": {"path": path}} for name, path in folders.items()),
        {"name": "settings", "configMap": {"name": _SETTINGS}},
    ]
    return {**common, "hostNetwork": True, "containers": [plugin], "volumes": volumes}
