"""Judges of Kubernetes' own kinds, and of kinds that are there as soon as they exist."""

from datetime import datetime

from railwright.core.objects import KubeObject, dig, kind_of, labels_of, ref_of
from railwright.readiness.answers import condition, message_of, progressing, ready, unknown
from railwright.readiness.model import Companions, Judgement, Receipt
from railwright.readiness.rollouts import judge_daemon_set, judge_deployment

_OUR_LABELS = "railwright.dev/"
_HELD_BACK = "nvidia.com/gpu.deploy.operands"


def judge_existence(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    """Judge what nothing has to act on: it exists, so it is ready."""
    del companions, receipt, now
    return ready(f"{kind_of(obj).kind} exists")


def judge_namespace(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    """Judge a namespace by its phase."""
    del companions, receipt, now
    phase = dig(obj, "status", "phase", default="")
    if phase == "Active":
        return ready("namespace is active")
    if phase == "Terminating":
        return progressing(f"{ref_of(obj)} is being deleted")
    return unknown(f"{ref_of(obj)} has no phase")


def judge_node(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    """Judge a node that we labelled: our labels are there, and its kubelet answers."""
    del companions, receipt, now
    ours = sorted(label for label in labels_of(obj) if label.startswith(_OUR_LABELS) or label == _HELD_BACK)
    if not ours:
        return unknown(f"{ref_of(obj)} carries no label of ours")
    kubelet = condition(obj, "Ready")
    if kubelet is not None and kubelet.get("status") != "True":
        return progressing(f"{ref_of(obj)} is not ready: {message_of(kubelet)}")
    return ready(f"carries {', '.join(ours)}")


def judge_daemon_set_object(
    obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime
) -> Judgement:
    """Judge a DaemonSet."""
    del receipt, now
    return judge_daemon_set(obj, companions)


def judge_deployment_object(
    obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime
) -> Judgement:
    """Judge a Deployment."""
    del receipt, now
    return judge_deployment(obj, companions)
