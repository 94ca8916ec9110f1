"""
What the machine-config operator does: one rendered config a pool, nodes drained and rebooted one after the other.

Source: openshift/machine-config-operator 7ff337a (conditions and annotations). Estimate: a reboot of a server with
eight GPUs takes minutes.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from railwright.core.kinds import KUBELET_CONFIG, MACHINE_CONFIG, MACHINE_CONFIG_POOL
from railwright.core.objects import KubeObject, dig, labels_of
from railwright.standins.model import Objects, Write
from railwright.standins.view import (
    age_s,
    condition,
    create,
    delete,
    find,
    leaving,
    merge,
    name_of,
    nodes,
    of_kind,
    owned_by,
    rfc3339,
    set_status,
    short_hash,
    term_matches,
)

REBOOT_S = 300
CURRENT = "machineconfiguration.openshift.io/currentConfig"
DESIRED = "machineconfiguration.openshift.io/desiredConfig"
STATE = "machineconfiguration.openshift.io/state"


def react(world: Objects, now: datetime) -> tuple[Write, ...]:
    """Render every pool's config, roll it out to one node at a time, report on the pool."""
    writes: list[Write] = []
    for config in of_kind(world, KUBELET_CONFIG):
        writes += _kubelet_config(world, config, now)
    for config in leaving(world, KUBELET_CONFIG):
        writes += _unmade(world, config)
    for pool in of_kind(world, MACHINE_CONFIG_POOL):
        writes += _pool(world, pool, now)
    return tuple(writes)


def _pool(world: Objects, pool: KubeObject, now: datetime) -> list[Write]:
    parts = _parts(world, pool)
    rendered = _rendered(pool, parts)
    name = name_of(rendered)
    writes: list[Write] = []
    if find(world, MACHINE_CONFIG, name) is None:
        writes.append(create(rendered))
    api = MACHINE_CONFIG.api_version
    source = [{"apiVersion": api, "kind": "MachineConfig", "name": name_of(item)} for item in parts]
    wanted = {"name": name, "source": source}
    writes += merge(pool, {"spec": {"configuration": wanted}})
    members = pool_nodes(world, pool)
    done = [node for node in members if _mark(node, CURRENT) == name and _mark(node, STATE) == "Done"]
    busy = [node for node in members if _mark(node, STATE) == "Working"]
    paused = bool(dig(pool, "spec", "paused", default=False))
    for node in busy:
        writes += _finish(node, now)
    unmarked = [node for node in members if not _mark(node, CURRENT)]
    for node in unmarked:
        writes += merge(node, {"metadata": {"annotations": {CURRENT: name, DESIRED: name, STATE: "Done"}}})
    placed = {name_of(node) for node in (*done, *busy, *unmarked)}
    waiting = [node for node in members if name_of(node) not in placed]
    if waiting and not busy and not paused:
        writes += _begin(waiting[0], name, now)
    return [*writes, *_report(pool, wanted, members, done, paused=paused, now=now)]


def pool_nodes(world: Objects, pool: KubeObject) -> list[KubeObject]:
    """Nodes of a pool; a node that a custom pool selects is not the worker pool's."""
    selector = dig(pool, "spec", "nodeSelector", default={})
    custom = [
        dig(item, "spec", "nodeSelector", default={})
        for item in of_kind(world, MACHINE_CONFIG_POOL)
        if name_of(item) not in {"master", "worker"}
    ]
    members = []
    for node in nodes(world):
        labels = labels_of(node)
        if not term_matches(labels, selector):
            continue
        is_master = "node-role.kubernetes.io/master" in labels or "node-role.kubernetes.io/control-plane" in labels
        if name_of(pool) == "worker" and (is_master or any(term_matches(labels, item) for item in custom)):
            continue
        members.append(node)
    return members


def _parts(world: Objects, pool: KubeObject) -> list[KubeObject]:
    selector = dig(pool, "spec", "machineConfigSelector", default={})
    return [
        item
        for item in of_kind(world, MACHINE_CONFIG)
        if not name_of(item).startswith("rendered-") and term_matches(labels_of(item), selector)
    ]


def _rendered(pool: KubeObject, parts: list[KubeObject]) -> KubeObject:
    """Merge the pool's MachineConfigs in the order of their names."""
    arguments: list[str] = []
    files: dict[str, Any] = {}
    for item in parts:
        arguments += dig(item, "spec", "kernelArguments", default=[])
        for file in dig(item, "spec", "config", "storage", "files", default=()):
            files[file["path"]] = file
    body = [[name_of(item), item["spec"]] for item in parts]
    digest = short_hash(body)
    return {
        "apiVersion": MACHINE_CONFIG.api_version,
        "kind": "MachineConfig",
        "metadata": {"name": f"rendered-{name_of(pool)}-{digest}", "ownerReferences": owned_by(pool)},
        "spec": {
            "kernelArguments": arguments,
            "config": {"ignition": {"version": "3.4.0"}, "storage": {"files": list(files.values())}},
        },
    }


def _mark(node: KubeObject, key: str) -> str:
    return str(dig(node, "metadata", "annotations", key, default=""))


def _begin(node: KubeObject, name: str, now: datetime) -> list[Write]:
    """Drain a node, and take it down; one that has just joined needs none of it (it boots with the newest config)."""
    marks = {DESIRED: name, STATE: "Working"}
    change = {"metadata": {"annotations": marks}, "spec": {"unschedulable": True}}
    return [*merge(node, change), *set_status(node, {"conditions": _ready_condition("False", "KubeletNotReady", now)})]


def _finish(node: KubeObject, now: datetime) -> list[Write]:
    if age_s(condition(node, "Ready").get("lastTransitionTime", ""), now) < REBOOT_S:
        return []
    marks = {CURRENT: _mark(node, DESIRED), STATE: "Done"}
    change = {"metadata": {"annotations": marks}, "spec": {"unschedulable": None}}
    return [*set_status(node, {"conditions": _ready_condition("True", "KubeletReady", now)}), *merge(node, change)]


def _ready_condition(status: str, reason: str, now: datetime) -> list[dict[str, str]]:
    stamp = rfc3339(now)
    return [
        {
            "type": "Ready",
            "status": status,
            "reason": reason,
            "message": "",
            "lastTransitionTime": stamp,
            "lastHeartbeatTime": stamp,
        }
    ]


def _report(
    pool: KubeObject,
    wanted: Mapping[str, Any],
    members: list[KubeObject],
    done: list[KubeObject],
    *,
    paused: bool,
    now: datetime,
) -> list[Write]:
    updated = len(done) == len(members)
    updating = not updated and not paused
    status: dict[str, Any] = {
        "observedGeneration": dig(pool, "metadata", "generation", default=1),
        "machineCount": len(members),
        "updatedMachineCount": len(done),
        "readyMachineCount": len(done),
        "unavailableMachineCount": sum(1 for node in members if _mark(node, STATE) == "Working"),
        "degradedMachineCount": 0,
    }
    if updated:
        status["configuration"] = dict(wanted)
    flags = {
        "Updated": updated,
        "Updating": updating,
        "Degraded": False,
        "NodeDegraded": False,
        "RenderDegraded": False,
    }
    have = {item["type"]: item["status"] for item in dig(pool, "status", "conditions", default=())}
    if have != {kind: str(value) for kind, value in flags.items()}:
        status["conditions"] = [
            {"type": kind, "status": str(value), "reason": "", "message": "", "lastTransitionTime": rfc3339(now)}
            for kind, value in flags.items()
        ]
    return list(set_status(pool, status))


def _unmade(world: Objects, config: KubeObject) -> list[Write]:
    """Take away what was made of a KubeletConfig that is being deleted; its finalizers name it."""
    names = dig(config, "metadata", "finalizers", default=[])
    made = (find(world, MACHINE_CONFIG, name) for name in names)
    return [*(delete(item) for item in made if item is not None), *merge(config, {"metadata": {"finalizers": None}})]


def _kubelet_config(world: Objects, config: KubeObject, now: datetime) -> list[Write]:
    """
    Turn a KubeletConfig into a generated MachineConfig of each pool that it selects.

    Source: openshift/machine-config-operator 7ff337a, pkg/controller/kubelet-config: its name becomes a finalizer.
    """
    writes: list[Write] = []
    selector = dig(config, "spec", "machineConfigPoolSelector", default={})
    for pool in of_kind(world, MACHINE_CONFIG_POOL):
        if not term_matches(labels_of(pool), selector):
            continue
        text = json.dumps(dig(config, "spec", "kubeletConfig", default={}), sort_keys=True)
        file = {
            "path": "/etc/kubernetes/kubelet.conf",
            "mode": 420,
            "overwrite": True,
            "contents": {"source": f"data:,{text}"},
        }
        body = {
            "apiVersion": MACHINE_CONFIG.api_version,
            "kind": "MachineConfig",
            "metadata": {
                "name": f"99-{name_of(pool)}-generated-kubelet",
                "labels": {"machineconfiguration.openshift.io/role": name_of(pool)},
                "ownerReferences": owned_by(config),
            },
            "spec": {"config": {"ignition": {"version": "3.4.0"}, "storage": {"files": [file]}}},
        }
        live = find(world, MACHINE_CONFIG, name_of(body))
        writes += [create(body)] if live is None else merge(live, {"spec": body["spec"]})
        finalizers = dig(config, "metadata", "finalizers", default=[])
        if name_of(body) not in finalizers:
            writes += merge(config, {"metadata": {"finalizers": [*finalizers, name_of(body)]}})
    if not dig(config, "status", "conditions"):
        done = {"type": "Success", "status": "True", "message": "Success", "lastTransitionTime": rfc3339(now)}
        writes += set_status(config, {"conditions": [done]})
    return writes
