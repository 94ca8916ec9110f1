"""
Judge of ClusterPolicy.

`ready` is also written with no GPU node, with no NFD label, right after a create, and before the last node of a
driver roll-out is uncordoned; so the driver's DaemonSets and the nodes are read with it.

Measured: GPU Operator 26.3.3 and 26.7.0 controllers against kube-apiserver 1.36.3, 2026-11.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from railwright.core import kinds
from railwright.core.objects import KubeObject, dig, labels_of, ref_of
from railwright.readiness.answers import (
    condition,
    failed,
    holds,
    may_be_stale,
    message_of,
    progressing,
    ready,
    unknown,
    worst_of,
)
from railwright.readiness.model import Companions, Judgement, Readiness, Receipt
from railwright.readiness.rollouts import DriverRoll, judge_daemon_set
from railwright.readiness.selectors import name_of, nodes_with

_DEPLOY_DRIVER = "nvidia.com/gpu.deploy.driver"
_ROLL = DriverRoll("gpu")
_ONLY_THE_DRIVER = "states not ready: [state-driver]"
_COMPONENT = "app.kubernetes.io/component"
_DRIVER_PREFIX = "nvidia-driver-daemonset"
DRIVER_LABEL = f"{_COMPONENT}=nvidia-driver"
"""On the driver's DaemonSets and their pods, in whatever namespace the operator was installed."""
_TOOLKIT = "openshift-driver-toolkit-ctr"
_PEERMEM = "nvidia-peermem-ctr"
_OPENSHIFT_NODE = "node.openshift.io/os_id"


def judge_cluster_policy(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    """Judge the policy by Ready=True with reason Reconciled, its driver's DaemonSets, and the GPU nodes."""
    state = str(dig(obj, "status", "state", default=""))
    if not state:
        return _without_status(obj, companions)
    if state not in {"ready", "notReady", "disabled", "ignored"}:
        return unknown(f"{ref_of(obj)} has a state that is not known: {state!r}")
    if may_be_stale(receipt, now):
        return progressing(f"{ref_of(obj)}: its {state} may be older than our write")
    error = condition(obj, "Error")
    if error is not None and error.get("status") == "True" and error.get("reason") == "ReconcileFailed":
        return failed(f"{ref_of(obj)}: {message_of(error)}", message_of(error))
    driver = worst_of(_driver(obj, companions), ready(""))
    waits_for_others = driver.readiness is Readiness.READY and message_of(error).endswith(_ONLY_THE_DRIVER)
    if waits_for_others and _held_back(companions):
        return worst_of(
            _nodes(obj, companions),
            ready(f"the driver runs; {_held_back(companions)} of its pods keep the old form until their nodes' turn"),
        )
    if state != "ready" or not holds(obj, "Ready"):
        said = f"{ref_of(obj)}: state {state}, {message_of(error) or 'no condition yet'}"
        return worst_of([driver], progressing(said)) if driver.waiting_for else progressing(said)
    reason = str((condition(obj, "Ready") or {}).get("reason", ""))
    if reason != "Reconciled":
        said = f"{ref_of(obj)} is ready without a driver: {message_of(condition(obj, 'Ready'))}"
        return progressing(said)
    answer = worst_of([driver, *_nodes(obj, companions)], ready("reconciled, the driver runs on every GPU node"))
    return answer if answer.readiness is not Readiness.READY else ready(answer.reason or "reconciled")


def _nodes(obj: KubeObject, companions: Companions) -> Iterator[Judgement]:
    return _ROLL.judge_nodes(nodes_with(companions, {_DEPLOY_DRIVER: "true"}), str(ref_of(obj)), cordons=True)


def _held_back(companions: Companions) -> int:
    """Count driver pods whose nodes' turn to get another form has not come."""
    driver_sets = (item for item in companions.of_kind(kinds.DAEMON_SET) if _is_driver(item))
    return sum(_ROLL.held_back(item, companions) for item in driver_sets)


def _without_status(obj: KubeObject, companions: Companions) -> Judgement:
    others = [item for item in companions.of_kind(kinds.CLUSTER_POLICY) if name_of(item) != name_of(obj)]
    if others:
        names = ", ".join(name_of(item) for item in others)
        return failed(f"{ref_of(obj)} is never looked at: ClusterPolicy {names} was there before, and only one counts")
    return progressing(f"{ref_of(obj)} has no status yet: the GPU operator does not run, or has not come to it")


def _driver(obj: KubeObject, companions: Companions) -> Iterator[Judgement]:
    """Judge the DaemonSets of the driver, against the policy's wishes and the GPU nodes."""
    spec = dig(obj, "spec", "driver", default={})
    if spec.get("enabled") is False:
        return
    if spec.get("useNvidiaDriverCRD"):
        yield from _driver_objects(obj, companions)
        return
    daemon_sets = [item for item in companions.of_kind(kinds.DAEMON_SET) if _is_driver(item)]
    gpu_nodes = nodes_with(companions, {_DEPLOY_DRIVER: "true"})
    if not daemon_sets:
        yield progressing(f"{ref_of(obj)}: there is no driver DaemonSet yet")
        return
    if not gpu_nodes:
        yield progressing(f"{ref_of(obj)}: no node carries {_DEPLOY_DRIVER}=true")
        return
    for item in daemon_sets:
        yield _as_wished(item, spec, companions)
        if _wants_pods(item) or not any(_wants_pods(other) for other in daemon_sets):
            held_back, by_hand = _ROLL.held_back(item, companions), _ROLL.is_by_hand(spec)
            yield judge_daemon_set(item, companions, held_back=held_back, by_hand=by_hand)
    desired = sum(int(dig(item, "status", "desiredNumberScheduled", default=0)) for item in daemon_sets)
    if desired != len(gpu_nodes):
        yield progressing(f"{ref_of(obj)}: the driver is wanted on {desired} nodes, and {len(gpu_nodes)} have GPUs")


def _wants_pods(daemon_set: KubeObject) -> bool:
    """Whether a driver DaemonSet has nodes; one for a version of the node's system that is gone has none."""
    return int(dig(daemon_set, "status", "desiredNumberScheduled", default=0)) > 0


def _as_wished(daemon_set: KubeObject, spec: Any, companions: Companions) -> Judgement:
    """Check the containers: the toolkit on OpenShift, and nvidia-peermem exactly when it is wanted."""
    containers = dig(daemon_set, "spec", "template", "spec", "containers", default=[])
    names = {str(item.get("name")) for item in containers}
    environment = {str(item.get("name")): item.get("value") for one in containers for item in one.get("env") or []}
    name = f"DaemonSet {name_of(daemon_set)}"
    if environment.get("RHCOS_IMAGE_MISSING") == "true":
        return failed(f"{name}: the cluster has no driver toolkit image for these nodes (RHCOS_IMAGE_MISSING)")
    is_openshift = "OPENSHIFT_VERSION" in environment or any(
        _OPENSHIFT_NODE in labels_of(node) for node in companions.of_kind(kinds.NODE)
    )
    if is_openshift and _TOOLKIT not in names and not spec.get("usePrecompiled"):
        return failed(
            f"{name} has no {_TOOLKIT}: the label system-os_release.OSTREE_VERSION or the ImageStream"
            " openshift/driver-toolkit is missing, and the driver cannot be built"
        )
    wants_peermem = bool(dig(spec, "rdma", "enabled", default=False))
    if wants_peermem != (_PEERMEM in names):
        return progressing(f"{name}: {_PEERMEM} is {'not there yet' if wants_peermem else 'still there'}")
    return ready(f"{name} has the containers that are wanted")


def _driver_objects(obj: KubeObject, companions: Companions) -> Iterator[Judgement]:
    drivers = companions.of_kind(kinds.NVIDIA_DRIVER)
    if not drivers:
        yield failed(f"{ref_of(obj)} leaves the driver to NVIDIADriver objects, and there is none")
    for item in drivers:
        if not holds(item, "Ready") or dig(item, "status", "state") != "ready":
            yield progressing(f"{ref_of(item)}: {message_of(condition(item, 'Error')) or 'not ready'}")


def _is_driver(daemon_set: KubeObject) -> bool:
    return labels_of(daemon_set).get(_COMPONENT) == "nvidia-driver" or name_of(daemon_set).startswith(_DRIVER_PREFIX)
