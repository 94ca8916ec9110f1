import asyncio

import pytest
from unit.apply.fake_world import FakeCluster, FakeNode, Seeing, an_object
from unit.apply.stage_builders import a_manifest, carry_out, speaking_judges, stage_for

from railwright.apply import observe
from railwright.apply.model import CsvApproval
from railwright.apply.stage import StageInterrupted
from railwright.core import kinds
from railwright.core.errors import ClusterUnreachable, PermissionMissing
from railwright.core.ids import NodeName
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict
from railwright.plan.model import DriverLoaded
from railwright.ports.node import NodeAnswer
from railwright.ports.progress import Note, Waiting

POLICY = Ref(kinds.NIC_CLUSTER_POLICY, "", "nic-cluster-policy")


@pytest.fixture(autouse=True)
def _judges(monkeypatch):
    speaking_judges(monkeypatch)


def saying(cluster: FakeCluster, *answers: tuple[float, str]) -> None:
    """Let the policy's status change at given times after the stage began."""

    def tick() -> None:
        due = [answer for at_s, answer in answers if cluster.clock.elapsed_s >= at_s]
        live = cluster.find(POLICY)
        if due and live is not None and live.get("status", {}).get("readiness") != due[-1]:
            cluster.merge(POLICY, {"status": {"readiness": due[-1]}}, "operator", status=True)

    cluster.clock.ticks.append(tick)


async def gated(cluster: FakeCluster, *, progress=None, node=None, **changes):
    stage = await stage_for(
        cluster, [a_manifest(an_object(kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", spec={"a": "1"}))], **changes
    )
    return await carry_out(cluster, stage, node=node, progress=progress)


async def test_ready_has_to_hold():
    cluster = FakeCluster()
    saying(cluster, (0, "progressing"), (20, "ready"))
    record = await gated(cluster)
    assert record.verdict is Verdict.PASS
    assert 30 <= record.elapsed_s < 33


async def test_ready_that_flickers_starts_anew():
    cluster = FakeCluster()
    saying(cluster, (0, "progressing"), (5, "ready"), (12, "progressing"), (20, "ready"))
    record = await gated(cluster)
    assert (record.verdict, record.elapsed_s >= 30) == (Verdict.PASS, True)


async def test_failed_for_a_moment_is_not_failed():
    cluster = FakeCluster()
    saying(cluster, (0, "progressing"), (5, "failed"), (9, "progressing"), (20, "ready"))
    assert (await gated(cluster)).verdict is Verdict.PASS


async def test_failed_that_holds_ends_the_stage_long_before_its_limit():
    cluster = FakeCluster()
    saying(cluster, (0, "progressing"), (5, "failed"))
    record = await gated(cluster)
    assert (record.verdict, record.elapsed_s < 20) == (Verdict.FAIL, True)
    assert "it says failed" in record.reason


async def test_never_ready_is_given_up_at_the_limit_and_says_who_holds_it_up():
    cluster = FakeCluster()
    saying(cluster, (0, "progressing"))
    record = await gated(cluster)
    assert (record.verdict, record.reason) == (Verdict.FAIL, "not ready after 300 s: nic-cluster-policy to be ready")
    assert record.waiting_for == "nic-cluster-policy to be ready"
    assert 300 <= record.elapsed_s < 305


async def test_what_could_not_be_looked_at_is_unknown_not_failed():
    cluster = FakeCluster()
    saying(cluster, (0, "unknown"))
    assert (await gated(cluster)).verdict is Verdict.UNKNOWN


async def test_a_watch_that_delivers_nothing_is_not_believed():
    cluster = FakeCluster(deaf=True)
    saying(cluster, (0, "progressing"), (20, "ready"))
    record = await gated(cluster)
    assert (record.verdict, record.elapsed_s < 60) == (Verdict.PASS, True)


async def test_a_watch_that_returns_at_once_does_not_spin():
    cluster = FakeCluster()
    saying(cluster, (0, "progressing"), (20, "ready"))
    reads = []

    class Broken:
        async def next(self, timeout_s):
            return ()

    class Opened:
        async def __aenter__(self):
            return Broken()

        async def __aexit__(self, *exc):
            return None

    cluster.watch = lambda selections: Opened()
    cluster.before_call = lambda verb, ref: reads.append(verb) if ref == POLICY else None
    assert (await gated(cluster)).verdict is Verdict.PASS
    assert len(reads) < 60


async def test_an_api_server_that_is_away_for_a_while_is_waited_for():
    cluster = FakeCluster()
    saying(cluster, (0, "progressing"), (20, "ready"))

    def away(verb, ref):
        if verb == "get" and ref == POLICY and 10 <= cluster.clock.elapsed_s < 100:
            raise ClusterUnreachable("connection refused")

    cluster.before_call = away
    cluster.deaf = True
    record = await gated(cluster)
    assert record.verdict is Verdict.PASS
    assert record.elapsed_s > 100


async def test_an_api_server_that_is_away_with_the_ledger_too_is_waited_for_within_the_limit():
    """As that of a single node, which our own roll-out reboots; the lease is asked for again only when it answers."""
    cluster = FakeCluster()
    saying(cluster, (0, "progressing"), (20, "ready"))

    def away(verb, ref):
        if 10 <= cluster.clock.elapsed_s < 900:
            raise ClusterUnreachable("connection refused")

    cluster.before_call = away
    record = await gated(cluster, limit_s=2700.0)
    assert record.verdict is Verdict.PASS
    assert record.elapsed_s > 900


async def test_a_watch_that_cannot_be_opened_is_waited_for():
    cluster = FakeCluster()
    saying(cluster, (0, "progressing"), (20, "ready"))
    opened, open_watch = [], cluster.watch

    def refuse_at_first(selections):
        opened.append(cluster.clock.elapsed_s)
        if len(opened) < 4:
            raise ClusterUnreachable("connection refused")
        return open_watch(selections)

    cluster.watch = refuse_at_first
    assert (await gated(cluster)).verdict is Verdict.PASS
    assert len(opened) == 4


async def test_an_api_server_that_never_comes_back_is_unknown_within_the_limit():
    cluster = FakeCluster()
    saying(cluster, (0, "progressing"))
    cluster.deaf = True

    def away(verb, ref):
        if verb == "get" and ref == POLICY and cluster.clock.elapsed_s >= 10:
            raise ClusterUnreachable("connection refused")

    cluster.before_call = away
    progress = Seeing()
    record = await gated(cluster, progress=progress)
    assert record.verdict is Verdict.UNKNOWN
    assert "connection refused" in record.waiting_for


async def test_a_missing_permission_is_an_error_not_a_wait():
    cluster = FakeCluster()
    reads = [0]

    def forbid(verb, ref):
        reads[0] += ref == POLICY
        if verb == "get" and ref == POLICY and reads[0] > 2:
            raise PermissionMissing("cannot get nicclusterpolicies")

    cluster.before_call = forbid
    with pytest.raises(PermissionMissing):
        await gated(cluster)


async def test_waiting_is_shown_when_it_changes_and_every_ten_seconds():
    cluster = FakeCluster()
    saying(cluster, (0, "progressing"), (35, "ready"))
    progress = Seeing()
    await gated(cluster, progress=progress)
    shown = progress.of(Waiting)
    assert 4 <= len(shown) <= 7
    assert shown[-1].waiting_for == "the same answer to hold"
    assert all(event.limit_s == 300 for event in shown)


async def test_the_inside_of_nodes_is_read_only_when_the_api_has_nothing_left_to_say(monkeypatch):
    monkeypatch.setattr(observe, "parse_node_record", lambda text: text)
    cluster = FakeCluster()
    saying(cluster, (0, "progressing"), (100, "ready"))
    node = FakeNode(NodeAnswer("a record", "exec"))
    record = await gated(cluster, node=node, expectations=(DriverLoaded(NodeName("worker-1"), mlx5="doca"),))
    assert (record.verdict, node.reads <= 2) == (Verdict.PASS, True)


async def test_a_node_that_does_not_answer_is_asked_again_at_intervals_and_named():
    cluster = FakeCluster()
    node = FakeNode()
    record = await gated(cluster, node=node, expectations=(DriverLoaded(NodeName("worker-1"), mlx5="doca"),))
    assert record.verdict is Verdict.FAIL
    assert record.waiting_for == "node worker-1"
    assert 10 <= node.reads <= 25


# --- InstallPlans ----------------------------------------------------------------------------------------------------


def an_install_plan(name, *csvs, phase="RequiresApproval"):
    spec = {"approved": False, "clusterServiceVersionNames": list(csvs)}
    status = {"phase": phase} if phase else {}
    return an_object(kinds.INSTALL_PLAN, name, "nvidia-network-operator", spec=spec, status=status)


def with_plan(cluster: FakeCluster, plan) -> None:
    """Let OLM make an InstallPlan some seconds into the wait, and the policy get ready once it is approved."""
    ref = Ref(kinds.INSTALL_PLAN, "nvidia-network-operator", plan["metadata"]["name"])

    def tick() -> None:
        if cluster.clock.elapsed_s >= 5 and cluster.find(ref) is None:
            cluster.put(plan, "olm")
        live = cluster.find(ref)
        answer = "ready" if live is not None and live["spec"]["approved"] else "progressing"
        if cluster.find(POLICY) is not None:
            cluster.merge(POLICY, {"status": {"readiness": answer}}, "operator", status=True)

    cluster.put(an_object(kinds.NAMESPACE, "nvidia-network-operator"))
    cluster.clock.ticks.append(tick)


APPROVAL = (CsvApproval("nvidia-network-operator", ("nvidia-network-operator.v26.4.1",)),)


async def test_exactly_the_planned_csv_is_approved_and_noted():
    cluster = FakeCluster()
    with_plan(cluster, an_install_plan("install-a", "nvidia-network-operator.v26.4.1"))
    record = await gated(cluster, approvals=APPROVAL)
    assert record.verdict is Verdict.PASS
    assert Ref(kinds.INSTALL_PLAN, "nvidia-network-operator", "install-a") in {write.ref for write in record.writes}


@pytest.mark.parametrize(
    "csvs",
    [
        ("nvidia-network-operator.v26.7.0",),
        ("nvidia-network-operator.v26.4.1", "somebody-elses.v1"),
        (),
    ],
)
async def test_an_install_plan_that_brings_anything_else_is_left_alone(csvs):
    cluster = FakeCluster()
    with_plan(cluster, an_install_plan("install-a", *csvs))
    progress = Seeing()
    record = await gated(cluster, approvals=APPROVAL, progress=progress)
    assert record.verdict is Verdict.FAIL
    assert not cluster.find(Ref(kinds.INSTALL_PLAN, "nvidia-network-operator", "install-a"))["spec"]["approved"]
    assert len(progress.of(Note)) == (1 if len(csvs) == 2 else 0)


async def test_an_install_plan_without_a_phase_is_left_alone_until_olm_gives_it_one():
    """Written to before its first status, OLM gives it up and makes another, for ever."""
    cluster = FakeCluster()
    with_plan(cluster, an_install_plan("install-a", "nvidia-network-operator.v26.4.1", phase=""))
    ref = Ref(kinds.INSTALL_PLAN, "nvidia-network-operator", "install-a")
    too_early = []

    def olm() -> None:
        live = cluster.find(ref)
        if live is not None and not live["status"]:
            too_early.append(live["spec"]["approved"])
            if cluster.clock.elapsed_s >= 30:
                cluster.merge(ref, {"status": {"phase": "RequiresApproval"}}, "olm", status=True)

    cluster.clock.ticks.append(olm)
    record = await gated(cluster, approvals=APPROVAL)
    assert record.verdict is Verdict.PASS
    assert len(too_early) > 1
    assert not any(too_early)


async def test_an_interrupted_stage_says_what_it_had_written_and_goes_on_next_time():
    cluster = FakeCluster()
    saying(cluster, (0, "progressing"), (50, "ready"))
    task = asyncio.ensure_future(gated(cluster))
    cluster.clock.ticks.append(lambda: task.cancel() if 20 < cluster.clock.elapsed_s < 22 else None)
    cluster.clock.ticks.append(lambda: None)

    real_watch = cluster.watch

    def yielding(selections):
        opened = real_watch(selections)

        class Opened:
            async def __aenter__(self):
                watch = await opened.__aenter__()

                class Yielding:
                    async def next(self, timeout_s):
                        seen = await watch.next(timeout_s)
                        await asyncio.get_running_loop().run_in_executor(None, lambda: None)
                        return seen

                return Yielding()

            async def __aexit__(self, *exc):
                return await opened.__aexit__(*exc)

        return Opened()

    cluster.watch = yielding
    with pytest.raises(StageInterrupted) as caught:
        await task
    assert caught.value.record.reason == "interrupted"
    assert [write.ref for write in caught.value.record.writes] == [POLICY]
    again = await gated(cluster)
    assert (again.verdict, again.writes) == (Verdict.PASS, ())
