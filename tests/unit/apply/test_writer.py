import pytest
from unit.apply.fake_world import FakeCluster, Killed, Seeing, an_object, content
from unit.apply.stage_builders import a_manifest, carry_out, speaking_judges, stage_for

from railwright.apply.ledger import LedgerStore
from railwright.apply.writer import check_node_change
from railwright.changes.model import MISSING, Action, Change
from railwright.core import kinds
from railwright.core.errors import ClusterBusy, LoginExpired, ObjectRefused
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict
from railwright.ports.progress import Note, Wrote

MANAGED = {"app.kubernetes.io/managed-by": "railwright"}
NODE = Ref(kinds.NODE, "", "worker-1")
POLICY = Ref(kinds.NIC_CLUSTER_POLICY, "", "nic-cluster-policy")


@pytest.fixture(autouse=True)
def _judges(monkeypatch):
    speaking_judges(monkeypatch)


def our_policy(**spec):
    return a_manifest(an_object(kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", labels=MANAGED, spec=spec))


def our_label(value="admitted", node="worker-1"):
    labels = {"railwright.dev/fabric.east": value}
    return a_manifest(an_object(kinds.NODE, node, labels=labels), node=node, partial=True)


def with_node(cluster: FakeCluster) -> FakeCluster:
    cluster.put(an_object(kinds.NODE, "worker-1", labels={"kubernetes.io/hostname": "worker-1"}))
    return cluster


async def entries_of(cluster: FakeCluster):
    return (await LedgerStore(cluster, cluster.clock).load()).entries


async def test_an_object_is_in_the_ledger_before_it_is_on_the_cluster():
    cluster = FakeCluster()
    stage = await stage_for(cluster, [our_policy(a="1")])
    seen = []

    def look(verb, ref):
        if verb == "apply" and ref == POLICY:
            shards = [obj for name, obj in cluster.store.objects.items() if name.name.startswith("railwright-ledger-0")]
            seen.append(any("nic-cluster-policy" in text for shard in shards for text in shard["data"].values()))

    cluster.before_call = look
    assert (await carry_out(cluster, stage)).verdict is Verdict.PASS
    entry = (await entries_of(cluster))[POLICY]
    assert (seen, entry.created, entry.uid) == ([True], True, cluster.find(POLICY)["metadata"]["uid"])


async def test_of_an_object_of_others_each_field_we_take_is_kept_with_what_it_held():
    cluster = FakeCluster()
    cluster.put(an_object(kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", spec={"a": "theirs", "b": "theirs"}))
    stage = await stage_for(cluster, [our_policy(a="ours", c="ours")], take_over=True)
    assert (await carry_out(cluster, stage)).verdict is Verdict.PASS
    entry = (await entries_of(cluster))[POLICY]
    taken = {item.path: (item.previous, item.ours) for item in entry.fields}
    assert taken["spec", "a"] == ("theirs", "ours")
    assert taken["spec", "c"] == (MISSING, "ours")
    assert ("spec", "b") not in taken
    assert not entry.created


async def test_a_field_of_someone_else_ends_the_stage_before_the_first_write():
    cluster = FakeCluster()
    cluster.put(an_object(kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", spec={"a": "theirs"}), manager="argocd")
    other = a_manifest(an_object(kinds.MACVLAN_NETWORK, "net", labels=MANAGED))
    record = await carry_out(cluster, await stage_for(cluster, [other, our_policy(a="ours")]))
    assert record.verdict is Verdict.FAIL
    assert "argocd" in record.reason
    assert "theirs" in record.reason
    assert cluster.writes == []


async def test_a_field_that_someone_takes_between_compare_and_write_is_not_forced():
    cluster = FakeCluster()
    cluster.put(an_object(kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", spec={"a": "1"}), manager="railwright-old")
    stage = await stage_for(cluster, [our_policy(b="ours")])
    cluster.merge(POLICY, {"spec": {"b": "theirs"}}, manager="argocd")
    record = await carry_out(cluster, stage)
    assert (record.verdict, cluster.find(POLICY)["spec"]["b"]) == (Verdict.FAIL, "theirs")
    assert "argocd" in record.reason


async def test_an_object_that_only_moved_is_compared_and_written_again():
    cluster = FakeCluster()
    cluster.put(an_object(kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", spec={"a": "1"}))
    stage = await stage_for(cluster, [our_policy(b="ours")])
    moves = [2]

    def move(verb, ref):
        if verb == "apply" and ref == POLICY and moves[0]:
            moves[0] -= 1
            cluster.merge(POLICY, {"metadata": {"annotations": {"touched": str(moves[0])}}})

    cluster.before_call = move
    assert (await carry_out(cluster, stage)).verdict is Verdict.PASS
    assert cluster.find(POLICY)["spec"] == {"a": "1", "b": "ours"}


async def test_an_object_that_never_holds_still_ends_the_stage():
    cluster = FakeCluster()
    cluster.put(an_object(kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", spec={"a": "1"}))
    stage = await stage_for(cluster, [our_policy(b="ours")])
    count = [0]

    def move(verb, ref):
        if verb == "apply" and ref == POLICY:
            count[0] += 1
            cluster.merge(POLICY, {"metadata": {"annotations": {"touched": str(count[0])}}})

    cluster.before_call = move
    record = await carry_out(cluster, stage)
    assert (record.verdict, count) == (Verdict.FAIL, [3])


async def test_an_object_made_by_someone_else_after_the_plan_is_adopted_not_claimed():
    cluster = FakeCluster()
    stage = await stage_for(cluster, [our_policy(a="ours")])
    cluster.put(an_object(kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", spec={"z": "theirs"}))
    assert (await carry_out(cluster, stage)).verdict is Verdict.PASS
    entry = (await entries_of(cluster))[POLICY]
    assert not entry.created
    assert {item.path for item in entry.fields} >= {("spec", "a")}


async def test_of_a_node_only_labels_are_written():
    cluster = with_node(FakeCluster())
    record = await carry_out(cluster, await stage_for(cluster, [our_label()]))
    assert record.verdict is Verdict.PASS
    assert cluster.find(NODE)["metadata"]["labels"]["railwright.dev/fabric.east"] == "admitted"
    for section in ({"spec": {"unschedulable": True}}, {"status": {}}):
        change = Change(NODE, Action.ADOPT, {**an_object(kinds.NODE, "worker-1"), **section})
        with pytest.raises(ObjectRefused):
            check_node_change(change)


async def test_a_node_that_left_is_never_made():
    cluster = with_node(FakeCluster())
    stage = await stage_for(cluster, [our_label()])
    await cluster.delete(NODE)
    record = await carry_out(cluster, stage)
    assert (record.verdict, cluster.find(NODE)) == (Verdict.FAIL, None)


async def test_a_busy_server_is_asked_again():
    cluster = FakeCluster()
    stage = await stage_for(cluster, [our_policy(a="1")])
    busy = [3]

    def refuse(verb, ref):
        if verb == "apply" and ref == POLICY and busy[0]:
            busy[0] -= 1
            raise ClusterBusy("failed calling webhook")

    cluster.before_call = refuse
    assert (await carry_out(cluster, stage)).verdict is Verdict.PASS


async def test_a_busy_server_is_not_asked_for_ever():
    cluster = FakeCluster()
    stage = await stage_for(cluster, [our_policy(a="1")])

    def refuse(verb, ref):
        if verb == "apply" and ref == POLICY:
            raise ClusterBusy("failed calling webhook")

    cluster.before_call = refuse
    with pytest.raises(ClusterBusy):
        await carry_out(cluster, stage)
    assert cluster.clock.elapsed_s < 200


@pytest.mark.parametrize("error", [ObjectRefused("admission webhook denied: no NIC"), LoginExpired("401")])
async def test_a_no_for_good_is_not_repeated(error):
    cluster = FakeCluster()
    stage = await stage_for(cluster, [our_policy(a="1")])
    calls = []

    def refuse(verb, ref):
        if verb == "apply" and ref == POLICY:
            calls.append(ref)
            raise error

    cluster.before_call = refuse
    if isinstance(error, ObjectRefused):
        record = await carry_out(cluster, stage)
        assert (record.verdict, "no NIC" in record.reason) == (Verdict.FAIL, True)
    else:
        with pytest.raises(LoginExpired):
            await carry_out(cluster, stage)
    assert len(calls) == 1


@pytest.mark.parametrize(("until_s", "verdict"), [(40, Verdict.PASS), (10_000, Verdict.FAIL)])
async def test_nics_that_the_operator_has_not_seen_yet_are_waited_for_but_not_for_ever(until_s, verdict):
    cluster = FakeCluster()
    stage = await stage_for(cluster, [our_policy(a="1")])

    def refuse(verb, ref):
        if verb == "apply" and ref == POLICY and cluster.clock.elapsed_s < until_s:
            raise ObjectRefused("denied the request: no supported NIC is selected by the nicSelector in CR x")

    cluster.before_call = refuse
    record = await carry_out(cluster, stage)
    assert (record.verdict, cluster.clock.elapsed_s < 200) == (verdict, True)
    assert ("no supported NIC" in record.reason) is (verdict is Verdict.FAIL)


async def test_a_second_apply_writes_nothing():
    cluster = with_node(FakeCluster())
    manifests = [our_policy(a="1"), our_label()]
    await carry_out(cluster, await stage_for(cluster, manifests))
    before, cluster.writes = dict(cluster.store.objects.items()), []
    record = await carry_out(cluster, await stage_for(cluster, manifests))
    assert (record.verdict, record.writes, record.elapsed_s) == (Verdict.PASS, (), 0.0)
    changed = [ref for ref, obj in cluster.store.objects.items() if before.get(ref) != obj]
    assert all(ref.namespace == "railwright" for ref in changed)


async def test_a_dry_run_stores_nothing_and_says_what_the_server_could_not_check():
    cluster = FakeCluster()
    manifests = [
        our_policy(a="1"),
        a_manifest(an_object(kinds.SRIOV_IB_NETWORK, "net", "nowhere", spec={})),
        a_manifest(an_object(kinds.SRIOV_NETWORK, "net", "nowhere", spec={})),
    ]
    progress = Seeing()
    record = await carry_out(cluster, await stage_for(cluster, manifests, dry_run=True), progress=progress)
    assert (record.verdict, list(cluster.store.objects)) == (Verdict.PASS, [])
    assert all(event.dry_run for event in progress.of(Wrote))
    assert len(progress.of(Note)) == 2


async def test_a_dry_run_shows_every_refusal():
    cluster = FakeCluster()
    manifests = [our_policy(a="1"), a_manifest(an_object(kinds.MACVLAN_NETWORK, "net"))]

    def refuse(verb, ref):
        if verb == "dry-run":
            raise ObjectRefused(f"{ref} is wrong")

    cluster.before_call = refuse
    record = await carry_out(cluster, await stage_for(cluster, manifests, dry_run=True))
    assert record.reason.count("is wrong") == 2


async def test_nodes_that_are_as_wanted_are_looked_at_as_a_list_and_one_that_moved_is_written():
    cluster = FakeCluster()
    names = [f"worker-{number}" for number in range(8)]
    for name in names:
        cluster.put(an_object(kinds.NODE, name))
    manifests = [our_label(node=name) for name in names]
    await carry_out(cluster, await stage_for(cluster, manifests))
    again, moved = await stage_for(cluster, manifests), Ref(kinds.NODE, "", names[3])
    await cluster.patch(moved, {"metadata": {"labels": {"railwright.dev/fabric.east": None}}})
    asked = []
    cluster.before_call = lambda verb, ref: asked.append((verb, ref.name)) if ref.kind == kinds.NODE else None
    assert (await carry_out(cluster, again)).verdict is Verdict.PASS
    assert asked == [("list", ""), ("get", names[3]), ("apply", names[3])]
    assert cluster.find(moved)["metadata"]["labels"] == {"railwright.dev/fabric.east": "admitted"}


async def test_killed_after_any_write_and_run_again_it_ends_the_same():
    """Kill between any two writes: intention, effect, confirmation, of made and of taken objects."""

    def a_world() -> FakeCluster:
        cluster = with_node(FakeCluster())
        cluster.put(an_object(kinds.CLUSTER_POLICY, "gpu-cluster-policy", spec={"driver": {"a": "theirs"}}))
        return cluster

    manifests = [
        our_policy(a="1"),
        a_manifest(an_object(kinds.CLUSTER_POLICY, "gpu-cluster-policy", spec={"driver": {"a": "ours", "b": "ours"}})),
        our_label(),
    ]

    async def run(cluster):
        await carry_out(cluster, await stage_for(cluster, manifests, take_over=True))

    whole = a_world()
    await run(whole)
    expected = content_without_times(whole)
    for number in range(1, len(whole.writes) + 1):
        cluster = a_world()
        count = [0]

        def kill(verb, ref, count=count, number=number):
            count[0] += 1
            if count[0] == number:
                raise Killed

        cluster.after_write = kill
        with pytest.raises(Killed):
            await run(cluster)
        cluster.after_write = lambda _verb, _ref: None
        await run(cluster)
        assert content_without_times(cluster) == expected, f"killed after write {number}"


def content_without_times(cluster: FakeCluster):
    """Everything but the ledger's own text, and of that the entries without times and uids."""
    objects = {name: obj for name, obj in content(cluster).items() if "railwright-ledger" not in name}
    return objects, sorted(ledger_lines(cluster))


def ledger_lines(cluster: FakeCluster):
    from railwright.apply.ledger_text import text_to_entry

    for ref, obj in cluster.store.objects.items():
        if ref.name.startswith("railwright-ledger-"):
            for text in obj["data"].values():
                entry = text_to_entry(text, "")
                live = cluster.find(entry.ref)
                yield (str(entry.ref), entry.created, entry.uid == live["metadata"]["uid"], str(entry.fields))
