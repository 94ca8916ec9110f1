"""Pools come back before anything is called done: also of a KubeletConfig alone, and after a clean that was killed."""

from dataclasses import replace

from unit.apply.fake_world import FakeCluster, FakeNode, Seeing, an_object
from unit.pipeline.fake_plans import a_plan, a_snapshot, a_stage

from railwright.apply.ledger import LedgerStore
from railwright.apply.means import Means
from railwright.changes.model import Changes
from railwright.core import kinds
from railwright.core.ids import StageName
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict
from railwright.manifests.model import Manifests
from railwright.pipeline.model import Prepared, Undone
from railwright.pipeline.roll_back import pools_rolling, rolled_back, rolling_entry
from railwright.plan.model import NODES_PREPARED

CLEAN = StageName("clean")
POOL = Ref(kinds.MACHINE_CONFIG_POOL, "", "worker")
KUBELET, MACHINE = (
    Ref(kinds.KUBELET_CONFIG, "", "railwright-worker"),
    Ref(kinds.MACHINE_CONFIG, "", "99-railwright-worker"),
)
MADE = "99-worker-generated-kubelet"
BACK_AFTER_S = 50.0
"""The machine config operator looks at it only then; the pool says Updated all the while."""


def of_pool(*names: str) -> dict:
    return {"configuration": {"source": [{"name": name} for name in names]}}


def a_cluster() -> FakeCluster:
    counts = dict.fromkeys(("machineCount", "updatedMachineCount", "readyMachineCount"), 2)
    status = {
        "observedGeneration": 9,
        **of_pool("00-worker", MADE),
        **counts,
        "conditions": [{"type": "Updated", "status": "True"}],
    }
    cluster = FakeCluster()
    cluster.put(an_object(kinds.MACHINE_CONFIG, "00-worker"))
    cluster.put(an_object(kinds.MACHINE_CONFIG_POOL, "worker", spec=of_pool("00-worker", MADE), status=status))

    def look() -> None:
        if cluster.clock.elapsed_s >= BACK_AFTER_S:
            cluster.merge(POOL, {"spec": of_pool("00-worker")}, "mco")
            cluster.merge(POOL, {"status": of_pool("00-worker")}, "mco", status=True)

    cluster.clock.ticks.append(look)
    return cluster


async def means_of(cluster: FakeCluster) -> Means:
    store = LedgerStore(cluster, cluster.clock)
    await store.open()
    return Means(cluster, FakeNode(), cluster.clock, Seeing(), store, "")


def before() -> Prepared:
    plan = replace(a_plan(), stages=(a_stage(NODES_PREPARED),))
    return Prepared((), a_snapshot(), plan, Manifests(()), Changes(()), None)


async def test_a_pool_is_waited_for_until_what_was_made_of_a_kubelet_config_is_out_of_it():
    cluster = a_cluster()
    means = await means_of(cluster)
    await means.ledger.record_intention(rolling_entry(KUBELET, CLEAN))
    gone = Undone(KUBELET, "delete", Verdict.PASS)
    (line,) = await rolled_back([gone], before(), means, CLEAN, dry_run=False)
    assert (line.ref, line.action, line.verdict) == (POOL, "wait", Verdict.PASS)
    assert cluster.clock.elapsed_s >= BACK_AFTER_S
    assert POOL not in means.ledger.ledger.entries


async def test_a_pool_that_an_earlier_clean_left_rolling_is_waited_for_with_nothing_to_undo():
    cluster = a_cluster()
    killed = await means_of(cluster)
    await killed.ledger.record_intention(rolling_entry(KUBELET, CLEAN))
    await killed.ledger.close()
    (line,) = await rolled_back([], before(), await means_of(cluster), CLEAN, dry_run=False)
    assert (line.ref, line.verdict) == (POOL, Verdict.PASS)
    assert cluster.clock.elapsed_s >= BACK_AFTER_S


async def test_a_pool_that_does_not_come_back_stays_in_the_ledger():
    cluster = a_cluster()
    cluster.clock.ticks.clear()
    means = await means_of(cluster)
    await means.ledger.record_intention(rolling_entry(MACHINE, CLEAN))
    (line,) = await rolled_back([], before(), means, CLEAN, dry_run=False)
    assert line.verdict is Verdict.FAIL
    assert f"MachineConfig {MADE} is still in what pool worker has" in line.reason
    assert POOL in means.ledger.ledger.entries


async def test_without_node_configuration_nothing_is_waited_for():
    means = await means_of(a_cluster())
    assert rolling_entry(Ref(kinds.NAMESPACE, "", "99-railwright-worker"), CLEAN) is None
    assert pools_rolling([Undone(MACHINE, "keep", Verdict.SKIP)], means.ledger.ledger) == ()
    assert await rolled_back([], before(), means, CLEAN, dry_run=False) == ()
