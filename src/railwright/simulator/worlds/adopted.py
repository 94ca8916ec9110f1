"""What others did to a cluster before us: operators installed and configured their way."""

import json

from railwright.core.objects import KubeObject
from railwright.simulator.worlds.model import Phase
from railwright.simulator.worlds.objects import namespace
from railwright.standins.openshift import thing
from railwright.standins.operators import GPU, NETWORK, NFD, OPERATORS, SRIOV, Operator
from railwright.standins.workloads import definition

_DOCA = "doca3.2.0-25.10-1.2.8.0-2"


def adopted_phases() -> tuple[Phase, ...]:
    """Four operators from OLM, then their resources, by an Argo CD and by hand."""
    subscribed = tuple(item for operator in OPERATORS for item in _subscribed(operator))
    return (
        Phase("argocd-controller", subscribed, 120),
        Phase("argocd-controller", (_discovery(), _sriov_config()), 60),
        Phase("kubectl-client-side-apply", (_nic_policy(),), 600),
        Phase("team-a", (_pool(),), 60),
        Phase("argocd-controller", (_gpu_policy(),), 900),
    )


def _subscribed(operator: Operator) -> tuple[KubeObject, ...]:
    catalog = "redhat-operators" if operator in {NFD, SRIOV} else "certified-operators"
    channel = {NETWORK.package: "v26.4", GPU.package: "v26.7"}.get(operator.package, "stable")
    return (
        namespace(operator.namespace),
        thing(
            "operators.coreos.com/v1",
            "OperatorGroup",
            f"{operator.namespace}-group",
            operator.namespace,
            spec={"targetNamespaces": [operator.namespace]},
        ),
        thing(
            "operators.coreos.com/v1alpha1",
            "Subscription",
            f"{operator.package}-sub",
            operator.namespace,
            spec={
                "name": operator.package,
                "channel": channel,
                "source": catalog,
                "sourceNamespace": "openshift-marketplace",
                "installPlanApproval": "Automatic",
            },
        ),
    )


def _discovery() -> KubeObject:
    data = "sources:\n  pci:\n    deviceClassWhitelist: ['0200', '03', '12']\n    deviceLabelFields: [vendor]\n  usb:\n    deviceClassWhitelist: ['ef']\n"
    return thing(
        "nfd.openshift.io/v1",
        "NodeFeatureDiscovery",
        "cluster-nfd",
        NFD.namespace,
        spec={"operand": {"servicePort": 12000}, "workerConfig": {"configData": data}},
    )


def _sriov_config() -> KubeObject:
    return thing(
        "sriovnetwork.openshift.io/v1",
        "SriovOperatorConfig",
        "default",
        SRIOV.namespace,
        spec={"enableInjector": True, "enableOperatorWebhook": True, "logLevel": 2},
    )


def _nic_policy() -> KubeObject:
    pool = {
        "resourceName": "team_a_storage",
        "rdmaHcaMax": 10,
        "selectors": {"vendors": ["15b3"], "ifNames": ["enp218s0np0"]},
    }
    return thing(
        "mellanox.com/v1alpha1",
        "NicClusterPolicy",
        "nic-cluster-policy",
        spec={
            "ofedDriver": {
                "image": "doca-driver",
                "repository": "nvcr.io/nvidia/mellanox",
                "version": _DOCA,
                "upgradePolicy": {"autoUpgrade": False},
            },
            "rdmaSharedDevicePlugin": {
                "image": "k8s-rdma-shared-dev-plugin",
                "repository": "nvcr.io/nvidia/mellanox",
                "version": "network-operator-v25.10.0",
                "config": json.dumps({"configList": [pool]}),
            },
            "nvIpam": {
                "image": "nvidia-k8s-ipam",
                "repository": "nvcr.io/nvidia/mellanox",
                "version": "network-operator-v25.10.0",
                "enableWebhook": True,
            },
        },
    )


def _pool() -> KubeObject:
    """Spell the addresses of team A's storage network."""
    return thing(
        "nv-ipam.nvidia.com/v1alpha1",
        "IPPool",
        "team-a-storage",
        NETWORK.namespace,
        spec={"subnet": "10.64.0.0/24", "perNodeBlockSize": 16, "gateway": "10.64.0.1"},
    )


def _gpu_policy() -> KubeObject:
    return thing(
        "nvidia.com/v1",
        "ClusterPolicy",
        "team-gpu-policy",
        spec={
            "driver": {
                "enabled": True,
                "kernelModuleType": "open",
                "repository": "nvcr.io/nvidia",
                "image": "driver",
                "version": "580.95.05",
                "rdma": {"enabled": False},
                "upgradePolicy": {"autoUpgrade": True, "maxParallelUpgrades": 1},
            },
            "toolkit": {"enabled": True},
            "daemonsets": {},
            "dcgm": {"enabled": True},
            "dcgmExporter": {"enabled": True},
            "devicePlugin": {"enabled": True},
            "gfd": {"enabled": True},
            "migManager": {"enabled": True},
            "nodeStatusExporter": {"enabled": True},
            "operator": {},
        },
    )


def helm_phases() -> tuple[Phase, ...]:
    """The two NVIDIA operators and upstream Node Feature Discovery from their Helm charts."""
    made: list[KubeObject] = []
    for operator in (NFD, NETWORK, GPU):
        place = {NFD: "node-feature-discovery", NETWORK: "nvidia-network-operator", GPU: "gpu-operator"}[operator]
        made.append(namespace(place))
        made += [
            definition(item.group, item.version, item.kind, item.plural, namespaced=item.namespaced)
            for item in operator.definitions
        ]
        made += [_controller(name, place, operator.image) for name in operator.deployments]
    discovery = thing(
        "nfd.openshift.io/v1", "NodeFeatureDiscovery", "nfd", "node-feature-discovery", spec={"operand": {}}
    )
    return (Phase("helm", tuple(made), 120), Phase("helm", (discovery,), 300))


def _controller(name: str, place: str, image: str) -> KubeObject:
    labels = {"app": name}
    return thing(
        "apps/v1",
        "Deployment",
        name,
        place,
        labels=labels,
        spec={
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "manager", "image": image}]},
            },
        },
    )
