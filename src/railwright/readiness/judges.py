"""The table of judges: kind -> who judges it, and what is read with it."""

from collections.abc import Callable, Mapping
from datetime import datetime

from railwright.core import kinds
from railwright.core.objects import Kind, KubeObject
from railwright.readiness.kinds import core, gpu, machineconfig, networks, nfd, nic, olm, sriov
from railwright.readiness.model import Companions, Judgement, Receipt

Judge = Callable[[KubeObject, Companions, Receipt | None, datetime], Judgement]

OWN = "@"
"""In COMPANIONS: the namespace of the object that is judged."""

JUDGES: Mapping[Kind, Judge] = {
    kinds.NAMESPACE: core.judge_namespace,
    kinds.NODE: core.judge_node,
    kinds.CONFIG_MAP: core.judge_existence,
    kinds.SECRET: core.judge_existence,
    kinds.SERVICE_ACCOUNT: core.judge_existence,
    kinds.ROLE: core.judge_existence,
    kinds.ROLE_BINDING: core.judge_existence,
    kinds.CLUSTER_ROLE: core.judge_existence,
    kinds.CLUSTER_ROLE_BINDING: core.judge_existence,
    kinds.SECURITY_CONTEXT_CONSTRAINTS: core.judge_existence,
    kinds.DAEMON_SET: core.judge_daemon_set_object,
    kinds.DEPLOYMENT: core.judge_deployment_object,
    kinds.OPERATOR_GROUP: olm.judge_operator_group,
    kinds.SUBSCRIPTION: olm.judge_subscription,
    kinds.CLUSTER_SERVICE_VERSION: olm.judge_csv,
    kinds.INSTALL_PLAN: olm.judge_install_plan,
    kinds.NODE_FEATURE_DISCOVERY: nfd.judge_node_feature_discovery,
    kinds.NODE_FEATURE_RULE: core.judge_existence,
    kinds.NODE_FEATURE_RULE_UPSTREAM: core.judge_existence,
    kinds.NIC_CLUSTER_POLICY: nic.judge_nic_cluster_policy,
    kinds.MACVLAN_NETWORK: networks.judge_network,
    kinds.IPOIB_NETWORK: networks.judge_network,
    kinds.HOST_DEVICE_NETWORK: networks.judge_network,
    kinds.NETWORK_ATTACHMENT_DEFINITION: networks.judge_nad_object,
    kinds.NV_IPAM_IP_POOL: networks.judge_pool,
    kinds.NV_IPAM_CIDR_POOL: networks.judge_pool,
    kinds.CLUSTER_POLICY: gpu.judge_cluster_policy,
    kinds.SRIOV_OPERATOR_CONFIG: sriov.judge_sriov_operator_config,
    kinds.SRIOV_NETWORK_POOL_CONFIG: sriov.judge_sriov_pool_config,
    kinds.SRIOV_NETWORK_NODE_POLICY: sriov.judge_sriov_policy,
    kinds.SRIOV_NETWORK_NODE_STATE: sriov.judge_node_state,
    kinds.SRIOV_NETWORK: sriov.judge_sriov_network,
    kinds.SRIOV_IB_NETWORK: sriov.judge_sriov_network,
    kinds.MACHINE_CONFIG: core.judge_existence,
    kinds.MACHINE_CONFIG_POOL: machineconfig.judge_pool,
    kinds.KUBELET_CONFIG: machineconfig.judge_kubelet_config,
    kinds.NODE_NETWORK_CONFIGURATION_POLICY: machineconfig.judge_host_network,
}

_NIC_NAMESPACE = "nvidia-network-operator"
Wanted = tuple[Kind, str, str]
"""Kind, namespace ("" for all, OWN for the object's), labels as on a command line."""

_NODES: Wanted = (kinds.NODE, "", "")
_OWN_PODS: Wanted = (kinds.POD, OWN, "")
_OWN_DAEMON_SETS: Wanted = (kinds.DAEMON_SET, OWN, "")
_NADS: Wanted = (kinds.NETWORK_ATTACHMENT_DEFINITION, "", "")
_NETWORKS = (_NADS, (kinds.NAMESPACE, "", ""))
_SRIOV = (
    (kinds.SRIOV_OPERATOR_CONFIG, "", ""),
    (kinds.SRIOV_NETWORK_NODE_STATE, OWN, ""),
    _OWN_PODS,
    _NODES,
)
_CSV = ((kinds.DEPLOYMENT, OWN, ""), _OWN_PODS)

COMPANIONS: Mapping[Kind, tuple[Wanted, ...]] = {
    kinds.DAEMON_SET: (_OWN_PODS,),
    kinds.DEPLOYMENT: (_OWN_PODS,),
    kinds.OPERATOR_GROUP: ((kinds.OPERATOR_GROUP, OWN, ""),),
    kinds.SUBSCRIPTION: (
        (kinds.OPERATOR_GROUP, OWN, ""),
        (kinds.SUBSCRIPTION, OWN, ""),
        (kinds.INSTALL_PLAN, OWN, ""),
        (kinds.CLUSTER_SERVICE_VERSION, OWN, ""),
        *_CSV,
    ),
    kinds.CLUSTER_SERVICE_VERSION: _CSV,
    kinds.NODE_FEATURE_DISCOVERY: (_OWN_DAEMON_SETS, (kinds.DEPLOYMENT, OWN, ""), _OWN_PODS, _NODES),
    kinds.NIC_CLUSTER_POLICY: ((kinds.DAEMON_SET, "", nic.STATE_LABEL), (kinds.POD, _NIC_NAMESPACE, ""), _NODES),
    kinds.CLUSTER_POLICY: (
        (kinds.CLUSTER_POLICY, "", ""),
        (kinds.DAEMON_SET, "", gpu.DRIVER_LABEL),
        (kinds.POD, "", gpu.DRIVER_LABEL),
        (kinds.NVIDIA_DRIVER, "", ""),
        _NODES,
    ),
    kinds.SRIOV_OPERATOR_CONFIG: (_OWN_DAEMON_SETS, _OWN_PODS),
    kinds.SRIOV_NETWORK_POOL_CONFIG: _SRIOV,
    kinds.SRIOV_NETWORK_NODE_POLICY: _SRIOV,
    kinds.SRIOV_NETWORK: ((kinds.SRIOV_OPERATOR_CONFIG, "", ""), *_NETWORKS),
    kinds.SRIOV_IB_NETWORK: ((kinds.SRIOV_OPERATOR_CONFIG, "", ""), *_NETWORKS),
    kinds.MACVLAN_NETWORK: _NETWORKS,
    kinds.IPOIB_NETWORK: _NETWORKS,
    kinds.HOST_DEVICE_NETWORK: _NETWORKS,
    kinds.NV_IPAM_IP_POOL: ((kinds.DEPLOYMENT, _NIC_NAMESPACE, ""), _NODES),
    kinds.NV_IPAM_CIDR_POOL: ((kinds.DEPLOYMENT, _NIC_NAMESPACE, ""), _NODES),
    kinds.MACHINE_CONFIG_POOL: (_NODES,),
}
"""What an object of a kind is judged with. A kind here that the API server does not serve makes the answer unknown."""

OPTIONAL: frozenset[Kind] = frozenset({kinds.NVIDIA_DRIVER})
"""Companions that an API server may well not serve: the judges do without."""
