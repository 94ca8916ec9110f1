"""
What kubelets and device plugins do: pods get ready after their time, and plugins' devices become allocatable.

A resource whose plugin left stays listed with 0. Operators never write allocatable.
Measured: Network Operator 26.4.1 and GPU Operator 26.7.0 controllers against kube-apiserver 1.36.3, 2026-11.
Source: OpenShift 4.22 docs, Hardware accelerators 5.9.3 (a resource of 0).
"""

import json
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any

from railwright.core.ids import NodeName
from railwright.core.kinds import CONFIG_MAP, NODE, POD, SRIOV_NETWORK_NODE_STATE
from railwright.core.objects import KubeObject, dig
from railwright.standins.model import NodeDevices, Objects, Port, Write
from railwright.standins.view import (
    age_s,
    created,
    delete,
    is_pod_ready,
    leaving,
    name_of,
    node_of,
    of_kind,
    rfc3339,
    set_status,
)

START_S = {"mofed-": 240, "nvidia-driver-daemonset": 180, "nvidia-gpu-driver": 180, "nvidia-": 15}
"""How long the first start of a pod takes, by the beginning of its name; others take `USUAL_START_S`."""
USUAL_START_S = 4

_GPU_DRIVERS = ("nvidia-driver-daemonset", "nvidia-gpu-driver")
_GPU_PLUGIN = "nvidia-device-plugin-daemonset"

_TROUBLES = {
    "image-pull-fails": ("mofed-", "ImagePullBackOff", 'Back-off pulling image "{image}"'),
    "driver-crashes": ("mofed-", "CrashLoopBackOff", "back-off 5m0s restarting failed container={container}"),
    "gpu-driver-pod-fails": (
        "nvidia-driver-daemonset",
        "CrashLoopBackOff",
        "back-off 5m0s restarting failed container={container}",
    ),
}


def react(world: Objects, now: datetime) -> tuple[Write, ...]:
    """Start pods, end those that are being deleted, and report the devices that ready plugins found."""
    down = {name_of(node) for node in of_kind(world, NODE) if _is_down(node)}
    writes: list[Write] = [
        delete(pod) for pod in leaving(world, POD) if not dig(pod, "metadata", "finalizers", default=())
    ]
    ready: dict[str, set[str]] = {}
    pods = of_kind(world, POD)
    driverless = {node_of(pod) for pod in pods if name_of(pod).startswith(_GPU_DRIVERS) and not is_pod_ready(pod)}
    for pod in pods:
        if not is_pod_ready(pod):
            # The plugin's init container waits for the driver of its node: without one no GPU is offered.
            waits = name_of(pod).startswith(_GPU_PLUGIN) and node_of(pod) in driverless
            writes += () if waits else _pod(world, pod, now, down)
        else:
            owner = dig(pod, "metadata", "ownerReferences", 0, "name", default="")
            ready.setdefault(node_of(pod), set()).add(str(owner))
    for node in of_kind(world, NODE):
        writes += _allocatable(world, node, ready.get(name_of(node), set()))
    return tuple(writes)


def _start_s(name: str) -> float:
    return next((seconds for start, seconds in START_S.items() if name.startswith(start)), USUAL_START_S)


def _pod(world: Objects, pod: KubeObject, now: datetime, down: set[str]) -> tuple[Write, ...]:
    if not node_of(pod) or dig(pod, "status", "phase") in {"Succeeded", "Failed"}:
        return ()
    name, age = name_of(pod), age_s(created(pod), now)
    if age < min(_start_s(name), 1):
        return ()
    for trouble, (start, reason, text) in _TROUBLES.items():
        if trouble in world.troubles and name.startswith(start):
            return _waiting(pod, now, reason, text)
    if node_of(pod) in down:
        return ()
    if age < _start_s(name):
        return _waiting(pod, now, "", "") if not dig(pod, "status", "containerStatuses") else ()
    states = [
        {
            "name": item["name"],
            "image": item["image"],
            "imageID": "",
            "ready": True,
            "restartCount": 0,
            "started": True,
            "state": {"running": {"startedAt": rfc3339(now)}},
        }
        for item in pod["spec"]["containers"]
    ]
    return set_status(
        pod,
        {
            "phase": "Running",
            "startTime": rfc3339(now),
            "conditions": _conditions("True", now),
            "containerStatuses": states,
        },
    )


def _is_down(node: KubeObject) -> bool:
    conditions = dig(node, "status", "conditions", default=())
    return any(item["type"] == "Ready" and item["status"] != "True" for item in conditions)


def _waiting(pod: KubeObject, now: datetime, reason: str, text: str) -> tuple[Write, ...]:
    containers = pod["spec"]["containers"]
    first = dig(pod, "status", "containerStatuses", 0, default={})
    if first and dig(first, "state", "waiting", "reason", default="") == reason:
        return ()
    crashing = reason == "CrashLoopBackOff"
    states = []
    for position, item in enumerate(containers):
        message = text.format(image=item["image"], container=item["name"])
        held = (
            {"waiting": {"reason": reason, "message": message}}
            if reason and position == 0
            else {"running": {"startedAt": rfc3339(now)}}
        )
        states.append(
            {
                "name": item["name"],
                "image": item["image"],
                "imageID": "",
                "ready": position > 0,
                "restartCount": 5 if crashing and position == 0 else 0,
                "state": held,
            }
        )
    phase = "Pending" if reason and not crashing else "Running"
    return set_status(pod, {"phase": phase, "conditions": _conditions("False", now), "containerStatuses": states})


def _conditions(ready: str, now: datetime) -> list[dict[str, str]]:
    stamp = rfc3339(now)
    return [
        {"type": "Initialized", "status": "True", "lastTransitionTime": stamp},
        {"type": "Ready", "status": ready, "lastTransitionTime": stamp},
        {"type": "ContainersReady", "status": ready, "lastTransitionTime": stamp},
        {"type": "PodScheduled", "status": "True", "lastTransitionTime": stamp},
    ]


# --- device plugins --------------------------------------------------------------------------------------------------


def _allocatable(world: Objects, node: KubeObject, ready: set[str]) -> tuple[Write, ...]:
    name = NodeName(name_of(node))
    devices = world.devices.get(name, NodeDevices(0, ()))
    found: dict[str, int] = {}
    if "rdma-shared-dp-ds" in ready:
        found |= _shared(world, devices)
    if "network-operator-sriov-device-plugin" in ready:
        found |= _host_devices(world, devices, name)
    if "sriov-device-plugin" in ready:
        found |= _virtual_functions(world, name)
    if _GPU_PLUGIN in ready:
        found["nvidia.com/gpu"] = devices.gpus
    if "plugin-finds-nothing" in world.troubles:
        found = {resource: count if resource == "nvidia.com/gpu" else 0 for resource, count in found.items()}
    have = dig(node, "status", "allocatable", default={})
    gone = {resource: "0" for resource in have if _is_ours(resource) and resource not in found}
    wanted = gone | {resource: str(count) for resource, count in found.items()}
    return set_status(node, {"allocatable": wanted, "capacity": wanted}) if wanted else ()


def _is_ours(resource: str) -> bool:
    return resource.startswith(("rdma/", "nvidia.com/", "openshift.io/"))


def _config(world: Objects, name: str) -> Mapping[str, str]:
    """Data of a plugin's ConfigMap, in whichever namespace; empty when there is none."""
    found = [obj for obj in of_kind(world, CONFIG_MAP) if name_of(obj) == name]
    return dig(found[0], "data", default={}) if found else {}


@cache
def _parse(text: str) -> Mapping[str, Any]:
    try:
        parsed = json.loads(text or "{}")
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _shared(world: Objects, devices: NodeDevices) -> dict[str, int]:
    pools = _parse(_config(world, "rdma-devices").get("config.json", "")).get("configList") or ()
    counts = {}
    for pool in pools:
        resource = f"{pool.get('resourcePrefix') or 'rdma'}/{pool['resourceName']}"
        any_port = any(_fits(port, pool.get("selectors", {})) for port in devices.ports)
        counts[resource] = int(pool.get("rdmaHcaMax", 0)) if any_port else 0
    return counts


_OF_THE_PORT_ALONE = ("pciAddresses", "devices", "deviceIDs")
"""Selectors that a virtual function does not pass where its port does: it has another address and device id."""


def _host_devices(world: Objects, devices: NodeDevices, node: NodeName) -> dict[str, int]:
    """
    Count what the device plugin of ports offers: of a port with virtual functions them, and not the port.

    Source: k8snetworkplumbingwg/sriov-network-device-plugin 40b6f507, pkg/netdevice/netDeviceProvider.go:72.
    """
    state = next((obj for obj in of_kind(world, SRIOV_NETWORK_NODE_STATE) if name_of(obj) == node), None)
    functions = {port.pci: _count(state, port.netdev) for port in devices.ports}
    pools = _parse(_config(world, "network-operator-sriovdp-config").get("config.json", "")).get("resourceList") or ()
    counts: dict[str, int] = {}
    taken: set[str] = set()
    for pool in pools:
        selectors = pool.get("selectors", {})
        ways = selectors if isinstance(selectors, list) else [selectors]
        takes_functions = not any(way.get(key) for way in ways for key in _OF_THE_PORT_ALONE)
        fitting = {port.pci for port in devices.ports if any(_fits(port, way) for way in ways)} - taken
        taken |= fitting
        counts[f"{pool.get('resourcePrefix') or 'nvidia.com'}/{pool['resourceName']}"] = sum(
            (functions[pci] if takes_functions else 0) if functions[pci] else 1 for pci in fitting
        )
    return counts


def _fits(port: Port, selectors: Mapping[str, Any]) -> bool:
    """Whether a port passes every selector given; an unknown selector passes none."""
    fields = {
        "vendors": port.vendor_id,
        "devices": port.device_id,
        "deviceIDs": port.device_id,
        "drivers": "mlx5_core",
        "ifNames": port.netdev,
        "pfNames": port.netdev,
        "pciAddresses": port.pci,
        "rootDevices": port.pci,
        "linkTypes": "infiniband" if port.link_type == "infiniband" else "ether",
    }
    for key, wanted in selectors.items():
        if isinstance(wanted, bool):
            continue
        if wanted and fields.get(key) not in wanted:
            return False
    return True


def _virtual_functions(world: Objects, node: NodeName) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name, text in _config(world, "device-plugin-config").items():
        if name != node:
            continue
        for pool in _parse(text).get("resourceList") or ():
            names = dig(pool, "selectors", "pfNames", default=())
            state = next((obj for obj in of_kind(world, SRIOV_NETWORK_NODE_STATE) if name_of(obj) == node), None)
            resource = f"openshift.io/{pool['resourceName']}"
            counts[resource] = counts.get(resource, 0) + sum(_count(state, item) for item in names)
    return counts


def _count(state: KubeObject | None, pf_name: str) -> int:
    """Count the VFs of "ens1f0np0" or "ens1f0np0#0-7" that a node state lists."""
    name, _, span = pf_name.partition("#")
    first, _, last = span.partition("-")
    for interface in dig(state, "status", "interfaces", default=()):
        if interface.get("name") == name:
            ids = [int(item["vfID"]) for item in interface.get("Vfs", ())]
            return sum(1 for item in ids if not span or int(first) <= item <= int(last or first))
    return 0
