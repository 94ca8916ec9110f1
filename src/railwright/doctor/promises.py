"""Which node was promised which resource, by which policy, and how much of it. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from railwright.core import kinds
from railwright.core.foreign_text import whole_number
from railwright.core.ids import NodeName
from railwright.core.objects import KubeObject, Ref, dig, ref_of
from railwright.doctor import nic_policy
from railwright.doctor.needs import SRIOV_POLICIES, objects
from railwright.doctor.nic_policy import Pool
from railwright.doctor.operators import SRIOV
from railwright.doctor.seen import Seen
from railwright.facts.model import Platform

GPU_RESOURCE = "nvidia.com/gpu"
_USUAL_PREFIX = "openshift.io"
PROMISES = objects(
    kinds.NODE, kinds.NIC_CLUSTER_POLICY, kinds.CLUSTER_POLICY, *SRIOV_POLICIES, kinds.SRIOV_NETWORK_NODE_STATE
)
"""What `promises` looks at, beside the inside of nodes and the operators."""


@dataclass(frozen=True)
class Promise:
    """
    A resource that a policy promises on a node.

    Attributes:
        count: how many at least; None where only "more than none" is promised.
        plugin: DaemonSet of the device plugin that has to offer it.
        pool: the entry of the device plugin's configuration; None for VFs and GPUs.
    """

    node: NodeName
    resource: str
    count: int | None
    policy: Ref
    plugin: str
    pool: Pool | None = None


def promises(seen: Seen) -> Iterator[Promise]:
    """Every promise of every policy."""
    yield from _of_nic_policy(seen)
    yield from _of_sriov_policies(seen)
    yield from _of_gpu_policy(seen)


def _of_nic_policy(seen: Seen) -> Iterator[Promise]:
    policy = seen.get(kinds.NIC_CLUSTER_POLICY, nic_policy.NAME)
    if policy is None:
        return
    nodes = [node for node in seen.nodes if nic_policy.reaches(policy, node)]
    for pool in nic_policy.pools_of(policy):
        for node in nodes:
            yield Promise(
                node.name, pool.resource, None, ref_of(policy), nic_policy.PLUGIN_DAEMON_SETS[pool.section], pool
            )


def _of_sriov_policies(seen: Seen) -> Iterator[Promise]:
    prefix = sriov_prefix(seen)
    if prefix is None:
        return
    counts = {node: _vfs_by_policy(state) for node, state in seen.node_states.items()}
    for policy in sriov_policies(seen):
        name = str(policy["metadata"]["name"])
        resource = f"{prefix}/{dig(policy, 'spec', 'resourceName', default='')}"
        for node in seen.selected(dig(policy, "spec", "nodeSelector", default={})):
            count = counts.get(node.name, {}).get(name)
            yield Promise(node.name, resource, count, ref_of(policy), "sriov-device-plugin")


def sriov_policies(seen: Seen) -> tuple[KubeObject, ...]:
    """Policies that the SR-IOV operator reads: those beside its configuration, but for the one it makes itself."""
    home = {dig(item, "metadata", "namespace") for item in seen.of_kind(kinds.SRIOV_OPERATOR_CONFIG)}
    return tuple(
        policy
        for policy in seen.of_kind(kinds.SRIOV_NETWORK_NODE_POLICY)
        if policy["metadata"]["name"] != "default" and (not home or policy["metadata"].get("namespace") in home)
    )


def sriov_prefix(seen: Seen) -> str | None:
    """
    Resource prefix of the SR-IOV operator: its Deployment's RESOURCE_PREFIX.

    Where that was not seen OpenShift's is known all the same; on plain Kubernetes its installation chose one: None.
    """
    operators = seen.operators.get(SRIOV, ())
    for operator in operators:
        containers = dig(operator.deployment, "spec", "template", "spec", "containers", default=())
        for container in containers:
            for variable in container.get("env") or ():
                if variable.get("name") == "RESOURCE_PREFIX" and variable.get("value"):
                    return str(variable["value"])
    was_seen = any(operator.deployment is not None for operator in operators)
    return _USUAL_PREFIX if was_seen or seen.platform is Platform.OPENSHIFT else None


def vf_resources(seen: Seen) -> frozenset[str]:
    """Resources that SR-IOV policies promise, as far as their prefix is known."""
    prefix = sriov_prefix(seen)
    names = {str(dig(policy, "spec", "resourceName", default="")) for policy in sriov_policies(seen)}
    return frozenset(f"{prefix}/{name}" for name in names if prefix is not None)


def _vfs_by_policy(state: KubeObject) -> Mapping[str, int]:
    """Count the VFs that a node state wants for each policy; one that the operator has not put in is left out."""
    found: dict[str, int] = {}
    for port in dig(state, "spec", "interfaces", default=()):
        for group in port.get("vfGroups") or ():
            name = str(group.get("policyName"))
            found[name] = found.get(name, 0) + _width(str(group.get("vfRange", "0-0")))
    return found


def _width(vf_range: str) -> int:
    text, _, end = vf_range.partition("-")
    first, last = whole_number(text), whole_number(end or text)
    return last - first + 1 if first is not None and last is not None else 0


def _of_gpu_policy(seen: Seen) -> Iterator[Promise]:
    for policy in seen.of_kind(kinds.CLUSTER_POLICY):
        if dig(policy, "status", "state") is None or dig(policy, "spec", "devicePlugin", "enabled") is False:
            continue
        if dig(policy, "spec", "sandboxWorkloads", "enabled") is True:
            continue
        for node in seen.selected({"nvidia.com/gpu.deploy.device-plugin": "true"}):
            hardware = seen.inside.get(node.name)
            strategy = str(dig(policy, "spec", "mig", "strategy", default="none"))
            whole = hardware is not None and strategy in {"none", "single"} and not _is_sliced(node.labels)
            count = len(hardware.gpus) if hardware is not None and whole else None
            yield Promise(node.name, GPU_RESOURCE, count, ref_of(policy), "nvidia-device-plugin-daemonset")


def _is_sliced(labels: Mapping[str, str]) -> bool:
    return labels.get("nvidia.com/mig.config", "all-disabled") != "all-disabled"
