"""What people did to a cluster: policies that cannot work, installations that collide, roll-outs left half-way."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from railwright.core.objects import KubeObject
from railwright.simulator.faults.cluster import change_objects, trouble
from railwright.simulator.faults.inside import every_rail, settings
from railwright.simulator.faults.uplinks import no_virtual_functions, on_gpu_nodes
from railwright.simulator.worlds.model import Draft, Phase
from railwright.standins.openshift import thing
from railwright.standins.operators import GPU, NETWORK, SRIOV

Act = Callable[[Draft], Draft]
_POLICY = "NicClusterPolicy"


def done_by(manager: str, *objects: KubeObject, then_s: float = 120.0) -> Act:
    """Give a fault in which somebody creates objects after everything else."""
    return lambda draft: replace(draft, phases=(*draft.phases, Phase(manager, objects, then_s)))


def changed(kind: str, change: Callable[[KubeObject], KubeObject | None], *, name: str = "") -> Act:
    """Give a fault in which objects of a kind were always otherwise; None leaves one out."""

    def one(obj: KubeObject) -> KubeObject | None:
        is_it = obj["kind"] == kind and name in {"", obj["metadata"]["name"]}
        return change(obj) if is_it else obj

    return lambda draft: change_objects(draft, one)


def both(*acts: Act) -> Act:
    """Give a fault that is several at once."""

    def act(draft: Draft) -> Draft:
        for item in acts:
            draft = item(draft)
        return draft

    return act


def _until(kind: str) -> Act:
    """Let the world end with the phase that brings this kind: what others did later never came to be."""

    def act(draft: Draft) -> Draft:
        brings = [
            number for number, phase in enumerate(draft.phases) if any(item["kind"] == kind for item in phase.objects)
        ]
        if not brings:
            return draft
        last = brings[-1]
        return replace(draft, phases=(*draft.phases[:last], replace(draft.phases[last], then_s=600.0)))

    return act


def _spec(obj: KubeObject, **fields: Any) -> KubeObject:
    return {**obj, "spec": {**obj["spec"], **fields}}


def _section(name: str, **fields: Any) -> Callable[[KubeObject], KubeObject]:
    return lambda obj: _spec(obj, **{name: {**obj["spec"].get(name, {}), **fields}})


def _pool(**entry: Any) -> Act:
    """The device plugin's one pool, with other words in it."""
    pool = {"resourceName": "team_a_storage", "rdmaHcaMax": 10, "selectors": {"vendors": ["15b3"]}} | entry
    return changed(_POLICY, _section("rdmaSharedDevicePlugin", config=json.dumps({"configList": [pool]})))


def _renamed(name: str) -> Callable[[KubeObject], KubeObject]:
    return lambda obj: {**obj, "metadata": {**obj["metadata"], "name": name}}


def _vf_policy(name: str = "team-b", **spec: Any) -> KubeObject:
    body = {
        "resourceName": "team_b",
        "nodeSelector": {"node-role.kubernetes.io/worker": ""},
        "nicSelector": {"vendor": "15b3", "pfNames": ["enp24s0np0"]},
        "numVfs": 4,
        "isRdma": True,
    } | spec
    return thing("sriovnetwork.openshift.io/v1", "SriovNetworkNodePolicy", name, SRIOV.namespace, spec=body)


def _upstream_worker(place: str) -> KubeObject:
    labels = {"app": "node-feature-discovery-worker"}
    return thing(
        "apps/v1",
        "DaemonSet",
        "gpu-operator-node-feature-discovery-worker",
        place,
        spec={
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "containers": [{"name": "worker", "image": "registry.k8s.io/nfd/node-feature-discovery:v0.18.3"}]
                },
            },
        },
    )


_TAINT = {"key": "dedicated", "value": "training", "effect": "NoSchedule"}


def _tainted(obj: KubeObject) -> KubeObject:
    is_worker = str(obj["metadata"]["name"]).startswith("worker")
    return _spec(obj, taints=[*obj.get("spec", {}).get("taints", ()), _TAINT]) if is_worker else obj


def _without_spec(obj: KubeObject) -> KubeObject:
    return {key: value for key, value in obj.items() if key != "spec"}


def _cordoned(obj: KubeObject) -> KubeObject:
    return _spec({"spec": {}, **obj}, unschedulable=True)


def _of_release(old: str, new: str) -> Callable[[KubeObject], KubeObject]:
    """Let a catalog's package be of another release: every version that it names."""

    def change(obj: KubeObject) -> KubeObject:
        text = json.dumps(obj.get("status", {})).replace(old, new)
        return {**obj, "status": json.loads(text)}

    return change


def _nvme_rooted(draft: Draft) -> Draft:
    return on_gpu_nodes(draft, lambda item: replace(item, modules=(*item.modules, "nvme", "nvme_core")))


_SECOND_POLICY = thing("nvidia.com/v1", "ClusterPolicy", "team-b", spec={"driver": {"enabled": True}, "daemonsets": {}})
_LATE_CONFIG = thing(
    "machineconfiguration.openshift.io/v1",
    "MachineConfig",
    "99-worker-team-b",
    labels={"machineconfiguration.openshift.io/role": "worker"},
    spec={"config": {"ignition": {"version": "3.4.0"}}, "kernelArguments": ["hugepages=16"]},
)
_PEERMEM = thing(
    "nvidia.com/v1",
    "ClusterPolicy",
    "cluster-policy",
    spec={"driver": {"enabled": True, "rdma": {"enabled": True}}, "daemonsets": {}},
)

MISTAKES: tuple[tuple[str, str, str, Act], ...] = (
    (
        "channel-gone",
        "a Subscription names a channel that the catalog no longer has",
        "adopt; doctor",
        both(
            _until("Subscription"),
            changed("Subscription", lambda obj: _spec(obj, channel="v24.10"), name=f"{NETWORK.package}-sub"),
        ),
    ),
    (
        "group-for-all",
        "the GPU Operator's OperatorGroup selects all namespaces",
        "adopt; doctor",
        changed("OperatorGroup", _without_spec, name=f"{GPU.namespace}-group"),
    ),
    (
        "approval-forgotten",
        "nobody approves the SR-IOV operator's InstallPlan",
        "adopt; doctor",
        both(
            _until("Subscription"),
            changed("Subscription", lambda obj: _spec(obj, installPlanApproval="Manual"), name=f"{SRIOV.package}-sub"),
        ),
    ),
    (
        "sriov-config-missing",
        "a SR-IOV policy without SriovOperatorConfig default",
        "adopt; doctor",
        both(changed("SriovOperatorConfig", lambda _: None), done_by("team-b", _vf_policy())),
    ),
    (
        "nic-policy-misnamed",
        "the NicClusterPolicy has another name",
        "adopt; doctor",
        both(_until(_POLICY), changed(_POLICY, _renamed("rdma"))),
    ),
    ("second-gpu-policy", "another team's ClusterPolicy", "adopt; doctor", done_by("team-b", _SECOND_POLICY)),
    (
        "peermem-without-doca",
        "nvidia-peermem is wanted and nobody brings the DOCA driver",
        "vanilla; doctor",
        done_by("helm", _PEERMEM, then_s=600),
    ),
    (
        "second-nfd",
        "the GPU Operator's chart brought its own Node Feature Discovery",
        "adopt; doctor",
        done_by("helm", _upstream_worker(GPU.namespace)),
    ),
    (
        "second-multus",
        "NicClusterPolicy brings another Multus",
        "adopt; doctor",
        changed(
            _POLICY, _section("secondaryNetwork", multus={"image": "multus-cni", "repository": "r", "version": "v1"})
        ),
    ),
    (
        "nfd-without-nics",
        "NFD's configuration leaves network cards out",
        "adopt; doctor",
        changed(
            "NodeFeatureDiscovery",
            lambda obj: _spec(
                obj,
                workerConfig={"configData": "sources:\n  pci:\n    deviceClassWhitelist: ['03', '12']\n"},
            ),
        ),
    ),
    ("nodes-tainted", "GPU nodes have a taint that no policy tolerates", "adopt; doctor", changed("Node", _tainted)),
    (
        "pool-wrong-words",
        "a device pool with a link type and a name that the plugin does not know",
        "adopt; doctor",
        _pool(resourceName="team-a", selectors={"linkTypes": ["IB"]}),
    ),
    (
        "pool-old-names",
        "a device pool selects interfaces by names of before",
        "adopt; doctor",
        _pool(selectors={"vendors": ["15b3"], "ifNames": ["ens1f0", "ens2f0"]}),
    ),
    (
        "policy-vfio",
        "a SR-IOV policy for RDMA with vfio-pci",
        "adopt; doctor",
        done_by("team-b", _vf_policy(deviceType="vfio-pci")),
    ),
    (
        "vfs-without-sriov",
        "a SR-IOV policy on ports whose firmware has SR-IOV off",
        "adopt; doctor",
        both(no_virtual_functions, done_by("team-b", _vf_policy(), then_s=600)),
    ),
    (
        "vfs-in-lockdown",
        "a SR-IOV policy on nodes whose kernel is locked down",
        "adopt; doctor",
        both(trouble("vf-lockdown"), done_by("team-b", _vf_policy(), then_s=600)),
    ),
    (
        "vfs-leased",
        "NetworkManager has idle VFs given addresses by DHCP",
        "adopt; doctor",
        both(every_rail(vf_leases=("10.33.0.17/24",)), done_by("team-b", _vf_policy(), then_s=600)),
    ),
    (
        "repo-config-missing",
        "the driver's repoConfig names a ConfigMap that is not there",
        "adopt; doctor",
        changed(_POLICY, _section("ofedDriver", repoConfig={"name": "mirror-repos"})),
    ),
    (
        "driver-too-old",
        "the policy's DOCA driver is older than the nodes' system",
        "adopt; doctor",
        changed(_POLICY, _section("ofedDriver", version="24.10-0.7.0.0-0")),
    ),
    (
        "toolkit-behind",
        "the driver toolkit has no tag for the nodes' release",
        "adopt; doctor",
        changed("ImageStream", lambda obj: _spec(obj, tags=[{"name": "9.4.20250101-0"}])),
    ),
    (
        "nfsrdma-with-nvme",
        "ENABLE_NFSRDMA on nodes with NVMe disks",
        "adopt; doctor",
        both(changed(_POLICY, _section("ofedDriver", env=[{"name": "ENABLE_NFSRDMA", "value": "true"}])), _nvme_rooted),
    ),
    (
        "rdma-exclusive",
        "nodes are set to exclusive RDMA, under the shared device plugin",
        "adopt; doctor",
        settings(netns_mode="exclusive"),
    ),
    (
        "whole-and-sliced",
        "one port is handed out whole and as VFs",
        "adopt; doctor",
        both(
            changed(
                _POLICY,
                _section(
                    "sriovDevicePlugin",
                    image="sriov-network-device-plugin",
                    repository="nvcr.io/nvidia/mellanox",
                    version="network-operator-v26.4.1",
                    config=json.dumps(
                        {
                            "resourceList": [
                                {"resourceName": "whole", "selectors": {"pfNames": ["enp24s0np0"], "isRdma": True}}
                            ]
                        }
                    ),
                ),
            ),
            done_by("team-b", _vf_policy(), then_s=600),
        ),
    ),
    (
        "nic-configuration-wanted",
        "NicClusterPolicy brings a NIC configuration operator with a defect",
        "adopt; doctor",
        changed(_POLICY, _section("nicConfigurationOperator", operator={"image": "nic-configuration-operator"})),
    ),
    (
        "sriov-operator-old",
        "the SR-IOV operator is of a release that resets firmware of ports which it does not manage",
        "adopt with mlx5-uplink; doctor",
        both(
            changed("PackageManifest", _of_release("4.20.0", "4.16.0"), name=SRIOV.package),
            done_by("team-b", _vf_policy(), then_s=600),
        ),
    ),
    (
        "pool-excludes-blocks",
        "an address pool excludes ranges that it has given out whole",
        "adopt; doctor",
        changed("IPPool", lambda obj: _spec(obj, exclusions=[{"startIP": "10.64.0.1", "endIP": "10.64.0.40"}])),
    ),
    (
        "node-left-cordoned",
        "a GPU node is cordoned and forgotten",
        "adopt; doctor",
        changed("Node", _cordoned, name="worker-1"),
    ),
    (
        "pool-paused-for-good",
        "the worker pool is paused while a change waits",
        "adopt; doctor",
        both(
            changed("MachineConfigPool", lambda obj: _spec(obj, paused=True), name="worker"),
            done_by("team-b", _LATE_CONFIG),
        ),
    ),
)
"""Name, one line, where it matters, and what it does."""
