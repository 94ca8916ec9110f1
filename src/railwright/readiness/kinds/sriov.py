"""
Judges of the SR-IOV operator's kinds.

A node state that says Succeeded outlives its daemon and its spec: it counts only with a ready daemon pod on the node,
our policy in its spec, and the VFs in its status.

Measured: SR-IOV network operator 1.6.0 against kube-apiserver 1.36.3, 2026-11.
Source: openshift/sriov-network-operator 44199ad5 (2026-07-16).
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from railwright.core import kinds
from railwright.core.objects import KubeObject, annotations_of, dig, labels_of, ref_of
from railwright.readiness.answers import failed, may_be_stale, progressing, ready, unknown, worst_of
from railwright.readiness.model import Companions, Judgement, Readiness, Receipt
from railwright.readiness.nads import is_json, judge_nad
from railwright.readiness.pods import is_pod_ready, pods_of, trouble_of
from railwright.readiness.rollouts import judge_daemon_set, selector_of
from railwright.readiness.selectors import matches, name_of, nodes_with

_DAEMON = "sriov-network-config-daemon"
_SERVERS = ("operator-webhook", "network-resources-injector")
_CURRENT = "sriovnetwork.openshift.io/current-state"
_DESIRED = "sriovnetwork.openshift.io/desired-state"


def judge_sriov_operator_config(
    obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime
) -> Judgement:
    """
    Judge the operator's configuration by its config daemon.

    A daemon that wants no pods is ready here: its selector may wait for a label that a later stage sets.
    """
    del receipt, now
    namespace = _namespace(obj)
    if name_of(obj) != "default":
        return failed(f"{ref_of(obj)} is not used: only the name default counts")
    daemon = companions.get(kinds.DAEMON_SET, _DAEMON, namespace)
    if daemon is None:
        return progressing(f"{ref_of(obj)}: DaemonSet {_DAEMON} is not there yet")
    wanted = dig(obj, "spec", "configDaemonNodeSelector", default={})
    selector = dig(daemon, "spec", "template", "spec", "nodeSelector", default={})
    if any(selector.get(key) != value for key, value in wanted.items()):
        return progressing(f"{ref_of(obj)}: DaemonSet {_DAEMON} does not have its node selector yet")
    servers = (companions.get(kinds.DAEMON_SET, name, namespace) for name in _SERVERS)
    answers = [judge_daemon_set(item, companions) for item in servers if item is not None]
    desired = int(dig(daemon, "status", "desiredNumberScheduled", default=0))
    seen = int(dig(daemon, "status", "observedGeneration", default=0))
    if desired == 0 and seen >= int(daemon["metadata"].get("generation", 0)):
        return worst_of(answers, ready(f"its daemon runs nowhere yet: no node matches {selector_of(daemon)}"))
    return worst_of([judge_daemon_set(daemon, companions), *answers], ready(f"its daemon runs on {desired} nodes"))


def judge_sriov_pool_config(
    obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime
) -> Judgement:
    """Judge a pool by the RDMA mode of its nodes; without one there is nothing to wait for."""
    del receipt, now
    mode = dig(obj, "spec", "rdmaMode", default="")
    if not mode:
        return ready("sets only how many nodes go at once")
    selector = dig(obj, "spec", "nodeSelector", default={})
    nodes = [node for node in companions.of_kind(kinds.NODE) if matches(selector, labels_of(node))]
    answers = []
    for node in nodes:
        state = companions.get(kinds.SRIOV_NETWORK_NODE_STATE, name_of(node), _namespace(obj))
        wished, seen = dig(state, "spec", "system", "rdmaMode"), dig(state, "status", "system", "rdmaMode")
        if state is None or wished != mode:
            answers.append(progressing(f"{ref_of(obj)}: the operator has not taken it up for node {name_of(node)}"))
        elif seen != mode:
            answers.append(_sync(state) or progressing(f"node {name_of(node)}: rdmaMode is {seen}, {mode} is wanted"))
    return worst_of(answers, ready(f"rdmaMode {mode} on {len(nodes)} nodes"))


def judge_sriov_policy(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    """Judge a policy on every node that it selects."""
    home = _operator_namespace(companions)
    if home not in {"", _namespace(obj)}:
        return failed(f"{ref_of(obj)} is not used: the operator only reads namespace {home}")
    selector = dig(obj, "spec", "nodeSelector", default={})
    nodes = nodes_with(companions, selector)
    if not nodes:
        text = ",".join(f"{key}={value}" for key, value in sorted(selector.items()))
        return progressing(f"{ref_of(obj)}: no node matches {text}")
    answers = [_policy_on(obj, node, companions) for node in nodes]
    answer = worst_of(answers, ready(f"{dig(obj, 'spec', 'numVfs')} VFs on {len(nodes)} nodes"))
    if answer.readiness is Readiness.FAILED and may_be_stale(receipt, now):
        return progressing(answer.reason)
    return answer


def judge_sriov_network(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    """Judge a SriovNetwork or SriovIBNetwork; its only sign of success is an annotation."""
    del receipt, now
    home = _operator_namespace(companions)
    if home not in {"", _namespace(obj)}:
        return failed(f"{ref_of(obj)} is not used: the operator only reads namespace {home}")
    target = str(dig(obj, "spec", "networkNamespace", default="") or _namespace(obj))
    if annotations_of(obj).get("operator.sriovnetwork.openshift.io/last-network-namespace") == target:
        nad = companions.get(kinds.NETWORK_ATTACHMENT_DEFINITION, name_of(obj), target)
        return judge_nad(nad, obj) if nad else progressing(f"{ref_of(obj)}: NAD {target}/{name_of(obj)} is not there")
    ipam = str(dig(obj, "spec", "ipam", default=""))
    if ipam.strip() and not is_json(ipam):
        return failed(f"{ref_of(obj)}: its ipam is no JSON: {ipam[:200]!r}; the operator says so only in its log")
    namespaces = companions.of_kind(kinds.NAMESPACE)
    if namespaces and companions.get(kinds.NAMESPACE, target) is None:
        return progressing(f"{ref_of(obj)}: namespace {target} does not exist; the operator says so only in its log")
    return progressing(f"{ref_of(obj)}: the operator has not made its network in {target}")


def judge_node_state(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    """Judge one node state by itself."""
    del companions, receipt, now
    return _sync(obj) or ready("Succeeded")


def _policy_on(obj: KubeObject, node: KubeObject, companions: Companions) -> Judgement:
    """Judge one policy on one node."""
    name = name_of(node)
    state = companions.get(kinds.SRIOV_NETWORK_NODE_STATE, name, _namespace(obj))
    if state is None:
        return progressing(
            f"{ref_of(obj)}: there is no SriovNetworkNodeState {name} yet: no config daemon is wanted there"
        )
    daemon = _daemon(name, _namespace(obj), companions)
    if daemon:
        return daemon
    missing = _missing_ports(obj, state)
    if missing:
        return failed(f"{ref_of(obj)}: node {name} has no port {missing}")
    ports = [port for port in dig(state, "spec", "interfaces", default=[]) if _is_of(port, obj)]
    if not ports:
        return progressing(f"{ref_of(obj)}: the operator has not put it into SriovNetworkNodeState {name}")
    return _sync(state) or worst_of(_vfs(ports, state), ready(f"node {name} has its VFs"))


def _daemon(node: str, namespace: str, companions: Companions) -> Judgement | None:
    """Check the config daemon of a node: without it the node state is stale. None when it is ready."""
    pods = pods_of(companions, namespace, _DAEMON, node=node)
    if any(is_pod_ready(pod) for pod in pods):
        return None
    troubles = [trouble for pod in pods if (trouble := trouble_of(pod))]
    for trouble in troubles:
        return failed(trouble.text, trouble.text) if trouble.final else progressing(trouble.text)
    return progressing(f"node {node} has no ready {_DAEMON} pod: what its SriovNetworkNodeState says may be stale")


def _missing_ports(obj: KubeObject, state: KubeObject) -> str:
    """Name the ports that a policy selects by name and that the node does not have; empty when it has one of them."""
    seen = dig(state, "status", "interfaces", default=[])
    if not seen:
        return ""
    names = [str(item).partition("#")[0] for item in dig(obj, "spec", "nicSelector", "pfNames", default=[])]
    addresses = [str(item) for item in dig(obj, "spec", "nicSelector", "rootDevices", default=[])]
    if names and not any(port.get("name") in names for port in seen):
        return f"named {' or '.join(names)}; it has {', '.join(sorted(str(port.get('name')) for port in seen))}"
    if addresses and not any(port.get("pciAddress") in addresses for port in seen):
        return f"at {' or '.join(addresses)}; it has {', '.join(sorted(str(port.get('pciAddress')) for port in seen))}"
    return ""


def _is_of(port: Any, obj: KubeObject) -> bool:
    return any(
        group.get("policyName") == name_of(obj) or group.get("resourceName") == dig(obj, "spec", "resourceName")
        for group in port.get("vfGroups") or []
    )


def _sync(state: KubeObject) -> Judgement | None:
    """Judge the sync status of a node state; None when it has succeeded."""
    status = str(dig(state, "status", "syncStatus", default=""))
    name = ref_of(state)
    if status == "Succeeded":
        return None
    if status == "Failed":
        error = str(dig(state, "status", "lastSyncError", default="no reason given"))
        return failed(f"{name}: syncStatus Failed: {error}", error)
    if status not in {"", "InProgress"}:
        return unknown(f"{name}: syncStatus is not known: {status!r}")
    steps = annotations_of(state)
    detail = f"current-state {steps.get(_CURRENT, 'unknown')}, desired-state {steps.get(_DESIRED, 'unknown')}"
    return progressing(f"{name}: syncStatus {status or 'not written yet'} ({detail})")


def _vfs(ports: list[Any], state: KubeObject) -> Iterator[Judgement]:
    """Compare the VFs that are wanted with those that are there; Succeeded may be older than the wish."""
    seen = {port.get("pciAddress"): port for port in dig(state, "status", "interfaces", default=[])}
    for port in ports:
        address, wanted = port.get("pciAddress"), int(port.get("numVfs", 0))
        found = seen.get(address)
        where = f"{ref_of(state)}: {port.get('name')} ({address})"
        if found is None:
            yield progressing(f"{where} is not in its status")
            continue
        count, listed = int(found.get("numVfs", 0)), len(found.get("Vfs") or [])
        if count != wanted or listed != wanted:
            yield progressing(f"{where} has {min(count, listed)} of {wanted} VFs")
        link_type = str(port.get("linkType", "")).upper()
        if link_type and str(found.get("linkType", "")).upper() != link_type:
            yield progressing(f"{where} has link type {found.get('linkType')}, {link_type} is wanted")


def _operator_namespace(companions: Companions) -> str:
    """Namespace that the operator reads: where its configuration is; empty when that is not known."""
    configs = companions.of_kind(kinds.SRIOV_OPERATOR_CONFIG)
    return _namespace(configs[0]) if len(configs) == 1 else ""


def _namespace(obj: KubeObject) -> str:
    return str(dig(obj, "metadata", "namespace", default=""))
