"""An operator moves where the file says so; one that others moved is named, and nothing moves by the way."""

from support.newer_operator import MOVE, NAMESPACE, NEXT, NNO, SUBSCRIPTION, catalog_offers, installed
from support.others import change, now_is, store
from support.scenarios import Yes, applied, intents_for, open_for

from railwright import api
from railwright.core import kinds
from railwright.core.objects import Ref, dig, labels_of
from railwright.ports.progress import StageEnded

WORKER = Ref(kinds.NODE, "", "worker-1")
SKIP = "nvidia.com/ofed-driver-upgrade.skip"


def csvs(world):
    return {ref.name for ref in store(world).objects if ref.kind == kinds.CLUSTER_SERVICE_VERSION and NNO in ref.name}


async def applied_first():
    world = await open_for("roce")
    assert (await applied(world, intents_for("shared", "roce"))).exit_code == 0
    return world, installed(world)


async def test_a_newer_version_in_the_channel_is_named_and_not_taken():
    world, before = await applied_first()
    catalog_offers(world, NEXT)
    await world.clock.sleep(600.0)
    plan = (await api.plan(world, intents_for("shared", "roce"))).plan
    assert [item.code for item in plan.warnings if item.code.startswith("operator-")] == ["operator-upgrade-offered"]
    assert plan.moves == ()
    record = await applied(world, intents_for("shared", "roce"))
    assert (record.exit_code, installed(world), [stage.writes for stage in record.stages if stage.writes]) == (
        0,
        before,
        [],
    )
    assert (await api.status(world)).exit_code == 0


async def test_an_operator_moves_when_the_file_says_so_with_the_drivers_held_before_it():
    world, before = await applied_first()
    catalog_offers(world, NEXT)
    intents = intents_for("shared", "roce", more=MOVE)
    moves = (await api.plan(world, intents)).plan.moves
    assert [(move.what, move.nodes) for move in moves] == [
        (NNO, ()),
        ("DOCA driver", ("worker-0", "worker-1")),
    ]
    assert (moves[0].seen, moves[0].wanted) == (f"{before} (channel stable)", f"{NEXT} (channel stable)")
    seen = {}

    class Looks:
        def emit(self, event):
            if isinstance(event, StageEnded):
                seen[event.stage, event.batch] = (installed(world), labels_of(now_is(world, WORKER)).get(SKIP))

    assert (await applied(world, intents, progress=Looks())).exit_code == 0
    assert seen["operators-installed", ""] == (NEXT, "true")
    assert seen["networks-attached", "canary"] == (NEXT, "true")
    assert seen["nic-driver-ready", "batch-2"] == (NEXT, None)
    await world.clock.sleep(600.0)
    assert csvs(world) == {NEXT}
    assert (await api.plan(world, intents)).plan.moves == ()
    assert (await api.status(world)).exit_code == 0
    assert (await api.clean(world, approval=Yes())).exit_code == 0
    assert csvs(world) == set()


async def test_another_channel_is_a_move_and_an_older_one_is_refused():
    world, _ = await applied_first()
    catalog_offers(world, f"{NNO}.v26.7.0", channel="v26.7")
    catalog_offers(world, f"{NNO}.v25.10.0", channel="v25.10")
    older = intents_for("shared", "roce", more=f"  operators: {{channels: {{{NNO}: v25.10}}}}\n")
    assert [item.code for item in (await api.plan(world, older)).plan.refusals] == ["operator-downgrade"]
    newer = intents_for("shared", "roce", more=f"  operators: {{channels: {{{NNO}: v26.7}}}}\n")
    assert (await applied(world, newer)).exit_code == 0
    assert (installed(world), dig(now_is(world, SUBSCRIPTION), "spec", "channel")) == (f"{NNO}.v26.7.0", "v26.7")


async def test_a_version_that_somebody_else_approved_is_named_and_nothing_follows_it_by_itself():
    world, before = await applied_first()
    catalog_offers(world, NEXT)
    await world.clock.sleep(60.0)
    plans = [ref for ref in store(world).objects if ref.kind == kinds.INSTALL_PLAN and ref.namespace == NAMESPACE]
    for ref in plans:
        change(world, ref, {"spec": {"approved": True}})
    await world.clock.sleep(600.0)
    assert installed(world) == NEXT != before
    plan = (await api.plan(world, intents_for("shared", "roce"))).plan
    assert "operator-upgraded-by-others" in {item.code for item in plan.warnings}
    status = await api.status(world)
    assert "operator-upgraded-by-others" in {item.code for item in status.warnings}
    record = await applied(world, intents_for("shared", "roce"))
    assert (record.exit_code, [stage.writes for stage in record.stages if stage.writes]) == (0, [])
