"""Nodes and MachineConfigPools, reduced from their Kubernetes objects to what matters here. Pure."""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal

from railwright.core.ids import NodeName
from railwright.core.objects import KubeObject, annotations_of, dig, labels_of
from railwright.facts.model import NodeFacts, PoolFacts

_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_WORKER = "node-role.kubernetes.io/worker"
_KEEPS_OUT = frozenset({"NoSchedule", "NoExecute"})
_QUANTITY = re.compile(r"([0-9]{1,32}(?:\.[0-9]{1,32})?)(|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)")
_SCALE = {
    "": 1,
    **{letter: 1000**power for power, letter in enumerate("kMGTPE", 1)},
    **{f"{letter}i": 1024**power for power, letter in enumerate("KMGTPE", 1)},
}


def quantity(text: object) -> int | None:
    """Read a whole Kubernetes quantity: 1000 devices are written "1k" by the API server; None for anything else."""
    match = _QUANTITY.fullmatch(str(text))
    if match is None:
        return None
    value = Decimal(match[1]) * _SCALE[match[2]]
    return int(value) if value == int(value) else None


def extended(resources: Mapping[str, object]) -> dict[str, int]:
    """Keep extended resources, those with a "/" in their name."""
    counts = {name: quantity(text) for name, text in resources.items() if "/" in name}
    return {name: count for name, count in counts.items() if count is not None}


def node_of(obj: KubeObject, *, has_worker_label: bool) -> NodeFacts:
    """
    Reduce a Node; its inside is read later.

    Args:
        has_worker_label: workers carry a label of their own, as on OpenShift; without it every node that takes
            ordinary pods is one.
    """
    labels = labels_of(obj)
    is_control_plane = any(label in labels for label in _CONTROL_PLANE)
    taints = dig(obj, "spec", "taints", default=())
    is_closed = any(dig(taint, "effect") in _KEEPS_OUT and dig(taint, "key") in _CONTROL_PLANE for taint in taints)
    info = dig(obj, "status", "nodeInfo", default={})
    readiness = next(
        (item for item in dig(obj, "status", "conditions", default=()) if dig(item, "type") == "Ready"), None
    )
    is_ready = dig(readiness, "status") == "True"
    return NodeFacts(
        name=NodeName(str(dig(obj, "metadata", "name"))),
        labels=_texts(labels),
        annotations=_texts(annotations_of(obj)),
        taints=tuple(_taint(taint) for taint in taints),
        allocatable=extended(dig(obj, "status", "allocatable", default={})),
        ready=is_ready,
        schedulable=not dig(obj, "spec", "unschedulable", default=False),
        is_control_plane=is_control_plane,
        is_worker=_WORKER in labels if has_worker_label else not (is_control_plane and is_closed),
        architecture=str(dig(info, "architecture", default="")),
        kernel_version=str(dig(info, "kernelVersion", default="")),
        os_image=str(dig(info, "osImage", default="")),
        addresses=tuple(
            str(dig(address, "address"))
            for address in dig(obj, "status", "addresses", default=())
            if dig(address, "type") == "InternalIP"
        ),
        hardware=None,
        hardware_problem="not read",
        not_ready_since="" if is_ready else str(dig(readiness, "lastTransitionTime", default="")),
    )


def _texts(found: Mapping[str, str]) -> dict[str, str]:
    return {str(key): str(value) for key, value in found.items()}


def _taint(taint: KubeObject) -> str:
    value = dig(taint, "value", default="")
    return f"{dig(taint, 'key')}{'=' if value else ''}{value}:{dig(taint, 'effect')}"


def pools_of(objects: Iterable[KubeObject], nodes: tuple[NodeFacts, ...]) -> tuple[PoolFacts, ...]:
    """
    Reduce MachineConfigPools, each with the nodes that it really rules.

    A node that several selectors match is ruled by one pool: by master, else by a custom pool, else by worker.
    Source: openshift/machine-config-operator docs/custom-pools.md.
    """
    found = sorted(objects, key=lambda obj: str(dig(obj, "metadata", "name")))
    ruled: dict[str, list[NodeName]] = {str(dig(obj, "metadata", "name")): [] for obj in found}
    for node in nodes:
        names = [
            str(dig(obj, "metadata", "name"))
            for obj in found
            if selects(dig(obj, "spec", "nodeSelector", default={}), node.labels)
        ]
        if names:
            ruled[min(names, key=_pool_rank)].append(node.name)
    return tuple(_pool(obj, tuple(ruled[str(dig(obj, "metadata", "name"))])) for obj in found)


def _pool_rank(name: str) -> tuple[int, str]:
    return {"master": 0, "worker": 2}.get(name, 1), name


def _pool(obj: KubeObject, nodes: tuple[NodeName, ...]) -> PoolFacts:
    conditions = {str(dig(condition, "type")): condition for condition in dig(obj, "status", "conditions", default=())}
    messages = (
        str(dig(conditions.get(name), "message", default=""))
        for name in ("Degraded", "NodeDegraded", "RenderDegraded", "Updating")
        if dig(conditions.get(name), "status") == "True"
    )
    return PoolFacts(
        name=str(dig(obj, "metadata", "name")),
        nodes=nodes,
        paused=bool(dig(obj, "spec", "paused", default=False)),
        updated=dig(conditions.get("Updated"), "status") == "True",
        updating=dig(conditions.get("Updating"), "status") == "True",
        degraded=dig(conditions.get("Degraded"), "status") == "True",
        message=next((message for message in messages if message), ""),
        labels=dict(dig(obj, "metadata", "labels", default={})),
    )


def selects(selector: KubeObject, labels: Mapping[str, str]) -> bool:
    """Judge a LabelSelector; an empty one selects nothing here (a pool without a selector rules no node)."""
    wanted = dig(selector, "matchLabels", default={})
    expressions = dig(selector, "matchExpressions", default=())
    if not wanted and not expressions:
        return False
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        _holds(expression, labels) for expression in expressions
    )


def _holds(expression: KubeObject, labels: Mapping[str, str]) -> bool:
    key, values = dig(expression, "key", default=""), dig(expression, "values", default=())
    match dig(expression, "operator", default=""):
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case _:
            return False
