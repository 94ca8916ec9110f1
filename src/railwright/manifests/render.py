"""
`render(Plan) -> Manifests`: every share becomes its objects, in the order in which they are applied.

The table says which function renders which share; the order inside a stage is by kind. What the plan says twice about
one object is put together here; contradictions are a bug of the plan and are raised.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from railwright.core import kinds
from railwright.core.ids import StageName
from railwright.core.objects import Kind, KubeObject, Ref, kind_of
from railwright.manifests.kinds import access, gpu, machineconfig, networks, nfd, nic, nodes, olm, sriov
from railwright.manifests.model import Manifest, Manifests
from railwright.plan.model import (
    AccessShare,
    CidrPoolShare,
    FeatureRuleShare,
    GpuPolicyShare,
    HostNetworkShare,
    IpPoolShare,
    KubeletShare,
    MachineShare,
    NetworkShare,
    NfdShare,
    NicPolicyShare,
    NodeLabelShare,
    OperatorShare,
    Plan,
    SriovConfigShare,
    SriovPolicyShare,
    SriovPoolShare,
)

RENDERERS: Mapping[type, Callable[[Any], tuple[Manifest, ...]]] = {
    OperatorShare: olm.operator,
    NfdShare: nfd.feature_discovery,
    FeatureRuleShare: nfd.feature_rule,
    NicPolicyShare: nic.nic_policy,
    SriovConfigShare: sriov.operator_config,
    SriovPoolShare: sriov.pool_config,
    SriovPolicyShare: sriov.node_policy,
    GpuPolicyShare: gpu.gpu_policy,
    IpPoolShare: networks.ip_pool,
    CidrPoolShare: networks.cidr_pool,
    NetworkShare: networks.network,
    MachineShare: machineconfig.machine_config,
    KubeletShare: machineconfig.kubelet_config,
    HostNetworkShare: machineconfig.host_network,
    AccessShare: access.access,
    NodeLabelShare: nodes.node_labels,
}
"""Which function renders which share."""

ORDER: tuple[Kind, ...] = (
    kinds.NAMESPACE,
    kinds.OPERATOR_GROUP,
    kinds.SUBSCRIPTION,
    kinds.SERVICE_ACCOUNT,
    kinds.SECURITY_CONTEXT_CONSTRAINTS,
    kinds.ROLE,
    kinds.ROLE_BINDING,
    kinds.MACHINE_CONFIG,
    kinds.KUBELET_CONFIG,
    kinds.NODE_NETWORK_CONFIGURATION_POLICY,
    kinds.NODE_FEATURE_DISCOVERY,
    kinds.NODE_FEATURE_RULE,
    kinds.NODE_FEATURE_RULE_UPSTREAM,
    kinds.NIC_CLUSTER_POLICY,
    kinds.SRIOV_OPERATOR_CONFIG,
    kinds.SRIOV_NETWORK_POOL_CONFIG,
    kinds.CLUSTER_POLICY,
    kinds.NODE,
    kinds.SRIOV_NETWORK_NODE_POLICY,
    kinds.NV_IPAM_IP_POOL,
    kinds.NV_IPAM_CIDR_POOL,
)
"""Order inside a stage; what is not named comes after, which is every kind of network."""

_RANK = {kind: rank for rank, kind in enumerate(ORDER)}


def render(plan: Plan) -> Manifests:
    """
    Render a plan.

    Returns:
        Objects by stage (in the order of the plan's stages), then by kind, namespace and name; each object once a
        stage. Nodes come after the policies that select them, but a node that is held back comes first of all.

    Raises:
        ValueError: shares contradict each other, or one has no renderer (a bug of ours).
    """
    stages = {stage.name: index for index, stage in enumerate(plan.stages)}
    keyed: list[tuple[tuple[int, int, str, str], Manifest]] = []
    for share in plan.shares:
        renderer = RENDERERS.get(type(share))
        if renderer is None:
            message = f"no renderer for {type(share).__name__}"
            raise ValueError(message)
        held_back = isinstance(share, NodeLabelShare) and share.held_back
        keyed += [(_order(item, stages, first=held_back), item) for item in renderer(share)]
    keyed.sort(key=lambda pair: pair[0])
    return Manifests(_each_once(tuple(item for _, item in keyed)))


def _order(item: Manifest, stages: Mapping[StageName, int], *, first: bool) -> tuple[int, int, str, str]:
    ref = item.ref
    rank = -1 if first else _RANK.get(ref.kind, len(ORDER))
    return stages.get(item.stage, len(stages)), rank, ref.namespace, ref.name


def _each_once(items: tuple[Manifest, ...]) -> tuple[Manifest, ...]:
    """
    Put together what several shares say about one object.

    Server-side apply drops the fields that a field manager no longer sends, so a later stage repeats what earlier ones
    set on the same object.
    """
    merged: dict[tuple[StageName, Ref], Manifest] = {}
    whole: dict[Ref, Manifest] = {}
    for item in items:
        known = whole.get(item.ref)
        if known is not None:
            item = _together(known, item)  # noqa: PLW2901 - from here on it is the whole of what is known
        whole[item.ref] = item
        merged[item.stage, item.ref] = item
    return tuple(merged.values())


def _together(earlier: Manifest, later: Manifest) -> Manifest:
    ref = later.ref
    return replace(
        later,
        obj=_merge(earlier.obj, later.obj, str(ref)),
        fabrics=tuple(sorted({*earlier.fabrics, *later.fabrics})) if earlier.fabrics and later.fabrics else (),
        embedded=tuple(dict.fromkeys((*earlier.embedded, *later.embedded))),
    )


def _merge(earlier: KubeObject, later: KubeObject, where: str) -> dict[str, Any]:
    """Merge mappings key by key; anything else must be equal."""
    result = dict(earlier)
    for key, value in later.items():
        old = result.get(key, value)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            result[key] = _merge(old, value, f"{where} {key}")
        elif old != value:
            message = f"two shares differ about {where} {key}: {old!r} and {value!r}"
            raise ValueError(message)
        else:
            result[key] = value
    return result


def installs_kinds(item: Manifest) -> bool:
    """Tell whether applying this object makes the API server serve new kinds: a Subscription."""
    return kind_of(item.obj) == kinds.SUBSCRIPTION
