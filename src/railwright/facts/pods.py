"""Pods and events, reduced from their Kubernetes objects to what matters here. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from sys import intern

from railwright.core.ids import NodeName
from railwright.core.multus import NETWORK_STATUS, NETWORKS
from railwright.core.objects import KubeObject, annotations_of, dig, labels_of
from railwright.facts.nodes import extended, quantity
from railwright.facts.pod_model import ContainerFacts, Ending, EventFacts, PodFacts

_OPERATOR_RESOURCES = re.compile(r"(?:rdma|nvidia\.com|openshift\.io|mellanox\.com)/")
_VARIABLES = re.compile(
    r"(?:NCCL|UCX|NVSHMEM|NIXL|OMPI_MCA|GLOO|CUDA|NVIDIA|GDRCOPY|UNLOAD|ENABLE|RESTORE|CREATE|USE|DRIVER|KERNEL|OPENSHIFT"
    r"|GPU_DIRECT|GDS|FORCE|PEERMEM|PCIDEVICE|MELLANOX|SRIOV|RDMA)_\w+|LD_LIBRARY_PATH"
)
"""Variables that the RDMA and GPU stack, its drivers and its libraries read; others may be anybody's secret."""
_LONGEST_MESSAGE = 2_000
_STATES = ("running", "waiting", "terminated")


def pod_of(obj: KubeObject, operator_namespaces: frozenset[str]) -> PodFacts | None:
    """
    Reduce a Pod.

    Returns:
        None when it neither asks for a device of the four operators or a secondary network, nor lives in one of
        their namespaces; None as well for such a pod of somebody else that is done.
    """
    metadata, spec, status = (dig(obj, key, default={}) for key in ("metadata", "spec", "status"))
    namespace = str(metadata.get("namespace", ""))
    phase = intern(str(status.get("phase", "")))
    annotations = annotations_of(obj)
    # First of all, since most pods of a cluster are of no interest here.
    if namespace not in operator_namespaces and (phase == "Succeeded" or not _wants_rails(annotations, spec)):
        return None
    containers = tuple(_containers(spec, status))
    requests = _requests(containers)
    node = spec.get("nodeName", "")
    return PodFacts(
        namespace=intern(namespace),
        name=str(metadata.get("name", "")),
        node=NodeName(intern(str(node))) if node else None,
        phase=phase,
        owner=intern(_owner(metadata)),
        requests=requests,
        networks=str(annotations.get(NETWORKS, "")),
        uid=str(metadata.get("uid", "")),
        labels={intern(str(key)): intern(str(value)) for key, value in labels_of(obj).items()},
        created_at=str(metadata.get("creationTimestamp") or ""),
        deleted_at=str(metadata.get("deletionTimestamp") or ""),
        started_at=str(status.get("startTime") or ""),
        reason=intern(str(status.get("reason") or "")),
        message=_message(status),
        conditions={intern(str(dig(item, "type"))): _condition(item) for item in status.get("conditions") or ()},
        containers=containers,
        network_status=str(annotations.get(NETWORK_STATUS, "")),
        host_network=bool(spec.get("hostNetwork", False)),
        service_account=intern(str(spec.get("serviceAccountName") or "")),
        runtime_class=intern(str(spec.get("runtimeClassName") or "")),
        run_as_user=dig(spec, "securityContext", "runAsUser"),
        memory_volumes=_memory_volumes(spec),
        claims=tuple(intern(str(dig(item, "name", default=""))) for item in spec.get("resourceClaims") or ()),
    )


def pod_matters(pod: KubeObject, operator_namespaces: frozenset[str]) -> bool:
    """Whether a pod is an operator's, or asks for a device of the four operators or a secondary network."""
    if dig(pod, "metadata", "namespace", default="") in operator_namespaces:
        return True
    return _wants_rails(annotations_of(pod), dig(pod, "spec", default={}))


def _wants_rails(annotations: Mapping[str, str], spec: KubeObject) -> bool:
    if NETWORKS in annotations:
        return True
    for key in ("containers", "initContainers"):
        for container in spec.get(key) or ():
            resources = container.get("resources") or {}
            for part in ("limits", "requests"):
                if any(_OPERATOR_RESOURCES.match(name) for name in resources.get(part) or ()):
                    return True
    return False


def _owner(metadata: KubeObject) -> str:
    owners = (item for item in metadata.get("ownerReferences") or () if dig(item, "controller", default=False))
    return next((f"{dig(item, 'kind')}/{dig(item, 'name')}" for item in owners), "")


def _message(state: KubeObject) -> str:
    return str(state.get("message") or "")[:_LONGEST_MESSAGE]


def _condition(item: KubeObject) -> str:
    words = ": ".join(str(item[key]) for key in ("reason", "message") if item.get(key))
    status = str(item.get("status", ""))
    return intern(f"{status} ({words[:_LONGEST_MESSAGE]})" if words else status)


def _requests(containers: Iterable[ContainerFacts]) -> dict[str, int]:
    """Add up containers; an init container needs its share before the others run, so the larger counts."""
    running: dict[str, int] = {}
    first: dict[str, int] = {}
    for container in containers:
        for name, count in container.requests.items():
            if container.is_init:
                first[name] = max(first.get(name, 0), count)
            else:
                running[name] = running.get(name, 0) + count
    return {name: max(running.get(name, 0), first.get(name, 0)) for name in {**running, **first}}


def _containers(spec: KubeObject, status: KubeObject) -> Iterator[ContainerFacts]:
    for key, states_key, is_init in (
        ("initContainers", "initContainerStatuses", True),
        ("containers", "containerStatuses", False),
    ):
        states = {str(dig(item, "name")): item for item in status.get(states_key) or ()}
        for container in spec.get(key) or ():
            name = str(dig(container, "name", default=""))
            yield _container(container, states.get(name, {}), name, is_init=is_init)


def _container(container: KubeObject, found: KubeObject, name: str, *, is_init: bool) -> ContainerFacts:
    state = next((word for word in _STATES if dig(found, "state", word) is not None), "")
    inner = dig(found, "state", state, default={})
    security = container.get("securityContext") or {}
    resources = container.get("resources") or {}
    return ContainerFacts(
        name=intern(name),
        image=intern(str(container.get("image", ""))),
        is_init=is_init,
        state=state,
        reason=intern(str(inner.get("reason") or "")),
        message=_message(inner),
        exit_code=inner.get("exitCode"),
        started_at=str(inner.get("startedAt") or ""),
        ready=bool(found.get("ready", False)),
        restarts=int(found.get("restartCount") or 0),
        last_ending=_ending(dig(found, "lastState", "terminated")),
        command=tuple(
            intern(str(word)) for word in (*(container.get("command") or ()), *(container.get("args") or ()))
        ),
        environment=_environment(container),
        capabilities=tuple(intern(str(word)) for word in dig(security, "capabilities", "add", default=())),
        privileged=bool(security.get("privileged", False)),
        run_as_user=security.get("runAsUser"),
        run_as_non_root=security.get("runAsNonRoot"),
        mounts=tuple(intern(str(dig(item, "mountPath", default=""))) for item in container.get("volumeMounts") or ()),
        requests=extended({**(resources.get("limits") or {}), **(resources.get("requests") or {})}),
    )


def _ending(state: KubeObject | None) -> Ending | None:
    if not state:
        return None
    return Ending(
        reason=intern(str(state.get("reason") or "")),
        exit_code=state.get("exitCode"),
        message=_message(state),
        started_at=str(state.get("startedAt") or ""),
        finished_at=str(state.get("finishedAt") or ""),
    )


def _environment(container: KubeObject) -> dict[str, str]:
    found = ((str(dig(item, "name", default="")), dig(item, "value")) for item in container.get("env") or ())
    return {
        intern(name): intern(str(value)) for name, value in found if value is not None and _VARIABLES.fullmatch(name)
    }


def _memory_volumes(spec: KubeObject) -> dict[str, str]:
    """Find where containers mount volumes of memory, which is what /dev/shm should be."""
    sizes = {
        str(dig(item, "name")): str(dig(item, "emptyDir", "sizeLimit", default=""))
        for item in spec.get("volumes") or ()
        if dig(item, "emptyDir", "medium") == "Memory"
    }
    return {
        str(dig(mount, "mountPath", default="")): sizes[str(dig(mount, "name"))]
        for container in spec.get("containers") or ()
        for mount in container.get("volumeMounts") or ()
        if str(dig(mount, "name")) in sizes
    }


def event_of(obj: KubeObject) -> EventFacts:
    """Reduce an Event, of core/v1 as well as with what events.k8s.io added."""
    about: Mapping[str, object] = dig(obj, "involvedObject", default={})
    first = obj.get("firstTimestamp") or obj.get("eventTime") or ""
    last = dig(obj, "series", "lastObservedTime") or obj.get("lastTimestamp") or first
    host = dig(obj, "source", "host", default="")
    return EventFacts(
        namespace=intern(str(about.get("namespace") or dig(obj, "metadata", "namespace", default=""))),
        kind=intern(str(about.get("kind", ""))),
        name=intern(str(about.get("name", ""))),
        reason=intern(str(obj.get("reason") or "")),
        message=_message(obj),
        type=intern(str(obj.get("type") or "")),
        count=quantity(dig(obj, "series", "count") or obj.get("count") or 1) or 1,
        last_at=str(last),
        component=intern(str(dig(obj, "source", "component") or obj.get("reportingComponent") or "")),
        node=NodeName(intern(str(host))) if host else None,
    )
