"""
Wait until the SR-IOV operator has taken back what policies asked for; only then may it go.

To take VFs away it drains: it cordons the node and pauses the node's MachineConfigPool, and undoes both afterwards. An
operator that is removed in between leaves both behind for ever.

Measured: SR-IOV network operator 1.6.0 against kube-apiserver 1.36.3, its config daemon played, 2026-11-30.
"""

from collections.abc import Iterable, Mapping

from railwright.apply.means import Means
from railwright.apply.model import LedgerEntry
from railwright.apply.retry import retried
from railwright.core import kinds
from railwright.core.errors import KindNotServed
from railwright.core.ids import StageName
from railwright.core.objects import Kind, KubeObject, Ref, annotations_of, dig, ref_of
from railwright.ports.cluster import Selection
from railwright.ports.progress import Waiting
from railwright.readiness.pods import is_pod_ready

NODE_LIMIT_S = 900.0
"""Estimate: a drain, and VFs taken away; nodes may go one after the other, so each has its own share of the limit."""
_REREAD_S = 15.0
_SHORTEST_WAIT_S = 1.0
_DAEMON = "sriov-network-config-daemon-"
_MARKS = ("sriovnetwork.openshift.io/desired-state", "sriovnetwork.openshift.io/current-state")
_IDLE = "Idle"


def takes_vfs(entries: Iterable[LedgerEntry]) -> bool:
    """Whether undoing these may set the operator to work, or take it away from its work."""
    ours = {kinds.SRIOV_NETWORK_NODE_POLICY, kinds.SRIOV_OPERATOR_CONFIG}
    return any(entry.ref.kind in ours and entry.created for entry in entries)


async def still_at_work(means: Means, stage: StageName) -> Mapping[Ref, str]:
    """
    Wait until no node state is in motion.

    Returns:
        The node states that still are after the limit, each with what goes on; empty when all is done.
    """
    clock = means.clock
    started_s, limit_s = clock.monotonic_s(), 0.0
    async with means.cluster.watch([Selection(kinds.SRIOV_NETWORK_NODE_STATE)]) as watch:
        while True:
            moving = await _moving(means)
            limit_s = max(limit_s, len(moving) * NODE_LIMIT_S)
            elapsed_s = clock.monotonic_s() - started_s
            if not moving or elapsed_s >= limit_s:
                return {ref: f"after {limit_s:.0f} s still: {what}" for ref, what in moving.items()}
            ref, what = next(iter(moving.items()))
            means.progress.emit(Waiting(stage, f"node {ref.name}: {what}", elapsed_s, 0.0, limit_s))
            await means.ledger.renew()
            before_s = clock.monotonic_s()
            await watch.next(max(_SHORTEST_WAIT_S, min(_REREAD_S, limit_s - elapsed_s)))
            if clock.monotonic_s() - before_s < _SHORTEST_WAIT_S:
                await clock.sleep(_SHORTEST_WAIT_S)


async def _moving(means: Means) -> dict[Ref, str]:
    states = await _list(means, kinds.SRIOV_NETWORK_NODE_STATE)
    if not states:
        return {}
    namespaces = {ref_of(state).namespace for state in states}
    policies = {ref_of(item).name for item in await _list(means, kinds.SRIOV_NETWORK_NODE_POLICY)}
    pods = [pod for pod in await _list(means, kinds.POD) if ref_of(pod).namespace in namespaces]
    daemons = {
        str(dig(pod, "spec", "nodeName", default=""))
        for pod in pods
        if ref_of(pod).name.startswith(_DAEMON) and is_pod_ready(pod)
    }
    answers = {
        ref_of(state): what_goes_on(state, policies, has_daemon=ref_of(state).name in daemons) for state in states
    }
    return {ref: answer for ref, answer in answers.items() if answer}


def what_goes_on(state: KubeObject, policies: Iterable[str], *, has_daemon: bool) -> str:
    """
    Say what a node state shows of work that is not done.

    Args:
        policies: names of those that are there.
        has_daemon: whether the config daemon of that node is ready; without it nothing more will happen there.

    Returns:
        Words for people; "" for nothing.
    """
    marks = annotations_of(state)
    if any(marks.get(mark, _IDLE) != _IDLE for mark in _MARKS):
        return (
            f"the SR-IOV operator drains it or gives it back ({', '.join(marks.get(mark, _IDLE) for mark in _MARKS)})"
        )
    wanted = dig(state, "spec", "interfaces", default=None) or []
    known = frozenset(policies)
    orphans = {
        str(group.get("policyName", ""))
        for port in wanted
        for group in port.get("vfGroups") or ()
        if group.get("policyName", "") not in known
    }
    if orphans:
        return f"the SR-IOV operator has not seen that {', '.join(sorted(orphans))} is gone"
    names = {port.get("name") for port in wanted}
    left = [port for port in dig(state, "status", "interfaces", default=()) if port.get("numVfs")]
    ports = [str(port.get("name")) for port in left if port.get("name") not in names]
    if ports and has_daemon and dig(state, "status", "syncStatus") != "Failed":
        return f"its config daemon takes VFs away from {', '.join(ports)}"
    return ""


async def _list(means: Means, kind: Kind) -> list[KubeObject]:
    async def read() -> list[KubeObject]:
        return [obj async for obj in means.cluster.list(Selection(kind))]

    try:
        return await retried(read, means.clock)
    except KindNotServed:
        return []
