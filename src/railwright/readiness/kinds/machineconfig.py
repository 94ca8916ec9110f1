"""
Judges of what changes nodes themselves: MachineConfigs and their pools, KubeletConfig, NMState.

Source: openshift/machine-config-operator 7ff337a (conditions of a pool). Measured: SR-IOV network operator 1.6.0 pauses
pools, kube-apiserver 1.36.3, 2026-11.
"""

from datetime import datetime

from railwright.core import kinds
from railwright.core.objects import KubeObject, annotations_of, dig, labels_of, ref_of
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
from railwright.readiness.model import Companions, Judgement, Receipt
from railwright.readiness.selectors import matches, name_of

_CURRENT = "machineconfiguration.openshift.io/currentConfig"
_DESIRED = "machineconfiguration.openshift.io/desiredConfig"
_REASON = "machineconfiguration.openshift.io/reason"
_SRIOV_STATE = "sriovnetwork.openshift.io/state"


def judge_pool(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    """Judge a MachineConfigPool."""
    del receipt, now
    return pool_state(obj, companions)


def pool_state(obj: KubeObject, companions: Companions) -> Judgement:
    """Judge whether everything that a pool should have is on all of its nodes."""
    if holds(obj, "Degraded"):
        found = condition(obj, "NodeDegraded") if holds(obj, "NodeDegraded") else condition(obj, "Degraded")
        return failed(f"{ref_of(obj)} is degraded: {message_of(found)}", message_of(found))
    if dig(obj, "spec", "paused", default=False):
        by_sriov = annotations_of(obj).get(_SRIOV_STATE) == "Paused"
        if by_sriov:
            return progressing(f"{ref_of(obj)} is paused by the SR-IOV operator while it drains a node")
        return failed(f"{ref_of(obj)} is paused: nothing reaches its nodes until somebody unpauses it")
    if condition(obj, "Updated") is None:
        return unknown(f"{ref_of(obj)} has no condition Updated")
    answers = []
    counts = {
        key: int(dig(obj, "status", key, default=0))
        for key in ("machineCount", "updatedMachineCount", "readyMachineCount")
    }
    if not holds(obj, "Updated") or len(set(counts.values())) != 1:
        said = f"{counts['updatedMachineCount']} updated and {counts['readyMachineCount']} ready of {counts['machineCount']}"
        answers.append(progressing(f"{ref_of(obj)}: {said}", _busy_node(obj, companions)))
    generation, seen = (
        int(obj["metadata"].get("generation", 0)),
        int(dig(obj, "status", "observedGeneration", default=0)),
    )
    if seen < generation:
        answers.append(progressing(f"{ref_of(obj)}: its newest form is not taken up yet"))
    busy = _busy_node(obj, companions)
    if busy:
        answers.append(progressing(f"{ref_of(obj)}: {busy}"))
    return worst_of(answers, ready(f"all {counts['machineCount']} nodes updated"))


def judge_kubelet_config(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    """Judge a KubeletConfig: the machine config operator has rendered it; its pool is judged apart."""
    del companions, receipt, now
    last = dig(obj, "status", "conditions", default=[])[-1:]
    if not last:
        return progressing(f"{ref_of(obj)}: the machine config operator has not looked at it yet")
    if last[0].get("type") == "Failure":
        return failed(f"{ref_of(obj)}: {message_of(last[0])}")
    if last[0].get("type") != "Success":
        return unknown(f"{ref_of(obj)}: its last condition is not known: {last[0].get('type')!r}")
    return ready("rendered")


def judge_host_network(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    """Judge a NodeNetworkConfigurationPolicy by its conditions."""
    del companions
    if may_be_stale(receipt, now):
        return progressing(f"{ref_of(obj)}: its conditions may be older than our write")
    if not dig(obj, "status", "conditions", default=[]):
        return progressing(f"{ref_of(obj)}: no node has taken it up yet")
    if holds(obj, "Degraded"):
        return failed(f"{ref_of(obj)}: {message_of(condition(obj, 'Degraded'))}")
    if holds(obj, "Available"):
        return ready(message_of(condition(obj, "Available")) or "configured")
    if condition(obj, "Available") is None:
        return unknown(f"{ref_of(obj)} has no condition Available")
    return progressing(f"{ref_of(obj)}: {message_of(condition(obj, 'Progressing')) or 'not configured on every node'}")


def _busy_node(obj: KubeObject, companions: Companions) -> str:
    """Name a node of the pool whose configuration is not yet the one it should have; empty when there is none."""
    selector = dig(obj, "spec", "nodeSelector", default=None)
    for node in companions.of_kind(kinds.NODE):
        if selector is None or not matches(selector, labels_of(node)):
            continue
        notes = annotations_of(node)
        rendered = dig(obj, "spec", "configuration", "name", default="")
        current, desired = notes.get(_CURRENT, ""), notes.get(_DESIRED, "")
        of_pool = not rendered or rendered in {current, desired}
        if of_pool and current != desired:
            reason = notes.get(_REASON, "")
            return f"node {name_of(node)} goes from {current} to {desired}" + (f": {reason}" if reason else "")
    return ""
