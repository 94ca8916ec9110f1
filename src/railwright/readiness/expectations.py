"""
Judges of what the plan expects, as the API server shows it: counts, labels, pods, networks, pools.

Measured: what statuses leave out, with Network Operator 26.4.1 and GPU Operator 26.7.0 controllers against
kube-apiserver 1.36.3, 2026-11.
"""

from railwright.core import kinds
from railwright.core.foreign_text import whole_number
from railwright.core.multus import RESOURCE_NAME
from railwright.core.objects import KubeObject, annotations_of, dig, labels_of
from railwright.plan.expectations import GPU_RESOURCE
from railwright.plan.model import Allocatable, NadPresent, NodeLabel, PodsReady, PoolUpdated
from railwright.readiness.answers import failed, progressing, ready, unknown
from railwright.readiness.kinds.machineconfig import pool_state
from railwright.readiness.model import Companions, Judgement, Readiness
from railwright.readiness.nads import cni_type, read_config
from railwright.readiness.pods import is_container_ready, is_pod_ready, pods_of, trouble_of

_SELECTED_TWICE = "something else selects the same devices"
_DIVIDED = "the GPU device plugin hands GPUs out in parts (time-slicing, MPS or MIG), and rails go with whole ones"


def judge_allocatable(expectation: Allocatable, companions: Companions) -> Judgement:
    """Judge how many of a resource a node offers; 0 is what a plugin that left leaves behind."""
    node = companions.get(kinds.NODE, expectation.node)
    if node is None:
        return unknown(f"node {expectation.node} is not there")
    seen = dig(node, "status", "allocatable", expectation.resource)
    what = f"node {expectation.node}: {expectation.resource}"
    if seen is None:
        return progressing(f"{what} is not offered yet: no device plugin has registered it")
    count = _count(seen)
    if count is None:
        return unknown(f"{what} is {seen!r}, which is no count")
    if count > expectation.count and not expectation.at_least:
        why = _DIVIDED if expectation.resource == GPU_RESOURCE else _SELECTED_TWICE
        return failed(f"{what}: {count} are offered, {expectation.count} are planned: {why}")
    if count < expectation.count:
        return progressing(f"{what}: {count} of {expectation.count} are offered")
    return ready(f"{what}: {count}")


def judge_label(expectation: NodeLabel, companions: Companions) -> Judgement:
    """Judge one label of a node."""
    node = companions.get(kinds.NODE, expectation.node)
    if node is None:
        return unknown(f"node {expectation.node} is not there")
    seen = labels_of(node).get(expectation.label)
    wanted = f"={expectation.value}" if expectation.value is not None else ""
    if seen is None:
        return progressing(f"node {expectation.node} does not carry {expectation.label}{wanted} yet")
    if expectation.value is not None and seen != expectation.value:
        return progressing(f"node {expectation.node}: {expectation.label} is {seen}, {expectation.value} is wanted")
    return ready(f"node {expectation.node}: {expectation.label}={seen}")


def judge_pods(expectation: PodsReady, companions: Companions) -> Judgement:
    """Judge a DaemonSet's pod on one node, container by container."""
    what = f"{expectation.namespace}/{expectation.daemon_set} on node {expectation.node}"
    pods = _pods(expectation, companions)
    if not pods:
        return progressing(f"{what}: there is no pod yet")
    reasons = []
    for pod in pods:
        if is_pod_ready(pod) and not _missing(pod, expectation.containers):
            return ready(f"{what}: ready")
        trouble = trouble_of(pod)
        if trouble and trouble.final:
            return failed(f"{what}: {trouble.text}", trouble.text)
        reasons.append(trouble.text if trouble else _why(pod, expectation.containers))
    return progressing(f"{what}: {reasons[0]}")


def judge_network_there(expectation: NadPresent, companions: Companions) -> Judgement:
    """Judge a NAD: there, readable, of its type, and naming its resource."""
    if kinds.NETWORK_ATTACHMENT_DEFINITION in companions.unserved:
        return unknown("NetworkAttachmentDefinitions are not served")
    what = f"NAD {expectation.namespace}/{expectation.name}"
    nad = companions.get(kinds.NETWORK_ATTACHMENT_DEFINITION, expectation.name, expectation.namespace)
    if nad is None:
        return progressing(f"{what} is not there yet")
    config, problem = read_config(nad)
    if problem:
        return failed(problem)
    if cni_type(config) != expectation.type:
        return failed(f"{what} is of type {cni_type(config)}, {expectation.type} is wanted")
    seen = annotations_of(nad).get(RESOURCE_NAME, "")
    if expectation.resource and seen != expectation.resource:
        return failed(f"{what} names resource {seen or 'none'}, {expectation.resource} is wanted")
    return ready(f"{what} is there")


def judge_pool_updated(expectation: PoolUpdated, companions: Companions) -> Judgement:
    """Judge a pool: our MachineConfig, or what came of our KubeletConfig, is in what its nodes have."""
    if kinds.MACHINE_CONFIG_POOL in companions.unserved:
        return unknown("MachineConfigPools are not served")
    pool = companions.get(kinds.MACHINE_CONFIG_POOL, expectation.pool)
    if pool is None:
        return unknown(f"MachineConfigPool {expectation.pool} is not there")
    answer = pool_state(pool, companions)
    if answer.readiness is not Readiness.READY:
        return answer
    wanted = [expectation.machine_config] if expectation.machine_config else []
    if expectation.kubelet_config:
        made = _made_of(expectation.kubelet_config, companions)
        if not made:
            return progressing(
                f"KubeletConfig {expectation.kubelet_config}: no MachineConfig was made of it for pool {expectation.pool} yet"
            )
        wanted += made
    for part, words in (("spec", "is not rendered for"), ("status", "is not on the nodes of")):
        sources = [str(item.get("name")) for item in dig(pool, part, "configuration", "source", default=[])]
        for name in wanted:
            if name not in sources:
                return progressing(f"MachineConfig {name} {words} pool {expectation.pool} yet")
        for name in sorted(set(expectation.without) & set(sources)):
            return progressing(f"MachineConfig {name} is still in what pool {expectation.pool} has")
    return answer


def _made_of(kubelet_config: str, companions: Companions) -> list[str]:
    """
    Name the MachineConfigs that were made of a KubeletConfig.

    Source: openshift/machine-config-operator 7ff337a, pkg/controller/kubelet-config: each is a finalizer of it.
    """
    obj = companions.get(kinds.KUBELET_CONFIG, kubelet_config)
    return [str(name) for name in dig(obj, "metadata", "finalizers", default=[])]


def _pods(expectation: PodsReady, companions: Companions) -> tuple[KubeObject, ...]:
    """Find pods of every DaemonSet whose name starts as expected, on the node."""
    namespace = expectation.namespace
    names = {expectation.daemon_set} | {
        str(item["metadata"]["name"])
        for item in companions.of_kind(kinds.DAEMON_SET, namespace)
        if str(item["metadata"]["name"]).startswith(expectation.daemon_set)
    }
    found = {
        str(pod["metadata"]["name"]): pod
        for name in names
        for pod in pods_of(companions, namespace, name, node=expectation.node)
    }
    return tuple(found[name] for name in sorted(found))


def _missing(pod: KubeObject, containers: tuple[str, ...]) -> tuple[str, ...]:
    """Name containers that are wanted and not ready; none when the kubelet lists no containers at all."""
    if not dig(pod, "status", "containerStatuses", default=[]):
        listed = {str(item.get("name")) for item in dig(pod, "spec", "containers", default=[])}
        return tuple(name for name in containers if name not in listed)
    return tuple(name for name in containers if not is_container_ready(pod, name))


def _why(pod: KubeObject, containers: tuple[str, ...]) -> str:
    name = pod["metadata"]["name"]
    missing = _missing(pod, containers)
    phase = dig(pod, "status", "phase", default="Unknown")
    return f"pod {name} is {phase}" + (f", not ready: {', '.join(missing)}" if missing else ", not ready")


def _count(value: object) -> int | None:
    return whole_number(str(value))
