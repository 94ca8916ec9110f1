"""Small changes of a snapshot, each of one field of one thing, and how two snapshots differ."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from railwright.core import kinds
from railwright.core.ids import NodeName
from railwright.core.objects import KubeObject, Ref, ref_of
from railwright.facts.model import ContainerFacts, EventFacts, NodeFacts, NodeHardware, PodFacts, Snapshot

Change = Callable[[Snapshot, Any], Snapshot]
SRIOV_HOME = "openshift-sriov-network-operator"
NIC_POLICY = Ref(kinds.NIC_CLUSTER_POLICY, "", "nic-cluster-policy")
RAIL = "rdma/team_a_storage"


def differences(one: object, other: object, path: str = "") -> Iterator[str]:
    """Name every leaf in which two values differ; what only one of them has is one."""
    if type(one) is not type(other):
        yield path
    elif is_dataclass(one):
        for item in fields(one):
            yield from differences(getattr(one, item.name), getattr(other, item.name), f"{path}.{item.name}")
    elif isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted({*one, *other}, key=str):
            if key in one and key in other:
                yield from differences(one[key], other[key], f"{path}[{key}]")
            else:
                yield f"{path}[{key}]"
    elif isinstance(one, tuple | list) and isinstance(other, tuple | list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differences(left, right, f"{path}[{index}]")
    elif one != other:
        yield path


def gpu_node(snapshot: Snapshot) -> NodeName:
    """The last node with GPUs: the others are its group."""
    return [node.name for node in snapshot.nodes if node.hardware is not None and node.hardware.gpus][-1]


def of_node(change: Callable[[NodeFacts, Any], NodeFacts]) -> Change:
    """Change the last node with GPUs."""

    def act(snapshot: Snapshot, value: Any) -> Snapshot:
        name = gpu_node(snapshot)
        return replace(snapshot, nodes=tuple(change(n, value) if n.name == name else n for n in snapshot.nodes))

    return act


def of_inside(change: Callable[[NodeHardware, Any], NodeHardware]) -> Change:
    """Change what is inside the last node with GPUs."""
    return of_node(lambda node, value: replace(node, hardware=change(node.hardware, value)))


def of_port(change: Callable[[Any, Any], Any]) -> Change:
    """Change the first RDMA port of the last node with GPUs."""

    def one(hardware: NodeHardware, value: Any) -> NodeHardware:
        first = next(port.pci for port in hardware.ports if port.vendor_id == "15b3" and port.rdma is not None)
        return replace(hardware, ports=tuple(change(p, value) if p.pci == first else p for p in hardware.ports))

    return of_inside(one)


def setting(name: str) -> Callable[[Any, Any], Any]:
    """Set one field."""
    return lambda thing, value: replace(thing, **{name: value})


def within(name: str, change: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Change one field of a field."""
    return lambda thing, value: replace(thing, **{name: change(getattr(thing, name), value)})


def entry(name: str, key: str) -> Callable[[Any, Any], Any]:
    """Set one entry of a mapping."""
    return lambda thing, value: replace(thing, **{name: {**getattr(thing, name), key: value}})


def chain(*changes: Callable[[Snapshot, Any], Snapshot]) -> Change:
    """Make several changes; only one of them should look at the value."""

    def act(snapshot: Snapshot, value: Any) -> Snapshot:
        for change in changes:
            snapshot = change(snapshot, value)
        return snapshot

    return act


def put(make: Callable[[Any], KubeObject]) -> Change:
    """Add an object, or put another in its place."""

    def act(snapshot: Snapshot, value: Any) -> Snapshot:
        made = make(value)
        return replace(
            snapshot, cluster=replace(snapshot.cluster, objects={**snapshot.cluster.objects, ref_of(made): made})
        )

    return act


def field_of(ref: Ref, *path: str) -> Change:
    """Set one field of an object that is there."""

    def act(snapshot: Snapshot, value: Any) -> Snapshot:
        return put(lambda _: _with(snapshot.cluster.objects[ref], path, value))(snapshot, value)

    return act


def _with(body: KubeObject, path: tuple[str, ...], value: Any) -> KubeObject:
    head, rest = path[0], path[1:]
    return {**body, head: _with(body.get(head, {}), rest, value) if rest else value}


def of_pods(prefix: str, change: Callable[[PodFacts, Any], PodFacts]) -> Change:
    """Change the pods whose names begin so, on the last node with GPUs."""

    def act(snapshot: Snapshot, value: Any) -> Snapshot:
        name = gpu_node(snapshot)
        found = tuple(
            change(pod, value) if pod.name.startswith(prefix) and pod.node in {name, None} else pod
            for pod in snapshot.cluster.pods
        )
        return replace(snapshot, cluster=replace(snapshot.cluster, pods=found))

    return act


def container(change: Callable[[ContainerFacts, Any], ContainerFacts]) -> Callable[[PodFacts, Any], PodFacts]:
    """Change a pod's first container."""
    return lambda pod, value: replace(pod, containers=(change(pod.containers[0], value), *pod.containers[1:]))


def with_pod(make: Callable[[Snapshot, Any], PodFacts]) -> Change:
    """Add a pod."""
    return lambda snapshot, value: replace(
        snapshot, cluster=replace(snapshot.cluster, pods=(*snapshot.cluster.pods, make(snapshot, value)))
    )


def with_event(make: Callable[[Any], EventFacts]) -> Change:
    """Add an event."""
    return lambda snapshot, value: replace(
        snapshot, cluster=replace(snapshot.cluster, events=(*snapshot.cluster.events, make(value)))
    )


def a_job(snapshot: Snapshot, **parts: Any) -> PodFacts:
    """Spell a pod of a job that holds a shared rail and a GPU of the last node."""
    requests = parts.pop("requests", {RAIL: 1, "nvidia.com/gpu": 1})
    environment = parts.pop("environment", {})
    held = ContainerFacts(
        name="main",
        image="quay.io/train/job:1",
        state="running",
        ready=True,
        environment=environment,
        requests=requests,
        capabilities=("IPC_LOCK",),
        run_as_user=0,
    )
    usual = PodFacts(
        namespace="training",
        name="job-0",
        node=gpu_node(snapshot),
        phase="Running",
        owner="",
        requests=requests,
        networks="rail",
        containers=(held,),
        memory_volumes={"/dev/shm": ""},
        created_at="2026-03-02T07:00:00Z",
    )
    return replace(usual, **parts)


wanting = with_pod(lambda snapshot, _: a_job(snapshot, name="wants-0"))
"""Somebody wants RDMA there."""


def a_nad(config: Mapping[str, Any] | str, name: str = "rail", resource: str = "") -> KubeObject:
    """Spell a network of namespace training."""
    import json

    marks = {"annotations": {"k8s.v1.cni.cncf.io/resourceName": resource}} if resource else {}
    text = config if isinstance(config, str) else json.dumps(config)
    return {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": {"name": name, "namespace": "training", **marks},
        "spec": {"config": text},
    }


def a_vf_policy(name: str = "a", **spec: Any) -> KubeObject:
    """Spell a SR-IOV policy for RDMA."""
    body = {
        "resourceName": "a",
        "nodeSelector": {},
        "nicSelector": {"vendor": "15b3"},
        "numVfs": 4,
        "isRdma": True,
        "deviceType": "netdevice",
    }
    return {
        "apiVersion": "sriovnetwork.openshift.io/v1",
        "kind": "SriovNetworkNodePolicy",
        "metadata": {"name": name, "namespace": SRIOV_HOME, "creationTimestamp": "2026-03-01T08:00:00Z"},
        "spec": body | spec,
    }
