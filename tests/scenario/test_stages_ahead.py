"""What is left of a stage: nothing where its objects change nothing, all of it where a node's turn is still to come."""

from dataclasses import replace

import pytest
from support.scenarios import applied, intents_for, open_for

from railwright import api
from railwright.catalog.load import load_catalog
from railwright.changes.model import Action, Changes
from railwright.core.risk import Risk
from railwright.core.verdicts import Verdict
from railwright.pipeline.ahead import with_ahead
from railwright.plan.model import GPU_DRIVER_READY, NIC_DRIVER_READY, NODES_PREPARED, VERIFIED, VFS_READY, Move

GPU_OPERANDS_OFF = {"nvidia.com/gpu.deploy.operands": "false"}


async def adopted():
    """Plan a fabric on a cluster whose operators and policies are others'."""
    return await api.plan(await open_for("roce", world="adopt"), intents_for("shared", "roce"))


async def carried_out(method="sriov"):
    """Plan a fabric a second time, after it was applied."""
    world, intents = await open_for("roce"), intents_for(method, "roce")
    await applied(world, intents)
    return await api.plan(world, intents)


def on_node(prepared, *, labels=(), hardware=(), unread=False):
    """Change what was read of worker-1."""

    def changed(node):
        if node.name != "worker-1":
            return node
        inside = None if unread else replace(node.hardware, **dict(hardware))
        return replace(node, labels={**node.labels, **dict(labels)}, hardware=inside)

    return replace(prepared.snapshot, nodes=tuple(changed(node) for node in prepared.snapshot.nodes))


def ahead(prepared, stage, *, plan=None, snapshot=None, ledger=None, changes=None):
    """What is left of a stage, with parts of what was prepared replaced."""
    found = with_ahead(
        plan or prepared.plan,
        changes or prepared.changes,
        snapshot or prepared.snapshot,
        ledger or prepared.ledger,
        load_catalog(),
    ).stage(stage)
    return found.risk_ahead, found.expected_ahead_s


async def test_an_adopted_policy_that_changes_in_nothing_reloads_no_driver_and_takes_no_time():
    prepared = await adopted()
    stage = prepared.plan.stage(GPU_DRIVER_READY)
    assert [(item.action, item.fields) for item in prepared.changes.of_stage(stage.name)] == [(Action.ADOPT, ())]
    assert (stage.risk, stage.risk_ahead, stage.expected_ahead_s) == (Risk.DRIVER_RELOAD, Risk.NONE, stage.hold_s)
    nic = prepared.plan.stage(NIC_DRIVER_READY)
    assert (nic.risk_ahead, nic.expected_ahead_s) == (Risk.NONE, load_catalog().stage(NIC_DRIVER_READY).loaded_s)
    document = api.plan_document(prepared.plan, prepared.manifests, prepared.changes).payload
    by_name = {item["name"]: item for item in document["stages"]}
    assert (by_name[GPU_DRIVER_READY]["risk"], by_name[GPU_DRIVER_READY]["expected_s"]) == ("none", stage.hold_s)
    assert (document["totals"]["driver_reloads"], document["totals"]["reboots"]) == (0, 2)
    assert document["totals"]["expected_s"] == 1200 + 60 + 2 * 60 + 2 * 30


@pytest.mark.parametrize(
    "what",
    [
        {"hardware": {"nvidia_driver": ""}.items()},
        {"unread": True},
        {"labels": GPU_OPERANDS_OFF.items()},
    ],
    ids=["driver not loaded", "node not read", "operator kept off"],
)
async def test_a_driver_that_is_still_to_come_keeps_its_risk_though_nothing_is_written(what):
    prepared = await adopted()
    left = ahead(prepared, GPU_DRIVER_READY, snapshot=on_node(prepared, **what))
    assert left == (Risk.DRIVER_RELOAD, prepared.plan.stage(GPU_DRIVER_READY).expected_s)


async def test_a_move_keeps_the_risk_of_its_stage_though_nothing_is_written():
    prepared = await adopted()
    move = Move("GPU driver", "ClusterPolicy spec.driver", "570", "580", ("worker-1",), stage=GPU_DRIVER_READY)
    moving = replace(prepared.plan, moves=(move,))
    assert ahead(prepared, GPU_DRIVER_READY, plan=moving)[0] is Risk.DRIVER_RELOAD
    assert ahead(prepared, GPU_DRIVER_READY)[0] is Risk.NONE


async def test_what_was_carried_out_has_no_risk_left_in_any_stage_and_clean_asks_for_all_of_it():
    prepared = await carried_out()
    stages = [stage for stage in prepared.plan.stages if stage.name != VERIFIED]
    assert {(stage.risk_ahead, stage.expected_ahead_s == stage.hold_s) for stage in stages} == {(Risk.NONE, True)}
    assert [stage.risk for stage in stages if stage.risk is not Risk.NONE] == [
        Risk.REBOOT,
        Risk.DRIVER_RELOAD,
        Risk.REBOOT,
        Risk.DRIVER_RELOAD,
    ]


async def test_the_next_batch_is_asked_for_the_vfs_that_its_label_brings():
    prepared = await carried_out()
    nodes = tuple(replace(node, was_admitted=node.node != "worker-1") for node in prepared.plan.nodes)
    assert ahead(prepared, VFS_READY)[0] is Risk.NONE
    assert ahead(prepared, VFS_READY, plan=replace(prepared.plan, nodes=nodes))[0] is Risk.REBOOT
    assert ahead(prepared, NIC_DRIVER_READY, plan=replace(prepared.plan, nodes=nodes))[0] is Risk.DRIVER_RELOAD


async def test_a_roll_out_counts_as_ended_only_when_its_gate_passed_and_the_pool_says_so():
    prepared = await carried_out()
    cluster = prepared.snapshot.cluster
    rolling = replace(cluster, pools=tuple(replace(pool, updated=False, updating=True) for pool in cluster.pools))
    stopped = {
        name: replace(note, stages=tuple(replace(item, verdict=Verdict.FAIL) for item in note.stages))
        for name, note in prepared.ledger.fabrics.items()
    }
    assert ahead(prepared, NODES_PREPARED)[0] is Risk.NONE
    assert ahead(prepared, NODES_PREPARED, snapshot=replace(prepared.snapshot, cluster=rolling))[0] is Risk.REBOOT
    assert ahead(prepared, NODES_PREPARED, ledger=replace(prepared.ledger, fabrics=stopped))[0] is Risk.REBOOT


async def test_a_node_whose_state_is_not_known_may_still_get_its_vfs():
    prepared = await carried_out()
    objects = {
        ref: obj for ref, obj in prepared.snapshot.cluster.objects.items() if ref.kind.kind != "SriovNetworkNodeState"
    }
    without = replace(prepared.snapshot, cluster=replace(prepared.snapshot.cluster, objects=objects))
    assert ahead(prepared, VFS_READY, snapshot=without)[0] is Risk.REBOOT


async def test_stages_keep_all_of_their_risk_where_something_is_written():
    prepared = await carried_out()
    written = Changes(tuple((stage, replace(change, action=Action.CREATE)) for stage, change in prepared.changes.items))
    for stage in prepared.plan.stages:
        assert ahead(prepared, stage.name, changes=written)[0] is stage.risk
