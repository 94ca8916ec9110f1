"""Pods as companions: which belong to an owner, which are ready, and what keeps one from it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from railwright.core.objects import KubeObject, dig
from railwright.readiness.model import Companions

_FINAL_REASONS = frozenset(
    {"ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError"}
)
"""Container states that a kubelet keeps on trying, and that do not mend by waiting."""
_CRASHES_ENOUGH = 3
"""Restarts after which a container in CrashLoopBackOff is said to have failed: start order mends itself before."""


@dataclass(frozen=True)
class Trouble:
    """What keeps one pod from ready; `final` when waiting alone will not mend it."""

    text: str
    final: bool


def pods_of(companions: Companions, namespace: str, owner: str, *, node: str = "") -> tuple[KubeObject, ...]:
    """Find pods of a controller by its name (or by the pod's name where owners were not recorded), on one node."""
    found = []
    for pod in companions.pods_on(node, namespace):
        owners = dig(pod, "metadata", "ownerReferences", default=[])
        names = [str(item.get("name", "")) for item in owners]
        belongs = any(name == owner or name.startswith(f"{owner}-") for name in names)
        if not owners:
            belongs = str(pod["metadata"]["name"]).startswith(f"{owner}-")
        if belongs:
            found.append(pod)
    return tuple(found)


def is_pod_ready(pod: KubeObject) -> bool:
    """Whether a pod is ready and not on its way out."""
    if dig(pod, "metadata", "deletionTimestamp"):
        return False
    conditions = dig(pod, "status", "conditions", default=[])
    return any(item.get("type") == "Ready" and item.get("status") == "True" for item in conditions)


def is_container_ready(pod: KubeObject, container: str) -> bool:
    """Whether one container of a pod is ready."""
    statuses = dig(pod, "status", "containerStatuses", default=[])
    return any(item.get("name") == container and item.get("ready") for item in statuses)


def trouble_of(pod: KubeObject) -> Trouble | None:
    """Name what keeps a pod from ready: its container's state with the image, or why no node takes it; None if neither."""
    for status in _statuses(pod):
        waiting = dig(status, "state", "waiting", default={})
        reason = str(waiting.get("reason", ""))
        if reason in {"", "ContainerCreating", "PodInitializing"}:
            continue
        restarts = int(status.get("restartCount", 0))
        final = reason in _FINAL_REASONS or (reason == "CrashLoopBackOff" and restarts >= _CRASHES_ENOUGH)
        detail = _last_words(status) or str(waiting.get("message", ""))
        parts = [f"{_place(pod)}: container {status.get('name')}: {reason}", f"image {status.get('image', 'unknown')}"]
        if restarts:
            parts.append(f"{restarts} restarts")
        if detail:
            parts.append(detail)
        return Trouble(", ".join(parts), final)
    for item in dig(pod, "status", "conditions", default=[]):
        if item.get("type") == "PodScheduled" and item.get("status") == "False":
            return Trouble(f"{_place(pod)}: {item.get('reason', '')}: {item.get('message', '')}", final=False)
    return None


def _statuses(pod: KubeObject) -> Iterator[Mapping[str, Any]]:
    yield from dig(pod, "status", "initContainerStatuses", default=[])
    yield from dig(pod, "status", "containerStatuses", default=[])


def _last_words(status: Mapping[str, Any]) -> str:
    """Say how the container ended last time."""
    ended = dig(status, "lastState", "terminated", default={})
    if not ended:
        return ""
    message = str(ended.get("message", "")).strip()
    return f"ended with exit code {ended.get('exitCode')}" + (f": {message}" if message else "")


def _place(pod: KubeObject) -> str:
    node = dig(pod, "spec", "nodeName", default="")
    name = pod["metadata"]["name"]
    return f"pod {name} on {node}" if node else f"pod {name}"
