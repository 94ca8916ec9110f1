"""
What the DaemonSets of stand-ins run on the virtual cluster: real device plugins, and stand-ins for drivers.

A stand-in spells a DaemonSet as its operator does; here each container gets what there is for it. Operands without a
part in RDMA (monitoring, MIG) want no node, which counts as ready: each pod takes an emulated processor seconds.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from railwright.core.kinds import DAEMON_SET, DEPLOYMENT
from railwright.core.objects import dig
from railwright.lab.cluster.images import PAUSE, SHARED_DEVICE_PLUGIN, SRIOV_DEVICE_PLUGIN, TOOLS
from railwright.standins.model import Objects, React, Write

OPERATORS_NODE = "operators"
"""The made-up node on which operators' own pods are: they count as running."""
MARK = {"railwright.dev/stand-in": "played by the virtual cluster"}
_KUBELET = "/var/lib/kubelet"
_LEFT_OUT = (
    *("nvidia-container-toolkit-daemonset", "nvidia-operator-validator", "nvidia-dcgm", "nvidia-dcgm-exporter"),
    *("gpu-feature-discovery", "nvidia-mig-manager", "nvidia-node-status-exporter"),
)
_DRIVERS = {"mofed-container": "doca", "nvidia-driver-ctr": "nvidia"}
"""Container -> which stand-in of a driver it loads (guest/driver)."""
_SETTINGS = {
    # container: ConfigMap, where the plugin reads it, command
    "rdma-shared-dp": ("rdma-devices", "/k8s-rdma-shared-dev-plugin", SHARED_DEVICE_PLUGIN, []),
    "kube-sriovdp": (
        "network-operator-sriovdp-config",
        "/etc/pcidp",
        SRIOV_DEVICE_PLUGIN,
        ["--resource-prefix=nvidia.com"],
    ),
    "sriov-device-plugin": (
        "device-plugin-config",
        "/etc/pcidp",
        SRIOV_DEVICE_PLUGIN,
        ["--resource-prefix=openshift.io", "--config-file=/etc/pcidp/$(NODE_NAME)"],
    ),
}

_BY_NAME = "kube-sriovdp"
"""The container whose pools name ports: others name VFs, by their port's name and numbers."""
_BY_ADDRESS = Path(__file__).parent / "guest" / "port_addresses.py"


def real_operands(react: React) -> React:
    """Let what a stand-in makes run on this cluster."""

    def reacting(world: Objects, now: datetime) -> tuple[Write, ...]:
        return tuple(runnable(write) for write in react(world, now))

    return reacting


def runnable(write: Write) -> Write:
    """Give a workload's pods what there is for them here; other writes stay as they are."""
    pod = dig(write.body, "spec", "template", "spec")
    if pod is None or write.ref.kind not in (DAEMON_SET, DEPLOYMENT) or "containers" not in pod:
        return write
    spec = write.body["spec"]
    made = _of_operator(pod) if write.ref.kind == DEPLOYMENT else _of_daemon_set(write.ref.name, pod)
    template = {**spec["template"], "spec": made}
    return replace(write, body={**write.body, "spec": {**spec, "template": template}})


def _of_operator(pod: Mapping[str, Any]) -> dict[str, Any]:
    """Put an operator's own pod on the made-up node."""
    containers = [_waiting(str(container["name"])) for container in pod["containers"]]
    return {"nodeName": OPERATORS_NODE, "containers": containers}


def _waiting(name: str) -> dict[str, Any]:
    return {"name": name, "image": PAUSE, "imagePullPolicy": "Never"}


def _of_daemon_set(name: str, pod: Mapping[str, Any]) -> dict[str, Any]:
    """Spell the pod of an operand. On the node's own network: nothing is attached to it, and it starts sooner."""
    selector = dict(pod.get("nodeSelector", {}))
    if name in _LEFT_OUT:
        selector["railwright.dev/stand-in"] = "wants-no-node"
    made: dict[str, Any] = {
        **pod,
        "nodeSelector": selector,
        "hostNetwork": True,
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 0,
        "containers": [_container(str(container["name"])) for container in pod["containers"]],
    }
    names = [str(container["name"]) for container in pod["containers"]]
    if any(each in _DRIVERS for each in names):
        made |= {"hostPID": True, "terminationGracePeriodSeconds": 30}
        made["volumes"] = [{"name": "host", "hostPath": {"path": "/"}}]
    for each in names:
        if each in _SETTINGS:
            made["volumes"] = [
                *({"name": key, "hostPath": {"path": path}} for key, path in _PLUGIN_FOLDERS.items()),
                {"name": "settings", "configMap": {"name": _SETTINGS[each][0]}},
            ]
    if _BY_NAME in names:
        _say_by_address(made)
    return made


def _say_by_address(pod: dict[str, Any]) -> None:
    """Let the plugin read settings in which ports are said by address: the one that can be built here is of 2022-11."""
    place = _SETTINGS[_BY_NAME][1]
    settings = pod["volumes"].pop()
    pod["volumes"] += [{**settings, "name": "given"}, {"name": "settings", "emptyDir": {}}]
    pod["initContainers"] = [
        {
            **_waiting("port-addresses"),
            "image": TOOLS,
            "command": ["python3", "-c", _BY_ADDRESS.read_text(), "/given/config.json", f"{place}/config.json"],
            "volumeMounts": [
                {"name": "given", "mountPath": "/given"},
                {"name": "settings", "mountPath": place},
            ],
        }
    ]


_PLUGIN_FOLDERS = {
    "plugins": f"{_KUBELET}/device-plugins",
    "registry": f"{_KUBELET}/plugins_registry",
    "devices": "/dev",
}


def _container(name: str) -> dict[str, Any]:
    if name in _DRIVERS:
        return {
            **_waiting(name),
            "image": TOOLS,
            "command": ["chroot", "/host", "/usr/lib/railwright/driver", _DRIVERS[name]],
            "securityContext": {"privileged": True},
            "volumeMounts": [{"name": "host", "mountPath": "/host"}],
            "startupProbe": {
                "exec": {"command": ["chroot", "/host", "/usr/lib/railwright/driver", _DRIVERS[name], "is-loaded"]},
                "timeoutSeconds": 30,
                "periodSeconds": 5,
                "failureThreshold": 60,
            },
        }
    if name not in _SETTINGS:
        return _waiting(name)
    _, place, image, arguments = _SETTINGS[name]
    return {
        **_waiting(name),
        "image": image,
        "args": arguments,
        "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "securityContext": {"privileged": True},
        "volumeMounts": [
            *({"name": key, "mountPath": path} for key, path in _PLUGIN_FOLDERS.items()),
            {"name": "settings", "mountPath": place},
        ],
    }
