"""What policies promise against what nodes offer: resources and virtual functions."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto

from railwright.core import kinds
from railwright.core.ids import NodeName, RuleId
from railwright.core.objects import KubeObject, Ref, annotations_of, dig, ref_of
from railwright.core.risk import Risk
from railwright.doctor import nic_policy
from railwright.doctor.commands import oc, oc_patch
from railwright.doctor.model import (
    Condition,
    Evidence,
    Finding,
    Layer,
    Remedy,
    Rule,
    RuleInfo,
    Severity,
    Unknown,
    conclude,
)
from railwright.doctor.needs import BY_OPERATORS, INSIDE, NODES, SRIOV_POLICIES, objects, pods_of, reads
from railwright.doctor.operators import SRIOV
from railwright.doctor.pace import PACE, is_driver_new, moving
from railwright.doctor.pods import DRIVER_LIMIT_S, USUAL_LIMIT_S, age_s
from railwright.doctor.promises import GPU_RESOURCE, PROMISES, Promise, promises, sriov_policies
from railwright.doctor.seen import Seen
from railwright.doctor.showing import capped
from railwright.doctor.subjects import POLICIES, VF_POLICIES
from railwright.facts.model import NicPort

RESOURCE_NOT_ALLOCATABLE = RuleInfo(
    name=RuleId("resource-not-allocatable"),
    title="A resource that a policy promises is not there on a node that it selects",
    layer=Layer.DEVICES,
    severity=Severity.ERROR,
    text="Every policy that selects a node promises a resource there: a pool of a device plugin, the VFs of a SR-IOV "
    "policy, the GPUs of ClusterPolicy. No operator looks whether the node offers it; ready says nothing. The rule names "
    "why, as far as facts tell: the plugin's pod is not there or not ready, no port of the node meets the pool's "
    "criteria (and which criterion is to blame), VFs are missing, the plugin started before what it should have found "
    "or lost the kubelet. Fewer than promised is found too. A warning while it may still come: policy, plugin or driver are "
    "new there, or the node is in a roll-out.",
    source="Measured: Network Operator 26.4.1 and GPU Operator 26.7.0 against kube-apiserver 1.36.3, 2026-11 (ready with "
    "nothing allocatable); Mellanox/k8s-rdma-shared-dev-plugin 410b0f3, pkg/resources (an empty pool is offered as 0)",
    needs=(NODES, PROMISES),
    uses=(PACE, INSIDE, reads(relies_on=("pci", "net", "infiniband")), BY_OPERATORS),
    covers=("B047", "B051", "B055", "B056", "B057", "B058", "B113"),
    leads_to=(Condition.WORKLOAD_WAITS,),
    shows=(
        Condition.RESOURCE_MISSING,
        Condition.VFS_MISSING,
        Condition.NIC_DRIVER_NOT_READY,
        Condition.GPU_DRIVER_NOT_READY,
        Condition.POD_CRASHES,
        Condition.POD_NOT_STARTED,
        Condition.LABELS_MISSING,
        Condition.OPERATOR_MISSING,
        Condition.PORT_DOWN,
    ),
    subject=POLICIES,
)


class _Way(Enum):
    """What is to be done about a promise that is not kept."""

    SELECT_OTHERWISE = auto()
    MEND_PLUGIN = auto()
    ASK_DAEMON = auto()
    RESTART_PLUGIN = auto()
    LOOK_AT_PODS = auto()


@dataclass(frozen=True)
class _Reason:
    """Why a promise is not kept, and what is to be done; `step` says what is still on its way there, if anything."""

    text: str
    way: _Way
    evidence: Evidence | None = None
    step: str = ""


@dataclass(frozen=True)
class _Short:
    """One promise that is not kept; `seen` is None where the node does not list the resource."""

    promise: Promise
    seen: int | None
    reason: _Reason


def judge_allocatable(seen: Seen) -> Iterator[Finding | Unknown]:
    """Compare promises with allocatable, and group what one policy promised and misses for the same reason."""
    wanted: dict[tuple[NodeName, str], list[Promise]] = defaultdict(list)
    for promise in promises(seen):
        wanted[promise.node, promise.resource].append(promise)
    groups: dict[tuple[str, str, bool], list[_Short]] = defaultdict(list)
    for (node, resource), made in wanted.items():
        short = _short(seen, node, resource, made)
        if short is not None:
            groups[str(short.promise.policy), short.reason.text, bool(short.reason.step)].append(short)
    yield from seen.unknown_inside(RESOURCE_NOT_ALLOCATABLE, [node for node, name in wanted if name == GPU_RESOURCE])
    for shorts in groups.values():
        yield _resources(shorts)


def _short(seen: Seen, node: NodeName, resource: str, made: list[Promise]) -> _Short | None:
    have = seen.node_by_name[node].allocatable.get(resource)
    counts = [promise.count for promise in made if promise.count is not None]
    least = sum(counts) if counts else 1
    if have is not None and have >= least:
        return None
    first = made[0]
    return _Short(first, have, replace(_why(seen, first, have), step=_step(seen, first)))


def _step(seen: Seen, promise: Promise) -> str:
    """Say what may still bring the resource; empty when nothing is on its way."""
    state = seen.node_states.get(promise.node)
    if promise.policy.kind == kinds.SRIOV_NETWORK_NODE_POLICY and dig(state, "status", "syncStatus") == "InProgress":
        return "the config daemon is at work on the node"
    if is_driver_new(seen, seen.get(promise.policy.kind, promise.policy.name, promise.policy.namespace)):
        return f"{promise.policy} is new"
    for pod in seen.pods_by_node.get(promise.node, ()):
        since = age_s(pod, seen.now)
        if pod.owner == f"DaemonSet/{promise.plugin}" and since is not None and since < USUAL_LIMIT_S:
            return f"its device plugin started {since / 60:.0f} minutes ago"
    return moving(seen, promise.node)


def _why(seen: Seen, promise: Promise, have: int | None) -> _Reason:
    """Find the nearest reason, from the plugin's pod outwards."""
    pods = [pod for pod in seen.pods_by_node.get(promise.node, ()) if pod.owner == f"DaemonSet/{promise.plugin}"]
    node = seen.node_by_name[promise.node]
    if not pods:
        wait = node.labels.get(nic_policy.WAIT_LABEL)
        if promise.pool is not None and wait != "false":
            text = "the device plugin waits for the NIC driver, so it has no pod there"
            label = Evidence(f"node {node.name}", f"label {nic_policy.WAIT_LABEL}", str(wait), node.name)
            return _Reason(text, _Way.MEND_PLUGIN, label)
        if not seen.is_whole(kinds.POD):
            return _Reason("why is not known, for the pods of its device plugin were not read", _Way.LOOK_AT_PODS)
        return _Reason(f"{promise.plugin} has no pod there", _Way.MEND_PLUGIN)
    if not pods[0].is_ready:
        said = f"{promise.plugin} is not ready there"
        phase = Evidence(f"pod {pods[0].namespace}/{pods[0].name}", "phase", pods[0].phase, node.name)
        return _Reason(said, _Way.MEND_PLUGIN, phase)
    if promise.pool is not None:
        found = _selected_nothing(seen, promise)
        if found is not None:
            return found
    if promise.resource != GPU_RESOURCE and promise.pool is None and promise.count is None:
        text = "the SR-IOV operator has not taken the policy up for it: see the node's SriovNetworkNodeState"
        return _Reason(text, _Way.ASK_DAEMON)
    if have:
        text = f"{promise.plugin} counts fewer devices than there should be: it looked while one was not there"
        return _Reason(text, _Way.RESTART_PLUGIN)
    return _Reason(
        f"{promise.plugin} runs and offers none: it looked before the devices were there, or has lost the kubelet",
        _Way.RESTART_PLUGIN,
        Evidence(f"pod {pods[0].namespace}/{pods[0].name}", "started", pods[0].started_at, node.name),
    )


def _selected_nothing(seen: Seen, promise: Promise) -> _Reason | None:
    """Say which criterion of a pool no port meets; None when some port meets all, or the inside is not known."""
    hardware, pool = seen.inside.get(promise.node), promise.pool
    if hardware is None or pool is None or nic_policy.ports_in(pool, hardware):
        return None
    near = [
        (nic_policy.misfits(way, port), way, port)
        for way in pool.selectors
        for port in hardware.ports
        if port.vendor_id == "15b3"
    ]
    if not near:
        return _Reason("the node has no Mellanox port at all", _Way.SELECT_OTHERWISE)
    missed, way, port = min(near, key=lambda item: (len(item[0]), item[2].pci))
    key = missed[0] if missed else "vendors"
    said = ", ".join(f"{name} {way.get(name)}" for name in missed)
    what = f"no port meets {said}"
    value = f"{_value(key, port)} ({port.pci})"
    nearest = Evidence(f"node {promise.node}", f"nearest port's {key}", value, promise.node)
    return _Reason(what, _Way.SELECT_OTHERWISE, nearest)


def _value(key: str, port: NicPort) -> str:
    values = {
        "vendors": port.vendor_id,
        "devices": port.device_id,
        "deviceIDs": port.device_id,
        "drivers": port.driver or "none",
        "ifNames": port.netdev or "no netdev",
        "pfNames": port.netdev or "no netdev",
        "linkTypes": port.link_layer.value,
    }
    return str(values.get(key, port.pci))


def _resources(shorts: list[_Short]) -> Finding:
    first, reason = shorts[0].promise, shorts[0].reason
    names = sorted({short.promise.resource for short in shorts})
    evidence: list[Evidence] = []
    for short in shorts:
        node, resource = short.promise.node, short.promise.resource
        have = "absent" if short.seen is None else str(short.seen)
        least = f", {short.promise.count} promised" if short.promise.count is not None else ""
        evidence.append(Evidence(f"node {node}", f"allocatable {resource}", f"{have}{least}", node))
    why_seen = list(dict.fromkeys(short.reason.evidence for short in shorts if short.reason.evidence is not None))
    what = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more resources"
    return conclude(
        RESOURCE_NOT_ALLOCATABLE,
        f"{what} of {first.policy} {'is' if len(names) == 1 else 'are'} not there{' yet' if reason.step else ''}: {reason.text}"
        f"{f' ({reason.step})' if reason.step else ''}.",
        evidence=(*why_seen[:2], *capped(evidence)),
        remedy=_resource_remedy(first, reason.way),
        nodes=(short.promise.node for short in shorts),
        about=(f"resource:{resource}" for resource in names),
        severity=Severity.WARNING if reason.step else None,
    )


def _resource_remedy(promise: Promise, way: _Way) -> Remedy:
    if way is _Way.SELECT_OTHERWISE:
        return Remedy(
            "Select by what these ports are: vendor and PCI address, or the name they have now.",
            (oc(promise.policy, "edit"), f"railwright discover --node {promise.node}"),
        )
    if way in {_Way.MEND_PLUGIN, _Way.LOOK_AT_PODS}:
        return Remedy(
            "Mend what keeps the plugin or the driver from running; the resource comes by itself then."
            if way is _Way.MEND_PLUGIN
            else "Look at the plugin's pod and the driver's on the node, or collect them too.",
            (
                f"oc get pods -A -o wide --field-selector spec.nodeName={promise.node} | grep -e mofed -e plugin -e -dp-",
            ),
        )
    if way is _Way.ASK_DAEMON:
        command = f"oc -n {promise.policy.namespace} get sriovnetworknodestates {promise.node} -o yaml"
        return Remedy("Look at what the config daemon says of the node.", (command,))
    return Remedy(
        "Restart the device plugin's pod there: it looks again. Pods that hold devices keep them.",
        (
            f"oc get pods -A -o wide --field-selector spec.nodeName={promise.node} | grep {promise.plugin}",
            "oc -n NAMESPACE delete pod POD",
        ),
    )


VFS_NOT_AS_WANTED = RuleInfo(
    name=RuleId("vfs-not-as-wanted"),
    title="A node does not have the virtual functions that a policy asks for",
    layer=Layer.DEVICES,
    severity=Severity.ERROR,
    text="The config daemon of the SR-IOV operator says that it failed, has no pod on the node (its node state is then "
    "old, whatever it says), never took a policy up, or says Succeeded while VFs are missing, have the wrong link type, "
    "or have no GUID. The rule reads the node state's own words and, where facts tell, the reason: SR-IOV off in "
    "firmware, kernel lockdown, more VFs than the port can have. A warning while policy, daemon or node are on their way.",
    source="Measured: SR-IOV network operator 1.6.0 against kube-apiserver 1.36.3, 2026-11; "
    "openshift/sriov-network-operator 44199ad5, pkg/plugins/mellanox/mellanox_plugin.go (lockdown)",
    needs=(NODES, objects(kinds.SRIOV_NETWORK_NODE_STATE, *SRIOV_POLICIES), pods_of(SRIOV)),
    uses=(PACE, INSIDE, reads("lockdown")),
    covers=("B049", "B053", "B054", "B060", "B069", "B107", "B160", "B164"),
    leads_to=(Condition.VFS_MISSING, Condition.RESOURCE_MISSING),
    shows=(Condition.VFS_MISSING, Condition.OPERATOR_MISSING, Condition.NIC_DRIVER_NOT_READY, Condition.LABELS_MISSING),
    subject=VF_POLICIES,
)


class _Mend(Enum):
    """What is to be done about VFs that are not there."""

    UNLOCK = auto()
    MAKE_ANEW = auto()
    SWITCH_ON = auto()
    READ_LOG = auto()


_Answer = tuple[str, _Mend, Evidence]
_DAEMON = "DaemonSet/sriov-network-config-daemon"
_ZERO_GUID = "0000:0000:0000:0000"


def judge_vfs(seen: Seen) -> Iterator[Finding | Unknown]:
    """Judge each node that a SR-IOV policy selects by its node state, and group nodes with the same answer."""
    groups: dict[tuple[str, _Mend, bool], list[tuple[NodeName, Evidence]]] = defaultdict(list)
    policies = sriov_policies(seen)
    concerned = {
        node.name for item in policies for node in seen.selected(dig(item, "spec", "nodeSelector", default={}))
    }
    for node in sorted(concerned):
        for why, mend, evidence in _node_state(seen, node, policies):
            begins = mend is _Mend.READ_LOG and _begins(seen, node, policies)
            groups[why, mend, begins].append((node, evidence))
    home = next((str(item["metadata"].get("namespace", "")) for item in policies), "")
    for (why, mend, begins), places in groups.items():
        nodes = [node for node, _ in places]
        yield conclude(
            VFS_NOT_AS_WANTED,
            f"{why}.",
            evidence=[evidence for _, evidence in places],
            remedy=_vf_remedy(mend, nodes[0], home),
            nodes=nodes,
            about=(f"operator:{SRIOV}",),
            severity=Severity.WARNING if begins else None,
        )


def _begins(seen: Seen, node: NodeName, policies: Iterable[KubeObject]) -> bool:
    """Whether VFs may still come: the daemon says nothing of an error, and policy, daemon or node are on their way."""
    if dig(seen.node_states.get(node), "status", "syncStatus") == "Failed":
        return False
    ages = [age_s(pod, seen.now) for pod in seen.pods_by_node.get(node, ()) if pod.owner == _DAEMON]
    is_young = any(age is not None and age < DRIVER_LIMIT_S for age in ages)
    return is_young or any(is_driver_new(seen, item) for item in policies) or bool(moving(seen, node))


def _node_state(seen: Seen, node: NodeName, policies: Iterable[KubeObject]) -> Iterator[_Answer]:
    state = seen.node_states.get(node)
    if state is None:
        if seen.is_whole(kinds.SRIOV_NETWORK_NODE_STATE):
            yield (
                "There is no SriovNetworkNodeState: the config daemon's selector leaves the node out, or its operator is down",
                _Mend.READ_LOG,
                Evidence(f"node {node}", "SriovNetworkNodeState", "none", node),
            )
        return
    thing = str(ref_of(state))
    sync, error = (
        str(dig(state, "status", "syncStatus", default="")),
        str(dig(state, "status", "lastSyncError", default="")),
    )
    daemon = [pod for pod in seen.pods_by_node.get(node, ()) if pod.owner == _DAEMON]
    is_known = bool(daemon) or seen.is_whole(kinds.POD, ref_of(state).namespace)
    if is_known and not any(pod.is_ready for pod in daemon):
        seen_pod = daemon[0].phase if daemon else "no pod"
        yield (
            "The config daemon does not run there, so nothing is done and what the node state says is old",
            _Mend.READ_LOG,
            Evidence(f"node {node}", "sriov-network-config-daemon", seen_pod, node),
        )
    elif (off := _switched_off(state)) is not None:
        why = "VFs are missing: SR-IOV is off in the port's firmware or in the BIOS"
        yield why, _Mend.SWITCH_ON, replace(off, node=node)
    elif sync == "Failed":
        yield (
            f"The config daemon failed: {error or 'it gives no reason'}",
            _Mend.UNLOCK if "lockdown" in error.lower() else _Mend.READ_LOG,
            Evidence(thing, "lastSyncError", error, node),
        )
    elif sync == "Succeeded":
        yield from _ports(seen, node, state, policies)
    elif error:
        step = annotations_of(state).get("sriovnetwork.openshift.io/current-state", "")
        evidence = Evidence(thing, "lastSyncError", f"{error} ({step})", node)
        yield f"The config daemon does not get on: {error}", _Mend.READ_LOG, evidence
    else:
        step = annotations_of(state).get("sriovnetwork.openshift.io/current-state", "not written")
        evidence = Evidence(thing, "syncStatus", f"{sync} ({step})", node)
        yield f"The config daemon is {sync or 'silent'}", _Mend.READ_LOG, evidence


def _switched_off(state: KubeObject) -> Evidence | None:
    """A port that a policy wants VFs of and whose firmware offers none."""
    wanted = {port.get("pciAddress") for port in dig(state, "spec", "interfaces", default=()) if port.get("numVfs")}
    for port in dig(state, "status", "interfaces", default=()):
        if port.get("pciAddress") in wanted and port.get("totalvfs") == 0:
            return Evidence(str(ref_of(state)), f"{port.get('pciAddress')} totalvfs", "0")
    return None


def _ports(seen: Seen, node: NodeName, state: KubeObject, policies: Iterable[KubeObject]) -> Iterator[_Answer]:
    there = {port.get("pciAddress"): port for port in dig(state, "status", "interfaces", default=())}
    wanted = {port.get("pciAddress"): port for port in dig(state, "spec", "interfaces", default=())}
    thing = str(ref_of(state))
    for address, port in wanted.items():
        found: Mapping[str, object] = there.get(address, {})
        total, count = int(str(found.get("totalvfs", 0))), int(port.get("numVfs", 0))
        made = found.get("Vfs")
        vfs = made if isinstance(made, list) else []
        if len(vfs) < count:
            reason, mend = _few(total, count, seen, node)
            yield (
                f"VFs are missing{reason}",
                mend,
                Evidence(thing, f"{address} VFs", f"{len(vfs)} of {count}, at most {total}", node),
            )
        zero = [vf for vf in vfs if str(vf.get("guid", "")).startswith(_ZERO_GUID)]
        if zero:
            yield (
                "VFs have no GUID, so no pod can use them and the subnet manager gives them no address",
                _Mend.MAKE_ANEW,
                Evidence(thing, f"{address} Vfs[].guid", str(zero[0].get("guid")), node),
            )
    if not wanted:
        labels = seen.node_by_name[node].labels
        for policy in policies:
            selector = dig(policy, "spec", "nodeSelector", default={})
            if selector.items() <= labels.items() and not dig(policy, "spec", "externallyManaged", default=False):
                yield (
                    f"{ref_of(policy)} selects the node, and none of its ports: nothing is made",
                    _Mend.READ_LOG,
                    Evidence(str(ref_of(policy)), "spec.nicSelector", str(dig(policy, "spec", "nicSelector")), node),
                )


def _few(total: int, count: int, seen: Seen, node: NodeName) -> tuple[str, _Mend]:
    hardware = seen.inside.get(node)
    if hardware is not None and hardware.lockdown not in {None, "none"}:
        return f": the kernel is locked down ({hardware.lockdown}), so firmware values cannot be set", _Mend.UNLOCK
    text = ": the port's firmware allows fewer" if total < count else ", though the node state says Succeeded"
    return text, _Mend.READ_LOG


def _vf_remedy(mend: _Mend, node: NodeName, namespace: str) -> Remedy:
    if mend is _Mend.UNLOCK:
        return Remedy(
            "Set SRIOV_EN and NUM_OF_VFS in firmware before Secure Boot is switched on, then keep the plugin out.",
            (oc_patch(Ref(kinds.SRIOV_OPERATOR_CONFIG, namespace, "default"), spec={"disablePlugins": ["mellanox"]}),),
            risk=Risk.REBOOT,
            disrupts="firmware values count after a cold start of the node",
        )
    if mend is _Mend.MAKE_ANEW:
        return Remedy(
            "Let the operator make the VFs (none before it), or have ib-kubernetes give GUIDs; then make them anew.",
            (
                (
                    f"oc -n {namespace} delete pod -l app=sriov-network-config-daemon "
                    f"--field-selector spec.nodeName={node}"
                ),
            ),
            risk=Risk.DRAIN,
            disrupts="the node's VFs are made anew; pods that hold one are evicted",
        )
    if mend is _Mend.SWITCH_ON:
        return Remedy(
            "Switch SR-IOV on in the BIOS and in the NIC's firmware.",
            (f"oc debug node/{node} -- chroot /host sh -c 'mstconfig -d PCI_ADDRESS set SRIOV_EN=1 NUM_OF_VFS=16'",),
            risk=Risk.REBOOT,
            disrupts="both count after a restart of the node",
        )
    return Remedy(
        "Read the config daemon's log on that node; it names the step that fails.",
        (
            f"oc -n {namespace} get sriovnetworknodestates {node} -o yaml",
            f"oc -n {namespace} logs -l app=sriov-network-config-daemon --prefix --tail 100",
        ),
    )


RULES = (
    Rule(RESOURCE_NOT_ALLOCATABLE, judge_allocatable),
    Rule(VFS_NOT_AS_WANTED, judge_vfs),
)
