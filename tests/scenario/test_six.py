"""The six configurations, end to end through railwright.api: applied, nothing to do, removed without a trace."""

import pytest
from support.scenarios import SIX, Heard, Yes, applied, intents_for, open_for, verdicts
from support.traces import differences, seen_objects

from railwright import api

SETTLE_S = 1800.0
"""After this nothing moves by itself any more: the pool's roll-out after clean is the longest."""
NO_VFS = "only method sriov makes virtual functions"


def _skips(method, *, batches=1):
    """Give the stages that have nothing to do in a healthy world."""
    return [("vfs-ready", "SKIP", NO_VFS)] * batches if method != "sriov" else []


@pytest.mark.parametrize(("method", "fabric"), SIX)
async def test_every_stage_passes_and_nothing_is_left(method, fabric):
    world, intents = await open_for(fabric), intents_for(method, fabric)
    await world.clock.sleep(SETTLE_S)
    before = await seen_objects(world.cluster)

    record = await applied(world, intents)
    assert verdicts(record.stages) == _skips(method, batches=2)
    assert record.exit_code == 0

    now = await api.status(world)
    assert verdicts(now.stages) == _skips(method)
    assert [stage.name for stage in now.stages if stage.drift] == []
    assert now.not_admitted == ()
    assert now.exit_code == 0

    heard = Heard()
    again = await applied(world, intents, progress=heard)
    assert heard.writes == []
    assert verdicts(again.stages) == _skips(method, batches=2)

    cleaned = await api.clean(world, approval=Yes())
    assert cleaned.exit_code == 0
    await world.clock.sleep(SETTLE_S)
    assert differences(before, await seen_objects(world.cluster)) == []


@pytest.mark.parametrize(("method", "fabric"), SIX)
async def test_a_plan_says_what_it_will_do_and_does_nothing(method, fabric):
    world, intents = await open_for(fabric), intents_for(method, fabric)
    before = await seen_objects(world.cluster)
    prepared = await api.plan(world, intents)
    assert prepared.plan.refusals == ()
    assert [node.node for node in prepared.plan.nodes if node.admitted] == ["worker-0", "worker-1"]
    assert len(prepared.plan.fabrics[0].rails) == 8
    assert before == await seen_objects(world.cluster)


@pytest.mark.parametrize(("method", "fabric"), SIX)
async def test_a_dry_run_stores_nothing(method, fabric):
    world, intents = await open_for(fabric), intents_for(method, fabric)
    before = await seen_objects(world.cluster)
    record = await applied(world, intents, dry_run=True)
    assert record.exit_code == 0
    assert before == await seen_objects(world.cluster)


async def test_numa_alignment_is_rolled_out_waited_for_and_taken_back():
    world, intents = await open_for("roce"), intents_for("sriov", "roce", more="  numaAligned: true\n")
    await world.clock.sleep(SETTLE_S)
    before = await seen_objects(world.cluster)
    record = await applied(world, intents)
    assert record.exit_code == 0
    prepared = next(stage for stage in record.stages if stage.stage == "nodes-prepared")
    assert any("KubeletConfig railwright-worker" in state.what for state in prepared.states)
    assert (await api.status(world)).exit_code == 0
    assert (await api.clean(world, approval=Yes())).exit_code == 0
    await world.clock.sleep(SETTLE_S)
    assert differences(before, await seen_objects(world.cluster)) == []
