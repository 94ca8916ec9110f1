"""Who wants what on which node: RDMA at all, a driver container; by the plan, and by the policies on the cluster."""

from collections.abc import Mapping

from railwright.core import kinds
from railwright.core.ids import NodeName
from railwright.core.objects import KubeObject, dig
from railwright.doctor import nic_policy
from railwright.doctor.promises import sriov_policies, vf_resources
from railwright.doctor.seen import Seen
from railwright.facts.model import NodeFacts, PodFacts
from railwright.plan.model import NicPolicyShare

_RAIL_PREFIXES = ("rdma/", "nvidia.com/", "openshift.io/", "mellanox.com/")
"""Usual ones; what policies promise under another prefix counts too."""
_GPU_RESOURCES = ("nvidia.com/gpu", "nvidia.com/mig-")


def rdma_wanted(seen: Seen) -> frozenset[NodeName]:
    """Nodes on which somebody wants RDMA: the plan, a device plugin's policy, a SR-IOV policy, or a pod that has it."""
    names = {port.node for rail in seen.plan.rails for port in rail.ports} if seen.plan is not None else set()
    policy = seen.get(kinds.NIC_CLUSTER_POLICY, nic_policy.NAME)
    if policy is not None:
        names |= {node.name for node in seen.nodes if nic_policy.reaches(policy, node)}
    for item in sriov_policies(seen):
        names |= {node.name for node in seen.selected(dig(item, "spec", "nodeSelector", default={}))}
    promised = promised_resources(seen)
    names |= {node for node, pods in seen.pods_by_node.items() if any(uses_rails(pod, promised) for pod in pods)}
    return frozenset(names)


def uses_rails(pod: PodFacts, promised: frozenset[str]) -> bool:
    """Whether a pod asks for a rail; `promised` are those of `promised_resources`."""
    return any(is_rail(name, promised) for name in pod.requests)


def is_rail(resource: str, promised: frozenset[str]) -> bool:
    """Whether a resource is a rail's: one that a policy promises, or an extended resource of these makers that is no GPU."""
    if resource.startswith(_GPU_RESOURCES):
        return False
    return resource.startswith(_RAIL_PREFIXES) or resource in promised


def promised_resources(seen: Seen) -> frozenset[str]:
    """Resources of NICs that policies promise, whatever their prefix."""
    policy = seen.get(kinds.NIC_CLUSTER_POLICY, nic_policy.NAME)
    pools = nic_policy.pools_of(policy) if policy is not None else ()
    return vf_resources(seen) | {pool.resource for pool in pools}


def driver_policy(seen: Seen) -> KubeObject | None:
    """The NicClusterPolicy, when it brings a driver."""
    policy = seen.get(kinds.NIC_CLUSTER_POLICY, nic_policy.NAME)
    return policy if policy is not None and dig(policy, "spec", "ofedDriver") is not None else None


def driver_environment(policy: KubeObject | None) -> Mapping[str, str]:
    """Variables of the driver container, as the policy sets them."""
    variables = dig(policy, "spec", "ofedDriver", "env", default=())
    return {str(item.get("name")): str(item.get("value", "")) for item in variables if isinstance(item, Mapping)}


def nic_driver_wanted(seen: Seen) -> Mapping[NodeName, str]:
    """Nodes that get, or are to get, the DOCA driver's container, and by what: the policy, or the plan."""
    found: dict[NodeName, str] = {}
    plan = seen.plan
    if plan is not None and any(isinstance(share, NicPolicyShare) and share.driver for share in plan.shares):
        found |= dict.fromkeys(plan.admitted, "plan")
    policy = driver_policy(seen)
    if policy is not None:
        found |= {node.name: f"NicClusterPolicy {nic_policy.NAME}" for node in _reached(seen, policy)}
    return found


def _reached(seen: Seen, policy: KubeObject) -> tuple[NodeFacts, ...]:
    return tuple(node for node in seen.nodes if nic_policy.reaches(policy, node))
