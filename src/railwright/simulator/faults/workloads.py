"""What people did for pods: networks that nothing can be attached to, addresses given twice, jobs set up wrong."""

import json
from collections.abc import Mapping
from typing import Any

from railwright.core.multus import NETWORK_STATUS, NETWORKS, RESOURCE_NAME
from railwright.core.objects import KubeObject
from railwright.simulator.faults.mistakes import Act, done_by
from railwright.simulator.worlds.objects import namespace
from railwright.standins.openshift import thing

_TRAIN = "training"
_SHARED = "rdma/team_a_storage"


def network(name: str, plugin: Mapping[str, Any], resource: str = "", place: str = _TRAIN) -> KubeObject:
    """Spell a NAD that somebody wrote by hand."""
    config = json.dumps({"cniVersion": "0.3.1", "name": name, **plugin})
    marks = {"annotations": {RESOURCE_NAME: resource}} if resource else {}
    body = {"config": config}
    return thing("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", name, place, spec=body, **marks)


def pod(name: str, node: str, requests: Mapping[str, int], **parts: Any) -> KubeObject:
    """
    Spell a pod of a job that runs on a node.

    `networks`, `environment` and `addresses` (network -> address, as Multus writes them) go where they belong;
    `phase` and `conditions` make one that does not run.
    """
    annotations = {}
    if parts.get("networks"):
        annotations[NETWORKS] = parts["networks"]
    if parts.get("addresses"):
        said = [{"name": item, "interface": "net1", "ips": [ip]} for item, ip in parts["addresses"].items()]
        annotations[NETWORK_STATUS] = json.dumps(said)
    container: dict[str, Any] = {
        "name": "main",
        "image": "quay.io/train/job:1",
        "env": [{"name": key, "value": value} for key, value in parts.get("environment", {}).items()],
        "resources": {"limits": {key: str(count) for key, count in requests.items()}},
    }
    containers = [container, *({"name": extra, "image": f"mesh/{extra}:1"} for extra in parts.get("beside", ()))]
    spec = {"containers": containers} | ({"nodeName": node} if node else {})
    status = {"phase": "Pending", "conditions": parts["conditions"]} if "conditions" in parts else {}
    made = thing("v1", "Pod", name, _TRAIN, annotations=annotations, spec=spec)
    return {**made, "status": status} if status else made


def _not_scheduled(message: str) -> list[dict[str, str]]:
    return [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}]


def _in_training(*objects: KubeObject, then_s: float = 120.0) -> Act:
    return done_by("team-b", namespace(_TRAIN), *objects, then_s=then_s)


_HOST_LOCAL = {"type": "macvlan", "master": "enp24s0np0", "ipam": {"type": "host-local", "subnet": "10.77.0.0/24"}}
_WHEREABOUTS = {"type": "macvlan", "master": "enp24s0np0", "ipam": {"type": "whereabouts", "range": "10.77.0.0/24"}}
_STATIC = {"type": "macvlan", "master": "enp24s0np0", "ipam": {"type": "static"}}

POD_MISTAKES: tuple[tuple[str, str, str, Act], ...] = (
    (
        "network-without-device",
        "a host-device network names a resource that nobody has",
        "adopt; doctor",
        _in_training(
            network(
                "rail", {"type": "host-device", "ipam": {"type": "nv-ipam", "poolName": "no-pool"}}, "nvidia.com/rail"
            )
        ),
    ),
    (
        "network-old-master",
        "a macvlan network lies on an interface of before",
        "adopt; doctor",
        _in_training(network("rail", {"type": "macvlan", "master": "ens1f0", "ipam": {"type": "static"}})),
    ),
    (
        "addresses-doubled",
        "host-local gave two pods of two nodes one address",
        "adopt; doctor",
        _in_training(
            network("rail", _HOST_LOCAL),
            pod("a", "worker-0", {_SHARED: 1}, networks="rail", addresses={f"{_TRAIN}/rail": "10.77.0.2"}),
            pod("b", "worker-1", {_SHARED: 1}, networks="rail", addresses={f"{_TRAIN}/rail": "10.77.0.2"}),
        ),
    ),
    (
        "addresses-freed",
        "whereabouts freed an address that a pod still has, and gave it to another",
        "adopt; doctor",
        _in_training(
            network("rail", _WHEREABOUTS),
            pod("a", "worker-0", {_SHARED: 1}, networks="rail", addresses={f"{_TRAIN}/rail": "10.77.0.2"}),
            pod("b", "worker-1", {_SHARED: 1}, networks="rail", addresses={f"{_TRAIN}/rail": "10.77.0.2"}),
        ),
    ),
    (
        "routed-without-gateway",
        "a network routes by source, and its addresses come without a gateway",
        "adopt; doctor",
        _in_training(network("rail", {"plugins": [_STATIC, {"type": "sbr"}]})),
    ),
    (
        "pod-in-two-partitions",
        "a pod is attached to two IPoIB networks",
        "h200-ib; doctor",
        _in_training(
            network("one", {"type": "ipoib", "master": "ibp24s0", "ipam": {"type": "static"}}),
            network("two", {"type": "ipoib", "master": "ibp59s0", "ipam": {"type": "static"}}),
            pod("a", "worker-0", {_SHARED: 1}, networks="one,two"),
        ),
    ),
    (
        "range-of-cluster",
        "a network's range lies inside the pod network",
        "adopt; doctor",
        _in_training(
            network(
                "rail",
                {"type": "macvlan", "master": "enp24s0np0", "ipam": {"type": "whereabouts", "range": "10.128.4.0/24"}},
            )
        ),
    ),
    (
        "pod-without-network",
        "a pod has a shared device on RoCE and no network",
        "adopt; doctor",
        _in_training(pod("a", "worker-0", {_SHARED: 1})),
    ),
    (
        "pod-elsewhere",
        "a pod names a network of another namespace",
        "adopt; doctor",
        _in_training(network("rail", _STATIC, place="default"), pod("a", "worker-0", {_SHARED: 1}, networks="rail")),
    ),
    (
        "pod-over-tcp",
        "a webhook put UCX_TLS=tcp into a job's pods",
        "adopt; doctor",
        _in_training(
            network("rail", _STATIC),
            pod(
                "a",
                "worker-0",
                {_SHARED: 1, "nvidia.com/gpu": 1},
                networks="rail",
                environment={"UCX_TLS": "tcp,cuda_copy", "UCX_NET_DEVICES": "eth0", "NCCL_IB_GID_INDEX": "3"},
            ),
        ),
    ),
    (
        "pod-foreign-lists",
        "a job's lists of devices are written for another library, and name more than it has",
        "adopt; doctor",
        _in_training(
            network("rail", _STATIC),
            pod(
                "a",
                "worker-0",
                {_SHARED: 1},
                networks="rail",
                environment={
                    "UCX_NET_DEVICES": "=mlx5_0:1",
                    "NVSHMEM_HCA_LIST": "mlx5_0:1,mlx5_1:1,mlx5_2:1",
                    "NCCL_SOCKET_IFNAME": "net1",
                },
            ),
        ),
    ),
    (
        "pod-any-device",
        "a job lets UCX take any device of the node",
        "adopt; doctor",
        _in_training(
            network("rail", _STATIC),
            pod("a", "worker-0", {_SHARED: 1}, networks="rail", environment={"UCX_NET_DEVICES": "all"}),
        ),
    ),
    (
        "pod-meshed",
        "a service mesh's proxy sits in a job's pods",
        "adopt; doctor",
        _in_training(pod("a", "worker-0", {_SHARED: 1, "nvidia.com/gpu": 8}, networks="", beside=("istio-proxy",))),
    ),
    (
        "pod-asks-too-much",
        "a pod wants more of a resource than any node has",
        "adopt; doctor",
        _in_training(
            network("rail", _STATIC),
            pod(
                "a",
                "",
                {_SHARED: 64},
                networks="rail",
                conditions=_not_scheduled("0/5 nodes are available: 5 Insufficient rdma/team_a_storage."),
            ),
        ),
    ),
)
"""Name, one line, where it matters, and what it does."""
