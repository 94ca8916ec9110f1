"""
Judge of NicClusterPolicy.

Its `ready` is neither kept up to date with its spec nor about devices: what counts are the state of each section that
is set, and the DaemonSets that it owns.

Measured: Network Operator 25.10.0 and 26.4.1 controllers against kube-apiserver 1.36.3, 2026-11.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime

from railwright.core import kinds
from railwright.core.objects import KubeObject, dig, labels_of, ref_of
from railwright.readiness.answers import failed, may_be_stale, progressing, ready, unknown, worst_of
from railwright.readiness.model import Companions, Judgement, Readiness, Receipt
from railwright.readiness.rollouts import DriverRoll, judge_daemon_set
from railwright.readiness.selectors import name_of, nodes_with

POLICY_NAME = "nic-cluster-policy"
STATE_LABEL = "nvidia.network-operator.state"
_DRIVER_STATE = "state-OFED"
_ROLL = DriverRoll("ofed")
_NIC_LABEL = "feature.node.kubernetes.io/pci-15b3.present"
_STATE_BY_SECTION: Mapping[tuple[str, ...], str] = {
    ("ofedDriver",): _DRIVER_STATE,
    ("rdmaSharedDevicePlugin",): "state-RDMA-device-plugin",
    ("sriovDevicePlugin",): "state-SRIOV-device-plugin",
    ("ibKubernetes",): "state-ib-kubernetes",
    ("secondaryNetwork", "ipoib"): "state-ipoib-cni",
    ("secondaryNetwork", "multus"): "state-multus-cni",
    ("secondaryNetwork", "cniPlugins"): "state-container-networking-plugins",
    ("nvIpam",): "state-nv-ipam-cni",
    ("nicFeatureDiscovery",): "state-nic-feature-discovery",
    ("docaTelemetryService",): "state-doca-telemetry-service",
    ("nicConfigurationOperator",): "state-nic-configuration-operator",
    ("spectrumXOperator",): "state-spectrum-x-operator",
}
_GIVEN_UP = "failed to"
"""How the operator's messages begin when the policy itself, or something that it names, is at fault."""
_DRIVER_LABELS = (
    "feature.node.kubernetes.io/system-os_release.ID",
    "feature.node.kubernetes.io/system-os_release.VERSION_ID",
    "feature.node.kubernetes.io/kernel-version.full",
)
"""Without one of these a node is skipped in silence."""


def judge_nic_cluster_policy(
    obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime
) -> Judgement:
    """Judge the policy section by section, and by the DaemonSets that it owns."""
    state = str(dig(obj, "status", "state", default=""))
    if state == "ignore" or name_of(obj) != POLICY_NAME:
        return failed(
            f"{ref_of(obj)} is ignored: only the name {POLICY_NAME} counts",
            str(dig(obj, "status", "reason", default="")),
        )
    if not state:
        return progressing(f"{ref_of(obj)} has no status yet: the operator does not run, or is held up")
    if state not in {"ready", "notReady", "error"}:
        return unknown(f"{ref_of(obj)} has a state that is not known: {state!r}")
    daemon_sets = _owned(obj, companions)
    held_back = sum(_ROLL.held_back(item, companions) for item in daemon_sets if _is_driver(item))
    sections = [*_sections(obj, companions, daemon_sets)]
    answers = [*sections, *(_judge_set(item, obj, companions) for item in daemon_sets)]
    if dig(obj, "spec", "ofedDriver") is not None:
        answers += _ROLL.judge_nodes(nodes_with(companions, {_NIC_LABEL: "true"}), str(ref_of(obj)))
    bad = worst_of(answers, ready(""))
    if bad.readiness in {Readiness.FAILED, Readiness.UNKNOWN} or (bad.waiting_for and state != "ready"):
        return progressing(bad.reason, bad.waiting_for) if may_be_stale(receipt, now) else bad
    if bad.readiness is not Readiness.READY:
        return bad
    if state != "ready" and not held_back:
        return progressing(f"{ref_of(obj)}: state {state}, though every section is ready")
    if may_be_stale(receipt, now):
        return progressing(f"{ref_of(obj)}: its ready may be older than our write")
    turns = f"; {held_back} driver pods keep the old form until their nodes' turn" if held_back else ""
    return ready(f"{len(sections)} sections ready, {len(daemon_sets)} DaemonSets complete{turns}")


def _sections(obj: KubeObject, companions: Companions, daemon_sets: tuple[KubeObject, ...]) -> Iterator[Judgement]:
    applied = {str(item.get("name")): item for item in dig(obj, "status", "appliedStates", default=[])}
    for section, name in _STATE_BY_SECTION.items():
        if dig(obj, "spec", *section) is None:
            continue
        state = str(dig(applied.get(name, {}), "state", default=""))
        message = str(dig(applied.get(name, {}), "message", default=""))
        said = f"{ref_of(obj)}: {name} is {state or 'not listed'}"
        if state == "ready":
            yield ready(said)
        elif state == "error":
            yield failed(f"{said}: {message or 'its message comes with the next status'}", message)
        elif message.startswith(_GIVEN_UP):
            yield failed(f"{said}: {message}", message)
        elif message:
            yield progressing(f"{said}: {message}")
        elif state == "ignore":
            yield progressing(f"{said}: the operator has not taken up this section yet")
        else:
            yield _silent(said, name, obj, companions, daemon_sets)


def _silent(
    said: str, name: str, obj: KubeObject, companions: Companions, daemon_sets: tuple[KubeObject, ...]
) -> Judgement:
    """Find out why a section is not ready and does not say why: labels of nodes, else its pods."""
    if name == _DRIVER_STATE:
        missing = _missing_labels(companions)
        if missing:
            return progressing(f"{said}: {missing}")
    mine = [item for item in daemon_sets if labels_of(item).get(STATE_LABEL, name) == name]
    answers = [_judge_set(item, obj, companions) for item in mine]
    if name == _DRIVER_STATE and any(_ROLL.held_back(item, companions) for item in mine):
        return worst_of(answers, ready(f"{said}: only pods whose nodes' turn has not come are of the old form"))
    bad = worst_of(answers, progressing(said))
    if bad.readiness is Readiness.FAILED:
        return failed(f"{said}: {bad.reason}", bad.waiting_for)
    return progressing(f"{said}: {bad.reason}" if bad.reason != said else said, bad.waiting_for)


def _is_driver(daemon_set: KubeObject) -> bool:
    return labels_of(daemon_set).get(STATE_LABEL) == _DRIVER_STATE


def _judge_set(item: KubeObject, obj: KubeObject, companions: Companions) -> Judgement:
    held_back = _ROLL.held_back(item, companions) if _is_driver(item) else 0
    by_hand = _is_driver(item) and _ROLL.is_by_hand(dig(obj, "spec", "ofedDriver"))
    return judge_daemon_set(item, companions, held_back=held_back, by_hand=by_hand)


def _missing_labels(companions: Companions) -> str:
    """Name the labels of NFD that keep the driver off; empty when none is missing."""
    nodes = nodes_with(companions, {_NIC_LABEL: "true"})
    if not nodes:
        return f"no node carries {_NIC_LABEL}=true" if companions.of_kind(kinds.NODE) else ""
    for node in nodes:
        missing = [label for label in _DRIVER_LABELS if label not in labels_of(node)]
        if missing:
            return f"node {name_of(node)} lacks {', '.join(missing)}, and is skipped without a word"
    return ""


def _owned(obj: KubeObject, companions: Companions) -> tuple[KubeObject, ...]:
    """Find the DaemonSets that the policy owns."""
    return tuple(
        item
        for item in companions.of_kind(kinds.DAEMON_SET)
        if any(
            owner.get("kind") == "NicClusterPolicy" and owner.get("name") == name_of(obj)
            for owner in dig(item, "metadata", "ownerReferences", default=[])
        )
    )
