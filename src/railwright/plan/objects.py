"""What each fabric puts on the cluster, through its profile."""

from railwright.catalog.model import Catalog
from railwright.core.ids import FabricName
from railwright.core.kinds import NAMESPACE
from railwright.core.objects import Ref
from railwright.facts.model import ClusterFacts, Platform
from railwright.intent.model import Method
from railwright.plan.defaults import number
from railwright.plan.draft import FabricNodes
from railwright.plan.model import AccessShare, NetworkShare, Share
from railwright.plan.notes import Notes
from railwright.plan.operands import NicNeeds
from railwright.plan.pools import given_by, pools_of
from railwright.plan.profiles import host_device, shared, sriov
from railwright.plan.settings import Settings

NETWORK_OPERATOR = "nvidia-network-operator"
SRIOV_OPERATOR = "sriov-network-operator"


def nic_needs(fabrics: tuple[FabricNodes, ...], all_settings: tuple[Settings, ...], notes: Notes) -> NicNeeds:
    """Put together what fabrics want of the one NicClusterPolicy."""
    pools = {
        method: tuple(
            pool
            for fabric in fabrics
            if fabric.settings.intent.method is method
            for pool in profile.pools(fabric.settings, fabric.rails, fabric.hardware, notes)
        )
        for method, profile in ((Method.SHARED, shared), (Method.HOST_DEVICE, host_device))
    }
    return NicNeeds(all_settings, pools[Method.SHARED], pools[Method.HOST_DEVICE])


def fabric_shares(
    fabric: FabricNodes, cluster: ClusterFacts, namespaces: dict[str, str], catalog: Catalog, notes: Notes
) -> tuple[Share, ...]:
    """Objects of one fabric alone: policies, address pools, networks."""
    settings = fabric.settings
    targets = settings.intent.workload_namespaces
    if not targets:
        notes.warn(
            "no-workload-namespace", "spec.workloadNamespaces is empty: no pod can use the rails yet", settings.name
        )
    given = given_by(cluster, len(fabric.hardware), number(catalog, "per_node_block"))
    shares: list[Share] = []
    if targets:
        shares += pools_of(settings, fabric.rails, namespaces[NETWORK_OPERATOR], given, notes)
    if settings.intent.method is Method.SRIOV:
        namespace = namespaces[SRIOV_OPERATOR]
        priority = number(catalog, "sriov_priority")
        unavailable = number(catalog, "sriov_max_unavailable")
        shares.append(sriov.node_pool(settings, namespace, unavailable))
        shares += sriov.policies(settings, fabric.rails, fabric.groups, namespace, priority)
    shares += networks_of(fabric, targets, namespaces, notes)
    return tuple(shares)


def networks_of(
    fabric: FabricNodes, targets: tuple[str, ...], namespaces: dict[str, str], notes: Notes
) -> tuple[NetworkShare, ...]:
    """Networks of one fabric, by its method."""
    settings, rails = fabric.settings, fabric.rails
    if settings.intent.method is Method.SHARED:
        return shared.networks(settings, rails, targets, notes)
    if settings.intent.method is Method.HOST_DEVICE:
        return host_device.networks(settings, rails, targets)
    return sriov.networks(settings, rails, targets, namespaces[SRIOV_OPERATOR])


def access_shares(fabrics: tuple[FabricNodes, ...], cluster: ClusterFacts) -> tuple[AccessShare, ...]:
    """What each workload namespace needs, once however many fabrics use it."""
    users: dict[str, list[FabricName]] = {}
    for fabric in fabrics:
        for namespace in fabric.settings.intent.workload_namespaces:
            users.setdefault(namespace, []).append(FabricName(fabric.settings.name))
    return tuple(
        AccessShare(
            namespace=namespace,
            create_namespace=Ref(NAMESPACE, "", namespace) not in cluster.objects,
            service_account="rdma",
            scc="railwright-rdma" if cluster.platform is Platform.OPENSHIFT else "",
            fabrics=tuple(names),
        )
        for namespace, names in sorted(users.items())
    )
