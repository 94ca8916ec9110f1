"""The four operators as their catalogs ship them: controller Deployments, kinds, install modes."""

from dataclasses import dataclass

from railwright.core.kinds import DEPLOYMENT
from railwright.core.objects import dig
from railwright.standins.model import Objects
from railwright.standins.view import of_kind


@dataclass(frozen=True)
class Definition:
    """One kind that an operator brings along."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool


@dataclass(frozen=True)
class Operator:
    """One package; `deployments` are its controllers."""

    package: str
    namespace: str
    deployments: tuple[str, ...]
    image: str
    definitions: tuple[Definition, ...]


_SRIOV = "sriovnetwork.openshift.io"

NFD = Operator(
    "nfd",
    "openshift-nfd",
    ("nfd-controller-manager",),
    "registry.redhat.io/openshift4/ose-cluster-nfd-rhel9-operator",
    (
        Definition("nfd.openshift.io", "v1", "NodeFeatureDiscovery", "nodefeaturediscoveries", namespaced=True),
        Definition("nfd.openshift.io", "v1alpha1", "NodeFeatureRule", "nodefeaturerules", namespaced=True),
    ),
)
SRIOV = Operator(
    "sriov-network-operator",
    "openshift-sriov-network-operator",
    ("sriov-network-operator",),
    "registry.redhat.io/openshift4/ose-sriov-network-rhel9-operator",
    (
        Definition(_SRIOV, "v1", "SriovOperatorConfig", "sriovoperatorconfigs", namespaced=True),
        Definition(_SRIOV, "v1", "SriovNetworkNodePolicy", "sriovnetworknodepolicies", namespaced=True),
        Definition(_SRIOV, "v1", "SriovNetworkNodeState", "sriovnetworknodestates", namespaced=True),
        Definition(_SRIOV, "v1", "SriovNetworkPoolConfig", "sriovnetworkpoolconfigs", namespaced=True),
        Definition(_SRIOV, "v1", "SriovNetwork", "sriovnetworks", namespaced=True),
        Definition(_SRIOV, "v1", "SriovIBNetwork", "sriovibnetworks", namespaced=True),
    ),
)
NETWORK = Operator(
    "nvidia-network-operator",
    "nvidia-network-operator",
    ("nvidia-network-operator-controller-manager",),
    "nvcr.io/nvidia/cloud-native/network-operator",
    (
        Definition("mellanox.com", "v1alpha1", "NicClusterPolicy", "nicclusterpolicies", namespaced=False),
        Definition("mellanox.com", "v1alpha1", "MacvlanNetwork", "macvlannetworks", namespaced=False),
        Definition("mellanox.com", "v1alpha1", "IPoIBNetwork", "ipoibnetworks", namespaced=False),
        Definition("mellanox.com", "v1alpha1", "HostDeviceNetwork", "hostdevicenetworks", namespaced=False),
    ),
)
GPU = Operator(
    "gpu-operator-certified",
    "nvidia-gpu-operator",
    ("gpu-operator",),
    "nvcr.io/nvidia/gpu-operator",
    (
        Definition("nvidia.com", "v1", "ClusterPolicy", "clusterpolicies", namespaced=False),
        Definition("nvidia.com", "v1alpha1", "NVIDIADriver", "nvidiadrivers", namespaced=False),
    ),
)

OPERATORS = (NFD, SRIOV, NETWORK, GPU)
"""Source: their CSVs, OpenShift 4.22 (docs/sources.md)."""


def is_running(world: Objects, operator: Operator) -> bool:
    """Whether an operator's controllers are available, wherever they were installed and however."""
    return running_namespace(world, operator) is not None


def running_namespace(world: Objects, operator: Operator) -> str | None:
    """Find the namespace in which an operator runs; None while it does not."""
    for deployment in of_kind(world, DEPLOYMENT):
        metadata = deployment["metadata"]
        if metadata["name"] in operator.deployments and dig(deployment, "status", "availableReplicas", default=0):
            return str(metadata["namespace"])
    return None
