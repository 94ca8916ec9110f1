"""
What OpenShift's Node Feature Discovery does: workers on nodes, and labels from what is in them.

Source: openshift/node-feature-discovery e43aa39b, source/system/system.go:38-40. Measured: NFD 0.18.3 against
kube-apiserver 1.36.3, 2026-11.
"""

import re
from datetime import datetime

import yaml

from railwright.core.ids import NodeName
from railwright.core.kinds import (
    DAEMON_SET,
    NODE,
    NODE_FEATURE_DISCOVERY,
    NODE_FEATURE_RULE,
    NODE_FEATURE_RULE_UPSTREAM,
)
from railwright.core.objects import KubeObject, dig
from railwright.standins.model import Objects, Write
from railwright.standins.operators import NFD, is_running
from railwright.standins.view import (
    ensure,
    find,
    is_pod_ready,
    merge,
    name_of,
    node_of,
    of_kind,
    pods_of,
    rfc3339,
    set_status,
)
from railwright.standins.workloads import daemon_set, deployment

PREFIX = "feature.node.kubernetes.io/"
_IMAGE = "registry.redhat.io/openshift4/ose-node-feature-discovery-rhel9"
_COREOS = re.compile(r"CoreOS (\d+\.\d+)\.(\S+)")
_NOT_IN_LABELS = re.compile(r"[^-A-Za-z0-9_.]")
"""Source: kubernetes-sigs/node-feature-discovery v0.18.3, source/kernel/version.go, parseVersion."""
_UBUNTU = re.compile(r"Ubuntu (\d+\.\d+)")


def react(world: Objects, now: datetime) -> tuple[Write, ...]:
    """Run workers for each NodeFeatureDiscovery and label the nodes whose worker is ready."""
    if not is_running(world, NFD):
        return ()
    return tuple(write for instance in of_kind(world, NODE_FEATURE_DISCOVERY) for write in _one(world, instance, now))


def _one(world: Objects, instance: KubeObject, now: datetime) -> tuple[Write, ...]:
    namespace = instance["metadata"]["namespace"]
    tolerations = dig(instance, "spec", "operand", "workerTolerations", default=[])
    if "no-nfd-labels" in world.troubles:
        selector = {"node-role.kubernetes.io/feature-worker": ""}
    else:
        selector = dig(instance, "spec", "operand", "workerNodeSelector", default={"kubernetes.io/os": "linux"})
    image = dig(instance, "spec", "operand", "image", default=_IMAGE) or _IMAGE
    workers = daemon_set(
        "nfd-worker",
        namespace,
        instance,
        containers=[("nfd-worker", image)],
        node_selector=selector,
        tolerations=tolerations,
    )
    writes = list(ensure(world, workers))
    for name in ("nfd-master", "nfd-gc"):
        writes += ensure(world, deployment(name, namespace, instance, image))
    running = find(world, DAEMON_SET, "nfd-worker", namespace)
    pods = pods_of(world, running) if running is not None else ()
    ready = [pod for pod in pods if is_pod_ready(pod)]
    for pod in ready:
        node = find(world, NODE, node_of(pod))
        if node is not None:
            labels = labels_from_hardware(world, node)
            told = _of_listed_classes(instance, labels) | _by_rules(world, labels)
            writes += merge(node, {"metadata": {"labels": told}})
    if pods and len(ready) == len(pods) and not dig(instance, "status", "conditions"):
        writes += set_status(instance, {"conditions": _conditions(now)})
    return tuple(writes)


def _of_listed_classes(instance: KubeObject, labels: dict[str, str]) -> dict[str, str]:
    """Leave out PCI labels that the worker's configuration gives no class or another name; untold, all are written."""
    text = dig(instance, "spec", "workerConfig", "configData", default="")
    config = yaml.safe_load(text) if text else None
    listed = dig(config, "sources", "pci", "deviceClassWhitelist")
    if dig(config, "sources", "pci", "deviceLabelFields", default=["vendor"]) != ["vendor"]:
        listed = []
    if not isinstance(listed, list):
        return labels
    hidden = [
        label for label, pci_class in _CLASSES.items() if not any(str(item).startswith(pci_class) for item in listed)
    ]
    return {key: value for key, value in labels.items() if not key.startswith(tuple(hidden) or "\0")}


def _by_rules(world: Objects, labels: dict[str, str]) -> dict[str, str]:
    """Give the labels of NodeFeatureRules that hold on a node; of rules only labels that hardware has are understood."""
    rules = [
        rule
        for kind in (NODE_FEATURE_RULE, NODE_FEATURE_RULE_UPSTREAM)
        for item in of_kind(world, kind)
        for rule in dig(item, "spec", "rules", default=[])
    ]
    named = {label for rule in rules for label in dig(rule, "labels", default={})}
    return {label: value for label, value in labels.items() if label in named}


_CLASSES = {f"{PREFIX}pci-10de": "03", f"{PREFIX}pci-15b3": "02"}
"""PCI class of what a label stands for. Source: PCI Code and ID Assignment 1.16."""


def _conditions(now: datetime) -> list[dict[str, str]]:
    stamp = rfc3339(now)
    states = {"Available": "True", "Upgradeable": "True", "Progressing": "False", "Degraded": "False"}
    return [
        {"type": kind, "status": status, "lastTransitionTime": stamp, "reason": "AsExpected", "message": ""}
        for kind, status in states.items()
    ]


def labels_from_hardware(world: Objects, node: KubeObject) -> dict[str, str]:
    """Give the labels that NFD writes for what is in a node, operating system included."""
    devices = world.devices.get(NodeName(name_of(node)))
    image = str(dig(node, "status", "nodeInfo", "osImage", default=""))
    kernel = str(dig(node, "status", "nodeInfo", "kernelVersion", default=""))
    labels = {f"{PREFIX}kernel-version.full": _NOT_IN_LABELS.sub("_", kernel).strip("-_.")}
    coreos, ubuntu = _COREOS.search(image), _UBUNTU.search(image)
    if coreos:
        labels[f"{PREFIX}system-os_release.ID"] = "rhel"
        labels[f"{PREFIX}system-os_release.VERSION_ID"] = coreos[1]
        if "nfd-upstream" not in world.troubles:
            labels[f"{PREFIX}system-os_release.OSTREE_VERSION"] = f"{coreos[1]}.{coreos[2]}"
            labels[f"{PREFIX}system-os_release.RHEL_VERSION"] = coreos[1]
            labels[f"{PREFIX}system-os_release.OPENSHIFT_VERSION"] = "4.20"
    if ubuntu:
        labels[f"{PREFIX}system-os_release.ID"] = "ubuntu"
        labels[f"{PREFIX}system-os_release.VERSION_ID"] = ubuntu[1]
    if devices is not None and devices.gpus:
        labels[f"{PREFIX}pci-10de.present"] = "true"
    if devices is not None and devices.ports:
        labels[f"{PREFIX}pci-15b3.present"] = "true"
        labels[f"{PREFIX}rdma.capable"] = "true"
        if any(port.sriov_total_vfs for port in devices.ports):
            labels[f"{PREFIX}pci-15b3.sriov.capable"] = "true"
    return labels
