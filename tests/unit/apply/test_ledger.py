from dataclasses import replace
from datetime import timedelta

import pytest
from unit.apply.fake_world import FakeClock, FakeCluster, Killed, an_object

from railwright.apply.lease import HEAD, HOLDER_ANNOTATION, LEASE_S
from railwright.apply.ledger import NAMESPACE_REF, LedgerStore
from railwright.apply.ledger_text import data_to_note, entry_key, entry_to_text, text_to_entry
from railwright.apply.model import LedgerEntry, StageNote
from railwright.changes.model import MISSING, TakenField
from railwright.core import kinds
from railwright.core.errors import ClusterBusy, ClusterError, ClusterUnreachable, PermissionMissing, WriteConflict
from railwright.core.ids import FabricName, StageName
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict

STAGE = StageName("nic-driver-ready")
EAST = FabricName("east")


def an_entry(name="a", **changes) -> LedgerEntry:
    entry = LedgerEntry(
        ref=Ref(kinds.CONFIG_MAP, "default", name),
        created=False,
        uid="u1",
        fields=(TakenField(("data", "x"), MISSING, "1"), TakenField(("data", "y"), "old", "new")),
        fabrics=(EAST,),
        order=0,
        stage=STAGE,
    )
    return replace(entry, **changes)


async def a_store(cluster: FakeCluster) -> LedgerStore:
    store = LedgerStore(cluster, cluster.clock)
    await store.load()
    return store


def test_an_entry_survives_being_written_down_with_absent_values_kept_apart_from_null():
    entry = an_entry(fields=(TakenField(("a",), MISSING, None), TakenField(("b",), None, MISSING)))
    assert text_to_entry(entry_to_text(entry), "here") == entry


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"apiVersion": "v1"}', "not json"])
def test_an_entry_that_somebody_edited_is_an_error_that_names_its_place(text):
    with pytest.raises(ClusterError, match="shard key k"):
        text_to_entry(text, "shard key k")


def test_a_ledger_that_an_earlier_version_wrote_is_read():
    """Before times were kept with an entry, and choices and values of before with a fabric."""
    text = (
        '{"apiVersion":"v1","kind":"Node","namespace":"","name":"worker-1","created":false,"uid":"5a","fields":['
        '{"path":["metadata","labels","a"],"previous":{"missing":true},"ours":{"value":"b"}}],'
        '"fabrics":["east-west"],"order":17,"stage":"nic-driver-ready","embedded":[]}'
    )
    entry = text_to_entry(text, "here")
    assert (entry.ref.name, entry.order, entry.recorded_at) == ("worker-1", 17, "")
    assert entry_to_text(replace(entry, recorded_at="")) == '{"format":2,' + text[1:-1] + ',"recorded_at":""}'
    note = data_to_note({"name": "east-west", "document": "x", "applied_at": "2026-11-01T00:00:00Z"}, "here")
    assert (note.name, note.stages, note.before, note.subnets) == ("east-west", (), (), ())


def test_two_objects_never_share_a_key():
    refs = [Ref(kinds.CONFIG_MAP, "a", "b"), Ref(kinds.CONFIG_MAP, "", "a/b"), Ref(kinds.SECRET, "a", "b")]
    assert len({entry_key(ref, 1) for ref in refs}) == 3


async def test_reading_a_ledger_writes_nothing():
    cluster = FakeCluster()
    ledger = await LedgerStore(cluster, cluster.clock).load()
    assert (dict(ledger.entries), cluster.writes) == ({}, [])


async def test_the_ledgers_own_namespace_is_its_first_entry():
    cluster = FakeCluster()
    store = await a_store(cluster)
    await store.record_intention(an_entry())
    ledger = await LedgerStore(cluster, cluster.clock).load()
    first = min(ledger.entries.values(), key=lambda entry: entry.order)
    assert (first.ref, first.created) == (NAMESPACE_REF, True)


async def test_a_namespace_that_was_there_before_is_never_ours():
    cluster = FakeCluster()
    cluster.put(an_object(kinds.NAMESPACE, "railwright"))
    store = await a_store(cluster)
    await store.record_intention(an_entry())
    assert NAMESPACE_REF not in store.ledger.entries
    await store.forget(an_entry().ref)
    assert not await store.remove_all()
    assert cluster.find(NAMESPACE_REF) is not None


async def test_what_a_field_held_first_is_never_overwritten_by_what_we_put_there():
    cluster = FakeCluster()
    store = await a_store(cluster)
    await store.record_intention(an_entry(fields=(TakenField(("f",), "theirs", "ours-1"),)))
    await store.record_intention(an_entry(fields=(TakenField(("f",), "ours-1", "ours-2"),)))
    assert store.ledger.entries[an_entry().ref].fields == (TakenField(("f",), "theirs", "ours-2"),)


async def test_an_entry_keeps_its_place_when_it_is_written_again():
    cluster = FakeCluster()
    store = await a_store(cluster)
    for name in ("a", "b", "a"):
        await store.record_intention(an_entry(name))
    orders = [store.ledger.entries[an_entry(name).ref].order for name in ("a", "b")]
    assert orders == [2, 3]


async def test_everything_is_read_back_as_it_was_written():
    cluster = FakeCluster()
    store = await a_store(cluster)
    await store.note_fabric(EAST, "kind: RailFabric", (("n1 VFs", "4"),), subnets=("192.168.0.0/16", "fd00::/48"))
    await store.note_stage((EAST,), StageNote(STAGE, Verdict.PASS, "ready", "2026-11-30T07:00:00Z"))
    for number in range(70):
        await store.record_intention(an_entry(f"object-{number}"))
    assert await LedgerStore(cluster, cluster.clock).load() == store.ledger
    shards = [ref for ref in cluster.store.objects if ref.name.startswith("railwright-ledger-")]
    assert len(shards) == 2


async def test_a_shard_never_grows_beyond_what_an_api_server_takes():
    cluster = FakeCluster()
    store = await a_store(cluster)
    for number in range(12):
        await store.record_intention(an_entry(f"o{number}", fields=(TakenField(("t",), "x" * 100_000, "y"),)))
    shards = [obj for ref, obj in cluster.store.objects.items() if ref.name.startswith("railwright-ledger-")]
    assert max(sum(map(len, shard["data"].values())) for shard in shards) < 700_000
    assert len((await LedgerStore(cluster, cluster.clock).load()).entries) == 13


async def test_when_all_is_forgotten_nothing_is_left():
    cluster = FakeCluster()
    store = await a_store(cluster)
    await store.note_fabric(EAST, "d")
    await store.record_intention(an_entry())
    assert not await store.remove_all()
    await store.forget(an_entry().ref)
    await store.remove_fabric(EAST)
    assert await store.remove_all()
    assert list(cluster.store.objects) == []


async def test_a_second_run_is_told_that_another_one_is_at_work():
    cluster = FakeCluster()
    first, second = await a_store(cluster), await a_store(cluster)
    await first.open()

    def still_there() -> None:
        patch = {"metadata": {"annotations": {"railwright.dev/holder-seen": cluster.clock.now().isoformat()}}}
        cluster.merge(HEAD, patch)

    cluster.clock.ticks.append(still_there)
    with pytest.raises(WriteConflict, match="another railwright"):
        await second.open()


async def test_a_lease_whose_owner_died_is_waited_out():
    cluster = FakeCluster()
    await (await a_store(cluster)).open()
    started_s = cluster.clock.elapsed_s
    await (await a_store(cluster)).open()
    assert LEASE_S <= cluster.clock.elapsed_s - started_s < 2 * LEASE_S


def somebody_took_over(cluster: FakeCluster) -> None:
    cluster.merge(HEAD, {"metadata": {"annotations": {HOLDER_ANNOTATION: "somebody"}}})


async def test_a_claim_that_was_lost_while_the_machine_slept_is_noticed(monkeypatch):
    """The monotonic clock of Linux stands still meanwhile: seen by it alone the claim was renewed a moment ago."""
    cluster = FakeCluster()
    store = await a_store(cluster)
    await store.open()
    somebody_took_over(cluster)
    await store.renew()
    woke_at = cluster.clock.now() + timedelta(hours=1)
    monkeypatch.setattr(FakeClock, "now", lambda _: woke_at)
    with pytest.raises(WriteConflict, match="another railwright"):
        await store.renew()


@pytest.mark.parametrize("what", ["a fabric", "everything"])
async def test_a_run_that_lost_its_claim_takes_nothing_of_the_ledger_away(what):
    cluster = FakeCluster()
    store = await a_store(cluster)
    await store.note_fabric(EAST, "d")
    if what == "everything":
        await store.remove_fabric(EAST)
    somebody_took_over(cluster)
    cluster.clock.advance(2 * LEASE_S)
    there = set(cluster.store.objects)
    with pytest.raises(WriteConflict, match="another railwright"):
        await (store.remove_all() if what == "everything" else store.remove_fabric(EAST))
    assert set(cluster.store.objects) == there


async def test_subnets_that_were_chosen_once_are_forgotten_with_the_wish_that_they_be_chosen():
    cluster = FakeCluster()
    store = await a_store(cluster)
    await store.note_fabric(EAST, "without", subnets=("192.168.0.0/16",))
    await store.note_stage((EAST,), StageNote(STAGE, Verdict.PASS, "ready", "now"))
    await store.note_fabric(EAST, "with its own")
    read = (await a_store(cluster)).ledger.fabrics[EAST]
    assert (read.document, read.subnets) == ("with its own", ())
    assert [note.stage for note in read.stages] == [STAGE]


async def test_a_lease_is_not_fought_for_without_end():
    """Whatever keeps writing to the ledger's head is named instead of being raced for ever."""
    cluster = FakeCluster()
    store = await a_store(cluster)
    await store.open()
    await store.close()
    touched = []

    def touch(verb, ref):
        if verb == "patch" and ref == HEAD:
            touched.append(ref)
            head = cluster.find(HEAD)
            cluster.put({**head, "metadata": {**head["metadata"], "labels": {"touched": str(len(touched))}}}, "other")

    cluster.before_call = touch
    with pytest.raises(WriteConflict, match="changed each of the 10 times"):
        await (await a_store(cluster)).open()
    assert len(touched) == 10


async def test_a_lease_is_free_at_once_after_a_clean_end():
    cluster = FakeCluster()
    store = await a_store(cluster)
    await store.open()
    await store.close()
    assert HOLDER_ANNOTATION not in cluster.find(HEAD)["metadata"].get("annotations", {})
    await (await a_store(cluster)).open()
    assert cluster.clock.elapsed_s < 1


async def test_another_runs_entries_are_never_lost_even_without_the_lease():
    cluster = FakeCluster()
    first = await a_store(cluster)
    await first.record_intention(an_entry("a"))
    cluster.clock.advance(LEASE_S + 1)
    second = await a_store(cluster)
    await second.record_intention(an_entry("b"))
    with pytest.raises(WriteConflict):
        await first.record_intention(an_entry("c"))
    assert {ref.name for ref in (await a_store(cluster)).ledger.entries} == {"railwright", "a", "b"}


async def test_what_somebody_else_wrote_into_a_shard_is_never_overwritten():
    cluster = FakeCluster()
    store = await a_store(cluster)
    await store.record_intention(an_entry("a"))
    cluster.merge(Ref(kinds.CONFIG_MAP, "railwright", "railwright-ledger-0000"), {"data": {"theirs": "x"}})
    with pytest.raises(WriteConflict):
        await store.record_intention(an_entry("b"))


async def test_a_label_on_a_shard_is_no_other_run():
    cluster = FakeCluster()
    store = await a_store(cluster)
    await store.record_intention(an_entry("a"))
    shard = Ref(kinds.CONFIG_MAP, "railwright", "railwright-ledger-0000")
    cluster.merge(shard, {"metadata": {"labels": {"backup": "yes"}}})
    await store.record_intention(an_entry("b"))
    assert len((await LedgerStore(cluster, cluster.clock).load()).entries) == 3


async def test_a_write_whose_answer_was_lost_is_not_taken_for_another_run():
    cluster = FakeCluster()
    store = await a_store(cluster)
    await store.record_intention(an_entry("a"))
    lost = ["railwright-ledger-0000"]

    def lose_the_answer(verb, ref):
        if verb == "patch" and ref.name in lost:
            lost.clear()
            raise ClusterUnreachable("connection reset")

    cluster.after_write = lose_the_answer
    await store.record_intention(an_entry("b"))
    assert an_entry("b").ref in (await LedgerStore(cluster, cluster.clock).load()).entries


async def test_a_ledger_that_was_killed_while_it_was_made_is_gone_on_with():
    """Kill before and after each of its writes."""
    clean_run = FakeCluster()
    await (await a_store(clean_run)).record_intention(an_entry())
    for number in range(1, len(clean_run.writes) + 1):
        cluster = FakeCluster()
        count = [0]

        def kill(verb, ref, count=count, number=number):
            count[0] += 1
            if count[0] == number:
                raise Killed

        cluster.after_write = kill
        with pytest.raises(Killed):
            await (await a_store(cluster)).record_intention(an_entry())
        cluster.after_write = lambda _verb, _ref: None
        store = await a_store(cluster)
        await store.record_intention(an_entry())
        assert {ref.name for ref in (await a_store(cluster)).ledger.entries} == {"railwright", "a"}, number


class _Going(FakeCluster):
    """The ledger's namespace is being deleted, and is gone after `goes_after_s`."""

    goes_after_s = 5.0

    async def get(self, ref):
        went = self.clock.monotonic_s() >= self.goes_after_s
        if ref == NAMESPACE_REF and not went:
            return {
                **an_object(kinds.NAMESPACE, "railwright"),
                "metadata": {"name": "railwright", "deletionTimestamp": "x"},
            }
        return await super().get(ref)


async def test_a_ledger_that_a_clean_just_deleted_is_waited_out():
    cluster = _Going()
    store = await a_store(cluster)
    await store.record_intention(an_entry())
    assert cluster.clock.monotonic_s() >= 5
    assert NAMESPACE_REF in (await store.load()).entries


async def test_a_ledger_that_never_goes_is_an_error_with_the_next_step():
    cluster = _Going()
    cluster.goes_after_s = 1e9
    with pytest.raises(ClusterBusy, match="being deleted"):
        await LedgerStore(cluster, cluster.clock).open()


def test_an_entry_that_nests_without_end_is_unreadable_and_no_bug():
    with pytest.raises(ClusterError, match="here"):
        text_to_entry("[" * 100_000, "here")


def _denied(*hidden):
    """Refuse lists of these kinds, as to a login without a Role."""

    def before(verb, ref):
        if verb == "list" and ref.kind in hidden:
            raise PermissionMissing(f"list {ref.kind.kind} is forbidden")

    return before


async def test_a_ledger_that_may_not_be_read_is_none_where_its_namespace_is_not_there():
    """No Role can be in a namespace that does not exist, so that before any apply nobody may read there."""
    cluster = FakeCluster(before_call=_denied(kinds.CONFIG_MAP))
    assert (await a_store(cluster)).ledger.entries == {}


@pytest.mark.parametrize("hidden", [(kinds.CONFIG_MAP,), (kinds.CONFIG_MAP, kinds.NAMESPACE)])
async def test_a_ledger_that_may_be_there_and_may_not_be_read_is_never_none(hidden):
    cluster = FakeCluster()
    if kinds.NAMESPACE not in hidden:
        cluster.put(an_object(kinds.NAMESPACE, NAMESPACE_REF.name))
    cluster.before_call = _denied(*hidden)
    with pytest.raises(PermissionMissing, match="list ConfigMap is forbidden"):
        await a_store(cluster)
