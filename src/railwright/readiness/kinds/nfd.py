"""
Judge of NodeFeatureDiscovery: its worker runs, and nodes carry its labels.

Source: openshift/node-feature-discovery e43aa39b, source/system/system.go:38-40.
"""

from datetime import datetime

from railwright.core import kinds
from railwright.core.objects import KubeObject, dig, labels_of, ref_of
from railwright.readiness.answers import condition, holds, message_of, progressing, ready, worst_of
from railwright.readiness.model import Companions, Judgement, Receipt
from railwright.readiness.rollouts import judge_daemon_set, judge_deployment

FEATURE_LABEL = "feature.node.kubernetes.io/"
_WORKER = "nfd-worker"
_MASTER = "nfd-master"


def judge_node_feature_discovery(
    obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime
) -> Judgement:
    """Judge NFD by what it does; its own conditions only explain why it does not."""
    del receipt, now
    namespace = str(dig(obj, "metadata", "namespace", default=""))
    worker = companions.get(kinds.DAEMON_SET, _WORKER, namespace)
    if worker is None:
        degraded = message_of(condition(obj, "Degraded")) if holds(obj, "Degraded") else ""
        return progressing(f"{ref_of(obj)}: DaemonSet {_WORKER} is not there yet", degraded)
    answers = [judge_daemon_set(worker, companions)]
    master = companions.get(kinds.DEPLOYMENT, _MASTER, namespace)
    if master is not None:
        answers.append(judge_deployment(master, companions))
    labelled = [
        node
        for node in companions.of_kind(kinds.NODE)
        if any(label.startswith(FEATURE_LABEL) for label in labels_of(node))
    ]
    if not labelled:
        answers.append(progressing(f"{ref_of(obj)}: no node carries a {FEATURE_LABEL} label yet"))
    return worst_of(answers, ready(f"{len(labelled)} nodes carry its labels"))
