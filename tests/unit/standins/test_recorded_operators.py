"""The same inputs as the real operators got give what they were recorded to make."""

import json
from pathlib import Path

import pytest
from unit.simulator.walk import install_operators

from railwright.core.kinds import DAEMON_SET, NETWORK_ATTACHMENT_DEFINITION
from railwright.core.objects import Ref, ref_of
from railwright.ports.cluster import Selection
from railwright.simulator.open import open_simulator
from railwright.standins.kinds.network_operator import kernel_hash
from railwright.standins.operators import GPU, NETWORK

CASES = Path(__file__).parents[2] / "cases" / "standins"


def recordings(start):
    return [pytest.param(json.loads(path.read_text()), id=path.stem) for path in sorted(CASES.glob(f"{start}.*.json"))]


async def replay(recorded, operator):
    world = open_simulator("h200-roce")
    await install_operators(world)
    for body in recorded["inputs"]:
        await world.cluster.apply(body)
    await world.clock.sleep(600)
    made = {
        item["metadata"]["name"]: {
            "nodeSelector": item["spec"]["template"]["spec"].get("nodeSelector", {}),
            "containers": sorted(part["name"] for part in item["spec"]["template"]["spec"]["containers"]),
            "updateStrategy": item["spec"]["updateStrategy"]["type"],
        }
        async for item in world.cluster.list(Selection(DAEMON_SET, operator.namespace))
    }
    return world, made


@pytest.mark.parametrize("recorded", recordings("network-operator"))
async def test_network_operator(recorded):
    world, made = await replay(recorded, NETWORK)
    policy = await world.cluster.get(ref_of(recorded["inputs"][0]))
    assert policy["status"] == recorded["status"]
    assert made == recorded["daemon_sets"]
    for nad in recorded["nads"]:
        live = await world.cluster.get(Ref(NETWORK_ATTACHMENT_DEFINITION, "default", nad["name"]))
        assert live["spec"]["config"] == nad["config"]
        assert nad["annotations"].items() <= live["metadata"]["annotations"].items()


@pytest.mark.parametrize("recorded", recordings("gpu-operator"))
async def test_gpu_operator(recorded):
    world, made = await replay(recorded, GPU)
    status = (await world.cluster.get(ref_of(recorded["inputs"][0])))["status"]
    for conditions in (status["conditions"], recorded["status"]["conditions"]):
        for item in conditions:
            item.pop("lastTransitionTime")
    assert status == recorded["status"]
    assert made == recorded["daemon_sets"]


def test_the_hash_of_a_kernel_is_the_recorded_one():
    assert kernel_hash("5.14.0-570.62.1.el9_6.x86_64") == "75cdcb5967"
