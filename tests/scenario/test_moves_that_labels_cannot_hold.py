"""Where no label can hold a driver, or nothing is known of a node, a move asks for every node that it may reach."""

from dataclasses import dataclass, field, replace

import pytest
from support.others import change, now_is
from support.scenarios import applied, intents_for, open_for

from railwright import api
from railwright.core import kinds
from railwright.core.errors import Refused
from railwright.core.objects import Ref, labels_of
from railwright.core.risk import Risk
from railwright.ports.approval import Question

BOTH = ("worker-0", "worker-1")
NEW = "  driver: {nicVersion: doca3.3.0-26.01-1.0.0.0-0}\n"
IN_BOX = "  driver: {nic: in-box, memory: dma-buf}\n"
NIC_SKIP = "nvidia.com/ofed-driver-upgrade.skip"
WORKER = Ref(kinds.NODE, "", "worker-1")


@dataclass
class Asked:
    """Says yes until the stage that brings the NIC's driver, keeps that question, and says no."""

    questions: list[Question] = field(default_factory=list)

    def approve(self, question):
        if "nic-driver-ready" not in question.what:
            return True
        self.questions.append(question)
        return False


async def applied_first(*, more=""):
    world = await open_for("roce")
    assert (await applied(world, intents_for("shared", "roce", more=more))).exit_code == 0
    return world


def cannot_be_read(world, name):
    """From now on nobody gets into one machine."""
    engine = world.cluster.engine
    engine.machines = tuple(replace(item, readable=item.name != name) for item in engine.machines)


async def question_of_driver(world, intents):
    asked = Asked()
    with pytest.raises(Refused):
        await api.apply(world, intents, approval=asked)
    return asked.questions[0]


async def test_a_node_of_ours_that_cannot_be_read_is_held_like_one_that_has_the_driver():
    world = await applied_first()
    cannot_be_read(world, "worker-1")
    plan = (await api.plan(world, intents_for("shared", "roce", more=NEW))).plan
    assert [(move.what, move.nodes) for move in plan.moves] == [("DOCA driver", BOTH)]
    assert [item.where for item in plan.warnings if item.code == "driver-held-without-turn"] == ["worker-1"]
    await applied(world, intents_for("shared", "roce", more=NEW))
    assert labels_of(now_is(world, WORKER)).get(NIC_SKIP) == "true"


async def test_a_driver_that_comes_to_admitted_nodes_is_asked_for_with_all_of_them():
    world = await applied_first(more=IN_BOX)
    prepared = await api.plan(world, intents_for("shared", "roce"))
    (move,) = [item for item in prepared.plan.moves if item.what == "DOCA driver"]
    assert (move.seen, move.nodes, move.skip_label, move.together) == ("none of its operator", BOTH, "", True)
    question = await question_of_driver(world, intents_for("shared", "roce"))
    assert (question.risk, question.nodes) == (Risk.DRIVER_RELOAD, BOTH)
    assert any("puts the DOCA driver on worker-0, worker-1 at once" in line for line in question.details)


async def test_a_driver_that_goes_is_asked_for_with_all_nodes_and_promises_no_turn():
    world = await applied_first()
    prepared = await api.plan(world, intents_for("shared", "roce", more=IN_BOX))
    (move,) = [item for item in prepared.plan.moves if item.what == "DOCA driver"]
    assert (move.wanted, move.nodes, move.skip_label, move.together) == ("none of its operator", BOTH, "", True)
    question = await question_of_driver(world, intents_for("shared", "roce", more=IN_BOX))
    assert question.nodes == BOTH
    assert any("takes the DOCA driver off worker-0, worker-1 at once" in line for line in question.details)


async def test_a_driver_of_the_same_version_is_said_to_be_loaded_anew():
    world = await applied_first()
    proxy = "  proxy: {http: http://proxy.example.com:3128}\n"
    moves = (await api.plan(world, intents_for("shared", "roce", more=proxy))).plan.moves
    assert [(move.what, move.nodes) for move in moves] == [("DOCA driver", BOTH), ("GPU driver", BOTH)]
    assert moves[0].wanted == "doca3.4.1-26.04-1.1.0.0-1, loaded anew"


async def test_a_skip_label_that_says_false_moves_nothing():
    world = await applied_first()
    change(world, WORKER, {"metadata": {"labels": {NIC_SKIP: "false"}}})
    assert (await api.plan(world, intents_for("shared", "roce"))).plan.moves == ()


@pytest.mark.parametrize("is_readable", [True, False])
async def test_a_gpu_driver_outside_every_fabric_is_asked_for_as_a_drain_of_its_node(is_readable):
    world, only_first = await open_for("roce"), "  nodes: {names: [worker-0]}\n"
    assert (await applied(world, intents_for("shared", "roce", more=only_first))).exit_code == 0
    change(world, WORKER, {"metadata": {"labels": {"nvidia.com/gpu.deploy.operands": None}}})
    await world.clock.sleep(3600.0)
    if not is_readable:
        cannot_be_read(world, "worker-1")
    questions = []

    class All:
        def approve(self, question):
            questions.append(question)
            return not question.takes_over

    moved = intents_for("shared", "roce", more=f"{only_first}  driver: {{gpuVersion: 570.195.03}}\n")
    await api.apply(world, moved, approval=All())
    (asked,) = [item for item in questions if "gpu-driver-ready" in item.what]
    assert (asked.risk, asked.nodes) == (Risk.DRAIN, BOTH)
    assert any(
        line.endswith("nothing holds worker-1, and the operator goes on there as it likes") for line in asked.details
    )
