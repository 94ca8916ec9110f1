from dataclasses import replace

import pytest
from unit.pipeline.fake_plans import a_snapshot, an_intent

from railwright.apply.model import FabricNote, Ledger, LedgerEntry
from railwright.changes.model import MISSING, TakenField
from railwright.core import kinds
from railwright.core.ids import FabricName, StageName
from railwright.core.objects import Ref
from railwright.pipeline.before_us import before_us, in_order, with_kept_choices

OURS = Ref(kinds.NIC_CLUSTER_POLICY, "", "nic-cluster-policy")
TAKEN = Ref(kinds.CLUSTER_POLICY, "", "gpu-cluster-policy")
THEIRS = Ref(kinds.MACVLAN_NETWORK, "", "theirs")
REMADE = Ref(kinds.MACVLAN_NETWORK, "", "remade")


def an_entry(ref, *, created) -> LedgerEntry:
    return LedgerEntry(ref, created=created, uid="u", fields=(), fabrics=(), order=1, stage=StageName("s"))


def test_plan_sees_the_cluster_without_what_we_made():
    """Otherwise a second plan would adopt our own objects, and drop from them what it does not take of others."""
    objects = {ref: {"metadata": {"uid": "u"}} for ref in (OURS, TAKEN, THEIRS)}
    objects[REMADE] = {"metadata": {"uid": "another"}}
    snapshot = a_snapshot()
    snapshot = replace(snapshot, cluster=replace(snapshot.cluster, objects=objects))
    entries = [an_entry(OURS, created=True), an_entry(TAKEN, created=False), an_entry(REMADE, created=True)]
    seen = before_us(snapshot, Ledger(entries={entry.ref: entry for entry in entries}))
    assert set(seen.cluster.objects) == {TAKEN, THEIRS, REMADE}


def test_without_a_ledger_nothing_is_left_out():
    snapshot = a_snapshot()
    assert before_us(snapshot, Ledger()) == snapshot


def test_a_field_that_we_took_is_seen_as_it_was_unless_somebody_changed_it_since():
    """Otherwise a driver that we added would be theirs in the next plan, and be taken out again."""
    live = {
        "apiVersion": TAKEN.kind.api_version,
        "kind": TAKEN.kind.kind,
        "metadata": {"name": TAKEN.name, "uid": "u"},
        "spec": {"added": "ours", "replaced": "ours", "touched": "theirs now", "other": 1},
    }
    fields = tuple(
        TakenField(("spec", name), previous, "ours")
        for name, previous in (("added", MISSING), ("replaced", "before"), ("touched", "before"))
    )
    snapshot = a_snapshot()
    snapshot = replace(snapshot, cluster=replace(snapshot.cluster, objects={TAKEN: live}))
    entry = replace(an_entry(TAKEN, created=False), fields=fields)
    seen = before_us(snapshot, Ledger(entries={TAKEN: entry})).cluster.objects[TAKEN]
    assert seen["spec"] == {"replaced": "before", "touched": "theirs now", "other": 1}
    assert live["spec"]["added"] == "ours"


@pytest.mark.parametrize(
    "kind",
    [kinds.SUBSCRIPTION, kinds.MACHINE_CONFIG, kinds.NV_IPAM_IP_POOL, kinds.NODE_FEATURE_RULE_UPSTREAM],
)
def test_what_is_in_force_of_ours_is_seen_again(kind):
    ref = Ref(kind, "", "ours")
    snapshot = a_snapshot()
    snapshot = replace(snapshot, cluster=replace(snapshot.cluster, objects={ref: {"metadata": {"uid": "u"}}}))
    entry = an_entry(ref, created=True)
    assert ref in before_us(snapshot, Ledger(entries={ref: entry})).cluster.objects


def test_fabrics_that_are_there_come_before_new_ones():
    ledger = Ledger(fabrics={name: FabricNote(name, "", "t") for name in (FabricName("b"), FabricName("z"))})
    intents = tuple(an_intent(name) for name in ("a", "z", "b", "c"))
    assert [item.name for item in in_order(intents, ledger)] == ["b", "z", "a", "c"]


def test_a_fabric_that_asks_for_subnets_gets_those_and_no_kept_ones():
    east = an_intent("east")
    asks = replace(east, network=replace(east.network, subnets=("10.9.0.0/16",)))
    ledger = Ledger(fabrics={FabricName("east"): FabricNote(FabricName("east"), "", "t", subnets=("172.24.0.0/14",))})
    chosen = [item.network.subnets for item in with_kept_choices((east, asks, an_intent("west")), ledger)]
    assert chosen == [("172.24.0.0/14",), ("10.9.0.0/16",), None]
