"""
Traps of the platform that no single object shows: each is a refusal or a warning before anything is written.

Source: six configurations as the documents and controllers have them: OpenShift 4.22 docs, Hardware accelerators 5;
openshift/cluster-network-operator 2a6a57f, pkg/network/multus.go (whereabouts' reconciler).
"""

from railwright.catalog.model import Catalog
from railwright.core import kinds
from railwright.core.marks import is_ours
from railwright.core.objects import KubeObject, Ref, dig, labels_of
from railwright.facts.model import ClusterFacts, Platform, Topology
from railwright.intent.model import Ipam, Method, NicDriver
from railwright.plan.model import OperatorShare
from railwright.plan.notes import Notes
from railwright.plan.settings import Settings
from railwright.plan.version_numbers import version_numbers
from railwright.plan.versions import csv_version

_NO_SCC = ("default", "kube-system", "kube-public", "kube-node-lease", "openshift")
_OPENSHIFT_PREFIXES = ("openshift-", "kube-")
_ENFORCED = "pod-security.kubernetes.io/enforce"
_NO_IPC_LOCK = ("baseline", "restricted")
_PLUGINS_ROLL_FROM = (26, 1)
"""Measured: Network Operator 25.10.0 and 26.4.1 controllers against kube-apiserver 1.36.3, 2026-11 (config-hash)."""


def check_traps(
    all_settings: tuple[Settings, ...],
    cluster: ClusterFacts,
    policy: KubeObject | None,
    operators: tuple[OperatorShare, ...],
    catalog: Catalog,
    notes: Notes,
) -> None:
    """Say everything that is known to go wrong with these wishes on this cluster."""
    _check_node_policies(all_settings, cluster, notes)
    _check_old_plugins(policy, operators, notes)
    for settings in all_settings:
        _check_namespaces(settings, cluster, notes)
        _check_pod_security(settings, cluster, notes)
        _note_infiniband(settings, notes)
        _check_isolation(settings, cluster, catalog, notes)
        _check_whereabouts(settings, cluster, notes)
        _check_auto_upgrade(settings, cluster, notes)


def _check_node_policies(all_settings: tuple[Settings, ...], cluster: ClusterFacts, notes: Notes) -> None:
    """Refuse a second source of the driver: the webhook does, and without it each node gets two driver pods."""
    if not any(item.nic_driver is NicDriver.DOCA for item in all_settings):
        return
    for item in cluster.of_kind(kinds.NIC_NODE_POLICY):
        if dig(item, "spec", "ofedDriver") is not None:
            name = str(item["metadata"]["name"])
            notes.refuse(
                "nic-node-policy-has-driver",
                f"NicNodePolicy {name} brings the DOCA driver already, and the NicClusterPolicy must not bring it too",
                where=f"NicNodePolicy {name}",
                expected="ofedDriver in one of the two kinds",
                seen=f"NicNodePolicy {name} spec.ofedDriver",
                hint="take ofedDriver out of it, or driver.nic: in-box with driver.memory: dma-buf",
            )


def _check_old_plugins(policy: KubeObject | None, operators: tuple[OperatorShare, ...], notes: Notes) -> None:
    """Warn where a device plugin that is there goes on with its old configuration until somebody restarts it."""
    has_plugin = any(dig(policy, "spec", name) is not None for name in ("rdmaSharedDevicePlugin", "sriovDevicePlugin"))
    csv = next((item.csv for item in operators if item.package == "nvidia-network-operator" and item.adopted), "")
    version = version_numbers(csv_version(csv))[:2]
    if has_plugin and version and version < _PLUGINS_ROLL_FROM:
        notes.warn(
            "plugin-pods-stay-old",
            f"Network Operator {csv_version(csv)} does not restart device plugins when their configuration changes: delete"
            " their pods after apply has written it",
            "NicClusterPolicy",
        )


def _check_namespaces(settings: Settings, cluster: ClusterFacts, notes: Notes) -> None:
    """Refuse namespaces of the platform: security constraints do not work there, and nobody's pods belong there."""
    if cluster.platform is not Platform.OPENSHIFT:
        return
    for name in settings.intent.workload_namespaces:
        if name in _NO_SCC or name.startswith(_OPENSHIFT_PREFIXES):
            notes.refuse(
                "namespace-of-the-platform",
                f"{name} belongs to the platform: security context constraints do not work there",
                where=str(settings.intent.place("spec.workloadNamespaces") or settings.name),
                expected="a namespace of its own for workloads",
                seen=name,
                hint="name another namespace; one that does not exist is made",
            )


def _check_pod_security(settings: Settings, cluster: ClusterFacts, notes: Notes) -> None:
    """
    Warn of a namespace that is there and admits no pod with IPC_LOCK; one that we make gets its label from us.

    Source: Kubernetes 1.36 documentation, Pod Security Standards, Baseline (Capabilities).
    """
    for name in settings.intent.workload_namespaces:
        namespace = cluster.objects.get(Ref(kinds.NAMESPACE, "", name))
        level = labels_of(namespace).get(_ENFORCED, "") if namespace is not None and not is_ours(namespace) else ""
        if level in _NO_IPC_LOCK:
            notes.warn(
                "namespace-admits-no-rdma-pod",
                f"namespace {name} enforces the Pod Security level {level}, which refuses pods that lock memory (IPC_LOCK): oc"
                f" label namespace {name} {_ENFORCED}=privileged --overwrite",
                str(settings.intent.place("spec.workloadNamespaces") or name),
            )


def _note_infiniband(settings: Settings, notes: Notes) -> None:
    """
    Say what InfiniBand leaves to the subnet manager, which nothing here writes to.

    Source: OpenSM docs 3.3, virt_enabled; Mellanox/ipoib-cni #29 (children follow their parent's partition).
    """
    if settings.intent.method is Method.SRIOV and settings.is_infiniband:
        notes.warn(
            "subnet-manager-virtualization",
            "virtual functions get their LIDs from a subnet manager with virtualization switched on (OpenSM: virt_enabled 2):"
            " whether yours has it is not known before there are functions",
            settings.name,
        )
    if settings.intent.method is Method.SHARED and settings.is_infiniband:
        notes.decide(
            f"{settings.name} partition",
            "the port's own",
            "hardware",
            "an IPoIB child has its port's partition key; another one takes method sriov with spec.network.pkey",
            "Mellanox/ipoib-cni #29",
        )


def _check_isolation(settings: Settings, cluster: ClusterFacts, catalog: Catalog, notes: Notes) -> None:
    """Refuse isolation where the SR-IOV operator has no field for it."""
    release = catalog.openshift(cluster.openshift_version) if cluster.openshift_version else None
    if settings.intent.rdma_isolation and release is not None and not release.has_rdma_mode:
        notes.refuse(
            "isolation-needs-newer-openshift",
            f"the SR-IOV operator of OpenShift {cluster.openshift_version} has no rdmaMode",
            where=str(settings.intent.place("spec.rdmaIsolation") or settings.name),
            expected="OpenShift 4.18 or newer",
            seen=cluster.openshift_version,
            hint="leave spec.rdmaIsolation out",
        )


def _check_whereabouts(settings: Settings, cluster: ClusterFacts, notes: Notes) -> None:
    """Warn of leaking addresses: the reconciler runs only where the platform's own network configuration asks for it."""
    if settings.ipam is not Ipam.WHEREABOUTS or cluster.platform is not Platform.OPENSHIFT:
        return
    operator = cluster.objects.get(Ref(kinds.NETWORK_OPERATOR, "", "cluster"))
    networks = dig(operator, "spec", "additionalNetworks", default=[])
    if not any("whereabouts" in str(dig(item, "rawCNIConfig", default="")) for item in networks):
        notes.warn(
            "whereabouts-leaks-addresses",
            "no whereabouts reconciler runs: addresses of pods that died with their node stay taken, until none is left",
            "Network.operator.openshift.io cluster spec.additionalNetworks",
        )


def _check_auto_upgrade(settings: Settings, cluster: ClusterFacts, notes: Notes) -> None:
    """Warn on a single node: the operator does not support upgrading its driver by itself there."""
    if cluster.topology is Topology.SINGLE_NODE and settings.auto_upgrade and settings.nic_driver is NicDriver.DOCA:
        notes.warn(
            "single-node-upgrade",
            "the Network Operator upgrades drivers by itself only where there are other nodes to drain to",
            settings.name,
        )
