from dataclasses import replace

import pytest
from unit.apply.fake_world import FakeCluster, an_object, content
from unit.apply.stage_builders import a_manifest, carry_out, means_of, speaking_judges, stage_for

from railwright.apply.lease import HEAD, HOLDER_ANNOTATION, LEASE_S, RunningElsewhere
from railwright.apply.ledger import LedgerStore
from railwright.apply.undo import undo_step
from railwright.core import kinds
from railwright.core.errors import ObjectRefused
from railwright.core.ids import StageName
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict

MANAGED = {"app.kubernetes.io/managed-by": "railwright"}
POLICY = Ref(kinds.NIC_CLUSTER_POLICY, "", "nic-cluster-policy")
NODE = Ref(kinds.NODE, "", "worker-1")
CLEAN = StageName("clean")


@pytest.fixture(autouse=True)
def _judges(monkeypatch):
    speaking_judges(monkeypatch)


def a_world() -> FakeCluster:
    cluster = FakeCluster()
    cluster.put(an_object(kinds.NODE, "worker-1", labels={"a": "b"}))
    cluster.put(an_object(kinds.CLUSTER_POLICY, "gpu", spec={"driver": {"kernelModuleType": "auto", "enabled": True}}))
    return cluster


def our_things():
    return [
        a_manifest(an_object(kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", labels=MANAGED, spec={"a": "1"})),
        a_manifest(
            an_object(
                kinds.CLUSTER_POLICY,
                "gpu",
                spec={"driver": {"kernelModuleType": "open", "enabled": True, "rdma": {"on": True}}},
            )
        ),
        a_manifest(
            an_object(kinds.NODE, "worker-1", labels={"railwright.dev/fabric.east": "admitted"}), node="worker-1"
        ),
    ]


async def applied() -> FakeCluster:
    cluster = a_world()
    record = await carry_out(cluster, await stage_for(cluster, our_things(), take_over=True))
    assert record.verdict is Verdict.PASS
    return cluster


async def undo_all(cluster: FakeCluster, **options):
    store = LedgerStore(cluster, cluster.clock)
    ledger = await store.load()
    entries = sorted(ledger.entries.values(), key=lambda entry: -entry.order)
    things = [entry for entry in entries if entry.ref.kind != kinds.NAMESPACE]
    results = await undo_step(things, means_of(cluster, store), CLEAN, limit_s=120.0, **options)
    if not options.get("dry_run"):
        await store.remove_all()
        await store.close()
    return {item.ref: item for item in results}


async def test_everything_is_as_before_and_the_ledger_is_gone():
    cluster = await applied()
    results = await undo_all(cluster)
    assert {item.verdict for item in results.values()} == {Verdict.PASS}
    assert content(cluster) == content(a_world())


async def test_we_no_longer_own_fields_together_with_others():
    cluster = await applied()
    await undo_all(cluster)
    for ref in (NODE, Ref(kinds.CLUSTER_POLICY, "", "gpu")):
        managers = cluster.find(ref)["metadata"]["managedFields"]
        assert not [item for item in managers if item["operation"] == "Apply" and item["manager"] == "railwright"]


async def test_a_field_that_somebody_changed_since_stays_and_is_named():
    cluster = await applied()
    cluster.merge(Ref(kinds.CLUSTER_POLICY, "", "gpu"), {"spec": {"driver": {"kernelModuleType": "proprietary"}}})
    results = await undo_all(cluster)
    assert cluster.find(Ref(kinds.CLUSTER_POLICY, "", "gpu"))["spec"]["driver"]["kernelModuleType"] == "proprietary"
    assert [item.path for item in results[Ref(kinds.CLUSTER_POLICY, "", "gpu")].left] == [
        ("spec", "driver", "kernelModuleType")
    ]


async def test_an_object_made_anew_by_somebody_is_not_deleted():
    cluster = await applied()
    await cluster.delete(POLICY)
    cluster.put(an_object(kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", spec={"theirs": "x"}))
    results = await undo_all(cluster)
    assert (results[POLICY].action, cluster.find(POLICY) is not None) == ("forget", True)


async def test_a_finalizer_that_nobody_takes_off_is_named_and_the_entry_stays():
    cluster = await applied()
    cluster.merge(POLICY, {"metadata": {"finalizers": ["someone.dev/hold"]}})
    results = await undo_all(cluster)
    assert results[POLICY].verdict is Verdict.FAIL
    assert "someone.dev/hold" in results[POLICY].reason
    assert POLICY in (await LedgerStore(cluster, cluster.clock).load()).entries


async def test_a_finalizer_that_an_operator_takes_off_is_waited_for():
    cluster = await applied()
    cluster.merge(POLICY, {"metadata": {"finalizers": ["operator.dev/clean-up"]}})

    def operator() -> None:
        live = cluster.find(POLICY)
        if live is not None and live["metadata"].get("deletionTimestamp") and cluster.clock.elapsed_s > 60:
            cluster.merge(POLICY, {"metadata": {"finalizers": None}}, "operator")

    cluster.clock.ticks.append(operator)
    assert (await undo_all(cluster))[POLICY].verdict is Verdict.PASS
    assert cluster.find(POLICY) is None


async def test_what_others_remove_in_consequence_is_waited_for():
    cluster = await applied()
    nad = Ref(kinds.NETWORK_ATTACHMENT_DEFINITION, "default", "rail0")
    cluster.put(an_object(kinds.NAMESPACE, "default"))
    cluster.put(an_object(kinds.NETWORK_ATTACHMENT_DEFINITION, "rail0", "default"))
    results = await undo_all(cluster, also_gone=(nad,))
    assert results[nad].verdict is Verdict.FAIL


async def test_a_refused_deletion_is_told_in_the_servers_words():
    cluster = await applied()

    def refuse(verb, ref):
        if verb == "delete" and ref == POLICY:
            raise ObjectRefused("webhook says no")

    cluster.before_call = refuse
    result = (await undo_all(cluster))[POLICY]
    assert (result.verdict, result.reason) == (Verdict.FAIL, "webhook says no")


async def test_a_run_that_lost_its_claim_while_it_was_silent_undoes_nothing_more():
    cluster = await applied()
    store = LedgerStore(cluster, cluster.clock)
    things = [entry for ref, entry in (await store.load()).entries.items() if ref.kind != kinds.NAMESPACE]
    await store.open()
    cluster.merge(HEAD, {"metadata": {"annotations": {HOLDER_ANNOTATION: "somebody"}}})
    cluster.clock.advance(2 * LEASE_S)
    before = content(cluster)
    with pytest.raises(RunningElsewhere):
        await undo_step(things, means_of(cluster, store), CLEAN, limit_s=120.0)
    assert content(cluster) == before


GPU = Ref(kinds.CLUSTER_POLICY, "", "gpu")


@pytest.mark.parametrize("is_refused", [True, False])
async def test_what_stays_of_an_entry_is_written_with_its_undoing_and_a_failure_leaves_it_whole(is_refused):
    cluster = await applied()
    store = LedgerStore(cluster, cluster.clock)
    whole = (await store.load()).entries[GPU]
    part, rest = (replace(whole, fields=fields) for fields in (whole.fields[:1], whole.fields[1:]))

    def refuse(verb, ref):
        if is_refused and verb == "patch" and ref == GPU:
            raise ObjectRefused("webhook says no")

    cluster.before_call = refuse
    await undo_step([part], means_of(cluster, store), CLEAN, limit_s=120.0, stays={GPU: rest})
    assert rest.fields
    assert (await LedgerStore(cluster, cluster.clock).load()).entries[GPU] == (whole if is_refused else rest)


async def test_a_dry_run_undoes_nothing():
    cluster = await applied()
    before = content(cluster)
    results = await undo_all(cluster, dry_run=True)
    assert {item.action for item in results.values()} == {"delete", "restore"}
    assert content(cluster) == before


async def test_an_intention_whose_object_was_never_made_is_forgotten():
    cluster = a_world()
    stage = await stage_for(cluster, our_things()[:1])

    def die(verb, ref):
        if verb == "apply" and ref == POLICY:
            raise ObjectRefused("no")

    cluster.before_call = die
    await carry_out(cluster, stage)
    cluster.before_call = lambda _verb, _ref: None
    assert (await undo_all(cluster))[POLICY].action == "forget"
    assert content(cluster) == content(a_world())


async def test_an_unconfirmed_intention_does_not_claim_an_object_of_others():
    cluster = a_world()
    stage = await stage_for(cluster, our_things()[:1])

    def die(verb, ref):
        if verb == "apply" and ref == POLICY:
            raise ObjectRefused("no")

    cluster.before_call = die
    await carry_out(cluster, stage)
    cluster.before_call = lambda _verb, _ref: None
    cluster.put(an_object(kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", labels=MANAGED, spec={"theirs": "x"}))
    await undo_all(cluster)
    assert cluster.find(POLICY) is not None
