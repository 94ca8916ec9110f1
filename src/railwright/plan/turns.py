"""
Whose turn it is: the plan as it stands while one batch of nodes goes through its stages.

What a selector can hold back (NIC driver, device plugins, VFs) waits for a node's admission label, which is written
with the node's batch. The GPU Operator's operands have no selector: until its batch's turn a node is kept out by a
label of its own. A node on which they run already is never kept out: that would take its GPUs away.

A driver that a node has already is another matter: its operator loads another version on one node after the other, in
an order of its own. What keeps it from a node until that node's turn is a label, too.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TypeGuard

from railwright.core.ids import NodeName
from railwright.plan.model import (
    GPU_DRIVER_READY,
    NIC_DRIVER_READY,
    OPERATORS_INSTALLED,
    NodeLabelShare,
    Plan,
    Share,
)

OPERANDS = "nvidia.com/gpu.deploy.operands"
"""
"false" keeps every operand of the GPU Operator off a node.
Measured: GPU Operator 26.7.0 controllers against kube-apiserver 1.36.3, 2026-11: all gpu.deploy.* labels go.
"""

NIC_DRIVER_SKIP = "nvidia.com/ofed-driver-upgrade.skip"
GPU_DRIVER_SKIP = "nvidia.com/gpu-driver-upgrade.skip"
"""
"true" keeps the operators from replacing a driver's pod on a node: it waits in the state upgrade-required.

Source: NVIDIA/k8s-operator-libs 1090aef, pkg/upgrade/consts.go and pkg/upgrade/upgrade_inplace.go; the Network Operator
calls its driver "ofed" there, the GPU Operator "gpu".
"""


@dataclass(frozen=True)
class Turn:
    """
    How far the batches have come.

    Attributes:
        admitted: nodes that may be admitted by now; the NIC's driver may be replaced there.
        released: nodes that the GPU driver may come to for the first time.
        moved: nodes on which the GPU's driver may be replaced.
    """

    admitted: frozenset[NodeName]
    released: frozenset[NodeName]
    moved: frozenset[NodeName] = frozenset()


def at_turn(plan: Plan, turn: Turn | None) -> Plan:
    """
    Give the plan as it stands at a turn.

    Args:
        turn: None for the plan as a whole, which is also how it stands in the end.
    """
    if turn is None:
        whole = frozenset(plan.admitted)
        return replace(plan, shares=(*plan.shares, *_waiting(plan, Turn(whole, whole, whole))))
    there = {node.node for node in plan.nodes if node.was_admitted} | turn.admitted
    shares = [share for share in plan.shares if not _admits(share) or share.node in there]
    held = (*_held(plan, turn.released), *_waiting(plan, turn))
    return replace(plan, shares=(*shares, *held, *_released(plan, turn.released)))


def _admits(share: Share) -> TypeGuard[NodeLabelShare]:
    return isinstance(share, NodeLabelShare) and not share.held_back


def _held(plan: Plan, released: Collection[NodeName]) -> list[NodeLabelShare]:
    return [
        NodeLabelShare(node, {OPERANDS: "false"}, plan.fabrics[0].name, held_back=True)
        for node in plan.without_gpu_operands
        if node not in released
    ]


def _waiting(plan: Plan, turn: Turn) -> list[NodeLabelShare]:
    """Keep drivers that are to be replaced as they are, on every node of ours whose turn has not come."""
    before_operators = any(not move.nodes for move in plan.moves)
    return [
        NodeLabelShare(
            node,
            {move.skip_label: "true"},
            plan.fabrics[0].name,
            stage=OPERATORS_INSTALLED if before_operators else NIC_DRIVER_READY,
            held_back=True,
        )
        for move in plan.moves
        if move.skip_label
        for node in move.nodes
        if node not in (turn.moved if move.skip_label == GPU_DRIVER_SKIP else turn.admitted)
    ]


def _released(plan: Plan, released: Collection[NodeName]) -> list[NodeLabelShare]:
    """Say again what stays on a node when the GPU driver may come: what is not said any more is given up."""
    return [
        replace(share, stage=GPU_DRIVER_READY) for share in plan.shares if _admits(share) and share.node in released
    ]
