"""
Whose turn it is: the plan as it stands while one batch of nodes goes through its stages.

What a selector can hold back (NIC driver, device plugins, VFs) waits for a node's admission label, which is written
with the node's batch. The GPU Operator's operands have no selector: until its batch's turn a node is kept out by a
label of its own. A node on which they run already is never kept out: that would take its GPUs away.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TypeGuard

from railwright.core.ids import NodeName
from railwright.plan.model import GPU_DRIVER_READY, NodeLabelShare, Plan, Share

OPERANDS = "nvidia.com/gpu.deploy.operands"
"""
"false" keeps every operand of the GPU Operator off a node.
Measured: GPU Operator 26.7.0 controllers against kube-apiserver 1.36.3, 2026-11: all gpu.deploy.* labels go.
"""


@dataclass(frozen=True)
class Turn:
    """How far the batches have come: nodes that may be admitted by now, and those that the GPU driver may come to."""

    admitted: frozenset[NodeName]
    released: frozenset[NodeName]


def at_turn(plan: Plan, turn: Turn | None) -> Plan:
    """
    Give the plan as it stands at a turn.

    Args:
        turn: None for the plan as a whole, which is also how it stands in the end.
    """
    if turn is None:
        return plan
    there = {node.node for node in plan.nodes if node.was_admitted} | turn.admitted
    shares = [share for share in plan.shares if not _admits(share) or share.node in there]
    return replace(plan, shares=(*shares, *_held(plan, turn.released), *_released(plan, turn.released)))


def _admits(share: Share) -> TypeGuard[NodeLabelShare]:
    return isinstance(share, NodeLabelShare) and not share.held_back


def _held(plan: Plan, released: Collection[NodeName]) -> list[NodeLabelShare]:
    return [
        NodeLabelShare(node, {OPERANDS: "false"}, plan.fabrics[0].name, held_back=True)
        for node in plan.without_gpu_operands
        if node not in released
    ]


def _released(plan: Plan, released: Collection[NodeName]) -> list[NodeLabelShare]:
    """Say again what stays on a node when the GPU driver may come: what is not said any more is given up."""
    return [
        replace(share, stage=GPU_DRIVER_READY) for share in plan.shares if _admits(share) and share.node in released
    ]
