import pytest
from unit.apply.fake_world import Answering, Seeing, content
from unit.apply.stage_builders import speaking_judges
from unit.pipeline.fake_plans import EAST, NODES, a_plan, a_refusal, a_stage, a_world, an_intent, planned

from railwright.core import kinds
from railwright.core.errors import PermissionMissing
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict
from railwright.pipeline.apply import apply_fabrics
from railwright.pipeline.status import status
from railwright.plan.model import (
    HARDWARE_LABELLED,
    NETWORKS_ATTACHED,
    NIC_DRIVER_READY,
    NODES_PREPARED,
    VERIFIED,
    VFS_READY,
)

NOTHING_TO_DO = (a_stage(NODES_PREPARED, applies=False), a_stage(VFS_READY, applies=False))
NIC = Ref(kinds.NIC_CLUSTER_POLICY, "", "nic")


@pytest.fixture(autouse=True)
def _judges(monkeypatch):
    speaking_judges(monkeypatch)


async def applied():
    world = a_world()
    await apply_fabrics(world, (an_intent(EAST),), None, Seeing(), Answering())
    return world


async def verdicts(world, intents=None):
    record = await status(world, intents, None, Seeing())
    return record, {stage.name: stage for stage in record.stages}


async def test_without_a_file_it_is_of_the_fabrics_in_the_ledger(monkeypatch):
    planned(monkeypatch)
    record, stages = await verdicts(await applied())
    assert [intent.name for intent in record.intents] == [EAST]
    assert stages[NIC_DRIVER_READY].verdict is Verdict.PASS
    assert stages[NIC_DRIVER_READY].since
    assert (stages[HARDWARE_LABELLED].verdict, stages[VERIFIED].verdict) == (Verdict.SKIP, Verdict.SKIP)
    assert record.exit_code == 0


async def test_where_nothing_was_applied_nothing_is_listed(monkeypatch):
    planned(monkeypatch)
    record, stages = await verdicts(a_world())
    assert (stages, record.intents, record.exit_code) == ({}, (), 0)


async def test_with_a_file_that_was_never_applied_stages_are_not_begun(monkeypatch):
    planned(monkeypatch)
    record, stages = await verdicts(a_world(), (an_intent(EAST),))
    assert stages[NIC_DRIVER_READY].verdict is Verdict.SKIP
    assert stages[NIC_DRIVER_READY].reason == "not applied yet"
    assert record.exit_code == 0


@pytest.mark.parametrize(
    ("said", "verdict", "exit_code"),
    [
        ("failed", Verdict.FAIL, 4),
        ("progressing", Verdict.PROGRESSING, 4),
        ("unknown", Verdict.UNKNOWN, 6),
    ],
)
async def test_each_stage_is_as_bad_as_its_worst_object(monkeypatch, said, verdict, exit_code):
    planned(monkeypatch)
    world = await applied()
    world.cluster.merge(NIC, {"status": {"readiness": said}}, "operator", status=True)
    record, stages = await verdicts(world)
    assert (stages[NIC_DRIVER_READY].verdict, record.exit_code) == (verdict, exit_code)
    assert stages[NIC_DRIVER_READY].waiting_for == "nic to be ready"
    assert stages[NETWORKS_ATTACHED].verdict is Verdict.PASS


async def test_an_object_that_somebody_deleted_is_seen(monkeypatch):
    planned(monkeypatch)
    world = await applied()
    await world.cluster.delete(NIC)
    record, stages = await verdicts(world)
    assert stages[NIC_DRIVER_READY].verdict is Verdict.PROGRESSING
    assert "does not exist" in stages[NIC_DRIVER_READY].reason
    assert record.exit_code == 4


async def test_a_field_that_somebody_changed_is_drift(monkeypatch):
    planned(monkeypatch)
    world = await applied()
    world.cluster.merge(NIC, {"spec": {"east": {"rails": "4"}}})
    _, stages = await verdicts(world)
    ((ref, fields),) = stages[NIC_DRIVER_READY].drift
    assert (ref, fields[0].old, fields[0].new) == (NIC, "4", "8")


async def test_nodes_that_are_left_out_are_listed_with_the_reason(monkeypatch):
    planned(monkeypatch, lambda *names: a_plan(*names, refused_nodes=(a_refusal(node=NODES[1]),)))
    record, _ = await verdicts(a_world(), (an_intent(EAST),))
    assert record.not_admitted == ((NODES[1], "uplink-would-be-cut: br-ex goes through ens3f0np0"),)


async def test_a_plan_that_is_refused_today_is_unknown_not_a_pass(monkeypatch):
    planned(monkeypatch)
    world = await applied()
    planned(monkeypatch, lambda *names: a_plan(*names, refused=(a_refusal(),)))
    record, stages = await verdicts(world)
    assert (stages[NIC_DRIVER_READY].verdict, record.exit_code) == (Verdict.UNKNOWN, 6)


async def test_of_a_refused_plan_no_stage_is_said_to_have_nothing_to_do(monkeypatch):
    """What a stage has to do was not decided; only what the file alone rules out is left out."""
    planned(monkeypatch, lambda *names: a_plan(*names, refused=(a_refusal(),), stages=NOTHING_TO_DO))
    _, stages = await verdicts(a_world(), (an_intent(EAST),))
    assert {name: stage.verdict for name, stage in stages.items()} == {
        NODES_PREPARED: Verdict.UNKNOWN,
        VFS_READY: Verdict.SKIP,
    }


async def test_what_may_not_be_read_is_unknown(monkeypatch):
    planned(monkeypatch)
    world = await applied()
    reads = [0]

    def forbid(verb, ref):
        if ref == NIC:
            reads[0] += 1
            if reads[0] > 1:
                raise PermissionMissing("cannot get nicclusterpolicies")

    world.cluster.before_call = forbid
    _, stages = await verdicts(world)
    assert stages[NIC_DRIVER_READY].verdict is Verdict.UNKNOWN


async def test_status_writes_nothing(monkeypatch):
    planned(monkeypatch)
    world = await applied()
    before, world.cluster.writes = content(world.cluster), []
    await verdicts(world)
    assert (world.cluster.writes, content(world.cluster)) == ([], before)
