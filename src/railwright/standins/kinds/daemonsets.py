"""
What kube-controller-manager does to DaemonSets and Deployments: pods on the nodes that match, and the counts.

On a real control plane they do it too, with the pace of the recordings. Counts that are zero are left out where the
API server leaves them out (Source: k8s.io/api apps/v1 types.go, omitempty, v0.36).
"""

from datetime import datetime
from typing import Any

from railwright.core.kinds import DAEMON_SET, DEPLOYMENT
from railwright.core.objects import KubeObject, dig
from railwright.standins.model import Objects, Write
from railwright.standins.view import (
    age_s,
    create,
    created,
    delete,
    is_pod_ready,
    name_of,
    node_of,
    nodes,
    of_kind,
    owned_by,
    pods_of,
    rfc3339,
    selects,
    set_status,
    short_hash,
    suffix,
)

DEPLOYMENT_START_S = 20
REVISION_LABEL = "controller-revision-hash"
REVISION_MARK = "standins.railwright.dev/revision"
"""Annotation of a DaemonSet whose pods a real controller makes: which revision that one made last."""


def react_daemon_sets(world: Objects, now: datetime) -> tuple[Write, ...]:
    """Make and remove the pods of every DaemonSet, roll the outdated ones, count."""
    del now
    return tuple(write for daemon_set in of_kind(world, DAEMON_SET) for write in _one(world, daemon_set))


def revision(daemon_set: KubeObject) -> str:
    """Name the revision of a DaemonSet's template, as its pods' label has it."""
    marked = dig(daemon_set, "metadata", "annotations", REVISION_MARK)
    return str(marked) if marked else short_hash(daemon_set["spec"]["template"])


def _one(world: Objects, daemon_set: KubeObject) -> tuple[Write, ...]:
    template = daemon_set["spec"]["template"]
    wanted = [name_of(node) for node in nodes(world) if selects(node, template["spec"])]
    pods = pods_of(world, daemon_set)
    there = {node_of(pod): pod for pod in pods}
    writes = [create(_pod(daemon_set, node)) for node in wanted if node not in there]
    writes += [delete(pod) for node, pod in there.items() if node not in wanted]
    current = revision(daemon_set)
    outdated = [pod for node, pod in there.items() if node in wanted and _revision_of(pod) != current]
    rolls = dig(daemon_set, "spec", "updateStrategy", "type", default="RollingUpdate") == "RollingUpdate"
    kept = [pod for node, pod in there.items() if node in wanted]
    if rolls and outdated and (all(map(is_pod_ready, kept)) or not is_pod_ready(outdated[0])):
        writes.append(delete(outdated[0]))
    ready = sum(map(is_pod_ready, kept))
    status = {
        "observedGeneration": dig(daemon_set, "metadata", "generation", default=1),
        "desiredNumberScheduled": len(wanted),
        "currentNumberScheduled": len(kept),
        "numberMisscheduled": 0,
        "numberReady": ready,
        "numberAvailable": ready or None,
        "updatedNumberScheduled": len(kept) - len(outdated) or None,
        "numberUnavailable": len(wanted) - ready or None,
    }
    return (*writes, *set_status(daemon_set, status))


def _revision_of(pod: KubeObject) -> str:
    return str(dig(pod, "metadata", "labels", REVISION_LABEL, default=""))


def _pod(daemon_set: KubeObject, node: str) -> KubeObject:
    template, meta = daemon_set["spec"]["template"], daemon_set["metadata"]
    current = revision(daemon_set)
    spec: dict[str, Any] = {**template["spec"], "nodeName": node}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{meta['name']}-{suffix(meta['uid'], node, current)}",
            "namespace": meta["namespace"],
            "labels": {**dig(template, "metadata", "labels", default={}), REVISION_LABEL: current},
            "annotations": dict(dig(template, "metadata", "annotations", default={})),
            "ownerReferences": owned_by(daemon_set),
        },
        "spec": spec,
    }


def react_deployments(world: Objects, now: datetime) -> tuple[Write, ...]:
    """Report every Deployment available some seconds after it was made."""
    return tuple(write for deployment in of_kind(world, DEPLOYMENT) for write in _deployment(world, deployment, now))


def _deployment(world: Objects, deployment: KubeObject, now: datetime) -> tuple[Write, ...]:
    replicas = int(dig(deployment, "spec", "replicas", default=1))
    up = age_s(created(deployment), now) >= DEPLOYMENT_START_S and "csv-stuck" not in world.troubles
    have = dig(deployment, "status", default={})
    generation = dig(deployment, "metadata", "generation", default=1)
    available = replicas if up else 0
    if have.get("availableReplicas", 0) == available and have.get("observedGeneration") == generation:
        return ()
    status = {
        "observedGeneration": generation,
        "replicas": replicas,
        "updatedReplicas": replicas,
        "readyReplicas": available or None,
        "availableReplicas": available or None,
        "unavailableReplicas": replicas - available or None,
        "conditions": [
            {
                "type": "Available",
                "status": "True" if up else "False",
                "reason": "MinimumReplicasAvailable" if up else "MinimumReplicasUnavailable",
                "message": "Deployment has minimum availability."
                if up
                else "Deployment does not have minimum availability.",
                "lastTransitionTime": rfc3339(now),
                "lastUpdateTime": rfc3339(now),
            }
        ],
    }
    return set_status(deployment, status)
