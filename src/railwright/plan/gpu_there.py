"""
What a ClusterPolicy of others leaves out, and GPUs that are handed out in parts: whole GPUs are what rails go with.

Source: NVIDIA/gpu-operator a22dbf67, api/nvidia/v1/clusterpolicy_types.go (driver, toolkit, devicePlugin, mig,
sandboxWorkloads), controllers/state_manager.go (nvidia.com/gpu.workload.config); NVIDIA/cloud-native-docs 52dcb7b8,
gpu-operator/gpu-sharing.rst and gpu-operator-mig.rst (names and numbers of resources).
"""

from railwright.core.kinds import CLUSTER_POLICY
from railwright.core.marks import is_ours
from railwright.core.objects import KubeObject, dig
from railwright.facts.model import ClusterFacts, NodeFacts
from railwright.plan.draft import FabricNodes
from railwright.plan.expectations import GPU_RESOURCE
from railwright.plan.notes import Notes

_PARTS = (f"{GPU_RESOURCE}.shared", "nvidia.com/mig-")
"""Resources that are less than a GPU: of time-slicing and MPS under their own name, of MIG's strategy "mixed"."""
_WORKLOAD_LABEL, _CONTAINERS = "nvidia.com/gpu.workload.config", "container"


def check_gpu_there(fabric: FabricNodes, nodes: tuple[NodeFacts, ...], cluster: ClusterFacts, notes: Notes) -> None:
    """Refuse nodes of a fabric that get no driver or no GPU resource from the policy that is there."""
    policies = cluster.of_kind(CLUSTER_POLICY)
    theirs = policies[0] if len(policies) == 1 and not is_ours(policies[0]) else None
    if theirs is not None and dig(theirs, "spec", "toolkit", "enabled") is False:
        notes.warn(
            "gpu-toolkit-switched-off",
            "the ClusterPolicy that is there brings no container toolkit: without one on the nodes pods get GPUs that they"
            " cannot open",
            "ClusterPolicy spec.toolkit.enabled",
        )
    for node in nodes:
        if node.name not in fabric.hardware:
            continue
        _check_divided(fabric, node, notes)
        if theirs is not None:
            _check_switched_off(theirs, fabric, node, notes)
            _check_virtual_machines(theirs, node, notes)


def _check_divided(fabric: FabricNodes, node: NodeFacts, notes: Notes) -> None:
    whole, offered = len(fabric.hardware[node.name].gpus), node.allocatable.get(GPU_RESOURCE, 0)
    parts = sorted(f"{count} {name}" for name, count in node.allocatable.items() if name.startswith(_PARTS) and count)
    if offered > whole:
        parts.insert(0, f"{offered} {GPU_RESOURCE}")
    if parts:
        notes.refuse(
            "gpus-divided",
            f"GPUs of {node.name} are handed out in parts ({', '.join(parts)} of {whole} GPUs): time-slicing, MPS or MIG",
            expected=f"{whole} {GPU_RESOURCE}",
            seen=", ".join(parts),
            hint="spec.devicePlugin.config and spec.mig of the ClusterPolicy, or the node's labels nvidia.com/mig.config and"
            " nvidia.com/device-plugin.config, are their owner's to change; or leave the node out with spec.nodes",
            node=node.name,
        )


def _check_switched_off(policy: KubeObject, fabric: FabricNodes, node: NodeFacts, notes: Notes) -> None:
    hardware = fabric.hardware[node.name]
    rows = (
        ("driver", bool(hardware.nvidia_driver), "no GPU driver is loaded", "a GPU driver on the node's own system"),
        ("devicePlugin", bool(node.allocatable.get(GPU_RESOURCE)), "no GPU is offered", "a device plugin of their own"),
    )
    for section, is_there, seen, instead in rows:
        if dig(policy, "spec", section, "enabled") is False and not is_there:
            notes.refuse(
                "gpu-policy-switched-off",
                f"the ClusterPolicy that is there has {section}.enabled: false, and on {node.name} {seen}",
                where=f"ClusterPolicy spec.{section}.enabled",
                expected=f"true, or {instead}",
                seen="false",
                hint="its owner switches it on, or installs what it stands for",
                node=node.name,
            )


def _check_virtual_machines(policy: KubeObject, node: NodeFacts, notes: Notes) -> None:
    if dig(policy, "spec", "sandboxWorkloads", "enabled") is not True:
        return
    default = str(dig(policy, "spec", "sandboxWorkloads", "defaultWorkload", default=_CONTAINERS) or _CONTAINERS)
    workload = node.labels.get(_WORKLOAD_LABEL, default)
    if workload != _CONTAINERS:
        notes.refuse(
            "gpus-for-virtual-machines",
            f"GPUs of {node.name} are for virtual machines ({workload}): the GPU Operator brings no driver for containers",
            where=f"ClusterPolicy spec.sandboxWorkloads and label {_WORKLOAD_LABEL} of {node.name}",
            expected=_CONTAINERS,
            seen=workload,
            hint=f"oc label node {node.name} {_WORKLOAD_LABEL}={_CONTAINERS} --overwrite, once its machines are gone",
            node=node.name,
        )
