from dataclasses import replace

import pytest
from unit.apply.fake_world import Answering, FakeCluster, Killed, Seeing, content
from unit.apply.stage_builders import speaking_judges
from unit.pipeline import fake_plans
from unit.pipeline.fake_plans import EAST, NODES, WEST, a_plan, a_refusal, a_world, an_intent, manifests_for, planned

from railwright.apply.lease import HEAD, HOLDER_ANNOTATION, RENEW_S
from railwright.apply.ledger import LedgerStore
from railwright.apply.model import StageRecord
from railwright.core import kinds
from railwright.core.errors import ClusterUnreachable, Refused, UsageError, WriteConflict
from railwright.core.ids import StageName
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict
from railwright.pipeline import apply as apply_module
from railwright.pipeline.apply import apply_fabrics
from railwright.plan.model import HARDWARE_LABELLED, NETWORKS_ATTACHED, NIC_DRIVER_READY, OPERATORS_INSTALLED, VERIFIED
from railwright.ports.progress import Note, StageEnded, StageStarted

NIC = Ref(kinds.NIC_CLUSTER_POLICY, "", "nic")


@pytest.fixture(autouse=True)
def _judges(monkeypatch):
    speaking_judges(monkeypatch)


async def run(world, *names, approval=None, progress=None, **options):
    intents = tuple(an_intent(name) for name in names or (EAST,))
    return await apply_fabrics(world, intents, None, progress or Seeing(), approval or Answering(), **options)


def broken_policy(cluster: FakeCluster) -> None:
    """Let the policy say that it failed, as soon as it is there."""

    def tick() -> None:
        live = cluster.find(NIC)
        if live is not None and "status" not in live:
            cluster.merge(NIC, {"status": {"readiness": "failed"}}, "operator", status=True)

    cluster.clock.ticks.append(tick)


async def test_stages_run_once_or_for_each_batch_and_in_order(monkeypatch):
    planned(monkeypatch)
    progress = Seeing()
    record = await run(a_world(), progress=progress)
    assert [(item.stage, item.batch, item.verdict) for item in record.stages] == [
        (OPERATORS_INSTALLED, "", Verdict.PASS),
        (HARDWARE_LABELLED, "", Verdict.SKIP),
        (NIC_DRIVER_READY, "canary", Verdict.PASS),
        (NETWORKS_ATTACHED, "canary", Verdict.PASS),
        (NIC_DRIVER_READY, "batch-2", Verdict.PASS),
        (NETWORKS_ATTACHED, "batch-2", Verdict.PASS),
        (VERIFIED, "", Verdict.SKIP),
    ]
    assert record.exit_code == 0
    assert record.stages[-1].reason == "left out: not asked for"
    assert next((event.number, event.total) for event in progress.of(StageStarted)) == (1, 5)
    assert len(progress.of(StageEnded)) == 7


async def test_a_node_is_labelled_only_with_its_own_batch(monkeypatch):
    planned(monkeypatch)
    world = a_world()
    labelled = []

    def look(verb, ref):
        if verb == "apply" and ref.kind == kinds.NODE:
            canary_has_networks = Ref(kinds.MACVLAN_NETWORK, "", "east-rail0") in world.cluster.store.objects
            labelled.append((ref.name, canary_has_networks))

    world.cluster.before_call = look
    await run(world)
    assert labelled == [("worker-1", False), ("worker-2", True)]


async def test_facts_are_read_again_after_every_stage_that_wrote(monkeypatch):
    made = planned(monkeypatch)
    await run(a_world())
    assert len(made) >= 4


async def test_each_risk_is_asked_for_with_nodes_time_and_pods(monkeypatch):
    planned(monkeypatch)
    approval = Answering()
    await run(a_world(), approval=approval)
    assert [question.nodes for question in approval.questions] == [NODES[:1], NODES[1:]]
    assert approval.questions[0].expected_s == 60.0
    assert approval.questions[0].details == ("pod training/job-0 on worker-1 uses 8 nvidia.com/gpu",)


async def test_a_no_stops_before_the_first_risk_and_exits_7(monkeypatch):
    planned(monkeypatch)
    world = a_world()
    with pytest.raises(Refused, match="operators-installed") as caught:
        await run(world, approval=Answering(answer=False))
    assert caught.value.exit_code == 7
    assert world.cluster.find(NIC) is None


async def test_a_second_apply_asks_nothing_writes_nothing_and_is_quick(monkeypatch):
    planned(monkeypatch)
    world = a_world()
    await run(world)
    approval, before_s = Answering(), world.cluster.clock.elapsed_s
    record = await run(world, approval=approval)
    assert (approval.questions, record.exit_code) == ([], 0)
    assert not [write for stage in record.stages for write in stage.writes]
    assert world.cluster.clock.elapsed_s - before_s < 5


async def test_a_refused_plan_lists_every_refusal_and_touches_nothing(monkeypatch):
    planned(monkeypatch, lambda *names: a_plan(*names, refused=(a_refusal(), a_refusal(code="mtu-too-big"))))
    world = a_world()
    before = content(world.cluster)
    with pytest.raises(Refused, match=r"(?s)uplink-would-be-cut.*mtu-too-big"):
        await run(world)
    assert content(world.cluster) == before


async def test_a_plan_that_turns_refused_on_the_way_stops_it(monkeypatch):
    plans = iter(())

    def make(*names):
        nonlocal plans
        count = next(plans, "bad")
        return a_plan(*names) if count == "good" else a_plan(*names, refused=(a_refusal(),))

    plans = iter(["good", "good"])
    planned(monkeypatch, make)
    record = await run(a_world())
    assert (record.exit_code, len(record.refusals)) == (7, 1)
    assert record.stages[-1].verdict is not Verdict.FAIL


async def test_a_failed_gate_stops_the_canary_and_no_other_node_is_touched(monkeypatch):
    planned(monkeypatch)
    world = a_world()
    broken_policy(world.cluster)
    record = await run(world)
    assert record.exit_code == 4
    assert (record.stages[-1].stage, record.stages[-1].batch) == (NIC_DRIVER_READY, "canary")
    labels = world.cluster.find(Ref(kinds.NODE, "", "worker-2"))["metadata"]["labels"]
    assert "railwright.dev/fabric.east" not in labels


async def test_a_node_whose_checks_turn_bad_is_skipped_and_named(monkeypatch):
    planned(monkeypatch, lambda *names: a_plan(*names, refused_nodes=(a_refusal(node=NODES[1]),)))
    record = await run(a_world())
    skipped = [item for item in record.stages if item.batch == "batch-2"]
    assert {item.verdict for item in skipped} == {Verdict.SKIP}
    assert "worker-2" in skipped[0].reason
    assert [item.node for item in record.refused_nodes] == ["worker-2"]
    assert record.exit_code == 0


async def test_until_ends_after_that_stage_for_every_batch(monkeypatch):
    planned(monkeypatch)
    record = await run(a_world(), until=NIC_DRIVER_READY)
    assert [item.batch for item in record.stages if item.stage == NIC_DRIVER_READY] == ["canary", "batch-2"]
    assert NETWORKS_ATTACHED not in {item.stage for item in record.stages}


async def test_until_a_stage_that_does_not_exist_is_wrong_use(monkeypatch):
    planned(monkeypatch)
    with pytest.raises(UsageError, match="no-such-stage"):
        await run(a_world(), until=StageName("no-such-stage"))


async def test_a_dry_run_leaves_no_trace(monkeypatch):
    planned(monkeypatch)
    world = a_world()
    before = content(world.cluster)
    approval = Answering(answer=False)
    record = await run(world, dry_run=True, approval=approval)
    assert content(world.cluster) == before
    assert (record.exit_code, approval.questions) == (0, [])


async def test_a_second_fabric_keeps_the_first_ones_share(monkeypatch):
    planned(monkeypatch)
    world = a_world()
    await run(world, EAST)
    await run(world, WEST)
    assert set(world.cluster.find(NIC)["spec"]) == {"east", "west"}


async def renamed_network(monkeypatch, world, name) -> None:
    """Let the plan want networks of another name from now on."""

    def renamed(names):
        items = manifests_for(names)
        return tuple(
            replace(item, obj={**item.obj, "metadata": {**item.obj["metadata"], "name": name}})
            if item.ref.kind == kinds.MACVLAN_NETWORK
            else item
            for item in items
        )

    monkeypatch.setattr(fake_plans, "manifests_in_use", renamed)


async def test_what_the_plan_no_longer_wants_is_removed(monkeypatch):
    planned(monkeypatch)
    world = a_world()
    await run(world)
    await renamed_network(monkeypatch, world, "another")
    record = await run(world)
    networks = {ref.name for ref in world.cluster.store.objects if ref.kind == kinds.MACVLAN_NETWORK}
    assert (record.exit_code, networks) == (0, {"another"})
    assert any("east-rail0" in note for note in record.notes)


async def test_nothing_is_removed_from_under_a_node_that_is_left_out(monkeypatch):
    planned(monkeypatch)
    world = a_world()
    await run(world)
    planned(monkeypatch, lambda *names: a_plan(*names, refused_nodes=(a_refusal(node=NODES[1]),)))
    await renamed_network(monkeypatch, world, "another")
    await run(world)
    networks = {ref.name for ref in world.cluster.store.objects if ref.kind == kinds.MACVLAN_NETWORK}
    assert networks == {"another", "east-rail0"}


async def test_a_dry_run_says_what_would_be_removed(monkeypatch):
    planned(monkeypatch)
    world = a_world()
    await run(world)
    await renamed_network(monkeypatch, world, "another")
    record = await run(world, dry_run=True)
    assert "east-rail0" in record.notes[-1]
    assert Ref(kinds.MACVLAN_NETWORK, "", "east-rail0") in world.cluster.store.objects


async def test_an_unreachable_cluster_is_an_error_and_the_lease_is_not_the_reason(monkeypatch):
    planned(monkeypatch)
    world = a_world()

    def away(verb, ref):
        if world.cluster.find(NIC) is not None and verb != "list":
            raise ClusterUnreachable("connection refused")

    world.cluster.before_call = away
    with pytest.raises(ClusterUnreachable):
        await run(world)


async def test_killed_after_any_write_and_run_again_everything_is_the_same(monkeypatch):
    planned(monkeypatch)
    whole = a_world()
    await run(whole)
    expected = without_ledger(whole.cluster)
    for number in range(1, len(whole.cluster.writes) + 1):
        world = a_world()
        count = [0]

        def kill(verb, ref, count=count, number=number):
            count[0] += 1
            if count[0] == number:
                raise Killed

        world.cluster.after_write = kill
        with pytest.raises(Killed):
            await run(world)
        world.cluster.after_write = lambda _verb, _ref: None
        record = await run(world)
        assert (record.exit_code, without_ledger(world.cluster)) == (0, expected), f"killed after write {number}"


async def test_what_another_run_applied_since_the_plan_was_made_is_planned_with(monkeypatch):
    made = planned(monkeypatch)
    world, prepare = a_world(), apply_module.prepare_whole

    async def prepare_while_another_applies(*args, **options):
        prepared = await prepare(*args, **options)
        if len(made) == 1:
            other = LedgerStore(world.cluster, world.clock)
            await other.note_fabric(WEST, "name: west")
            await other.close()
        return prepared

    asked = []

    async def check_rights(_world, _command, needs):
        asked.append({need.name for need in needs})

    monkeypatch.setattr(apply_module, "prepare_whole", prepare_while_another_applies)
    monkeypatch.setattr(apply_module, "check_rights", check_rights)
    progress = Seeing()
    assert (await run(world, progress=progress)).exit_code == 0
    assert ["west-rail0" in names for names in asked] == [False, True], "the new plan's rights are asked for as well"
    assert {fabric.name for fabric in made[-1].fabrics} == {EAST, WEST}
    assert Ref(kinds.MACVLAN_NETWORK, "", "west-rail0") in world.cluster.store.objects
    assert "planning again" in progress.of(Note)[0].text


async def test_a_run_that_lost_the_ledger_stops_with_the_name_of_who_has_it(monkeypatch):
    planned(monkeypatch)
    world = a_world()

    def another_takes_it(verb, ref):
        if verb == "apply" and ref == NIC:
            mark = {"metadata": {"annotations": {HOLDER_ANNOTATION: "somebody-else"}}}
            world.cluster.merge(HEAD, mark)
            world.cluster.clock.elapsed_s += RENEW_S

    world.cluster.after_write = another_takes_it
    with pytest.raises(WriteConflict, match="somebody-else") as told:
        await run(world)
    assert told.value.exit_code == 3


@pytest.mark.parametrize(("verdict", "kept"), [(Verdict.PASS, True), (Verdict.FAIL, True), (Verdict.SKIP, False)])
async def test_what_was_measured_is_kept_however_short_it_took(monkeypatch, verdict, kept):
    """On a clock that does not move meanwhile its stamps are equal, and tell nothing."""
    planned(monkeypatch)
    now = "2026-11-30T07:00:00Z"

    async def measure(*_: object) -> StageRecord:
        return StageRecord(VERIFIED, "", verdict, "as measured", "", now, now, 0.0, 0.0)

    monkeypatch.setattr(apply_module, "prove", measure)
    world = a_world()
    await run(world, prove=True)
    ledger = await LedgerStore(world.cluster, world.clock).load()
    noted = [note.reason for note in ledger.fabrics[EAST].stages if note.stage == VERIFIED]
    assert noted == (["as measured"] if kept else [])
    again = await run(world, prove=True)
    assert again.stages[-1].reason.startswith("as of 2026-11-30T07:00:00Z") is kept
    later = await LedgerStore(world.cluster, world.clock).load()
    assert [note.reason for note in later.fabrics[EAST].stages if note.stage == VERIFIED] == noted


def without_ledger(cluster: FakeCluster):
    return {name: obj for name, obj in content(cluster).items() if not name.startswith("ConfigMap railwright/")}
