"""
What is still on its way: a step of an installation or of a roll-out is no failure until it has taken too long. Pure.

Objects tell when they were made, pods also when they began; nodes tell that they are cordoned, drained, or not ready.
What does not tell its age is taken to be old.
"""

from datetime import datetime

from railwright.core import kinds
from railwright.core.ids import NodeName
from railwright.core.objects import KubeObject, dig
from railwright.doctor.model import Need
from railwright.doctor.needs import objects
from railwright.doctor.pods import DRIVER_LIMIT_S, USUAL_LIMIT_S, age_s, limit_s
from railwright.doctor.seen import Seen
from railwright.facts.model import NodeFacts

PACE: Need = objects(kinds.NODE, kinds.POD)
"""What `moving` looks at."""
RESTART_LIMIT_S = 2700.0
"""Of a node with many GPUs: firmware, memory training and a driver build. An estimate; the same as for drivers."""
_UPGRADE_STATES = ("nvidia.com/ofed-driver-upgrade-state", "nvidia.com/gpu-driver-upgrade-state")
_SETTLED = frozenset({"", "upgrade-done", "upgrade-failed", "unknown"})
_DRAINS = "sriovnetwork.openshift.io/state"


def seconds_since(text: object, now: datetime) -> float | None:
    """Seconds since a time that an object gives; None when it gives none."""
    try:
        return (now - datetime.fromisoformat(str(text))).total_seconds()
    except (ValueError, TypeError):
        return None


def is_new(seen: Seen, obj: KubeObject | None, within_s: float = USUAL_LIMIT_S) -> bool:
    """Whether an object was made a short time ago."""
    since = seconds_since(dig(obj, "metadata", "creationTimestamp"), seen.now)
    return since is not None and since < within_s


def is_driver_new(seen: Seen, obj: KubeObject | None) -> bool:
    """Whether an object was made so short ago that drivers may still be built and loaded for it."""
    return is_new(seen, obj, DRIVER_LIMIT_S)


def is_restarting(seen: Seen, node: NodeFacts) -> bool:
    """Whether a node may yet come back by itself: it is not ready, and not for longer than a restart may take."""
    since = seconds_since(node.not_ready_since, seen.now)
    return not node.ready and since is not None and since < RESTART_LIMIT_S


def moving(seen: Seen, node: NodeName) -> str:
    """Say in which step of a roll-out a node is; empty when it is in none."""
    facts = seen.node_by_name[node]
    if not facts.ready and is_restarting(seen, facts):
        return "the node is not ready, as while it restarts"
    if any(facts.labels.get(label, "") not in _SETTLED for label in _UPGRADE_STATES):
        return "a driver of the node is being replaced"
    if facts.annotations.get(_DRAINS, "Idle") not in {"Idle", ""}:
        return "the node is being drained"
    for pod in seen.pods_by_node.get(node, ()):
        since = age_s(pod, seen.now)
        if pod.namespace in seen.homes and not pod.is_ready and since is not None and since < limit_s(pod):
            return f"pod {pod.namespace}/{pod.name} there is {since / 60:.0f} minutes old and begins"
    return ""
