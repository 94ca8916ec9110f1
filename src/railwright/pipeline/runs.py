"""
Which stages run for which nodes, and what one such run is given. Pure.

The early stages and the last run once; from nic-driver-ready to networks-attached they run for one batch of nodes
after the other, the canaries first: a driver that takes a node down takes down one node.
"""

from dataclasses import dataclass

from railwright.apply.model import CsvApproval, StageChanges
from railwright.changes.model import Change
from railwright.core import kinds
from railwright.core.ids import NodeName, StageName
from railwright.core.objects import Ref
from railwright.core.risk import Risk
from railwright.pipeline.model import Prepared
from railwright.pipeline.reloads import reloads_of
from railwright.plan.model import (
    GPU_DRIVER_READY,
    NIC_DRIVER_READY,
    OPERATORS_INSTALLED,
    Batch,
    Expectation,
    KubeletShare,
    MachineShare,
    Move,
    OperatorShare,
    Plan,
    StagePlan,
)
from railwright.plan.turns import GPU_DRIVER_SKIP, NIC_DRIVER_SKIP, OPERANDS, Turn
from railwright.ports.approval import Question

_ADMISSION = "railwright.dev/"
_HELD_BY = frozenset({NIC_DRIVER_SKIP, GPU_DRIVER_SKIP})


@dataclass(frozen=True)
class Run:
    """One run of one stage; `batch` None when it runs once. `earlier` are nodes of the batches before."""

    stage: StageName
    number: int
    total: int
    batch: Batch | None = None
    earlier: tuple[NodeName, ...] = ()

    @property
    def batch_name(self) -> str:
        """Name of the batch; empty when it runs once."""
        return self.batch.name if self.batch else ""


def runs_of(plan: Plan, until: StageName | None) -> tuple[Run, ...]:
    """Put the runs in order; nothing after the stage `until`."""
    names = [stage.name for stage in plan.stages]
    last = names.index(until) if until is not None else len(names) - 1
    stages = plan.stages[: last + 1]
    total = len(names)
    runs: list[Run] = []
    position = 0
    while position < len(stages):
        if not stages[position].per_batch:
            runs.append(Run(stages[position].name, position + 1, total))
            position += 1
            continue
        end = position
        while end < len(stages) and stages[end].per_batch:
            end += 1
        runs += _batch_runs(plan, stages[position:end], position, total)
        position = end
    return tuple(runs)


def _batch_runs(plan: Plan, stages: tuple[StagePlan, ...], position: int, total: int) -> list[Run]:
    runs = []
    earlier: tuple[NodeName, ...] = ()
    for batch in plan.batches:
        for index, stage in enumerate(stages):
            runs.append(Run(stage.name, position + index + 1, total, batch, earlier))
        earlier += batch.nodes
    return runs


def nodes_of(run: Run, plan: Plan) -> tuple[NodeName, ...]:
    """Give the nodes that a run is for: of a batch, those that are still admitted; else every node it reaches."""
    admitted = set(plan.admitted)
    if run.batch is not None:
        return tuple(node for node in run.batch.nodes if node in admitted)
    prepared = (share for share in plan.shares if isinstance(share, MachineShare | KubeletShare))
    pools = {share.pool for share in prepared if share.stage == run.stage}
    in_pools = tuple(node.node for node in plan.nodes if node.pool in pools)
    return in_pools or plan.admitted


def turn_of(run: Run, plan: Plan) -> Turn | None:
    """Say how far the batches have come in a run; None when it is no batch's, and nothing is held for one."""
    order = [stage.name for stage in plan.stages]
    place = order.index(run.stage)
    if run.batch is None:
        is_before = NIC_DRIVER_READY in order[place + 1 :]
        return Turn(frozenset(), frozenset()) if is_before and any(move.nodes for move in plan.moves) else None
    earlier = frozenset(run.earlier)
    reached = earlier | frozenset(run.batch.nodes)
    gpu_driver_may_come = GPU_DRIVER_READY in order[: place + 1]
    # The canaries are first of all: nothing of the GPU Operator is there yet that they would have to wait for.
    released = reached if gpu_driver_may_come or not run.earlier else earlier
    return Turn(admitted=reached, released=released, moved=reached if gpu_driver_may_come else earlier)


def stage_changes(run: Run, prepared: Prepared, *, dry_run: bool, take_over: bool) -> StageChanges:
    """Collect what apply needs for one run."""
    plan = prepared.plan
    stage = plan.stage(run.stage)
    nodes = nodes_of(run, plan)
    reached = {*nodes, *run.earlier}
    items = prepared.manifests.of_stage(run.stage)
    return StageChanges(
        stage=run.stage,
        batch=run.batch_name,
        nodes=nodes,
        changes=tuple(change for change in prepared.changes.of_stage(run.stage) if _is_for(change, run, reached)),
        gated=(*(item.ref for item in items if item.node is None), *_adopted(run.stage, plan)),
        expectations=tuple(item for item in stage.expectations if _concerns(item, run, reached)),
        approvals=_approvals(run.stage, plan),
        fabrics=tuple(fabric.name for fabric in plan.fabrics),
        expected_s=stage.expected_ahead_s,
        limit_s=stage.limit_s,
        hold_s=stage.hold_s,
        dry_run=dry_run,
        take_over=take_over,
        owners={item.ref: item.fabrics for item in items},
    )


def _is_for(change: Change, run: Run, reached: set[NodeName]) -> bool:
    """Nodes are admitted with their batch; what keeps the GPU Operator off others is written with the first run."""
    if change.node is None or run.batch is None or change.node in reached:
        return True
    if any(_sets(change, label, "true") for label in _HELD_BY):
        return True
    return change.writes and not any(field.path[-1].startswith(_ADMISSION) for field in change.fields)


def _concerns(expectation: Expectation, run: Run, reached: set[NodeName]) -> bool:
    node = getattr(expectation, "node", None)
    return node is None or run.batch is None or node in reached


def _adopted(stage: StageName, plan: Plan) -> tuple[Ref, ...]:
    """Subscriptions of others that we build on: nothing of them is written, and they have to be installed all the same."""
    return tuple(
        Ref(kinds.SUBSCRIPTION, share.namespace, share.subscription)
        for share in plan.shares
        if isinstance(share, OperatorShare) and share.stage == stage and share.adopted
    )


def _approvals(stage: StageName, plan: Plan) -> tuple[CsvApproval, ...]:
    """Join planned CSVs by namespace: one InstallPlan may install several operators of a namespace."""
    by_namespace: dict[str, list[str]] = {}
    for share in plan.shares:
        if not isinstance(share, OperatorShare) or share.stage != stage or share.adopted:
            continue
        if share.approval == "Manual":
            by_namespace.setdefault(share.namespace, []).append(share.csv)
    return tuple(CsvApproval(namespace, tuple(csvs)) for namespace, csvs in sorted(by_namespace.items()))


def has_writes(stage: StageChanges) -> bool:
    """Whether a run would write anything."""
    return any(change.writes for change in stage.changes)


def risk_question(run: Run, stage: StagePlan, changes: StageChanges, prepared: Prepared) -> Question | None:
    """
    Ask before something that may hurt.

    Returns:
        None when the run writes nothing, or risks nothing.
    """
    if not has_writes(changes):
        return None
    moves = moves_in(run, prepared.plan)
    found = reloads_of(changes.changes, prepared.plan, prepared.snapshot)
    reloads = tuple(item for item in found if item.unheld(prepared.plan.moves))
    risks = (
        Risk.NONE if _only_holds(changes) else _risk_of(run, stage, prepared.plan),
        *(item.risk for item in reloads),
        *(move.risk for move in moves),
    )
    risk = max(risks, key=lambda item: item.rank)
    if risk is Risk.NONE:
        return None
    batch = f", batch {run.batch_name}" if run.batch_name else ""
    again = {node for item in reloads for node in item.unheld(prepared.plan.moves)}
    nodes = tuple(sorted({*_reached(changes, prepared.plan), *changes.nodes, *again}))
    return Question(
        risk=risk,
        what=f"stage {run.number} of {run.total} {run.stage}{batch}: {_written_text(changes)}",
        nodes=nodes,
        expected_s=stage.expected_ahead_s,
        details=(
            *(f"moves {move.text}: {move.how}" for move in moves),
            *(item.asked(prepared.plan.moves) for item in reloads),
            *_admits_text(run, stage, prepared.plan),
            *_held_text(changes),
            *(item.why for item in found if item not in reloads),
            *pods_on(nodes, prepared),
        ),
    )


def _admits_text(run: Run, stage: StagePlan, plan: Plan) -> tuple[str, ...]:
    """Say why a stage is asked about with a greater risk than its own."""
    if _risk_of(run, stage, plan) is stage.risk_ahead:
        return ()
    worse = (
        item for item in plan.stages if item.per_batch and item.applies and item.risk_ahead.rank > stage.risk_ahead.rank
    )
    named = ", ".join(f"{item.name} (risk: {item.risk_ahead.value})" for item in worse)
    return (f"this stage's own risk is {stage.risk_ahead.value}; its labels admit these nodes to {named} too",)


def moves_in(run: Run, plan: Plan) -> tuple[Move, ...]:
    """Give the moves that a run carries out, or lets go on for its nodes."""
    if run.batch is None:
        return tuple(move for move in plan.moves if not move.nodes) if run.stage == OPERATORS_INSTALLED else ()
    nodes = set(run.batch.nodes)
    return tuple(move for move in plan.moves if nodes & set(move.nodes) and move.stage == run.stage)


def _held_text(changes: StageChanges) -> tuple[str, ...]:
    """Say which nodes the GPU Operator is kept off."""
    held = [change.node for change in changes.changes if change.node is not None and _sets(change, OPERANDS, "false")]
    lines = [f"keeps the GPU Operator off {', '.join(held)} ({OPERANDS}=false)"] if held else []
    for label in sorted(_HELD_BY):
        nodes = [change.node for change in changes.changes if change.node is not None and _sets(change, label, "true")]
        if nodes:
            lines.append(f"keeps the driver of {', '.join(nodes)} as it is until their turn ({label}=true)")
    return tuple(lines)


def _only_holds(changes: StageChanges) -> bool:
    """Whether nothing is written but labels that keep drivers as they are."""
    fields = [item for change in changes.changes if change.writes for item in change.fields]
    is_new = any(change.writes and not change.fields for change in changes.changes)
    return not is_new and all(item.path[-1] in _HELD_BY and item.new == "true" for item in fields)


def _sets(change: Change, label: str, value: str) -> bool:
    return any(field.path[-1] == label and field.new == value for field in change.fields)


def _risk_of(run: Run, stage: StagePlan, plan: Plan) -> Risk:
    """
    Give the worst that a run may do to its nodes.

    Labels admit a batch's nodes to every later stage of the batch: VFs, and with them reboots, follow from them alone.
    """
    if run.batch is None or stage.name != NIC_DRIVER_READY:
        return stage.risk_ahead
    risks = [item.risk_ahead for item in plan.stages if item.per_batch and item.applies]
    return max(risks, key=lambda risk: risk.rank)


def _reached(changes: StageChanges, plan: Plan) -> frozenset[NodeName]:
    """Name the nodes that a run may disturb: its own, and for a ClusterPolicy every node that no selector holds back."""
    if not any(change.writes and change.ref.kind == kinds.CLUSTER_POLICY for change in changes.changes):
        return frozenset(changes.nodes)
    reached = {node for reach in plan.reaches if "ClusterPolicy" in reach.what for node in reach.nodes}
    waiting = {node for move in plan.moves if move.skip_label == GPU_DRIVER_SKIP for node in move.nodes}
    return frozenset({*changes.nodes, *(reached - set(plan.without_gpu_operands) - waiting)})


def take_over_question(run: Run, changes: StageChanges) -> Question | None:
    """Ask before fields of others are overwritten; None when there are none."""
    lines = tuple(
        f"{change.ref}: {'.'.join(item.path)} is {item.old!r}, set by {item.owner}; becomes {item.new!r}"
        for change in changes.changes
        for item in change.conflicts
    )
    if not lines:
        return None
    return Question(
        risk=Risk.NONE, what=f"stage {run.stage} takes over fields of others", details=lines, takes_over=True
    )


def pods_on(nodes: tuple[NodeName, ...], prepared: Prepared) -> tuple[str, ...]:
    """Name the pods on these nodes that use GPUs or rails: they are disturbed."""
    lines = []
    for pod in prepared.snapshot.cluster.pods:
        if pod.node in nodes and not pod.is_over and (pod.requests or pod.networks):
            uses = ", ".join(f"{count} {name}" for name, count in sorted(pod.requests.items()))
            lines.append(f"pod {pod.namespace}/{pod.name} on {pod.node} uses {uses or 'networks ' + pod.networks}")
    return tuple(lines)


def _written_text(changes: StageChanges) -> str:
    refs: list[Ref] = [change.ref for change in changes.changes if change.writes and change.ref.kind != kinds.NODE]
    labelled = sum(1 for change in changes.changes if change.writes and change.ref.kind == kinds.NODE)
    words = [str(ref) for ref in refs[:3]] + ([f"{len(refs) - 3} more objects"] if len(refs) > 3 else [])
    if labelled:
        words.append(f"labels of {labelled} node{'s' if labelled > 1 else ''}")
    return "writes " + ", ".join(words)
