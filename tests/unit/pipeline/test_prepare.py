from dataclasses import replace

from unit.pipeline.fake_plans import a_snapshot

from railwright.apply.model import Ledger, LedgerEntry
from railwright.core import kinds
from railwright.core.ids import StageName
from railwright.core.objects import Ref
from railwright.pipeline.before_us import before_us

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
