"""A pod, and an indexed Job of two, that use a fabric's rails."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from railwright.core.ids import FabricName
from railwright.core.kinds import JOB, POD
from railwright.core.multus import NETWORKS
from railwright.core.objects import KubeObject
from railwright.manifests.assemble import an_object, json_string, plain, without_empty

WORKLOAD_LABEL = "railwright.dev/workload"
JOB_PODS = 2


@dataclass(frozen=True)
class PodRequest:
    """
    What one pod asks for.

    Attributes:
        networks: NADs in the pod's own namespace, one a rail; Multus names their interfaces net1, net2, ... in order.
        resources: extended resources with their counts; requests are the same as limits.
        node_labels: what a node must carry.
        environment: variables by name.
        tolerations: of the taints that the fabric's nodes may have.
        addresses: of each network, with prefix length, where no pool gives any; empty elsewhere.
    """

    name: str
    namespace: str
    fabric: FabricName
    service_account: str
    image: str
    networks: tuple[str, ...]
    resources: Mapping[str, int]
    node_labels: Mapping[str, str]
    environment: Mapping[str, str]
    tolerations: tuple[Mapping[str, str], ...] = ()
    addresses: tuple[tuple[str, ...], ...] = ()


def a_pod(request: PodRequest) -> KubeObject:
    """Render one pod that stays up, for a person to look around in."""
    return an_object(
        POD,
        request.name,
        namespace=request.namespace,
        labels=_labels(request),
        annotations=_annotations(request),
        spec={"restartPolicy": "Never", **_pod_spec(request)},
    )


def a_job(request: PodRequest) -> KubeObject:
    """Render an indexed Job: two pods, never on one node, because one node alone moves nothing over the rails."""
    apart = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": _labels(request)}, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    }
    template = {
        "metadata": {"labels": _labels(request), "annotations": _annotations(request)},
        "spec": {"restartPolicy": "Never", "affinity": apart, **_pod_spec(request)},
    }
    return an_object(
        JOB,
        request.name,
        namespace=request.namespace,
        spec={
            "completionMode": "Indexed",
            "completions": JOB_PODS,
            "parallelism": JOB_PODS,
            "backoffLimit": 0,
            "template": template,
        },
    )


def _labels(request: PodRequest) -> dict[str, str]:
    return {WORKLOAD_LABEL: request.name}


def _annotations(request: PodRequest) -> dict[str, str]:
    """
    Name the networks; with addresses each as an element of its own, whose arguments Multus hands to the plugin.

    Source: containernetworking/plugins 8f32968f, plugins/ipam/static/main.go (args.cni.ips).
    """
    if not request.addresses:
        return {NETWORKS: ",".join(request.networks)}
    elements = [
        {"name": name, "cni-args": {"ips": list(ips)}}
        for name, ips in zip(request.networks, request.addresses, strict=True)
    ]
    return {NETWORKS: json_string(elements)}


def _pod_spec(request: PodRequest) -> dict[str, Any]:
    return without_empty(
        {
            "serviceAccountName": request.service_account,
            "automountServiceAccountToken": False,
            "nodeSelector": plain(request.node_labels),
            "tolerations": plain(request.tolerations),
            "containers": [_container(request)],
            "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}],
        }
    )


def _container(request: PodRequest) -> dict[str, Any]:
    resources = {name: str(count) for name, count in sorted(request.resources.items())}
    return without_empty(
        {
            "name": "main",
            "image": request.image,
            "command": ["sleep", "infinity"],
            "env": [{"name": name, "value": request.environment[name]} for name in request.environment],
            "securityContext": {
                "runAsUser": 0,
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"], "add": ["IPC_LOCK"]},
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "resources": {"requests": dict(resources), "limits": dict(resources)},
            "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],  # noqa: S108 - inside the pod, its own memory
        }
    )
