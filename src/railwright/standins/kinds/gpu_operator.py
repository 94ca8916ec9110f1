"""
What NVIDIA's GPU Operator does to ClusterPolicy: node labels, operands, state and conditions in two writes.

Measured: GPU Operator 26.7.0 controllers against kube-apiserver 1.36.3, 2026-11.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from railwright.core.ids import NodeName
from railwright.core.kinds import CLUSTER_POLICY, DAEMON_SET, NODE
from railwright.core.objects import KubeObject, dig, labels_of
from railwright.standins.kinds.daemonsets import REVISION_LABEL, revision
from railwright.standins.kinds.driver_upgrades import Upgrade, roll
from railwright.standins.kinds.nfd import PREFIX
from railwright.standins.model import Objects, Write
from railwright.standins.operators import GPU, running_namespace
from railwright.standins.view import (
    condition,
    created,
    delete,
    differs,
    ensure,
    find,
    is_openshift,
    is_pod_ready,
    matches,
    merge,
    name_of,
    node_of,
    nodes,
    of_kind,
    pods_of,
    rfc3339,
    set_status,
    short_hash,
)
from railwright.standins.workloads import daemon_set

OSTREE_LABEL = f"{PREFIX}system-os_release.OSTREE_VERSION"
_DEPLOY = (
    "driver",
    "container-toolkit",
    "device-plugin",
    "dcgm",
    "dcgm-exporter",
    "gpu-feature-discovery",
    "node-status-exporter",
    "operator-validator",
    "client",
)
_GPU_TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
_OPERANDS = (
    (
        "state-container-toolkit",
        "nvidia-container-toolkit-daemonset",
        "nvidia-container-toolkit-ctr",
        "container-toolkit",
    ),
    ("state-operator-validation", "nvidia-operator-validator", "nvidia-operator-validator", "operator-validator"),
    ("state-device-plugin", "nvidia-device-plugin-daemonset", "nvidia-device-plugin", "device-plugin"),
    ("state-dcgm", "nvidia-dcgm", "nvidia-dcgm-ctr", "dcgm"),
    ("state-dcgm-exporter", "nvidia-dcgm-exporter", "nvidia-dcgm-exporter", "dcgm-exporter"),
    ("gpu-feature-discovery", "gpu-feature-discovery", "gpu-feature-discovery", "gpu-feature-discovery"),
    ("state-mig-manager", "nvidia-mig-manager", "nvidia-mig-manager", "mig-manager"),
    (
        "state-node-status-exporter",
        "nvidia-node-status-exporter",
        "nvidia-node-status-exporter",
        "node-status-exporter",
    ),
)
"""State, DaemonSet, container, and what its node selector ends with."""
_MPS = ("nvidia-device-plugin-mps-control-daemon", "mps-control-daemon-ctr")
"""Wants nodes labelled nvidia.com/mps.capable too: none, so it wants 0 pods and counts as ready."""
DRIVER_VERSION = "580.95.05"
LAST_APPLIED = "nvidia.com/last-applied-hash"
"""Tells whether a DaemonSet is as it was rendered; what the API server adds to it does not count."""


def react(world: Objects, now: datetime) -> tuple[Write, ...]:
    """
    Bring labels, operands and status of the active ClusterPolicy one step on; a second one gets no status.

    DaemonSets that are not there yet do not count: for an instant after a create the policy says ready.
    """
    namespace = running_namespace(world, GPU)
    policies = sorted(of_kind(world, CLUSTER_POLICY), key=lambda item: (created(item), name_of(item)))
    if namespace is None:
        return ()
    if not policies:
        return tuple(roll(world, Upgrade("gpu", {}, ())))
    policy = policies[0]
    writes = [write for node in nodes(world) for write in _labels(node)]
    gpu_nodes = [node for node in nodes(world) if labels_of(node).get("nvidia.com/gpu.present") == "true"]
    if not any(label.startswith(PREFIX) for node in nodes(world) for label in labels_of(node)):
        return (*writes, *_status(policy, now, "ready", "NFDLabelsMissing", "No NFD labels found"))
    if not gpu_nodes:
        text = "No GPU node found, watching for new nodes to join the cluster."
        return (*writes, *_status(policy, now, "ready", "NoGPUNodes", text))
    wanted = _operands(world, namespace, policy, gpu_nodes)
    names = set()
    for item in wanted:
        names.add(item["metadata"]["name"])
        marks = {"metadata": {"annotations": {LAST_APPLIED: short_hash(item["spec"])}}}
        body = {**item, "metadata": {**item["metadata"], **marks["metadata"]}}
        live = find(world, DAEMON_SET, item["metadata"]["name"], namespace)
        if live is None or differs(live, marks):
            writes += ensure(world, body, change={**marks, "spec": {"template": item["spec"]["template"]}})
    for live in of_kind(world, DAEMON_SET, namespace):
        if name_of(live).startswith("nvidia-driver-daemonset") and name_of(live) not in names:
            writes.append(delete(live))
    rules = dig(policy, "spec", "driver", "upgradePolicy", default={})
    writes += roll(world, Upgrade("gpu", rules, tuple(_driver_sets(world, namespace))))
    late = _late(world, namespace, names)
    if late:
        text = f"ClusterPolicy is not ready; states not ready: [{' '.join(late)}]"
        return (*writes, *_status(policy, now, "notReady", "OperandNotReady", text))
    text = "ClusterPolicy is ready as all resources have been successfully reconciled"
    return (*writes, *_status(policy, now, "ready", "Reconciled", text), *_product_labels(world, namespace))


def _labels(node: KubeObject) -> tuple[Write, ...]:
    labels = labels_of(node)
    has_gpu = any(
        labels.get(f"{PREFIX}{key}.present") == "true" for key in ("pci-10de", "pci-0302_10de", "pci-0300_10de")
    )
    if not has_gpu:
        if "nvidia.com/gpu.present" not in labels:
            return ()
        gone: dict[str, Any] = {f"nvidia.com/gpu.deploy.{item}": None for item in (*_DEPLOY, "mig-manager")}
        return merge(node, {"metadata": {"labels": gone | {"nvidia.com/gpu.present": "false"}}})
    held_back = labels.get("nvidia.com/gpu.deploy.operands") == "false"
    wanted = (*_DEPLOY, "mig-manager") if labels.get("nvidia.com/mig.capable") == "true" else _DEPLOY
    deploy = {f"nvidia.com/gpu.deploy.{item}": None if held_back else "true" for item in wanted}
    change = {
        "labels": {"nvidia.com/gpu.present": "true"} | deploy,
        "annotations": {"nvidia.com/gpu-driver-upgrade-enabled": "true"},
    }
    return merge(node, {"metadata": change})


def _operands(world: Objects, namespace: str, policy: KubeObject, gpu_nodes: list[KubeObject]) -> list[KubeObject]:
    tolerations = dig(policy, "spec", "daemonsets", "tolerations", default=[_GPU_TOLERATION])
    made: list[KubeObject] = []
    if dig(policy, "spec", "driver", "enabled", default=True):
        versions = {labels_of(node).get(OSTREE_LABEL, "") for node in gpu_nodes}
        made += [_driver(world, namespace, policy, version, tolerations) for version in sorted(versions)]
    for name, container, selector in (
        *((name, container, {f"nvidia.com/gpu.deploy.{key}": "true"}) for _, name, container, key in _OPERANDS),
        (*_MPS, {"nvidia.com/gpu.deploy.device-plugin": "true", "nvidia.com/mps.capable": "true"}),
    ):
        image = f"nvcr.io/nvidia/cloud-native/{name.removesuffix('-daemonset')}:v26.7.0"
        made.append(
            daemon_set(
                name,
                namespace,
                policy,
                containers=[(container, image)],
                node_selector=selector,
                tolerations=tolerations,
            )
        )
    return made


def _driver(
    world: Objects, namespace: str, policy: KubeObject, ostree: str, tolerations: list[Mapping[str, Any]]
) -> KubeObject:
    """Spell the driver DaemonSet: without an OSTREE_VERSION there is no toolkit container, and no error anywhere."""
    spec = dig(policy, "spec", "driver", default={})
    on_openshift = is_openshift(world)
    image = f"{spec.get('repository') or 'nvcr.io/nvidia'}/{spec.get('image') or 'driver'}:{spec.get('version') or DRIVER_VERSION}"
    kind = spec.get("kernelModuleType") or "auto"
    environment = {"KERNEL_MODULE_TYPE": kind}
    if kind == "open":
        environment["OPEN_KERNEL_MODULES_ENABLED"] = "true"
    containers = [("nvidia-driver-ctr", image)]
    toolkit = on_openshift and bool(ostree)
    if dig(spec, "rdma", "enabled", default=False):
        containers.append(("nvidia-peermem-ctr", image))
        environment["GPU_DIRECT_RDMA_ENABLED"] = "true"
        if dig(spec, "rdma", "useHostMofed", default=False):
            environment["USE_HOST_MOFED"] = "true"
    if toolkit:
        containers.append(
            ("openshift-driver-toolkit-ctr", "quay.io/openshift-release-dev/ocp-v4.0-art-dev:driver-toolkit")
        )
    selector = {"nvidia.com/gpu.deploy.driver": "true"} | ({OSTREE_LABEL: ostree} if toolkit else {})
    return daemon_set(
        f"nvidia-driver-daemonset-{ostree}" if toolkit else "nvidia-driver-daemonset",
        namespace,
        policy,
        containers=containers,
        node_selector=selector,
        environment=environment,
        labels={"app.kubernetes.io/component": "nvidia-driver"},
        tolerations=tolerations,
        on_delete=True,
    )


def _driver_sets(world: Objects, namespace: str) -> list[KubeObject]:
    return [
        item for item in of_kind(world, DAEMON_SET, namespace) if name_of(item).startswith("nvidia-driver-daemonset")
    ]


def _late(world: Objects, namespace: str, names: set[str]) -> list[str]:
    state_by_name = {name: state for state, name, _, _ in _OPERANDS} | {_MPS[0]: "state-mps-control-daemon"}
    late: list[str] = []
    for item in of_kind(world, DAEMON_SET, namespace):
        if name_of(item) not in names:
            continue
        status = dig(item, "status", default={})
        is_driver = name_of(item).startswith("nvidia-driver-daemonset")
        newest = revision(item) if is_driver else ""
        current = not is_driver or all(labels_of(pod).get(REVISION_LABEL) == newest for pod in pods_of(world, item))
        if "observedGeneration" not in status or status.get("numberUnavailable") or not current:
            late.append("state-driver" if is_driver else state_by_name[name_of(item)])
    return sorted(set(late))


def _status(policy: KubeObject, now: datetime, state: str, reason: str, message: str) -> tuple[Write, ...]:
    """Write the state first and the conditions after it, as the operator does."""
    ready = state == "ready"
    have = condition(policy, "Ready" if ready else "Error")
    if dig(policy, "status", "state") == state and have.get("reason") == reason and have.get("message") == message:
        return ()
    stamp = rfc3339(now)
    conditions = [
        {
            "type": "Ready",
            "status": "True" if ready else "False",
            "reason": reason if ready else "Error",
            "message": message if ready else "",
            "lastTransitionTime": stamp,
        },
        {
            "type": "Error",
            "status": "False" if ready else "True",
            "reason": "Ready" if ready else reason,
            "message": "" if ready else message,
            "lastTransitionTime": stamp,
        },
    ]
    return (
        *set_status(policy, {"state": state, "namespace": "nvidia-gpu-operator"}),
        *set_status(policy, {"conditions": conditions}),
    )


def _product_labels(world: Objects, namespace: str) -> list[Write]:
    discovery = find(world, DAEMON_SET, "gpu-feature-discovery", namespace)
    writes: list[Write] = []
    for pod in pods_of(world, discovery) if discovery is not None else ():
        node = find(world, NODE, node_of(pod))
        count = world.devices.get(NodeName(node_of(pod)))
        if node is not None and count is not None and is_pod_ready(pod):
            wanted = {
                "nvidia.com/gpu.product": "NVIDIA-H200",
                "nvidia.com/gpu.count": str(count.gpus),
                "nvidia.com/mig.capable": "true",
            }
            if not matches(labels_of(node), wanted):
                writes += merge(node, {"metadata": {"labels": wanted}})
    return writes
