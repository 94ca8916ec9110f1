"""
The RDMA mode of a node: one for all that runs there, so what others need of it counts as much as what we need.

Source: Mellanox/k8s-rdma-shared-dev-plugin 410b0f3, pkg/resources/resources_manager.go:198-211 (it exits in exclusive
mode); openshift/sriov-network-operator 44199ad5, api/v1/sriovnetworkpoolconfig_types.go (rdmaMode);
k8snetworkplumbingwg/rdma-cni 449bfbc, README (in exclusive mode a pod gets the RDMA device of a function by this
plugin alone).
"""

import re
from collections.abc import Iterable

from railwright.core import kinds
from railwright.core.ids import FabricName
from railwright.core.marks import is_ours
from railwright.core.objects import KubeObject, dig
from railwright.facts.model import ClusterFacts, NodeFacts, NodeHardware
from railwright.intent.model import Method
from railwright.plan.model import ADMITTED, fabric_label
from railwright.plan.notes import Notes
from railwright.plan.operands import nic_policy
from railwright.plan.others import pool_names
from railwright.plan.reached import selects as policy_selects
from railwright.plan.settings import Settings
from railwright.plan.sriov_there import pool_holds

_EXCLUSIVE = "exclusive"
_MODPROBE = re.compile(r"\boptions\s+ib_core\b.*\bnetns_mode=0\b")
_PLUGIN = '"rdma"'
_SHOWN = 3


def check_rdma_mode(
    node: NodeFacts, hardware: NodeHardware, settings: Settings, cluster: ClusterFacts, notes: Notes
) -> None:
    """Refuse a node whose RDMA mode is, or becomes, one in which our pods or those of others get no RDMA device."""
    isolated = settings.intent.method is Method.SRIOV and settings.intent.rdma_isolation
    if isolated:
        _check_shared_by_others(node, settings, cluster, notes)
        return
    is_exclusive = _is_exclusive(hardware)
    if is_exclusive and settings.intent.method is Method.SRIOV and _is_in(settings, node):
        # Refused, a node whose isolation was just taken out of the file could never leave the mode.
        notes.warn(
            "rdma-mode-still-exclusive",
            f"{node.name} is in exclusive RDMA mode, and {_needs(settings)} needs shared: pods get no RDMA device until it is",
            node.name,
        )
    elif is_exclusive:
        notes.refuse(
            "rdma-mode-exclusive",
            f"the RDMA subsystem of {node.name} is in exclusive mode; {_needs(settings)} needs shared",
            expected="shared",
            seen=_EXCLUSIVE,
            hint="rdma system set netns shared, or method: sriov with rdmaIsolation: true",
            node=node.name,
        )
    for name in _made_exclusive_by(node, cluster):
        notes.refuse(
            "rdma-mode-exclusive",
            f"SriovNetworkPoolConfig {name} puts {node.name} into exclusive RDMA mode; {_needs(settings)} needs shared",
            expected="shared",
            seen=f"SriovNetworkPoolConfig {name} spec.rdmaMode: {_EXCLUSIVE}",
            hint="agree with its owner, or method: sriov with rdmaIsolation: true",
            node=node.name,
        )


def _is_exclusive(hardware: NodeHardware) -> bool:
    """Whether the node is in exclusive mode, or will be once ib_core is loaded: until then the kernel says nothing."""
    if hardware.rdma_netns_mode is not None:
        return hardware.rdma_netns_mode == _EXCLUSIVE
    by_modprobe = any(_MODPROBE.search(line) for line in hardware.system.modprobe)
    return by_modprobe or "ib_core.netns_mode=0" in hardware.kernel_arguments.split()


def _is_in(settings: Settings, node: NodeFacts) -> bool:
    return node.labels.get(fabric_label(FabricName(settings.name))) == ADMITTED


def _needs(settings: Settings) -> str:
    method = f"method {settings.intent.method.value}"
    return f"{method} without rdmaIsolation" if settings.intent.method is Method.SRIOV else method


def _made_exclusive_by(node: NodeFacts, cluster: ClusterFacts) -> Iterable[str]:
    """Name the pools of others that change the node's mode, whether its reboot has come or not."""
    for item in cluster.of_kind(kinds.SRIOV_NETWORK_POOL_CONFIG):
        if not is_ours(item) and dig(item, "spec", "rdmaMode") == _EXCLUSIVE and pool_holds(item, node):
            yield str(item["metadata"]["name"])


def _check_shared_by_others(node: NodeFacts, settings: Settings, cluster: ClusterFacts, notes: Notes) -> None:
    """Refuse isolation where others share devices, or move ports into pods, on the same node."""
    policy: KubeObject | None = nic_policy(cluster)
    users = [f"pool {name} of the NicClusterPolicy" for name in pool_names(policy)] if policy is not None else []
    if policy is not None and not policy_selects(policy, node):
        users = []
    users += _functions_of_others(node, cluster)
    if users:
        named = ", ".join(users[:_SHOWN]) + (f" and {len(users) - _SHOWN} more" if len(users) > _SHOWN else "")
        notes.refuse(
            "isolation-breaks-others",
            f"{settings.name} puts {node.name} into exclusive RDMA mode, in which pods of others get no RDMA device: {named}",
            where=str(settings.intent.place("spec.rdmaIsolation") or settings.name),
            expected="no devices of others on a node in exclusive RDMA mode, but functions with the rdma plugin",
            seen=named,
            hint="leave spec.rdmaIsolation out, or the node out with spec.nodes",
            node=node.name,
        )


def _functions_of_others(node: NodeFacts, cluster: ClusterFacts) -> list[str]:
    """Name policies of others that make RDMA functions on the node, and give them to pods without the rdma plugin."""
    bare = {
        str(dig(item, "spec", "resourceName"))
        for kind in (kinds.SRIOV_NETWORK, kinds.SRIOV_IB_NETWORK)
        for item in cluster.of_kind(kind)
        if not is_ours(item) and _PLUGIN not in str(dig(item, "spec", "metaPlugins", default=""))
    }
    return [
        f"SriovNetworkNodePolicy {item['metadata']['name']}"
        for item in cluster.of_kind(kinds.SRIOV_NETWORK_NODE_POLICY)
        if not is_ours(item)
        and dig(item, "spec", "isRdma") is True
        and dig(item, "spec", "resourceName") in bare
        and all(node.labels.get(key) == value for key, value in dig(item, "spec", "nodeSelector", default={}).items())
    ]
