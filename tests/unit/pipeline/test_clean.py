import pytest
from unit.apply.fake_world import Answering, Killed, Seeing, an_object, content
from unit.apply.stage_builders import speaking_judges
from unit.pipeline.fake_plans import EAST, NODES, WEST, a_plan, a_refusal, a_world, an_intent, planned

from railwright.apply.ledger import LedgerStore
from railwright.apply.model import LedgerEntry
from railwright.core import kinds
from railwright.core.errors import Refused, UsageError, WriteConflict
from railwright.core.ids import FabricName
from railwright.core.objects import Ref, ref_of
from railwright.core.verdicts import Verdict
from railwright.pipeline.apply import apply_fabrics
from railwright.pipeline.clean import clean
from railwright.pipeline.documents import clean_document
from railwright.plan.model import OPERATORS_INSTALLED
from railwright.ports.cluster import Selection

NIC = Ref(kinds.NIC_CLUSTER_POLICY, "", "nic")


@pytest.fixture(autouse=True)
def _judges(monkeypatch):
    speaking_judges(monkeypatch)


async def applied(*names):
    world = a_world()
    for name in names or (EAST,):
        record = await apply_fabrics(world, (an_intent(name),), None, Seeing(), Answering())
        assert record.exit_code == 0
    return world


async def inside(world, kind):
    return [obj async for obj in world.cluster.list(Selection(kind, "railwright"))]


async def run(world, names=None, approval=None, **options):
    return await clean(world, names, None, Seeing(), approval or Answering(), **options)


async def test_everything_is_as_before_apply(monkeypatch):
    planned(monkeypatch)
    world = await applied()
    record = await run(world)
    assert (record.exit_code, content(world.cluster)) == (0, content(a_world().cluster))


async def test_networks_go_first_and_their_nads_with_them(monkeypatch):
    planned(monkeypatch)
    world = await applied()
    world.cluster.clock.advance(1)
    nad = Ref(kinds.NETWORK_ATTACHMENT_DEFINITION, "training", "east-rail0")
    assert world.cluster.find(nad) is not None
    seen = []

    def look(verb, ref):
        if verb == "delete" and ref == NIC:
            seen.append(world.cluster.find(nad))

    world.cluster.before_call = look
    record = await run(world)
    assert seen == [None]
    order = [item.ref.kind for item in record.objects]
    assert order.index(kinds.MACVLAN_NETWORK) < order.index(kinds.NIC_CLUSTER_POLICY) < order.index(kinds.NAMESPACE)


async def test_one_of_two_fabrics_goes_and_the_other_stays_as_it_was(monkeypatch):
    planned(monkeypatch)
    world = await applied(EAST, WEST)
    record = await run(world, (EAST,))
    assert record.exit_code == 0
    assert set(world.cluster.find(NIC)["spec"]) == {"west"}
    labels = world.cluster.find(Ref(kinds.NODE, "", "worker-1"))["metadata"]["labels"]
    assert "railwright.dev/fabric.west" in labels
    assert "railwright.dev/fabric.east" not in labels
    assert Ref(kinds.MACVLAN_NETWORK, "", "west-rail0") in world.cluster.store.objects
    assert Ref(kinds.MACVLAN_NETWORK, "", "east-rail0") not in world.cluster.store.objects
    await run(world)
    assert content(world.cluster) == content(a_world().cluster)


async def test_a_node_that_would_be_cut_off_by_now_refuses_the_clean(monkeypatch):
    planned(monkeypatch)
    world = await applied()
    planned(monkeypatch, lambda *names: a_plan(*names, refused_nodes=(a_refusal(node=NODES[1]),)))
    before = content(world.cluster)
    with pytest.raises(Refused, match="br-ex"):
        await run(world)
    assert content(world.cluster) == before


async def test_a_risk_is_asked_for_and_a_no_changes_nothing(monkeypatch):
    planned(monkeypatch)
    world = await applied()
    approval, before = Answering(answer=False), content(world.cluster)
    with pytest.raises(Refused):
        await run(world, approval=approval)
    assert content(world.cluster) == before
    assert approval.questions[0].nodes == NODES
    whole, *lines = approval.questions[0].details
    assert whole == "the whole of it: 4 delete, 2 restore; 1 step with a risk, the worst: driver reload; about 60 s"
    assert "  delete NicClusterPolicy nic" in lines
    assert lines[-1] == "pod training/job-0 on worker-1 uses 8 nvidia.com/gpu"


async def test_a_namespace_with_things_of_others_stays_and_says_why(monkeypatch):
    planned(monkeypatch)
    world = await applied()
    world.cluster.put(an_object(kinds.CONFIG_MAP, "theirs", "nvidia-network-operator"))
    record = await run(world)
    kept = [item for item in record.objects if item.action == "keep"]
    assert (record.exit_code, [item.ref.name for item in kept]) == (0, ["nvidia-network-operator"])
    assert "theirs" in kept[0].reason
    assert kept[0].verdict is Verdict.SKIP


async def test_the_ledger_goes_and_its_namespace_stays_with_what_others_put_there(monkeypatch):
    planned(monkeypatch)
    world = await applied()
    world.cluster.put(an_object(kinds.SECRET, "theirs", "railwright"))
    rehearsed, record = await run(world, dry_run=True), await run(world)
    for said in (rehearsed, record):
        kept = [item for item in said.objects if item.action == "keep"]
        assert [(str(item.ref), item.verdict) for item in kept] == [("Namespace railwright", Verdict.SKIP)]
        assert "theirs" in kept[0].reason
    there = [ref_of(obj).name for kind in (kinds.SECRET, kinds.CONFIG_MAP) for obj in await inside(world, kind)]
    assert there == ["theirs"]


@pytest.mark.parametrize("names_it", ["installedCSV", "currentCSV"])
async def test_an_operator_that_others_use_stays_and_so_does_its_namespace(monkeypatch, names_it):
    """Installed, or about to be: while OLM works only currentCSV names the CSV."""
    planned(monkeypatch)
    world = await applied()
    cluster = world.cluster
    namespace = "nvidia-network-operator"
    subscription = cluster.put(
        an_object(kinds.SUBSCRIPTION, "nno", namespace, spec={"name": namespace}, status={names_it: "nno.v1"}),
        "railwright",
    )
    cluster.put(an_object(kinds.CLUSTER_SERVICE_VERSION, "nno.v1", namespace), "olm")
    store = LedgerStore(cluster, cluster.clock)
    await store.load()
    await store.record_intention(
        LedgerEntry(
            ref=Ref(kinds.SUBSCRIPTION, namespace, "nno"),
            created=True,
            uid=subscription["metadata"]["uid"],
            fields=(),
            fabrics=(),
            order=0,
            stage=OPERATORS_INSTALLED,
        )
    )
    await store.close()
    theirs = cluster.put(an_object(kinds.MACVLAN_NETWORK, "theirs", spec={"networkNamespace": "training"}))
    record = await run(world)
    kept = {item.ref.kind for item in record.objects if item.action == "keep"}
    assert kept == {kinds.SUBSCRIPTION, kinds.NAMESPACE}
    assert cluster.find(Ref(kinds.CLUSTER_SERVICE_VERSION, namespace, "nno.v1")) is not None
    await cluster.delete(Ref(kinds.MACVLAN_NETWORK, "", "theirs"), uid=theirs["metadata"]["uid"])
    cluster.clock.advance(1)
    await run(world)
    assert ("delete", Ref(kinds.CLUSTER_SERVICE_VERSION, namespace, "nno.v1")) in cluster.writes
    assert content(cluster) == content(a_world().cluster)


async def test_a_dry_run_says_all_and_removes_nothing(monkeypatch):
    planned(monkeypatch)
    world = await applied()
    before = content(world.cluster)
    record = await run(world, dry_run=True, approval=Answering(answer=False))
    assert content(world.cluster) == before
    assert {item.action for item in record.objects} == {"delete", "restore"}


async def test_a_dry_run_says_every_question_that_a_real_run_asks(monkeypatch):
    planned(monkeypatch)
    world, asked = await applied(), Answering()
    rehearsed = await run(world, dry_run=True)
    await run(world, approval=asked)
    assert rehearsed.ahead
    assert list(rehearsed.ahead) == asked.questions
    text = clean_document(rehearsed).text
    assert all(f"{item.what} (risk: {item.risk.value})" in text for item in asked.questions)
    assert "the whole of it" in text


async def test_a_clean_goes_by_no_list_that_another_run_has_changed_since(monkeypatch):
    planned(monkeypatch)
    world = await applied()

    class AnotherApplies(Answering):
        """Somebody reads the question for a while."""

        def approve(self, question):
            world.cluster.merge(
                Ref(kinds.CONFIG_MAP, "railwright", "railwright-fabric-east"), {"data": {"applied_at": "now"}}
            )
            return super().approve(question)

    before = sorted(world.cluster.store.objects)
    with pytest.raises(WriteConflict, match="changed this cluster since clean looked at it"):
        await run(world, approval=AnotherApplies())
    assert sorted(world.cluster.store.objects) == before
    assert (await run(world)).exit_code == 0


async def test_a_fabric_that_was_never_applied_is_named(monkeypatch):
    planned(monkeypatch)
    world = await applied()
    with pytest.raises(UsageError, match="nort"):
        await run(world, (FabricName("north"),))


async def test_nothing_to_clean_is_no_failure_and_writes_nothing(monkeypatch):
    planned(monkeypatch)
    world = a_world()
    record = await run(world)
    assert (record.exit_code, record.objects, world.cluster.writes) == (0, (), [])


async def test_an_object_that_does_not_go_stops_before_what_it_needs(monkeypatch):
    planned(monkeypatch)
    world = await applied()
    network = Ref(kinds.MACVLAN_NETWORK, "", "east-rail0")
    world.cluster.merge(network, {"metadata": {"finalizers": ["operator.dev/x"]}})
    record = await run(world)
    assert record.exit_code == 4
    assert world.cluster.find(NIC) is not None
    world.cluster.merge(network, {"metadata": {"finalizers": None}})
    assert (await run(world)).exit_code == 0
    assert content(world.cluster) == content(a_world().cluster)


async def test_killed_after_any_write_and_run_again_everything_is_gone(monkeypatch):
    planned(monkeypatch)
    whole = await applied()
    start = len(whole.cluster.writes)
    await run(whole)
    for number in range(1, len(whole.cluster.writes) - start + 1):
        world = await applied()
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
        assert (record.exit_code, content(world.cluster)) == (0, content(a_world().cluster)), f"after write {number}"
