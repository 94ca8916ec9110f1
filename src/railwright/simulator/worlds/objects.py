"""Objects that are in a cluster before anything of GPUs: nodes, pools, catalogs, configuration."""

from collections.abc import Iterable

from railwright.core.objects import KubeObject
from railwright.simulator.hardware import Machine
from railwright.standins.openshift import catalogs, configuration, machine_config_daemon, pools, thing

_BASE_NAMESPACES = ("default", "kube-system", "openshift-marketplace", "openshift-machine-config-operator", "openshift")


def namespace(name: str) -> KubeObject:
    """Spell a namespace."""
    return thing("v1", "Namespace", name, labels={"kubernetes.io/metadata.name": name})


def node(machine: Machine) -> KubeObject:
    """Spell the Node of a machine, as its kubelet registers it."""
    architecture = {"x86_64": "amd64", "aarch64": "arm64"}[machine.architecture]
    labels = {
        "kubernetes.io/hostname": machine.name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": architecture,
        **{f"node-role.kubernetes.io/{role}": "" for role in machine.roles},
        **dict(machine.labels),
    }
    bare_control_plane = "control-plane" in machine.roles and "worker" not in machine.roles
    taints = [{"key": "node-role.kubernetes.io/master", "effect": "NoSchedule"}] if bare_control_plane else []
    capacity = {"cpu": "192", "memory": "2113000000Ki", "pods": "250"}
    return thing(
        "v1",
        "Node",
        machine.name,
        labels=labels,
        annotations={},
        spec={"taints": taints} if taints else {},
        status={
            "capacity": capacity,
            "allocatable": capacity,
            "addresses": [
                {"type": "InternalIP", "address": machine.address},
                {"type": "Hostname", "address": machine.name},
            ],
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}],
            "nodeInfo": {
                "kernelVersion": machine.kernel,
                "osImage": machine.os_image,
                "architecture": architecture,
                "kubeletVersion": "v1.33.5",
                "operatingSystem": "linux",
                "containerRuntimeVersion": "cri-o://1.33.5",
            },
        },
    )


def kubernetes(machines: Iterable[Machine]) -> tuple[KubeObject, ...]:
    """Spell what any cluster has: namespaces and nodes."""
    return (*map(namespace, _BASE_NAMESPACES), *map(node, machines))


def openshift(machines: tuple[Machine, ...], *, topology: str = "HighlyAvailable") -> tuple[KubeObject, ...]:
    """Spell what an OpenShift cluster has on top: configuration, pools, catalogs."""
    base = (*kubernetes(machines), *configuration(topology), *catalogs())
    if topology == "External":
        return base
    return (*base, *pools(), machine_config_daemon())
