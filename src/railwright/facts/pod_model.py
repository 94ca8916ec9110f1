"""Pods, their containers, events and logs, as far as they matter: parts of ClusterFacts. Frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from railwright.core.ids import NodeName


@dataclass(frozen=True)
class Ending:
    """How a container ended."""

    reason: str
    """"Completed", "Error", "OOMKilled"."""
    exit_code: int | None
    message: str = ""
    started_at: str = ""
    finished_at: str = ""


@dataclass(frozen=True)
class ContainerFacts:
    """
    One container of a pod, what it was asked to be and what became of it.

    Attributes:
        state: "running", "waiting", "terminated"; "" when the kubelet has not said.
        reason: of waiting: "ImagePullBackOff", "CrashLoopBackOff", "PodInitializing"; of terminated likewise.
        last_ending: how its run before this one ended; None when there was none.
        environment: variables with a literal value, those of the RDMA and GPU stack only.
        capabilities: added ones: "IPC_LOCK".
        mounts: paths that volumes are mounted at.
        requests: extended resources.
    """

    name: str
    image: str
    is_init: bool = False
    state: str = ""
    reason: str = ""
    message: str = ""
    exit_code: int | None = None
    started_at: str = ""
    ready: bool = False
    restarts: int = 0
    last_ending: Ending | None = None
    command: tuple[str, ...] = ()
    """Command and arguments together."""
    environment: Mapping[str, str] = field(default_factory=dict)
    capabilities: tuple[str, ...] = ()
    privileged: bool = False
    run_as_user: int | None = None
    run_as_non_root: bool | None = None
    mounts: tuple[str, ...] = ()
    requests: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class PodFacts:
    """One pod that matters: it uses GPUs or rails, or it belongs to an operator."""

    namespace: str
    name: str
    node: NodeName | None
    phase: str
    owner: str
    """"DaemonSet/x" of the controller; empty for a bare pod."""
    requests: Mapping[str, int]
    """Extended resources it asks for."""
    networks: str
    """Its annotation core.multus.NETWORKS."""
    uid: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    created_at: str = ""
    deleted_at: str = ""
    """When its deletion began; empty when it is not being deleted."""
    started_at: str = ""
    reason: str = ""
    """Of the whole pod: "TopologyAffinityError", "Evicted"."""
    message: str = ""
    conditions: Mapping[str, str] = field(default_factory=dict)
    """"True", "False" or "Unknown" by type; with " (reason: message)" behind it where one is given."""
    containers: tuple[ContainerFacts, ...] = ()
    """Init containers first."""
    network_status: str = ""
    """Its annotation core.multus.NETWORK_STATUS, as it is; facts/sources/network_status.py reads it."""
    host_network: bool = False
    service_account: str = ""
    runtime_class: str = ""
    run_as_user: int | None = None
    """Of the pod; a container's own counts before it."""
    memory_volumes: Mapping[str, str] = field(default_factory=dict)
    """emptyDir volumes of medium Memory: size limit ("" for none) by the path where a container mounts it."""
    claims: tuple[str, ...] = ()
    """Devices that it claims by dynamic resource allocation, GPUs among them: names of its spec.resourceClaims."""

    @property
    def is_over(self) -> bool:
        """Whether it has ended, and holds no device any more."""
        return self.phase in {"Succeeded", "Failed"}

    @property
    def is_ready(self) -> bool:
        """Whether the kubelet calls it ready."""
        return self.conditions.get("Ready", "").startswith("True")


@dataclass(frozen=True)
class EventFacts:
    """One event, or several alike that the API server counted together."""

    namespace: str
    kind: str
    """Of what it is about: "Pod"."""
    name: str
    reason: str
    message: str
    type: str
    """"Normal" or "Warning"."""
    count: int
    last_at: str
    component: str
    node: NodeName | None = None


@dataclass(frozen=True, order=True)
class LogRef:
    """The log of one container; `previous` is of the run before the present one."""

    namespace: str
    pod: str
    container: str
    previous: bool = False
