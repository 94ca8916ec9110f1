"""Pods as rules read them: whose they are, what keeps one from running, since when. Pure."""

from collections.abc import Iterator
from datetime import datetime

from railwright.doctor.seen import Seen
from railwright.facts.model import ContainerFacts, PodFacts

PULL_REASONS = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError"}
)
CONFIG_REASONS = frozenset({"CreateContainerConfigError", "CreateContainerError", "RunContainerError"})
CRASH_REASON = "CrashLoopBackOff"
_DRIVER = ("mofed-", "nvidia-driver-daemonset", "nvidia-gpu-driver")
USUAL_LIMIT_S = 900.0
DRIVER_LIMIT_S = 2700.0
"""
How long a pod may take to begin before it counts as stuck: 15 minutes, and 45 where a driver is built.

Estimate: a build takes 10 to 20 minutes, on slow nodes twice that (Mellanox/network-operator #318, #2561, #2565).
"""


def operator_pods(seen: Seen) -> Iterator[PodFacts]:
    """Pods in the operators' namespaces that are wanted: not those on their way out, and no ended jobs."""
    for pod in seen.pods:
        if pod.namespace in seen.homes and not pod.deleted_at and pod.phase != "Succeeded":
            yield pod


def workload_pods(seen: Seen) -> Iterator[PodFacts]:
    """Pods that hold or want devices and belong to no operator."""
    for pod in seen.pods:
        if (
            pod.namespace not in seen.homes
            and not pod.deleted_at
            and pod.phase not in {"Succeeded", "Failed"}
            and pod.requests
        ):
            yield pod


def thing(pod: PodFacts) -> str:
    """How findings are linked by a pod."""
    return f"pod:{pod.namespace}/{pod.name}"


def workload_of(pod: PodFacts) -> str:
    """How findings are linked by a pod's controller: "workload:mofed-..."; the pod itself when it has none."""
    kind, _, name = pod.owner.partition("/")
    return f"workload:{name}" if kind else thing(pod)


def is_driver(pod: PodFacts) -> bool:
    """Whether the pod loads a driver."""
    return pod.owner.removeprefix("DaemonSet/").startswith(_DRIVER)


def troubled(pod: PodFacts, reasons: frozenset[str]) -> ContainerFacts | None:
    """The first container that waits for one of these reasons."""
    return next((item for item in pod.containers if item.state == "waiting" and item.reason in reasons), None)


def age_s(pod: PodFacts, now: datetime) -> float | None:
    """Seconds since the pod was made; None when that is not known."""
    try:
        return (now - datetime.fromisoformat(pod.created_at)).total_seconds()
    except (ValueError, TypeError):
        return None


def limit_s(pod: PodFacts) -> float:
    """How long it may take to begin."""
    return DRIVER_LIMIT_S if is_driver(pod) else USUAL_LIMIT_S
