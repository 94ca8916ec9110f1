"""
Wait until the SR-IOV operator has taken back what policies asked for; only then may it go.

To take VFs away it drains: it cordons the node and pauses the node's MachineConfigPool, and undoes both afterwards. An
operator that is removed in between leaves both behind for ever.

Measured: SR-IOV network operator 1.6.0 against kube-apiserver 1.36.3, its config daemon played, 2026-11-30.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from railwright.apply.means import Means
from railwright.apply.model import Ledger, LedgerEntry
from railwright.apply.retry import retried
from railwright.apply.waiting import REREAD_S, Wait, until_nothing_is_left
from railwright.core import kinds
from railwright.core.errors import KindNotServed
from railwright.core.ids import NodeName, PciAddress
from railwright.core.needs import Need, of_kind
from railwright.core.objects import Kind, KubeObject, Ref, annotations_of, dig, ref_of
from railwright.core.verdicts import Verdict
from railwright.pipeline.leftovers import had_vfs_before
from railwright.pipeline.model import Undone
from railwright.pipeline.undoing import Undoing
from railwright.plan.model import FabricPlan
from railwright.ports.cluster import Selection
from railwright.readiness.pods import is_pod_ready

NODE_LIMIT_S = 900.0
"""Estimate: a drain, and VFs taken away; nodes may go one after the other, so each has its own share of the limit."""
_DAEMON = "sriov-network-config-daemon-"
_MARKS = ("sriovnetwork.openshift.io/desired-state", "sriovnetwork.openshift.io/current-state")
_IDLE = "Idle"
_SETS_TO_WORK = frozenset(
    {kinds.SRIOV_NETWORK_NODE_POLICY, kinds.SRIOV_NETWORK_POOL_CONFIG, kinds.SRIOV_OPERATOR_CONFIG}
)


@dataclass(frozen=True)
class OurPorts:
    """
    Ports whose VFs have to be gone; those that people made by hand elsewhere are left to them.

    Attributes:
        rails: ports of rails by node, as far as a plan knows them; on other nodes every port of which the ledger says
            that it had no VFs before us.
    """

    ledger: Ledger
    rails: Mapping[NodeName, frozenset[PciAddress]]

    def hold(self, node: NodeName, pci: PciAddress) -> bool:
        """Whether VFs of this port are there because of us, for all we know."""
        if node in self.rails:
            return pci in self.rails[node]
        return had_vfs_before(self.ledger, node, pci) is False


def ports_of(ledger: Ledger, fabrics: Iterable[FabricPlan] = ()) -> OurPorts:
    """Collect the ports of rails; where no fabric has any, only the ledger tells what was there before us."""
    rails: dict[NodeName, set[PciAddress]] = {}
    for fabric in fabrics:
        for port in (port for rail in fabric.rails for port in rail.ports):
            rails.setdefault(port.node, set()).add(port.pci)
    return OurPorts(ledger, {node: frozenset(ports) for node, ports in rails.items()})


def takes_vfs(entries: Iterable[LedgerEntry]) -> bool:
    """Whether undoing these may set the operator to work, or take its daemons away from their work."""
    return any(entry.ref.kind in _SETS_TO_WORK for entry in entries)


def vfs_needs() -> tuple[Need, ...]:
    """Give what waiting for VFs asks for."""
    return (
        *of_kind("list watch", kinds.SRIOV_NETWORK_NODE_STATE),
        *of_kind("list", kinds.SRIOV_NETWORK_NODE_POLICY),
        *of_kind("list", kinds.POD),
    )


async def vfs_are_back(undoing: Undoing, ports: OurPorts) -> bool:
    """
    Wait until the operator is done with every node, and only then take what asked for the VFs out of the ledger.

    Returns:
        Whether it is; what it is not done with after the limit is in `objects`.
    """
    means = undoing.means
    wait = Wait(
        undoing.stage,
        [Selection(kinds.SRIOV_NETWORK_NODE_STATE)],
        look=lambda: _moving(means, ports),
        limit_s=lambda moving: len(moving) * NODE_LIMIT_S,
        words=lambda moving: next(f"node {ref.name}: {what}" for ref, what in moving.items()),
    )
    waited = await until_nothing_is_left(wait, means)
    undoing.objects += [
        Undone(ref, "keep", Verdict.FAIL, f"after {waited.limit_s:.0f} s still: {what}")
        for ref, what in waited.left.items()
    ]
    if waited.left:
        return False
    await undoing.vfs_are_gone()
    return True


async def _moving(means: Means, ports: OurPorts) -> dict[Ref, str]:
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
        ref_of(state): what_goes_on(state, policies, ports, has_daemon=ref_of(state).name in daemons)
        for state in states
    }
    return {ref: answer for ref, answer in answers.items() if answer}


def what_goes_on(state: KubeObject, policies: Iterable[str], ours: OurPorts, *, has_daemon: bool) -> str:
    """
    Say what a node state shows of work that is not done.

    Args:
        policies: names of those that are there.
        ours: VFs of other ports are no work.
        has_daemon: whether the config daemon of that node is ready; without it VFs that are there stay.

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
    left = _ports_with_vfs(state, frozenset(str(port.get("name")) for port in wanted), ours)
    return _who_takes_away(state, left, has_daemon=has_daemon) if left else ""


def _ports_with_vfs(state: KubeObject, wanted: frozenset[str], ours: OurPorts) -> list[str]:
    """Name the ports of ours that have VFs which no policy asks for."""
    node = NodeName(str(dig(state, "metadata", "name")))
    return [
        str(port.get("name"))
        for port in dig(state, "status", "interfaces", default=())
        if port.get("numVfs")
        and str(port.get("name")) not in wanted
        and ours.hold(node, PciAddress(str(port.get("pciAddress", ""))))
    ]


def _who_takes_away(state: KubeObject, ports: list[str], *, has_daemon: bool) -> str:
    named = ", ".join(ports)
    if not has_daemon:
        return f"VFs are left on {named}, and its config daemon, which takes them away, is not ready"
    if dig(state, "status", "syncStatus") == "Failed":
        why = str(dig(state, "status", "lastSyncError", default="")) or "it does not say why"
        return f"its config daemon fails to take VFs away from {named}: {why}"
    return f"its config daemon takes VFs away from {named}"


async def _list(means: Means, kind: Kind) -> list[KubeObject]:
    async def read() -> list[KubeObject]:
        return [obj async for obj in means.cluster.list(Selection(kind))]

    try:
        return await retried(read, means.clock, limit_s=REREAD_S)
    except KindNotServed:
        return []
