"""Stages and changes for apply's tests, and judges that read an object's own words."""

from unit.apply.fake_world import FakeCluster, FakeNode, Seeing

from railwright.apply import observe
from railwright.apply.ledger import LedgerStore
from railwright.apply.means import Means
from railwright.apply.model import StageChanges, StageRecord
from railwright.apply.ours import known_refs, taken_by_ref
from railwright.apply.stage import apply
from railwright.changes.compare import compare
from railwright.core.ids import FabricName, StageName
from railwright.core.objects import dig
from railwright.manifests.model import Manifest
from railwright.readiness.model import Judgement, Readiness

STAGE = StageName("nic-driver-ready")
EAST = FabricName("east")


def speaking_judges(monkeypatch) -> None:
    """Let `status.readiness` of an object be its judgement; without one it is ready."""

    def judge(obj, companions, receipt, now):
        del companions, receipt, now
        said = Readiness(dig(obj, "status", "readiness", default="ready"))
        return Judgement(said, f"it says {said}", f"{obj['metadata']['name']} to be ready")

    def judge_expectation(expectation, companions, now):
        del now
        node = getattr(expectation, "node", "")
        if node in companions.hardware:
            return Judgement(Readiness.READY, "seen")
        return Judgement(Readiness.PROGRESSING, companions.hardware_problems.get(node, "not read"), f"node {node}")

    monkeypatch.setattr(observe, "judge", judge)
    monkeypatch.setattr(observe, "judge_expectation", judge_expectation)
    monkeypatch.setattr(observe, "selections_for", lambda refs, expectations: ())


def a_manifest(obj, **changes) -> Manifest:
    return Manifest(STAGE, obj, (EAST,), **changes)


async def stage_for(cluster: FakeCluster, manifests, **changes) -> StageChanges:
    """Compare manifests with the cluster, as pipeline does before each stage."""
    ledger = await LedgerStore(cluster, cluster.clock).load()
    live = {item.ref: cluster.find(item.ref) for item in manifests if cluster.find(item.ref) is not None}
    compared = compare(tuple(manifests), live, known_refs(ledger, live), taken=taken_by_ref(ledger))
    values = {
        "stage": STAGE,
        "batch": "",
        "nodes": (),
        "changes": compared.of_stage(STAGE),
        "gated": tuple(item.ref for item in manifests if item.node is None),
        "expectations": (),
        "approvals": (),
        "fabrics": (EAST,),
        "expected_s": 60.0,
        "limit_s": 300.0,
        "hold_s": 10.0,
        "owners": {item.ref: item.fabrics for item in manifests},
    }
    return StageChanges(**{**values, **changes})


async def carry_out(cluster: FakeCluster, stage: StageChanges, node=None, progress=None) -> StageRecord:
    """Apply one stage as a run of its own would."""
    store = LedgerStore(cluster, cluster.clock)
    await store.load()
    try:
        return await apply(
            stage, cluster, node or FakeNode(), cluster.clock, progress or Seeing(), ledger=store, script="script"
        )
    finally:
        if not stage.dry_run:
            await store.close()


def means_of(cluster: FakeCluster, store: LedgerStore, progress=None) -> Means:
    return Means(cluster, FakeNode(), cluster.clock, progress or Seeing(), store, "script")
