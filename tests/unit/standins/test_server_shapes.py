"""What a real API server leaves out or asks for, stand-ins leave out or give too."""

from datetime import UTC, datetime

import pytest
from unit.standins.clusters import ready_cluster

from railwright.core.kinds import DAEMON_SET, INSTALL_PLAN, POD, SUBSCRIPTION
from railwright.core.objects import Ref
from railwright.ports.cluster import Selection
from railwright.standins.kinds import kubelet
from railwright.standins.model import Objects

NOW = datetime(2026, 3, 2, tzinfo=UTC)
OMITTED_WHEN_ZERO = ("numberAvailable", "numberUnavailable", "updatedNumberScheduled")


async def test_counts_of_a_daemon_set_that_are_zero_are_left_out() -> None:
    world = await ready_cluster()
    found = [item async for item in world.cluster.list(Selection(DAEMON_SET))]
    assert found
    for item in found:
        assert 0 not in {item["status"].get(name) for name in OMITTED_WHEN_ZERO}


async def test_a_pending_subscription_names_its_plan_with_uid_and_says_when() -> None:
    world = await ready_cluster()
    for item in [item async for item in world.cluster.list(Selection(SUBSCRIPTION))]:
        status = item["status"]
        plan = await world.cluster.get(
            Ref(INSTALL_PLAN, item["metadata"]["namespace"], status["installPlanRef"]["name"])
        )
        assert status["installplan"]["uuid"] == plan["metadata"]["uid"]
        assert status["lastUpdated"]


@pytest.mark.parametrize(("finalizers", "ended"), [([], 1), (["somebody/waits"], 0)])
def test_a_kubelet_ends_a_pod_that_is_being_deleted(finalizers: list[str], ended: int) -> None:
    ref = Ref(POD, "n", "p")
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "n", "deletionTimestamp": "x", "finalizers": finalizers},
        "spec": {},
    }
    writes = kubelet.react(Objects({ref: pod}), NOW)
    assert [(write.verb, write.ref) for write in writes] == [("delete", ref)] * ended
