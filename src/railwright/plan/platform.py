"""What kind of cluster a plan can be made for."""

from railwright.catalog.model import Catalog
from railwright.core.kinds import CLUSTER_POLICY, NIC_CLUSTER_POLICY
from railwright.facts.model import Platform, Snapshot, Topology
from railwright.intent.model import Method
from railwright.plan.notes import Notes
from railwright.plan.settings import Settings
from railwright.plan.version_numbers import version_numbers


def check_platform(all_settings: tuple[Settings, ...], snapshot: Snapshot, catalog: Catalog, notes: Notes) -> None:
    """Refuse clusters that are not supported yet, and combinations that cannot work anywhere."""
    cluster = snapshot.cluster
    if cluster.topology is Topology.HOSTED:
        notes.refuse(
            "hosted-control-plane",
            "the control plane of this cluster is hosted elsewhere: MachineConfigs go through NodePools there, which is not supported yet",
            expected="a control plane of its own",
            seen="HostedCluster (controlPlaneTopology External)",
            hint="supported are OpenShift with a control plane of its own, single-node too, and plain Kubernetes: README.md",
        )
    if cluster.topology is Topology.UNKNOWN and snapshot.nodes:
        notes.refuse(
            "topology-unknown",
            "whether the control plane takes workloads could not be read",
            hint="railwright discover says what could not be seen",
        )
    if cluster.platform is Platform.KUBERNETES:
        _check_kubernetes(all_settings, snapshot, notes)
    elif cluster.openshift_version and catalog.openshift(cluster.openshift_version) is None:
        notes.warn(
            "openshift-version-unknown",
            f"OpenShift {cluster.openshift_version} is not in the catalog; nothing is known of it",
        )
    _check_least_version(snapshot, catalog, notes)
    if cluster.topology is Topology.SINGLE_NODE and all_settings:
        notes.warn(
            "single-node",
            "the only node is driver host, control plane and workload: drains and reboots take the whole cluster down",
        )
    for item in all_settings:
        _check_partition(item, notes)
        for entry in catalog.unsupported(item.combination()):
            notes.refuse(
                entry.code, entry.reason, where=str(item.intent.place("spec.driver") or item.name), hint=entry.hint
            )


def _check_partition(settings: Settings, notes: Notes) -> None:
    """Refuse partition wishes that nothing would carry out: an IPoIB child inherits its port's, a port has the fabric's."""
    network, intent = settings.intent.network, settings.intent
    if network.pkey is not None and intent.method is not Method.SRIOV:
        notes.refuse(
            "pkey-needs-sriov",
            f"method {intent.method.value} cannot give pods a partition key: they have the port's own",
            where=str(intent.place("spec.network.pkey") or intent.name),
            expected="method sriov, or no pkey",
            seen=f"pkey {network.pkey} with method {intent.method.value}",
            hint="method: sriov, or leave spec.network.pkey out and set the partition in the subnet manager",
        )
    if network.guid == "pool":
        notes.refuse(
            "guid-pool-needs-ufm",
            "GUIDs from a pool need ib-kubernetes with a UFM account, which rails.yaml has no key for yet",
            where=str(intent.place("spec.network.guid") or intent.name),
            hint="leave spec.network.guid out: the SR-IOV operator gives VFs their GUIDs",
        )


def _check_kubernetes(all_settings: tuple[Settings, ...], snapshot: Snapshot, notes: Notes) -> None:
    missing = [str(kind) for kind in (NIC_CLUSTER_POLICY, CLUSTER_POLICY) if not snapshot.cluster.serves(kind)]
    if missing:
        notes.refuse(
            "operators-missing",
            "on plain Kubernetes there is no OLM: railwright does not install operators there",
            expected="NVIDIA Network Operator and NVIDIA GPU Operator, installed by Helm",
            seen=f"not served: {', '.join(missing)}",
            hint="install both operators (and NFD) with their Helm charts, then run railwright plan again",
        )
    for item in all_settings:
        if item.intent.method is Method.SRIOV:
            notes.refuse(
                "sriov-on-plain-kubernetes",
                "method sriov on plain Kubernetes is not supported yet: its operator uses other names there",
                where=str(item.intent.place("spec.method") or item.name),
                hint="method shared or host-device",
            )


def _check_least_version(snapshot: Snapshot, catalog: Catalog, notes: Notes) -> None:
    least = catalog.default("gpudirect_min_openshift")
    version = snapshot.cluster.openshift_version
    if version and version_numbers(version)[:2] < version_numbers(str(least.value)):
        notes.warn(
            "openshift-older-than-supported",
            f"OpenShift {version} is older than {least.value}: {least.reason} ({least.source})",
        )
