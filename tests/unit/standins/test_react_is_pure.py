"""Stand-ins run on a real API server too: they may rely on nothing but plain objects and the time."""

from datetime import UTC, datetime

import pytest
from unit.simulator.walk import gpu_policy, install_operators, nic_policy

from railwright.core.kinds import POD
from railwright.simulator.open import open_simulator
from railwright.standins.all import STANDINS
from railwright.standins.model import Objects

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(("name", "react"), STANDINS)
def test_an_empty_cluster_gives_nothing_to_do(name, react):
    assert react(Objects({}), NOW) == ()


@pytest.mark.parametrize(("name", "react"), STANDINS)
async def test_a_plain_mapping_gives_the_same_writes_as_the_simulators_index(name, react):
    world = open_simulator("h200-roce")
    await install_operators(world)
    await world.cluster.apply(nic_policy())
    await world.cluster.apply(gpu_policy())
    engine = world.cluster.engine
    seen = engine.seen()
    plain = Objects(dict(seen.objects), seen.devices)
    assert react(plain, NOW) == react(seen, NOW)
    assert react(seen, NOW) == react(seen, NOW)


async def test_a_world_at_rest_is_written_to_no_more():
    world = open_simulator("h200-roce")
    await install_operators(world)
    await world.cluster.apply(nic_policy())
    await world.cluster.apply(gpu_policy())
    await world.clock.sleep(900)
    version = world.cluster.engine.store.version
    await world.clock.sleep(900)
    assert world.cluster.engine.store.version == version


async def test_every_workload_made_is_complete_enough_for_a_real_api_server():
    world = open_simulator("adopt")
    for ref, obj in world.cluster.engine.store.objects.items():
        if ref.kind.kind not in {"DaemonSet", "Deployment"}:
            continue
        template = obj["spec"]["template"]
        wanted = obj["spec"]["selector"]["matchLabels"]
        assert wanted.items() <= template["metadata"]["labels"].items(), ref
        assert all(item["name"] and item["image"] for item in template["spec"]["containers"]), ref
        names = [item["name"] for item in template["spec"]["containers"]]
        assert len(names) == len(set(names)), ref
    assert any(ref.kind == POD for ref in world.cluster.engine.store.objects)
