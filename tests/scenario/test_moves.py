"""Day two: another driver or operator version is a move, node by node behind gates, canaries first."""

from dataclasses import dataclass, field, replace

import pytest
from support.others import NIC, change, driver_pods, now_is
from support.scenarios import Yes, applied, intents_for, open_for
from support.traces import differences, seen_objects

from railwright import api
from railwright.core import kinds
from railwright.core.ids import NodeName
from railwright.core.objects import Ref, dig, labels_of
from railwright.core.risk import Risk
from railwright.ports.approval import Question
from railwright.ports.node import Node, NodeAnswer
from railwright.ports.progress import StageEnded

OLD, NEW = "doca3.4.1-26.04-1.1.0.0-1", "doca3.3.0-26.01-1.0.0.0-0"
BOTH = f"  driver: {{nicVersion: {NEW}, gpuVersion: 570.195.03}}\n"
NIC_ONLY = f"  driver: {{nicVersion: {NEW}}}\n"
WORKERS = (Ref(kinds.NODE, "", "worker-0"), Ref(kinds.NODE, "", "worker-1"))
SKIPS = ("nvidia.com/ofed-driver-upgrade.skip", "nvidia.com/gpu-driver-upgrade.skip")


def nic_images(world):
    """Version of the NIC's driver on each node that has a pod of it."""
    pods = [now_is(world, ref) for ref in driver_pods(world)]
    return {
        dig(pod, "spec", "nodeName"): NEW if NEW in dig(pod, "spec", "containers", 0, "image") else OLD for pod in pods
    }


def skips(world):
    """Labels that hold drivers, on each worker."""
    return {ref.name: tuple(label in labels_of(now_is(world, ref)) for label in SKIPS) for ref in WORKERS}


def breaks(world, *troubles):
    """From now on something is wrong with this world."""
    world.cluster.engine.troubles = frozenset(troubles)


@dataclass
class Looks:
    """Looks at the world whenever a stage ends."""

    world: object
    seen: dict = field(default_factory=dict)

    def emit(self, event):
        if isinstance(event, StageEnded):
            self.seen[event.stage, event.batch] = (nic_images(self.world), skips(self.world))


@dataclass
class Asked:
    """Says yes, and keeps the questions."""

    questions: list[Question] = field(default_factory=list)

    def approve(self, question):
        self.questions.append(question)
        return not question.takes_over


async def applied_first(*faults, more=""):
    world = await open_for("roce", *faults)
    assert (await applied(world, intents_for("shared", "roce", more=more))).exit_code == 0
    return world


async def test_a_plan_with_other_driver_versions_shows_the_move_node_by_node():
    world = await applied_first()
    prepared = await api.plan(world, intents_for("shared", "roce", more=BOTH))
    assert [(move.what, move.seen, move.wanted, move.nodes) for move in prepared.plan.moves] == [
        ("DOCA driver", "26.04-1.1.0", NEW, ("worker-0", "worker-1")),
        ("GPU driver", "open 580.95.05", "570.195.03", ("worker-0", "worker-1")),
    ]
    assert (await api.plan(world, intents_for("shared", "roce"))).plan.moves == ()


async def test_drivers_move_to_the_canary_first_and_the_others_are_held_until_its_gates_have_passed():
    world = await applied_first()
    looks = Looks(world)
    record = await applied(world, intents_for("shared", "roce", more=BOTH), progress=looks)
    assert record.exit_code == 0
    canary_only, all_new = {"worker-0": NEW, "worker-1": OLD}, {"worker-0": NEW, "worker-1": NEW}
    assert looks.seen["nic-driver-ready", "canary"] == (
        canary_only,
        {"worker-0": (False, True), "worker-1": (True, True)},
    )
    assert looks.seen["networks-attached", "canary"] == (
        canary_only,
        {"worker-0": (False, False), "worker-1": (True, True)},
    )
    assert looks.seen["nic-driver-ready", "batch-2"] == (
        all_new,
        {"worker-0": (False, False), "worker-1": (False, True)},
    )
    assert skips(world) == {"worker-0": (False, False), "worker-1": (False, False)}
    assert {dig(now_is(world, ref), "spec", "unschedulable", default=False) for ref in WORKERS} == {False}
    assert (await api.status(world)).exit_code == 0


async def test_a_move_is_asked_for_as_a_drain_of_its_own_nodes_with_the_pods_there():
    world, asked = await applied_first(), Asked()
    await api.apply(world, intents_for("shared", "roce", more=NIC_ONLY), approval=asked)
    first, second = asked.questions
    assert (first.risk, first.nodes, second.risk, second.nodes) == (
        Risk.DRAIN,
        ("worker-0",),
        Risk.DRAIN,
        ("worker-1",),
    )
    assert f"moves DOCA driver 26.04-1.1.0 -> {NEW}: its pods are drained" in first.details[0]
    assert "keeps the driver of worker-1 as it is until their turn" in first.details[1]


async def test_a_canary_that_fails_stops_the_move_before_the_second_node_and_going_back_mends_it():
    world = await applied_first()
    breaks(world, "driver-crashes")
    record = await applied(world, intents_for("shared", "roce", more=NIC_ONLY))
    assert (record.stages[-1].stage, record.stages[-1].batch, record.exit_code) == ("nic-driver-ready", "canary", 4)
    assert nic_images(world)["worker-1"] == OLD
    assert skips(world)["worker-1"][0]
    breaks(world)
    assert (await applied(world, intents_for("shared", "roce"))).exit_code == 0
    assert nic_images(world) == {"worker-0": OLD, "worker-1": OLD}
    assert skips(world) == {"worker-0": (False, False), "worker-1": (False, False)}


@pytest.mark.parametrize("until", ["nic-driver-ready", "gpu-driver-ready"])
async def test_a_move_that_stopped_after_the_canary_goes_on_with_the_nodes_that_are_held(until):
    world = await applied_first()
    moved = intents_for("shared", "roce", more=BOTH)
    breaks(world, "plugin-finds-nothing")
    assert (await applied(world, moved)).exit_code == 4
    breaks(world)
    assert [move.nodes for move in (await api.plan(world, moved)).plan.moves] == [("worker-1",)] * 2
    assert (await applied(world, moved, until=until)).exit_code == 0
    assert (await applied(world, moved)).exit_code == 0
    assert nic_images(world) == {"worker-0": NEW, "worker-1": NEW}
    assert skips(world) == {"worker-0": (False, False), "worker-1": (False, False)}


async def test_a_move_leaves_nothing_that_clean_does_not_take_back():
    world = await open_for("roce")
    await world.clock.sleep(1800.0)
    before = await seen_objects(world.cluster)
    await applied(world, intents_for("shared", "roce"))
    breaks(world, "driver-crashes")
    await applied(world, intents_for("shared", "roce", more=BOTH))
    breaks(world)
    assert (await api.clean(world, approval=Yes())).exit_code == 0
    await world.clock.sleep(1800.0)
    assert differences(before, await seen_objects(world.cluster)) == []


async def test_a_node_that_somebody_holds_back_is_named_and_left_as_it_is():
    world = await applied_first()
    change(world, WORKERS[1], {"metadata": {"labels": {SKIPS[0]: "true"}}})
    moved = intents_for("shared", "roce", more=NIC_ONLY)
    plan = (await api.plan(world, moved)).plan
    assert [move.nodes for move in plan.moves] == [("worker-0",)]
    assert [item.where for item in plan.warnings if item.code == "driver-held-by-others"] == ["worker-1"]
    assert (await applied(world, moved)).exit_code == 0
    assert nic_images(world) == {"worker-0": NEW, "worker-1": OLD}
    assert skips(world)["worker-1"][0]


@dataclass
class KeepsOldModules:
    """Nodes whose kernel goes on with the modules that it has, whatever the newest driver pod says."""

    inner: Node

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
        record = await self.inner.read(node, script, timeout_s=timeout_s)
        return replace(record, text=record.text.replace("26.01-1.0.0", "26.04-1.1.0"))


async def test_a_new_pod_beside_the_old_module_is_not_taken_for_the_new_driver():
    world = await applied_first()
    stuck = replace(world, node=KeepsOldModules(world.node))
    record = await applied(stuck, intents_for("shared", "roce", more=NIC_ONLY))
    assert (record.stages[-1].stage, record.stages[-1].batch, record.exit_code) == ("nic-driver-ready", "canary", 4)
    assert f"node worker-0: mlx5_core is 26.04-1.1.0, {NEW} is wanted" in record.stages[-1].reason
    assert nic_images(world) == {"worker-0": NEW, "worker-1": OLD}


async def test_drivers_of_the_only_node_are_left_to_a_person_as_a_stated_decision():
    world = await open_for("roce", world="sno")
    plan = (await api.plan(world, intents_for("shared", "roce"))).plan
    (decision,) = [item for item in plan.decisions if item.key == "east-west: spec.upgrade.auto"]
    assert (decision.value, decision.origin) == ("false", "cluster")
    assert (await applied(world, intents_for("shared", "roce"))).exit_code == 0
    assert dig(now_is(world, NIC), "spec", "ofedDriver", "upgradePolicy", "autoUpgrade") is False
    moved = (await api.plan(world, intents_for("shared", "roce", more=NIC_ONLY))).plan.moves
    assert [(move.skip_label, "delete the pod" in move.how) for move in moved] == [("", True)]
