"""Roll-outs, drains and upgrades that do not come to an end, and what they leave behind."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from railwright.core import kinds
from railwright.core.ids import NodeName, RuleId
from railwright.core.objects import KubeObject, Ref, annotations_of, dig, ref_of
from railwright.core.risk import Risk
from railwright.doctor import nic_policy
from railwright.doctor.commands import oc, oc_patch, patch_of
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
from railwright.doctor.needs import NODES, objects
from railwright.doctor.operators import GPU, NETWORK, SRIOV
from railwright.doctor.pace import is_restarting
from railwright.doctor.seen import Seen
from railwright.facts.model import NodeFacts, PodFacts, PoolFacts

ROLLOUT_STUCK = RuleInfo(
    name=RuleId("rollout-does-not-end"),
    title="A node is out, or a roll-out, drain or driver upgrade has stopped half-way",
    layer=Layer.UPGRADES,
    severity=Severity.ERROR,
    text="A MachineConfigPool that is degraded, or paused with changes waiting (the SR-IOV operator pauses pools while it "
    "drains, and may leave one so); a node that a driver upgrade or the SR-IOV operator has cordoned and not given back, with "
    "the step at which it stands; a failed upgrade; driver pods of an old form that nobody replaces (no automatic upgrade); a "
    "cordoned node whose upgrade label is gone, as after a policy was deleted during its roll-out; a node with GPUs or rails that "
    "is not ready (a warning for as long as a restart may take, a remark during a roll-out). Pods that a drain cannot evict are named. A node in a step of a roll-out whose pods are young is only remarked.",
    source="openshift/machine-config-operator 7ff337a (conditions); openshift/sriov-network-operator 44199ad5, pkg/drain; "
    "Measured: driver roll-outs of Network Operator 26.4.1 and GPU Operator 26.7.0, 2026-11",
    needs=(
        NODES,
        objects(
            kinds.MACHINE_CONFIG_POOL,
            kinds.SRIOV_NETWORK_NODE_STATE,
            kinds.DAEMON_SET,
            kinds.POD,
            kinds.CLUSTER_POLICY,
            kinds.NIC_CLUSTER_POLICY,
        ),
    ),
    covers=("B161", "B165", "B166", "B169", "B173", "B174"),
    leads_to=(
        Condition.ROLLOUT_STUCK,
        Condition.NIC_DRIVER_NOT_READY,
        Condition.GPU_DRIVER_NOT_READY,
        Condition.VFS_MISSING,
        Condition.WORKLOAD_WAITS,
    ),
    shows=(Condition.ROLLOUT_STUCK, Condition.POD_CRASHES, Condition.POD_NOT_STARTED),
)
_UPGRADES = (
    ("nvidia.com/ofed-driver-upgrade-state", NETWORK, "the NIC driver"),
    ("nvidia.com/gpu-driver-upgrade-state", GPU, "the GPU driver"),
)
_DONE = frozenset({"upgrade-done", ""})
_DRAINS = "sriovnetwork.openshift.io/state"
_DRAIN_STEPS = frozenset({"Drain_Required", "Draining", "Draining_MCP_Paused", "Reboot_Required"})
_POOL_STATE = "sriovnetwork.openshift.io/state"


def judge_rollouts(seen: Seen) -> Iterator[Finding | Unknown]:
    """Look at pools, then at nodes that are out, then at pods of an old form."""
    for pool in seen.pools:
        yield from _pool(seen, pool)
    yield from _upgrades(seen)
    yield from _drains(seen)
    yield from _not_ready(seen)
    yield from _left_cordoned(seen)
    yield from _old_pods(seen)


def _pool(seen: Seen, pool: PoolFacts) -> Iterator[Finding]:
    ref = Ref(kinds.MACHINE_CONFIG_POOL, "", pool.name)
    thing = f"MachineConfigPool {pool.name}"
    if pool.degraded:
        yield conclude(
            ROLLOUT_STUCK,
            f"{thing} is degraded: {pool.message or 'it gives no reason'}",
            evidence=(Evidence(thing, "condition Degraded", pool.message or "True"),),
            remedy=Remedy(
                "Mend what the message names; the node's machine-config-daemon log has more.",
                (
                    oc(ref, "describe"),
                    "oc -n openshift-machine-config-operator logs -l k8s-app=machine-config-daemon --tail 50",
                ),
            ),
            nodes=pool.nodes,
            about=(f"pool:{pool.name}",),
        )
    if pool.paused and not pool.updated:
        draining = [node.name for node in seen.nodes if node.annotations.get(_DRAINS) in _DRAIN_STEPS]
        by_sriov = bool(draining) or _paused_by_sriov(seen, pool.name)
        who = "The SR-IOV operator paused it for a drain" if by_sriov else "Somebody paused it"
        body = {"paused": False}
        yield conclude(
            ROLLOUT_STUCK,
            f"{thing} is paused while changes wait: no MachineConfig reaches its nodes. {who}.",
            evidence=(
                Evidence(thing, "spec.paused", "true"),
                Evidence(thing, "condition Updated", "False"),
                *(Evidence(f"node {name}", f"annotation {_DRAINS}", "draining", name) for name in draining),
            ),
            remedy=Remedy(
                "Unpause it once no node of it is being drained: the changes that wait then roll out.",
                (oc_patch(ref, spec=body),),
                patch=patch_of(ref, spec=body),
                risk=Risk.REBOOT,
                disrupts=f"each of its {len(pool.nodes)} nodes is drained and restarted, one after the other",
            ),
            nodes=pool.nodes,
            about=(f"pool:{pool.name}",),
            severity=Severity.WARNING if draining else Severity.ERROR,
        )


def _paused_by_sriov(seen: Seen, name: str) -> bool:
    pool = seen.get(kinds.MACHINE_CONFIG_POOL, name)
    return pool is not None and annotations_of(pool).get(_POOL_STATE) == "Paused"


def _upgrades(seen: Seen) -> Iterator[Finding]:
    for label, key, what in _UPGRADES:
        by_state: dict[str, list[NodeFacts]] = defaultdict(list)
        for node in seen.nodes:
            state = node.labels.get(label, "")
            if state not in _DONE:
                by_state[state].append(node)
        for state, nodes in by_state.items():
            yield _upgrade(seen, label, key, what, state, nodes)


def _upgrade(seen: Seen, label: str, key: str, what: str, state: str, nodes: list[NodeFacts]) -> Finding:
    names = [node.name for node in nodes]
    held = [pod for name in names for pod in seen.pods_by_node.get(name, ()) if _holds_up(pod)]
    failed = state == "upgrade-failed"
    waits = state == "upgrade-required"
    automatic = _is_automatic(seen, key)
    said = f"The roll-out of {what} stands at {state} on {len(names)} nodes"
    if failed:
        said = f"The roll-out of {what} failed on {len(names)} nodes"
    elif waits and automatic is False:
        said += ": automatic upgrades are off, so nobody replaces their driver pods"
    elif held:
        said += f"; pods that hold devices there and are not evicted: {', '.join(_name(pod) for pod in held[:3])}"
    return conclude(
        ROLLOUT_STUCK,
        f"{said}.",
        evidence=(
            *(Evidence(f"node {name}", f"label {label}", state, name) for name in names),
            *(
                Evidence(f"pod {_name(pod)}", "holds", ", ".join(pod.requests) or pod.runtime_class, pod.node)
                for pod in held[:6]
            ),
        ),
        remedy=_upgrade_remedy(key, names[0], failed=failed, waits=waits and automatic is False),
        nodes=names,
        about=(f"operator:{key}",),
        severity=Severity.ERROR if failed else Severity.WARNING,
    )


def _holds_up(pod: PodFacts) -> bool:
    """Whether a pod uses the driver and is not evicted: a DaemonSet's, or one without a request of its own."""
    by_daemon_set = pod.owner.startswith("DaemonSet/") and bool(pod.requests)
    return by_daemon_set or (
        pod.runtime_class == "nvidia" and not pod.requests and not pod.owner.startswith("DaemonSet/")
    )


def _name(pod: PodFacts) -> str:
    return f"{pod.namespace}/{pod.name}"


def _is_automatic(seen: Seen, key: str) -> bool | None:
    """Whether drivers are replaced by themselves; None where the policy that says so was not seen."""
    kind, section = (kinds.CLUSTER_POLICY, "driver") if key == GPU else (kinds.NIC_CLUSTER_POLICY, "ofedDriver")
    if any(dig(item, "spec", section, "upgradePolicy", "autoUpgrade") is True for item in seen.of_kind(kind)):
        return True
    return False if seen.is_whole(kind) else None


def _upgrade_remedy(key: str, node: NodeName, *, failed: bool, waits: bool) -> Remedy:
    disrupts = "pods that use GPUs or rails on the node are evicted while its driver is loaded anew"
    if waits:
        return Remedy(
            "Delete the driver pods yourself, one node after the other and once its workloads are gone, or switch autoUpgrade on.",
            (f"oc get pods -A -o wide --field-selector spec.nodeName={node} | grep -e mofed -e nvidia-driver",),
            risk=Risk.DRIVER_RELOAD,
            disrupts=disrupts,
        )
    label = "nvidia.com/ofed-driver-upgrade-state" if key == NETWORK else "nvidia.com/gpu-driver-upgrade-state"
    return Remedy(
        "See why the driver pod of the node is not ready; once it is, set the label to upgrade-required to begin anew."
        if failed
        else "Move the pods that hold devices away, or let the policy evict them (drain.force, drain.deleteEmptyDir); a restart of "
        "the node ends it too.",
        (
            f"oc label node {node} {label}=upgrade-required --overwrite"
            if failed
            else f"oc adm drain {node} --dry-run=client",
        ),
        risk=Risk.DRAIN,
        disrupts=disrupts,
    )


def _drains(seen: Seen) -> Iterator[Finding]:
    """Nodes that the SR-IOV operator wants drained, and that do not get there."""
    waiting: dict[str, list[tuple[NodeName, str]]] = defaultdict(list)
    for node in seen.nodes:
        state = seen.node_states.get(node.name)
        wish = node.annotations.get(_DRAINS, "")
        step = annotations_of(state).get("sriovnetwork.openshift.io/current-state", "") if state is not None else ""
        if wish in _DRAIN_STEPS or step in {"Draining", "Drain_Required"}:
            error = str(dig(state, "status", "lastSyncError", default=""))
            waiting[error].append((node.name, step or wish))
    for error, places in waiting.items():
        names = [name for name, _ in places]
        held = [pod for name in names for pod in seen.pods_by_node.get(name, ()) if not pod.owner and pod.requests]
        cause = f"The SR-IOV operator drains {len(names)} nodes ({places[0][1]})"
        cause += f": {error}" if error else ""
        cause += f"; pods without a controller are never evicted: {', '.join(map(_name, held[:3]))}" if held else ""
        yield conclude(
            ROLLOUT_STUCK,
            f"{cause}.",
            evidence=(
                *(Evidence(f"node {name}", "drain", step, name) for name, step in places),
                *(Evidence(f"pod {_name(pod)}", "controller", "none", pod.node) for pod in held[:6]),
            ),
            remedy=Remedy(
                "Delete pods without a controller, and mend PodDisruptionBudgets that allow no disruption; on a single node set "
                "disableDrain in SriovOperatorConfig.",
                (
                    "oc get pdb -A -o wide | awk '$5 == 0'",
                    f"oc adm drain {names[0]} --dry-run=server --ignore-daemonsets",
                ),
                risk=Risk.DRAIN,
                disrupts="the pods of these nodes are evicted",
            ),
            nodes=names,
            about=(f"operator:{SRIOV}",),
            severity=Severity.ERROR if error else Severity.WARNING,
        )


def _not_ready(seen: Seen) -> Iterator[Finding]:
    """GPU or NIC nodes whose kubelet does not answer: an error once a restart would be over, until then a warning or a remark."""
    by_severity: dict[Severity, list[NodeFacts]] = defaultdict(list)
    for node in seen.nodes:
        if not node.ready and _matters(node):
            by_severity[_severity_out(seen, node)].append(node)
    for severity, nodes in by_severity.items():
        yield _out(nodes, severity)


def _severity_out(seen: Seen, node: NodeFacts) -> Severity:
    if not is_restarting(seen, node):
        return Severity.ERROR
    return Severity.INFO if _rolls_out(seen, node) else Severity.WARNING


def _out(nodes: list[NodeFacts], severity: Severity) -> Finding:
    several = len(nodes) > 1
    more = {
        Severity.ERROR: "Nothing that is seen of the node is newer than that.",
        Severity.WARNING: "It may yet come back, as after a restart, but no roll-out that would restart it is under way.",
        Severity.INFO: "A roll-out is under way there, which restarts nodes.",
    }
    found = conclude(
        ROLLOUT_STUCK,
        f"{len(nodes)} node{'s' if several else ''} with GPUs or rails {'are' if several else 'is'} not ready: the kubelet "
        f"does not answer, or says that it cannot run pods. {more[severity]}",
        evidence=[
            Evidence(
                f"node {node.name}",
                "condition Ready",
                f"not True since {node.not_ready_since or 'an unknown time'}",
                node.name,
            )
            for node in nodes
        ],
        remedy=Remedy(
            "Look at the node's console: whether it runs, has its network (a driver that was swapped under the node's own uplink "
            "takes it away), and whether kubelet and container runtime run.",
            tuple(f"oc describe node {node.name} | sed -n '/Conditions/,/Addresses/p'" for node in nodes[:4]),
        ),
        nodes=[node.name for node in nodes],
        severity=severity,
    )
    return replace(found, leads_to=(*found.leads_to, Condition.RESOURCE_MISSING, Condition.POD_NOT_STARTED), shows=())


def _rolls_out(seen: Seen, node: NodeFacts) -> bool:
    """Whether a pool, a driver's upgrade or a drain of the SR-IOV operator is at work on a node."""
    is_upgraded = any(node.labels.get(label, "") not in _DONE for label, _, _ in _UPGRADES)
    return is_upgraded or node.annotations.get(_DRAINS, "Idle") not in {"Idle", ""} or _pool_moves(seen, node.name)


def _matters(node: NodeFacts) -> bool:
    return node.labels.get("nvidia.com/gpu.present") == "true" or node.labels.get(nic_policy.NIC_LABEL) == "true"


def _left_cordoned(seen: Seen) -> Iterator[Finding]:
    """GPU or NIC nodes that take no pods though no roll-out is under way."""
    if not seen.is_whole(kinds.MACHINE_CONFIG_POOL):
        return
    names = [node.name for node in seen.nodes if not node.schedulable and _matters(node) and not _rolls_out(seen, node)]
    if names:
        yield conclude(
            ROLLOUT_STUCK,
            f"{len(names)} nodes with GPUs or rails are cordoned, and no roll-out is under way: somebody, or an operator whose "
            "policy was deleted half-way, left them so.",
            evidence=[Evidence(f"node {name}", "spec.unschedulable", "true", name) for name in names],
            remedy=Remedy(
                "Uncordon them if nobody wants them out.", tuple(f"oc adm uncordon {name}" for name in names[:4])
            ),
            nodes=names,
            severity=Severity.WARNING,
        )


def _pool_moves(seen: Seen, node: NodeName) -> bool:
    return any(pool.updating and node in pool.nodes for pool in seen.pools)


def _old_pods(seen: Seen) -> Iterator[Finding]:
    """Driver DaemonSets that replace no pod by themselves, with pods of an old form."""
    for daemon_set in seen.of_kind(kinds.DAEMON_SET):
        status = dig(daemon_set, "status", default={})
        desired, updated = (
            int(status.get("desiredNumberScheduled") or 0),
            int(status.get("updatedNumberScheduled") or 0),
        )
        on_delete = dig(daemon_set, "spec", "updateStrategy", "type") == "OnDelete"
        key = _driver_of(daemon_set)
        if not (on_delete and key and desired > 0 and updated < desired) or _is_automatic(seen, key) is not False:
            continue
        name = str(daemon_set["metadata"]["name"])
        yield conclude(
            ROLLOUT_STUCK,
            f"{desired - updated} of {desired} driver pods of {name} still have the old form: they are replaced only when "
            "somebody deletes them, for automatic upgrades are off.",
            evidence=(Evidence(str(ref_of(daemon_set)), "updatedNumberScheduled", f"{updated} of {desired}"),),
            remedy=Remedy(
                "Delete them one node after the other, once the node's workloads are gone. Never edit or restart the DaemonSet: "
                "that begins a roll-out on every node.",
                (f"oc -n {daemon_set['metadata']['namespace']} get pods -o wide | grep {name}",),
                risk=Risk.DRIVER_RELOAD,
                disrupts="pods that use GPUs or rails on the node lose them while the driver is loaded anew",
            ),
            about=(f"workload:{name}", f"operator:{key}"),
            severity=Severity.WARNING,
        )


def _driver_of(daemon_set: KubeObject) -> str:
    name = str(daemon_set["metadata"]["name"])
    if name.startswith("mofed-"):
        return NETWORK
    return GPU if name.startswith(("nvidia-driver-daemonset", "nvidia-gpu-driver")) else ""


RULES = (Rule(ROLLOUT_STUCK, judge_rollouts),)
