"""In which order nodes move: canaries first, no more at once than the move allows, a canary that stays proves nothing."""

from dataclasses import replace

import pytest
from unit.pipeline.fake_plans import EAST, WEST, a_plan, a_snapshot

from railwright.apply.model import Ledger
from railwright.core.ids import NodeName
from railwright.pipeline.moves import with_moves
from railwright.plan.model import Batch, Group, Move, NodePlan, Plan

NODES = tuple(NodeName(f"worker-{number}") for number in range(1, 7))
SKIP = "nvidia.com/ofed-driver-upgrade.skip"


def planned(*groups) -> Plan:
    """A plan of six nodes, with the first node of each group as its canary."""
    plan = a_plan(EAST, WEST)
    first, *others = plan.fabrics
    made = tuple(Group(f"group-{number}", EAST, nodes, "alike") for number, nodes in enumerate(groups))
    canaries = tuple(sorted({nodes[0] for nodes in groups}))
    rest = tuple(node for node in NODES if node not in canaries)
    nodes = tuple(NodePlan(node, (EAST,), (), selected=True, reason="", was_admitted=True) for node in NODES)
    batches = (Batch("canary", canaries), Batch("batch-2", rest))
    return replace(plan, fabrics=(replace(first, groups=made), *others), nodes=nodes, batches=batches)


def turns(plan, *moves):
    batches = with_moves(plan, moves, a_snapshot(), Ledger()).batches
    assert [batch.name for batch in batches] == [
        "canary",
        *(f"batch-{number}" for number in range(2, len(batches) + 1)),
    ]
    return [tuple(node[-1] for node in batch.nodes) for batch in batches]


def a_move(*nodes, at_once=1, skip_label=SKIP) -> Move:
    return Move("DOCA driver", "NicClusterPolicy", "a", "b", nodes, skip_label=skip_label, at_once=at_once)


@pytest.mark.parametrize(
    ("groups", "move", "wanted"),
    [
        ((NODES,), a_move(*NODES, at_once=8), [("1",), ("2", "3", "4", "5", "6")]),
        ((NODES[:3], NODES[3:]), a_move(*NODES), [("1",), ("4",), ("2",), ("3",), ("5",), ("6",)]),
        ((NODES[:3], NODES[3:]), a_move(*NODES, at_once=2), [("1", "4"), ("2", "3"), ("5", "6")]),
        ((NODES,), a_move(*NODES[1:], at_once=8), [("1",), ("2",), ("3", "4", "5", "6")]),
        ((NODES[:3], NODES[3:]), a_move(*NODES[:3], *NODES[4:], at_once=8), [("1", "4"), ("5",), ("2", "3", "6")]),
    ],
    ids=["alike", "two groups", "two groups, two at once", "its canary stays", "one canary of two stays"],
)
def test_nodes_move_behind_a_canary_of_their_own_group_that_moves_too(groups, move, wanted):
    assert turns(planned(*groups), move) == wanted


def test_a_node_that_a_move_holds_and_no_batch_has_is_named_with_what_to_do():
    plan = planned(NODES)
    out = replace(plan.nodes[-1], admitted=(), selected=False, reason="not asked for")
    left = replace(
        plan, nodes=(*plan.nodes[:-1], out), batches=(Batch("canary", NODES[:1]), Batch("batch-2", NODES[1:5]))
    )
    (warning,) = with_moves(left, (a_move(NODES[-1]),), a_snapshot(), Ledger()).warnings
    assert (warning.code, warning.where) == ("driver-held-without-turn", NODES[-1])
    assert "not asked for" in warning.message
    assert f"oc label node {NODES[-1]} {SKIP}-" in warning.message


def test_a_plan_without_moves_keeps_its_batches():
    assert turns(planned(NODES[:3], NODES[3:])) == [("1", "4"), ("2", "3", "5", "6")]
