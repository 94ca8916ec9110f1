"""What the API server says of the cluster as a whole, but for its nodes: read once, reduced while it streams by."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from railwright.core import kinds
from railwright.core.marks import LEDGER_LABEL, LEDGER_NAMESPACE, is_ours
from railwright.core.objects import Kind, KubeObject, Ref, dig, labels_of, ref_of
from railwright.facts.model import PodFacts
from railwright.facts.packages import PACKAGES
from railwright.facts.pods import pod_of
from railwright.facts.reading import Reading, together
from railwright.ports.cluster import Selection

CLUSTER_VERSION = Ref(kinds.CLUSTER_VERSION, "", "version")
INFRASTRUCTURE = Ref(kinds.INFRASTRUCTURE, "", "cluster")
PROXY = Ref(kinds.PROXY, "", "cluster")
NETWORK_CONFIG = Ref(kinds.NETWORK_CONFIG, "", "cluster")
NETWORK_OPERATOR = Ref(kinds.NETWORK_OPERATOR, "", "cluster")
INSTALL_CONFIG = Ref(kinds.CONFIG_MAP, "kube-system", "cluster-config-v1")
DRIVER_TOOLKIT = Ref(kinds.IMAGE_STREAM, "openshift", "driver-toolkit")
SINGLES = (CLUSTER_VERSION, INFRASTRUCTURE, PROXY, NETWORK_CONFIG, NETWORK_OPERATOR, DRIVER_TOOLKIT)

LEDGER = Selection(kinds.CONFIG_MAP, namespace=LEDGER_NAMESPACE, labels=LEDGER_LABEL)

OPERATOR_NAMESPACES = frozenset(
    {
        "openshift-nfd",
        "openshift-sriov-network-operator",
        "nvidia-network-operator",
        "nvidia-gpu-operator",
        "gpu-operator",
        "network-operator",
        "node-feature-discovery",
        "sriov-network-operator",
    }
)
"""Where the four operators live: through OLM (their CSVs, 2026-08-22), and as their Helm charts' guides say."""

_CUSTOM = (
    kinds.NODE_FEATURE_DISCOVERY,
    kinds.NODE_FEATURE_RULE,
    kinds.NODE_FEATURE_RULE_UPSTREAM,
    kinds.NIC_CLUSTER_POLICY,
    kinds.MACVLAN_NETWORK,
    kinds.IPOIB_NETWORK,
    kinds.HOST_DEVICE_NETWORK,
    kinds.NV_IPAM_IP_POOL,
    kinds.NV_IPAM_CIDR_POOL,
    kinds.SRIOV_OPERATOR_CONFIG,
    kinds.SRIOV_NETWORK_POOL_CONFIG,
    kinds.SRIOV_NETWORK_NODE_POLICY,
    kinds.SRIOV_NETWORK_NODE_STATE,
    kinds.SRIOV_NETWORK,
    kinds.SRIOV_IB_NETWORK,
    kinds.CLUSTER_POLICY,
    kinds.NVIDIA_DRIVER,
    kinds.NIC_NODE_POLICY,
    kinds.NIC_DEVICE,
    kinds.NIC_CONFIGURATION_TEMPLATE,
    kinds.NIC_FIRMWARE_SOURCE,
    kinds.WHEREABOUTS_IP_POOL,
    kinds.WHEREABOUTS_RESERVATION,
)
_RENDERED = re.compile(r"rendered-|0[01]-(?:master|worker|arbiter)")
_PROVIDED_CONFIG_MAPS = frozenset({"kube-root-ca.crt", "openshift-service-ca.crt"})
_STACK = re.compile(r"nfd|node-feature|multus|mofed|doca|rdma|sriov|nvidia|gpu|nv-ipam|ipoib|whereabouts")
_SCC_NAMES = frozenset({"privileged", "restricted-v2", "nonroot-v2", "anyuid"})


@dataclass(frozen=True)
class ClusterObjects:
    """Objects that matter, and pods that matter."""

    objects: Mapping[Ref, KubeObject]
    pods: tuple[PodFacts, ...]
    namespaces: frozenset[str]
    """Where the operators live."""

    @property
    def operator_pods(self) -> tuple[PodFacts, ...]:
        """Pods of the operators' namespaces."""
        return tuple(pod for pod in self.pods if pod.namespace in self.namespaces)


async def read_singles(reading: Reading) -> dict[Ref, KubeObject]:
    """Read the objects that exist once and have a fixed name; those that do not exist are left out."""
    found = await together(reading.get(ref) for ref in SINGLES)
    return {ref: obj for ref, obj in zip(SINGLES, found, strict=True) if obj is not None}


def _keeper(
    objects: dict[Ref, KubeObject], kind: Kind, matters: Callable[[KubeObject], bool]
) -> Callable[[KubeObject], None]:
    def take(obj: KubeObject) -> None:
        if matters(obj):
            typed = {"apiVersion": kind.api_version, "kind": kind.kind, **obj}
            objects[ref_of(typed)] = typed

    return take


async def read_everywhere(reading: Reading) -> tuple[dict[Ref, KubeObject], tuple[KubeObject, ...]]:
    """Read what says where operators are and what they were told; and the MachineConfigPools."""
    objects: dict[Ref, KubeObject] = {}
    pools: list[KubeObject] = []
    whole = await together(
        [
            *(reading.each(Selection(kind), _keeper(objects, kind, matters)) for kind, matters in EVERYWHERE.items()),
            reading.each(Selection(kinds.MACHINE_CONFIG_POOL), pools.append),
            reading.each(LEDGER, _keeper(objects, kinds.CONFIG_MAP, _always)),
        ]
    )
    has_all_namespaces = whole[list(EVERYWHERE).index(kinds.NAMESPACE)]
    if has_all_namespaces and Ref(kinds.NAMESPACE, "", LEDGER_NAMESPACE) not in objects:
        # No Role can be in a namespace that is not there, so that reading it is denied; and nothing is in it.
        reading.forgive(LEDGER)
    return objects, tuple(pools)


async def read_namespaces(reading: Reading, known: Mapping[Ref, KubeObject]) -> ClusterObjects:
    """Read what lives in the operators' namespaces, and every pod that matters; adds to what is `known`."""
    objects = dict(known)
    namespaces = operator_namespaces(objects)
    present = {ref.name for ref in objects if ref.kind == kinds.NAMESPACE}
    here = sorted(namespaces & present if present else namespaces)
    pods: list[PodFacts] = []
    await together(
        [
            _read_pods(reading, namespaces, here, pods),
            *(
                reading.each(Selection(kind, namespace=namespace), _keeper(objects, kind, matters))
                for namespace in here
                for kind, matters in IN_OPERATOR_NAMESPACES.items()
            ),
        ]
    )
    pods.sort(key=lambda pod: (pod.namespace, pod.name))
    return ClusterObjects({ref: objects[ref] for ref in sorted(objects)}, tuple(pods), namespaces)


async def _read_pods(reading: Reading, namespaces: frozenset[str], here: Iterable[str], pods: list[PodFacts]) -> None:
    """Read every pod; where that is not possible, or gives a part, those of each operator's namespace by themselves."""
    found: dict[tuple[str, str], PodFacts] = {}

    def take(obj: KubeObject) -> None:
        pod = pod_of(obj, namespaces)
        if pod is not None:
            found[pod.namespace, pod.name] = pod

    if not await reading.each(Selection(kinds.POD, brief=True), take):
        await together(reading.each(Selection(kinds.POD, namespace=name, brief=True), take) for name in here)
    pods += found.values()


def operator_namespaces(objects: Mapping[Ref, KubeObject]) -> frozenset[str]:
    """Name the namespaces of the four operators: the usual ones, and wherever a Subscription puts one."""
    subscribed = {
        ref.namespace
        for ref, obj in objects.items()
        if ref.kind == kinds.SUBSCRIPTION and str(dig(obj, "spec", "name")) in PACKAGES
    }
    return OPERATOR_NAMESPACES | subscribed


def _always(_obj: KubeObject) -> bool:
    return True


def _namespace_matters(obj: KubeObject) -> bool:
    """Leave out the platform's own namespaces: no operator of ours is there, and no workload may be."""
    name = str(dig(obj, "metadata", "name"))
    return name in OPERATOR_NAMESPACES or not name.startswith(("openshift-", "kube-"))


def _csv_matters(obj: KubeObject) -> bool:
    """Leave out the copies that OLM puts into every namespace for an operator that watches all of them."""
    return not is_olms_copy(obj)


def is_olms_copy(csv: KubeObject) -> bool:
    """Whether a CSV is only the sign, in another namespace, that its operator watches that one."""
    return "olm.copiedFrom" in labels_of(csv) or dig(csv, "status", "reason") == "Copied"


def _machine_config_matters(obj: KubeObject) -> bool:
    return not is_made_by_cluster(obj)


def is_made_by_cluster(machine_config: KubeObject) -> bool:
    """Whether the cluster made it itself: the sum of the others, or the base, which holds the pull secret."""
    return _RENDERED.match(str(dig(machine_config, "metadata", "name"))) is not None


def _config_map_matters(obj: KubeObject) -> bool:
    return dig(obj, "metadata", "name") not in _PROVIDED_CONFIG_MAPS


def _daemon_set_matters(obj: KubeObject) -> bool:
    """Keep what an operator's namespace lacks: a second NFD or Multus, drivers and plugins somebody installed alone."""
    return _STACK.search(str(dig(obj, "metadata", "name", default=""))) is not None


def _scc_matters(obj: KubeObject) -> bool:
    """Keep what may admit an RDMA pod (it needs IPC_LOCK), what is ours, and the ones that everybody meets."""
    allowed = {*dig(obj, "allowedCapabilities", default=()), *dig(obj, "defaultAddCapabilities", default=())}
    return dig(obj, "metadata", "name") in _SCC_NAMES or bool(allowed & {"IPC_LOCK", "*"}) or is_ours(obj)


EVERYWHERE: Mapping[Kind, Callable[[KubeObject], bool]] = {
    kinds.NAMESPACE: _namespace_matters,
    kinds.OPERATOR_GROUP: _always,
    kinds.SUBSCRIPTION: _always,
    kinds.INSTALL_PLAN: _always,
    kinds.CLUSTER_SERVICE_VERSION: _csv_matters,
    kinds.CATALOG_SOURCE: _always,
    kinds.MACHINE_CONFIG: _machine_config_matters,
    kinds.KUBELET_CONFIG: _always,
    kinds.NODE_NETWORK_CONFIGURATION_POLICY: _always,
    kinds.SECURITY_CONTEXT_CONSTRAINTS: _scc_matters,
    kinds.NETWORK_ATTACHMENT_DEFINITION: _always,
    kinds.DAEMON_SET: _daemon_set_matters,
    kinds.POD_DISRUPTION_BUDGET: _always,
    **dict.fromkeys(_CUSTOM, _always),
}
"""What is read in all namespaces, and which of it is kept."""

IN_OPERATOR_NAMESPACES: Mapping[Kind, Callable[[KubeObject], bool]] = {
    kinds.DAEMON_SET: _always,
    kinds.DEPLOYMENT: _always,
    kinds.CONFIG_MAP: _config_map_matters,
}
