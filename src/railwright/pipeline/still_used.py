"""What of others still needs a thing that we made: then it stays."""

from collections.abc import Iterable, Mapping

from railwright.apply.model import LedgerEntry
from railwright.apply.retry import retried
from railwright.core import kinds
from railwright.core.errors import KindNotServed
from railwright.core.needs import Need, of_kind
from railwright.core.objects import Kind, KubeObject, Ref, dig, ref_of
from railwright.ports.cluster import Selection
from railwright.ports.world import World

_PACKAGE_KINDS: Mapping[str, tuple[Kind, ...]] = {
    "nfd": (kinds.NODE_FEATURE_DISCOVERY, kinds.NODE_FEATURE_RULE),
    "sriov-network-operator": (
        kinds.SRIOV_NETWORK_NODE_POLICY,
        kinds.SRIOV_NETWORK_POOL_CONFIG,
        kinds.SRIOV_NETWORK,
        kinds.SRIOV_IB_NETWORK,
        kinds.SRIOV_OPERATOR_CONFIG,
    ),
    "nvidia-network-operator": (
        kinds.NIC_CLUSTER_POLICY,
        kinds.MACVLAN_NETWORK,
        kinds.IPOIB_NETWORK,
        kinds.HOST_DEVICE_NETWORK,
    ),
    "gpu-operator-certified": (kinds.CLUSTER_POLICY, kinds.NVIDIA_DRIVER),
}
"""What each operator serves. Source: their CSVs (docs/sources.md)."""

_STATEFUL_SET = Kind("apps/v1", "StatefulSet")
_CRON_JOB = Kind("batch/v1", "CronJob")
_VOLUME_CLAIM = Kind("v1", "PersistentVolumeClaim")
_INHABITANTS = (
    kinds.POD,
    kinds.DEPLOYMENT,
    kinds.DAEMON_SET,
    _STATEFUL_SET,
    kinds.JOB,
    _CRON_JOB,
    _VOLUME_CLAIM,
    kinds.SUBSCRIPTION,
    kinds.NETWORK_ATTACHMENT_DEFINITION,
    kinds.SRIOV_NETWORK,
    kinds.SRIOV_IB_NETWORK,
    kinds.SRIOV_NETWORK_NODE_POLICY,
    kinds.NV_IPAM_IP_POOL,
    kinds.NV_IPAM_CIDR_POOL,
    kinds.NODE_FEATURE_DISCOVERY,
)
_POOLS = (kinds.NV_IPAM_IP_POOL, kinds.NV_IPAM_CIDR_POOL)
_DATA_KINDS = (kinds.CONFIG_MAP, kinds.SECRET, Kind("v1", "Service"))
_GIVEN_CONFIG_MAPS = frozenset({"kube-root-ca.crt", "openshift-service-ca.crt"})
"""Every namespace gets these from the platform."""
_GIVEN_SECRET_TYPES = ("kubernetes.io/service-account-token", "kubernetes.io/dockercfg")
_NO_USE = frozenset({Ref(kinds.SRIOV_NETWORK_NODE_POLICY, "openshift-sriov-network-operator", "default")})
"""Made by the operator itself (before 4.16)."""


async def why_kept(entry: LedgerEntry, world: World, going: frozenset[Ref]) -> str:
    """
    Say what of others needs this object.

    Args:
        going: objects that are being removed: they keep nothing.

    Returns:
        Words for people; empty when it can go.
    """
    if not entry.created:
        return ""
    if entry.ref.kind == kinds.NIC_CLUSTER_POLICY:
        return await users_of_pools(world, going)
    if entry.ref.kind == kinds.SUBSCRIPTION:
        return await _users_of_operator(entry.ref, world, going)
    if entry.ref.kind == kinds.SRIOV_OPERATOR_CONFIG:
        # Without it the operator takes its daemons from every node, those of other policies too.
        return _words("it serves", await _users_of_package("sriov-network-operator", world, going | {entry.ref}))
    if entry.ref.kind == kinds.OPERATOR_GROUP:
        users = await _others(world, Selection(kinds.SUBSCRIPTION, entry.ref.namespace), going)
        return _words("it serves", users)
    if entry.ref.kind == kinds.NAMESPACE:
        return await _inhabitants(entry.ref.name, world, going)
    return ""


def why_kept_needs(entries: Iterable[LedgerEntry]) -> tuple[Need, ...]:
    """Give what `why_kept` of these entries asks for."""
    needs: list[Need] = []
    made = tuple(entry.ref for entry in entries if entry.created)
    homes = frozenset(ref.namespace for ref in made if ref.kind == kinds.SUBSCRIPTION)
    for ref in made:
        if ref.kind == kinds.NIC_CLUSTER_POLICY:
            needs += [need for kind in _POOLS for need in of_kind("list", kind)]
        elif ref.kind in {kinds.SUBSCRIPTION, kinds.SRIOV_OPERATOR_CONFIG}:
            needs += of_kind("list", kinds.SUBSCRIPTION, ref.namespace) if ref.kind == kinds.SUBSCRIPTION else ()
            needs += [need for some in _PACKAGE_KINDS.values() for kind in some for need in of_kind("list", kind)]
        elif ref.kind == kinds.OPERATOR_GROUP:
            needs += of_kind("list", kinds.SUBSCRIPTION, ref.namespace)
        elif ref.kind == kinds.NAMESPACE:
            inside = _INHABITANTS if ref.name in homes else (*_INHABITANTS, *_DATA_KINDS)
            needs += [need for kind in inside for need in of_kind("list", kind, ref.name)]
    return tuple(needs)


async def users_of_pools(world: World, going: frozenset[Ref]) -> str:
    """
    Say which address pools of others would go with nv-ipam.

    Measured: Network Operator 26.4.1 controllers, 2026-11: the definitions go with the policy, and the pools with them.
    """
    users: list[Ref] = []
    for kind in _POOLS:
        users += await _others(world, Selection(kind), going)
    return _words("its nv-ipam serves", users)


async def _users_of_operator(ref: Ref, world: World, going: frozenset[Ref]) -> str:
    subscription = await _first(world, Selection(ref.kind, ref.namespace, name=ref.name))
    package = str(dig(subscription or {}, "spec", "name", default=""))
    return _words("its operator is needed by", await _users_of_package(package, world, going))


async def _users_of_package(package: str, world: World, going: frozenset[Ref]) -> list[Ref]:
    users: list[Ref] = []
    for kind in _PACKAGE_KINDS.get(package, ()):
        users += await _others(world, Selection(kind), going)
    return users


async def _inhabitants(namespace: str, world: World, going: frozenset[Ref]) -> str:
    is_operators = any(ref.namespace == namespace and ref.kind == kinds.SUBSCRIPTION for ref in going)
    found: list[Ref] = []
    for kind in _INHABITANTS if is_operators else (*_INHABITANTS, *_DATA_KINDS):
        # A pod may be a part of something that we never heard of (PyTorchJob, RayCluster): it is work all the same.
        also_parts = kind == kinds.POD and not is_operators
        found += await _others(world, Selection(kind, namespace), going, also_parts=also_parts)
    return _words("it holds", found)


async def _others(world: World, selection: Selection, going: frozenset[Ref], *, also_parts: bool = False) -> list[Ref]:
    """List objects that are nobody's part (unless asked for), not on their way out, and not given by the platform."""
    return [
        ref_of(obj)
        for obj in await _list(world, selection)
        if ref_of(obj) not in going | _NO_USE
        and (also_parts or not dig(obj, "metadata", "ownerReferences"))
        and not dig(obj, "metadata", "deletionTimestamp")
        and not _is_given(obj)
    ]


def _is_given(obj: KubeObject) -> bool:
    kind = ref_of(obj).kind
    if kind == kinds.CONFIG_MAP:
        return obj["metadata"]["name"] in _GIVEN_CONFIG_MAPS
    return kind == kinds.SECRET and str(obj.get("type", "")).startswith(_GIVEN_SECRET_TYPES)


async def _first(world: World, selection: Selection) -> KubeObject | None:
    found = await _list(world, selection)
    return next((obj for obj in found if obj["metadata"]["name"] == selection.name), None)


async def _list(world: World, selection: Selection) -> list[KubeObject]:
    wide = Selection(selection.kind, selection.namespace)

    async def read() -> list[KubeObject]:
        return [obj async for obj in world.cluster.list(wide)]

    try:
        return await retried(read, world.clock)
    except KindNotServed:
        return []


def _words(claim: str, refs: list[Ref]) -> str:
    if not refs:
        return ""
    more = f" and {len(refs) - 3} more" if len(refs) > 3 else ""
    return f"{claim} {', '.join(str(ref) for ref in refs[:3])}{more}, which we did not make"
