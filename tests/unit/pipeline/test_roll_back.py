"""Pools come back before anything is called done: also of a KubeletConfig alone, and after a clean that was killed."""

from dataclasses import replace

import pytest
from unit.apply.fake_world import FakeCluster, FakeNode, Seeing, an_object
from unit.pipeline.fake_plans import a_plan, a_snapshot, a_stage

from railwright.apply.ledger import LedgerStore
from railwright.apply.means import Means
from railwright.changes.model import Changes
from railwright.core import kinds
from railwright.core.errors import KindNotServed
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


@pytest.mark.parametrize("deletes", [True, False], ids=["its configuration goes now", "an earlier clean left it"])
async def test_a_pool_that_is_gone_is_forgotten_and_the_others_are_waited_for(deletes):
    cluster = a_cluster()
    means = await means_of(cluster)
    gone = Ref(kinds.MACHINE_CONFIG_POOL, "", "gpu")
    machine = Ref(kinds.MACHINE_CONFIG, "", "99-railwright-gpu")
    await means.ledger.record_intention(rolling_entry(machine, CLEAN))
    await means.ledger.record_intention(rolling_entry(KUBELET, CLEAN))
    objects = [Undone(machine, "delete", Verdict.PASS)] if deletes else []
    lines = await rolled_back(objects, before(), means, CLEAN, dry_run=False)
    assert [(line.ref, line.action, line.verdict) for line in lines] == [
        (gone, "forget", Verdict.PASS),
        (POOL, "wait", Verdict.PASS),
    ]
    assert "no longer there" in lines[0].reason
    assert not {gone, POOL} & set(means.ledger.ledger.entries)


async def test_a_dry_run_says_that_a_pool_is_gone_and_forgets_nothing():
    means = await means_of(a_cluster())
    gone = Ref(kinds.MACHINE_CONFIG_POOL, "", "gpu")
    await means.ledger.record_intention(rolling_entry(Ref(kinds.MACHINE_CONFIG, "", "99-railwright-gpu"), CLEAN))
    (line,) = await rolled_back([], before(), means, CLEAN, dry_run=True)
    assert (line.ref, line.action) == (gone, "forget")
    assert gone in means.ledger.ledger.entries


async def test_where_no_pools_are_served_none_is_said_to_be_gone():
    cluster = a_cluster()
    means = await means_of(cluster)
    await means.ledger.record_intention(rolling_entry(KUBELET, CLEAN))

    def is_not_served(verb: str, ref: Ref) -> None:
        if verb == "list" and ref.kind == kinds.MACHINE_CONFIG_POOL:
            raise KindNotServed("no matches for kind MachineConfigPool")

    cluster.before_call = is_not_served
    (line,) = await rolled_back([], before(), means, CLEAN, dry_run=False)
    assert (line.action, line.verdict) == ("wait", Verdict.FAIL)
    assert POOL in means.ledger.ledger.entries


async def test_without_node_configuration_nothing_is_waited_for():
    means = await means_of(a_cluster())
    assert rolling_entry(Ref(kinds.NAMESPACE, "", "99-railwright-worker"), CLEAN) is None
    assert pools_rolling([Undone(MACHINE, "keep", Verdict.SKIP)], means.ledger.ledger) == ()
    assert await rolled_back([], before(), means, CLEAN, dry_run=False) == ()
