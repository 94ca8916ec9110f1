"""GPU drivers come batch by batch: the GPU Operator has no selector of ours, so a label keeps it off until the turn."""

from dataclasses import dataclass, field

from support.others import change, now_is, store
from support.scenarios import Yes, applied, intents_for, open_for
from support.traces import differences, seen_objects

from railwright import api
from railwright.core import kinds
from railwright.core.objects import Ref, dig, labels_of
from railwright.plan.turns import OPERANDS
from railwright.ports.approval import Question
from railwright.ports.progress import StageEnded

CANARY, LATER = Ref(kinds.NODE, "", "worker-0"), Ref(kinds.NODE, "", "worker-1")


def gpu_driver_nodes(world):
    """Nodes that a GPU driver pod is on."""
    return {
        dig(obj, "spec", "nodeName")
        for ref, obj in store(world).objects.items()
        if ref.kind == kinds.POD and ref.name.startswith("nvidia-driver-daemonset")
    }


@dataclass
class Looks:
    """Looks at the world whenever a stage ends."""

    world: object
    seen: dict = field(default_factory=dict)

    def emit(self, event):
        if isinstance(event, StageEnded):
            self.seen[event.stage, event.batch] = (
                labels_of(now_is(self.world, LATER)).get(OPERANDS),
                gpu_driver_nodes(self.world),
            )


@dataclass
class Asked:
    """Says yes, and keeps the questions."""

    questions: list[Question] = field(default_factory=list)

    def approve(self, question):
        self.questions.append(question)
        return not question.takes_over


async def test_gpu_drivers_come_to_the_canary_first():
    world = await open_for("roce")
    looks = Looks(world)
    assert (await applied(world, intents_for("shared", "roce"), progress=looks)).exit_code == 0
    assert looks.seen["nic-driver-ready", "canary"] == ("false", set())
    assert looks.seen["networks-attached", "canary"] == ("false", {"worker-0"})
    assert looks.seen["nic-driver-ready", "batch-2"] == ("false", {"worker-0"})
    assert looks.seen["gpu-driver-ready", "batch-2"] == (None, {"worker-0", "worker-1"})
    assert OPERANDS not in labels_of(now_is(world, CANARY))


async def test_keeping_the_gpu_operator_off_is_part_of_the_question():
    world, asked = await open_for("roce"), Asked()
    await api.apply(world, intents_for("shared", "roce"), approval=asked)
    by_what = {question.what.partition(":")[0]: question for question in asked.questions}
    first = by_what["stage 4 of 9 nic-driver-ready, batch canary"]
    assert f"keeps the GPU Operator off worker-1 ({OPERANDS}=false)" in first.details
    assert by_what["stage 6 of 9 gpu-driver-ready, batch canary"].nodes == ("worker-0",)
    assert by_what["stage 6 of 9 gpu-driver-ready, batch batch-2"].nodes == ("worker-1",)


async def test_a_canary_without_a_gpu_driver_leaves_the_others_alone_and_clean_takes_the_label_back():
    world = await open_for("roce", "gpu-driver-pod-fails")
    await world.clock.sleep(1800.0)
    before = await seen_objects(world.cluster)
    record = await applied(world, intents_for("shared", "roce"))
    assert (record.stages[-1].stage, record.stages[-1].batch, record.exit_code) == ("gpu-driver-ready", "canary", 4)
    assert gpu_driver_nodes(world) == {"worker-0"}
    assert labels_of(now_is(world, LATER))[OPERANDS] == "false"
    assert (await api.clean(world, approval=Yes())).exit_code == 0
    assert OPERANDS not in labels_of(now_is(world, LATER))
    await world.clock.sleep(1800.0)
    assert differences(before, await seen_objects(world.cluster)) == []


async def test_a_node_on_which_gpu_operands_run_is_never_taken_out():
    world = await open_for("roce")
    await applied(world, intents_for("shared", "roce"))
    looks = Looks(world)
    assert (
        await applied(world, intents_for("shared", "roce", more="  podsPerRail: 5\n"), progress=looks)
    ).exit_code == 0
    assert {label for label, _ in looks.seen.values()} == {None}
    assert gpu_driver_nodes(world) == {"worker-0", "worker-1"}


async def test_a_node_that_somebody_keeps_the_gpu_operator_off_is_refused():
    world = await open_for("roce")
    change(world, LATER, {"metadata": {"labels": {OPERANDS: "false"}}})
    (node,) = [item for item in (await api.plan(world, intents_for("shared", "roce"))).plan.nodes if item.refused]
    assert (node.node, [item.code for item in node.refused]) == ("worker-1", ["gpu-operands-held-back"])
    assert (await applied(world, intents_for("shared", "roce"))).exit_code == 0
    assert gpu_driver_nodes(world) == {"worker-0"}
    assert (await api.clean(world, approval=Yes())).exit_code == 0
    assert labels_of(now_is(world, LATER))[OPERANDS] == "false"
