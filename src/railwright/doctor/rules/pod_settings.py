"""Settings of pods that keep the libraries off the rails, or make them slow, without an error anywhere."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from railwright.core import kinds
from railwright.core.foreign_text import whole_number
from railwright.core.ids import RuleId
from railwright.core.multus import networks_of
from railwright.core.objects import labels_of
from railwright.doctor.model import (
    Condition,
    Evidence,
    Finding,
    Layer,
    Remedy,
    Rule,
    RuleInfo,
    Severity,
    Unknown,
    conclude,
)
from railwright.doctor.needs import BY_OPERATORS, INSIDE, SRIOV_POLICIES, objects, reads
from railwright.doctor.networks import attachment_of, nads_by_place
from railwright.doctor.pods import thing, workload_pods
from railwright.doctor.promises import vf_resources
from railwright.doctor.seen import Seen
from railwright.doctor.subjects import WORKLOADS
from railwright.doctor.switches import DEVICE_FILTERS, not_there, switched_off
from railwright.doctor.wanted import is_rail, promised_resources, uses_rails
from railwright.facts.model import ContainerFacts, PodFacts
from railwright.facts.nodes import quantity

SETTINGS_HINDER = RuleInfo(
    name=RuleId("pod-settings-hinder-rdma"),
    title="Settings of a pod keep NCCL, UCX or NVSHMEM off its rails",
    layer=Layer.WORKLOADS,
    severity=Severity.WARNING,
    text="Pods that hold rails, and whose variables or shape work against that: UCX_TLS without an RDMA transport, a library told "
    "to use the pod's own interface or sockets, GPUDirect switched off, a device named that the node does not have, a fixed GID index where indices differ from pod to pod, one device named where the pod has "
    "several, a form of list that the library does not know, an interface for NCCL's start that a rail has, 64 MiB of "
    "/dev/shm, a service mesh's proxy beside it, the host's network with VFs. The variables are the running container's, so what "
    "a webhook put there is seen too; what a program sets by itself is not.",
    source="NCCL documentation, Environment Variables (read 2026-11); UCX documentation; Kubernetes documentation, Volumes "
    "(emptyDir, Memory); Measured: NIXL 1.5.1 over UCX 1.23.0, 2026-11 (a write over TCP passed without a word)",
    needs=(objects(kinds.POD, kinds.NETWORK_ATTACHMENT_DEFINITION),),
    uses=(
        objects(kinds.NAMESPACE, kinds.NIC_CLUSTER_POLICY, *SRIOV_POLICIES),
        BY_OPERATORS,
        INSIDE,
        reads("pci", "infiniband"),
    ),
    covers=(
        "B096",
        "B100",
        "B102",
        "B106",
        "B120",
        "B125",
        "B136",
        "B142",
        "B145",
        "B146",
        "B147",
        "B149",
        "B153",
        "B156",
        "B158",
    ),
    leads_to=(Condition.RDMA_FAILS, Condition.RDMA_SLOW, Condition.NOT_DIRECT),
    subject=WORKLOADS,
)
_SHM = "/dev/shm"  # noqa: S108 - the path that NCCL uses
_LEAST_SHM_BYTES = 1024**3
"""Source: NCCL 2.30.7 docs, Troubleshooting, shared memory (--shm-size=1g)."""
_SELF = frozenset({"eth0", "lo"})
_MESH = {"istio-proxy": "Istio", "linkerd-proxy": "Linkerd", "envoy": "Envoy"}


def judge_settings(seen: Seen) -> Iterator[Finding | Unknown]:
    """Collect what hinders, and group pods of one workload with the same."""
    groups: dict[tuple[str, str], list[tuple[PodFacts, Evidence, str]]] = defaultdict(list)
    promised, functions = promised_resources(seen), vf_resources(seen)
    pods = [pod for pod in workload_pods(seen) if uses_rails(pod, promised)]
    for pod in pods:
        for problem, remedy, evidence in (*_shape(seen, pod, functions), *_variables(seen, pod, promised)):
            groups[f"{pod.namespace}/{pod.owner or pod.name}", problem].append((pod, evidence, remedy))
    yield from seen.unknown_inside(SETTINGS_HINDER, [pod.node for pod in pods if pod.node and _names_devices(pod)])
    for (_, problem), found in groups.items():
        pod, _, remedy = found[0]
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        yield conclude(
            SETTINGS_HINDER,
            f"pod {pod.namespace}/{pod.name}{more}: {problem}.",
            evidence=[evidence for _, evidence, _ in found[:6]],
            remedy=Remedy(
                remedy, ("railwright workload   # a pod with the right settings",), disrupts="the pods are made anew"
            ),
            nodes=(item.node for item, _, _ in found if item.node is not None),
            about=(thing(item) for item, _, _ in found),
        )


def _shape(seen: Seen, pod: PodFacts, functions: frozenset[str]) -> Iterator[tuple[str, str, Evidence]]:
    name = f"pod {pod.namespace}/{pod.name}"
    wants_gpu = any(resource.startswith("nvidia.com/gpu") for resource in pod.requests)
    if wants_gpu and _SHM not in pod.memory_volumes and not any(_SHM in item.mounts for item in pod.containers):
        yield (
            "it has no memory volume at /dev/shm, so it has 64 MiB: NCCL and data loaders run out of it",
            "Mount an emptyDir of medium Memory at /dev/shm.",
            Evidence(name, "volumes", "no memory volume at /dev/shm", pod.node),
        )
    limit = quantity(pod.memory_volumes.get(_SHM, ""))
    if wants_gpu and limit is not None and limit < _LEAST_SHM_BYTES:
        yield (
            f"its /dev/shm is limited to {pod.memory_volumes[_SHM]}: NCCL and data loaders run out of it",
            "Raise sizeLimit of the volume to 1Gi at least, better to some GiB a GPU.",
            Evidence(name, "volumes", f"sizeLimit {pod.memory_volumes[_SHM]} at /dev/shm", pod.node),
        )
    mesh = next((item.name for item in pod.containers if item.name in _MESH), "")
    namespace = seen.get(kinds.NAMESPACE, pod.namespace)
    labels: Mapping[str, str] = labels_of(namespace) if namespace is not None else {}
    if mesh:
        yield (
            f"{_MESH[mesh]}'s proxy sits beside it and takes the connections by which NCCL and MPI begin",
            'Keep the mesh out of the job\'s pods (sidecar.istio.io/inject: "false").',
            Evidence(name, "containers", f"{mesh}, namespace labels {sorted(labels)}", pod.node),
        )
    if pod.host_network and functions & set(pod.requests):
        yield (
            "it uses the host's network and holds VFs: it sees every VF of the node, and its own have no address there",
            "Leave hostNetwork out, or use shared devices.",
            Evidence(name, "spec.hostNetwork", "true", pod.node),
        )


def _variables(seen: Seen, pod: PodFacts, promised: frozenset[str]) -> Iterator[tuple[str, str, Evidence]]:
    rails = sum(count for name, count in pod.requests.items() if is_rail(name, promised))
    types = _types(seen, pod)
    devices = _devices(seen, pod)
    for container in pod.containers:
        missing = not_there(container.environment, devices) if devices else ()
        for name, problem, remedy in (*_of(container, rails, types), *missing):
            value = container.environment[name]
            yield (
                f"{name}={value}: {problem}",
                remedy,
                Evidence(f"pod {pod.namespace}/{pod.name}", f"container {container.name} env {name}", value, pod.node),
            )


def _names_devices(pod: PodFacts) -> bool:
    """Whether a pod's variables name RDMA devices, which its node has or has not."""
    return any(DEVICE_FILTERS & container.environment.keys() for container in pod.containers)


def _devices(seen: Seen, pod: PodFacts) -> frozenset[str]:
    """RDMA devices of mlx5 on a pod's node; none where a pod holds a port, whose device the host then may not see."""
    hardware = seen.inside.get(pod.node) if pod.node is not None else None
    ports = [port for port in hardware.ports if port.driver == "mlx5_core"] if hardware is not None else []
    if any(port.rdma is None for port in ports):
        return frozenset()
    return frozenset(str(port.rdma) for port in ports)


def _types(seen: Seen, pod: PodFacts) -> frozenset[str]:
    table = nads_by_place(seen)
    found = (table.get(place) for place in networks_of(pod.networks, pod.namespace))
    items = (attachment_of(seen, nad) for nad in found if nad is not None)
    return frozenset(item.type for item in items if item is not None)


def _of(container: ContainerFacts, rails: int, types: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    env = container.environment
    yield from switched_off(env)
    yield from _device_lists(env, rails)
    if whole_number(env.get("NCCL_IB_GID_INDEX", "")) is not None and types & {"macvlan", "ipvlan"}:
        yield (
            "NCCL_IB_GID_INDEX",
            "on macvlan children each pod's addresses have other places in the port's table",
            "Take it out (NCCL 2.21 and later find the RoCE v2 entry); set NCCL_IB_ROCE_VERSION_NUM=2.",
        )
    interface = env.get("NCCL_SOCKET_IFNAME", "").lstrip("=")
    if interface.startswith("net") and types and not types & {"ipoib"} and interface != "net":
        yield (
            "NCCL_SOCKET_IFNAME",
            "NCCL begins over a rail, which other rails and nodes need not reach",
            "Use eth0, the pod network, to begin.",
        )
    for name in ("NCCL_IB_TC", "UCX_IB_TRAFFIC_CLASS", "NVSHMEM_IB_TRAFFIC_CLASS", "NCCL_GIN_IB_TC"):
        if (whole_number(env.get(name, "")) or 0) > 255:
            yield name, "a traffic class is a byte: DSCP x 4, plus the ECN bits", "Give 106 for DSCP 26, for instance."
    classes = {
        name: number
        for name in ("NCCL_IB_TC", "NCCL_GIN_IB_TC", "UCX_IB_TRAFFIC_CLASS", "NVSHMEM_IB_TRAFFIC_CLASS")
        if (number := whole_number(env.get(name, ""))) is not None
    }
    if len({number >> 2 for number in classes.values()}) > 1:
        listed = ", ".join(f"{name}={number}" for name, number in classes.items())
        yield next(iter(classes)), f"the libraries use unlike traffic classes ({listed})", "Give all of them the same."


def _device_lists(env: Mapping[str, str], rails: int) -> Iterator[tuple[str, str, str]]:
    devices = env.get("UCX_NET_DEVICES", "")
    named = [part.strip().partition(":")[0] for part in devices.split(",") if part.strip()]
    if named and set(named) <= _SELF:
        yield (
            "UCX_NET_DEVICES",
            "only the pod's own interface is allowed, so nothing goes over a rail",
            "Name the rails' devices.",
        )
    elif devices.lower() == "all":
        yield "UCX_NET_DEVICES", "UCX may take management and storage ports as well", "Name the rails' devices."
    elif len(named) == 1 and rails > 1:
        yield (
            "UCX_NET_DEVICES",
            f"one device is named, and the pod has {rails} rails",
            "Name all, or give each worker its own.",
        )
    for name in ("UCX_NET_DEVICES", "NVSHMEM_HCA_LIST"):
        if env.get(name, "").startswith(("=", "^")):
            yield name, "= and ^ are understood by NCCL_IB_HCA only", "List the devices by name, without a sign."
    hcas = [part for part in env.get("NVSHMEM_HCA_LIST", "").split(",") if part.strip()]
    if rails and len(hcas) > rails:
        yield (
            "NVSHMEM_HCA_LIST",
            f"{len(hcas)} devices are named, and the pod has {rails}",
            "Name those that the pod has.",
        )


RULES = (Rule(SETTINGS_HINDER, judge_settings),)
