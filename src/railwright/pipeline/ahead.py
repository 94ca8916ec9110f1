"""
What is left of each stage on the cluster that a plan was compared with. Pure.

A stage whose objects change nothing does nothing to nodes, unless their turn is still to come: a driver that is not the
wanted one, a move, a roll-out, a node that is not admitted yet. What the facts do not show counts as still to come.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from railwright.apply.model import Ledger
from railwright.apply.stamps import from_stamp
from railwright.catalog.model import Catalog
from railwright.changes.model import Changes
from railwright.core import kinds
from railwright.core.ids import StageName
from railwright.core.objects import Ref, dig
from railwright.core.risk import Risk
from railwright.core.verdicts import Verdict
from railwright.facts.model import Snapshot
from railwright.plan.model import (
    DEVICES_ALLOCATABLE,
    GPU_DRIVER_READY,
    HARDWARE_LABELLED,
    NETWORKS_ATTACHED,
    NIC_DRIVER_READY,
    NODES_PREPARED,
    OPERATORS_INSTALLED,
    VFS_READY,
    Ahead,
    Allocatable,
    DriverLoaded,
    Expectation,
    NadPresent,
    NodeLabel,
    OperatorShare,
    Plan,
    PoolUpdated,
    StagePlan,
)
from railwright.plan.turns import OPERANDS
from railwright.readiness.judge import judge, judge_expectation
from railwright.readiness.model import Companions, Readiness

_INSTALLED = "Succeeded"


@dataclass(frozen=True)
class _Seen:
    """One plan beside the cluster; `companions` holds what judges ask for, as far as facts keep it."""

    plan: Plan
    changes: Changes
    snapshot: Snapshot
    ledger: Ledger
    companions: Companions

    def writes(self, stage: StageName) -> bool:
        """Whether a stage writes anything."""
        return any(change.writes for change in self.changes.of_stage(stage))

    def is_moving(self, stage: StageName) -> bool:
        """Whether something that is installed becomes another version in a stage."""
        return any(move.stage == stage for move in self.plan.moves)

    def are_met(self, expected: Iterable[Expectation]) -> bool:
        """Whether the facts show that all of these hold; what there is none of shows nothing."""
        items = tuple(expected)
        return bool(items) and all(
            judge_expectation(item, self.companions, self.now).readiness is Readiness.READY for item in items
        )

    @property
    def now(self) -> datetime:
        """When the facts were read."""
        return from_stamp(self.snapshot.taken_at) or datetime.fromtimestamp(0, UTC)

    @property
    def admits(self) -> bool:
        """Whether a node is still to get the label that lets drivers and VFs come to it."""
        labelled = (change for _, change in self.changes.items if change.node is not None)
        return any(change.writes for change in labelled) or any(
            node.admitted and not node.was_admitted for node in self.plan.nodes
        )


def with_ahead(plan: Plan, changes: Changes, snapshot: Snapshot, ledger: Ledger, catalog: Catalog) -> Plan:
    """Give the plan with what is left of each stage, where that is less than the stage table says."""
    seen = _Seen(plan, changes, snapshot, ledger, _companions(snapshot))
    before: list[StagePlan] = []
    for stage in plan.stages:
        before.append(replace(stage, ahead=_ahead(stage, tuple(before), seen, catalog)))
    return replace(plan, stages=tuple(before))


def _companions(snapshot: Snapshot) -> Companions:
    nodes = {
        Ref(kinds.NODE, "", node.name): {
            "apiVersion": kinds.NODE.api_version,
            "kind": kinds.NODE.kind,
            "metadata": {"name": node.name, "labels": dict(node.labels)},
            "status": {"allocatable": {name: str(number) for name, number in node.allocatable.items()}},
        }
        for node in snapshot.nodes
    }
    return Companions(
        {**snapshot.cluster.objects, **nodes},
        {node.name: node.hardware for node in snapshot.nodes if node.hardware is not None},
        {node.name: node.hardware_problem for node in snapshot.nodes if node.hardware is None},
    )


def _ahead(stage: StagePlan, before: tuple[StagePlan, ...], seen: _Seen, catalog: Catalog) -> Ahead | None:
    is_settled = _SETTLED.get(stage.name)
    if not stage.applies or is_settled is None or seen.is_moving(stage.name):
        return None
    if not seen.writes(stage.name):
        return Ahead(Risk.NONE, stage.hold_s) if is_settled(stage, before, seen) else None
    loaded_s = catalog.stage(stage.name).loaded_s
    is_loaded = loaded_s is not None and stage.risk is Risk.NONE and _drivers_are_loaded(stage, seen)
    return Ahead(stage.risk, loaded_s) if loaded_s is not None and is_loaded else None


def _drivers_are_loaded(stage: StagePlan, seen: _Seen) -> bool:
    return seen.are_met(item for item in stage.expectations if isinstance(item, DriverLoaded))


def _pools_are_updated(stage: StagePlan, before: tuple[StagePlan, ...], seen: _Seen) -> bool:
    """Only a gate that passed tells a roll-out that has ended from one that the pools don't show yet."""
    del before
    pools = {pool.name: pool for pool in seen.snapshot.cluster.pools}
    awaited = [pools.get(item.pool) for item in stage.expectations if isinstance(item, PoolUpdated)]
    notes = [seen.ledger.fabrics.get(fabric.name) for fabric in seen.plan.fabrics]
    return all(pool is not None and pool.updated and not (pool.updating or pool.degraded) for pool in awaited) and all(
        note is not None and any(item.stage == stage.name and item.verdict is Verdict.PASS for item in note.stages)
        for note in notes
    )


def _operators_are_installed(stage: StagePlan, before: tuple[StagePlan, ...], seen: _Seen) -> bool:
    del before
    objects = seen.snapshot.cluster.objects
    for share in seen.plan.shares:
        if isinstance(share, OperatorShare) and share.stage == stage.name:
            subscription = objects.get(Ref(kinds.SUBSCRIPTION, share.namespace, share.subscription))
            csv = objects.get(Ref(kinds.CLUSTER_SERVICE_VERSION, share.namespace, share.csv))
            if dig(subscription, "status", "installedCSV") != share.csv or dig(csv, "status", "phase") != _INSTALLED:
                return False
    return True


def _nodes_are_labelled(stage: StagePlan, before: tuple[StagePlan, ...], seen: _Seen) -> bool:
    del before
    return seen.are_met(item for item in stage.expectations if isinstance(item, NodeLabel))


def _nic_driver_stays(stage: StagePlan, before: tuple[StagePlan, ...], seen: _Seen) -> bool:
    del before
    return not seen.admits and _drivers_are_loaded(stage, seen)


def _vfs_stay(stage: StagePlan, before: tuple[StagePlan, ...], seen: _Seen) -> bool:
    """Every node's state is as the operator wants it, and no other node comes to have VFs."""
    del stage, before
    states = {ref.name: obj for ref, obj in seen.snapshot.cluster.objects.items() if ref.kind == _STATE}
    mine = [states.get(node) for node in seen.plan.admitted]
    return not seen.admits and all(
        state is not None and judge(state, seen.companions, None, seen.now).readiness is Readiness.READY
        for state in mine
    )


def _gpu_driver_stays(stage: StagePlan, before: tuple[StagePlan, ...], seen: _Seen) -> bool:
    """It comes to a node that its operator is kept off, and may be built anew against a NIC driver that is."""
    held = (node.labels.get(OPERANDS) == "false" for node in seen.snapshot.nodes if node.name in seen.plan.admitted)
    nic = next((item.risk_ahead for item in before if item.name == NIC_DRIVER_READY), Risk.NONE)
    return nic is Risk.NONE and not any(held) and _drivers_are_loaded(stage, seen)


def _devices_are_offered(stage: StagePlan, before: tuple[StagePlan, ...], seen: _Seen) -> bool:
    follows = any(item.applies and (item.ahead is None or seen.writes(item.name)) for item in before)
    return not follows and seen.are_met(item for item in stage.expectations if isinstance(item, Allocatable))


def _networks_are_there(stage: StagePlan, before: tuple[StagePlan, ...], seen: _Seen) -> bool:
    del before
    return seen.are_met(item for item in stage.expectations if isinstance(item, NadPresent))


_STATE = kinds.SRIOV_NETWORK_NODE_STATE
_SETTLED: Mapping[StageName, Callable[[StagePlan, tuple[StagePlan, ...], _Seen], bool]] = {
    NODES_PREPARED: _pools_are_updated,
    OPERATORS_INSTALLED: _operators_are_installed,
    HARDWARE_LABELLED: _nodes_are_labelled,
    NIC_DRIVER_READY: _nic_driver_stays,
    VFS_READY: _vfs_stay,
    GPU_DRIVER_READY: _gpu_driver_stays,
    DEVICES_ALLOCATABLE: _devices_are_offered,
    NETWORKS_ATTACHED: _networks_are_there,
}
"""When nothing is left of a stage that writes nothing; `verified` measures anew, whatever was written."""
