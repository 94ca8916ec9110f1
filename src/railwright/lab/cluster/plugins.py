"""What stands beside real kubelets and controllers: GPUs that are counted and not there, and revisions as marks."""

from collections.abc import Mapping
from datetime import datetime

from railwright.core.ids import NodeName
from railwright.core.kinds import DAEMON_SET
from railwright.core.objects import Kind, KubeObject, dig
from railwright.standins.kinds.daemonsets import REVISION_LABEL, REVISION_MARK
from railwright.standins.model import NodeDevices, Objects, Write
from railwright.standins.view import (
    is_owned_by,
    is_pod_ready,
    merge,
    name_of,
    node_of,
    nodes,
    of_kind,
    pods_of,
    set_status,
)

CONTROLLER_REVISION = Kind("apps/v1", "ControllerRevision")
GPU_RESOURCE = "nvidia.com/gpu"
GPU_PLUGIN = "nvidia-device-plugin-daemonset"


def react_gpus(world: Objects, now: datetime) -> tuple[Write, ...]:
    """
    Let a node offer its GPUs while the pod of their device plugin is ready, and 0 of them after that.

    The kubelet takes what it does not manage from capacity.
    Source: https://kubernetes.io/docs/tasks/administer-cluster/extended-resource-node/.
    """
    del now
    plugged = {
        node_of(pod)
        for item in of_kind(world, DAEMON_SET)
        if name_of(item) == GPU_PLUGIN
        for pod in pods_of(world, item)
        if is_pod_ready(pod)
    }
    writes: list[Write] = []
    for node in nodes(world):
        devices = world.devices.get(NodeName(name_of(node)), NodeDevices(0, ()))
        listed = dig(node, "status", "capacity", GPU_RESOURCE) is not None
        if name_of(node) in plugged:
            writes += _offer(node, devices.gpus)
        elif listed:
            writes += _offer(node, 0)
    return tuple(writes)


def _offer(node: KubeObject, count: int) -> tuple[Write, ...]:
    offered = {GPU_RESOURCE: str(count)}
    return set_status(node, {"capacity": offered, "allocatable": offered})


def react_revisions(world: Objects, now: datetime) -> tuple[Write, ...]:
    """Mark every DaemonSet with the revision that its real controller made last: stand-ins know no other way to it."""
    del now
    revisions = of_kind(world, CONTROLLER_REVISION)
    writes: list[Write] = []
    for item in of_kind(world, DAEMON_SET):
        mine = [each for each in revisions if is_owned_by(each, item)]
        if mine:
            newest: Mapping[str, str] = dig(max(mine, key=_number), "metadata", "labels", default={})
            writes += merge(item, {"metadata": {"annotations": {REVISION_MARK: newest.get(REVISION_LABEL, "")}}})
    return tuple(writes)


def _number(revision: KubeObject) -> int:
    return int(revision["revision"])
