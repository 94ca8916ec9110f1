"""Clusters of other shapes: done whole, or refused with the reason and nothing written."""

from pathlib import Path

import pytest
from support.scenarios import Heard, Yes, applied, intents_for, open_for
from support.traces import differences, seen_objects

from railwright import api

SETTLE_S = 1800.0
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("method", ["shared", "host-device", "sriov"])
@pytest.mark.parametrize("world_name", ["sno", "gb200"])
async def test_a_world_of_another_shape_is_done_whole(world_name, method):
    world = await open_for("roce", world=world_name)
    assert (await applied(world, intents_for(method, "roce"))).exit_code == 0
    assert (await api.status(world)).exit_code == 0


@pytest.mark.parametrize("method", ["shared", "host-device"])
async def test_plain_kubernetes_is_done_whole_and_undone_with_what_its_nodes_bring_along(method):
    world = await open_for("roce", world="vanilla")
    await world.clock.sleep(SETTLE_S)
    before = await seen_objects(world.cluster)
    assert (await applied(world, intents_for(method, "roce", more="  network: {mtu: 1500}\n"))).exit_code == 0
    assert (await api.status(world)).exit_code == 0
    assert (await api.clean(world, approval=Yes())).exit_code == 0
    await world.clock.sleep(SETTLE_S)
    assert differences(before, await seen_objects(world.cluster)) == []


async def test_of_a_single_node_status_says_why_nothing_was_verified():
    world = await open_for("roce", world="sno")
    await applied(world, intents_for("shared", "roce"))
    verified = (await api.status(world)).stages[-1]
    assert (verified.verdict, verified.reason) == ("SKIP", "never run: two nodes are needed, and 1 is admitted")


async def test_plain_kubernetes_goes_all_the_way_with_its_example_and_with_what_the_refusal_says():
    world = await open_for("roce", world="vanilla")
    usual = await api.plan(world, intents_for("shared", "roce"))
    refused = [refusal for node in usual.plan.nodes for refusal in node.refused]
    hint = (
        "spec.network.mtu: 1500 takes the ports as they are, at less bandwidth; or raise the ports to 9000 on the node"
    )
    assert {refusal.code for refusal in refused} == {"port-mtu-too-small"}
    assert all(refusal.hint.startswith(hint) for refusal in refused)

    intents = api.read_intents(EXAMPLES / "shared-roce-plain-kubernetes.yaml")
    assert not (await api.plan(world, intents)).plan.is_refused
    assert (await applied(world, intents)).exit_code == 0
    assert (await api.status(world)).exit_code == 0
    assert (await api.verify(world, None, approval=Yes())).exit_code == 0
    assert (await api.clean(world, approval=Yes())).exit_code == 0
    assert (await api.status(world)).stages == ()


@pytest.mark.parametrize(
    ("world_name", "method", "code"),
    [
        ("hcp", "shared", "hosted-control-plane"),
        ("hcp", "sriov", "hosted-control-plane"),
        ("vanilla", "sriov", "sriov-on-plain-kubernetes"),
        ("vanilla", "shared", "port-mtu-too-small on worker-0"),
        ("vanilla", "host-device", "port-mtu-too-small on worker-0"),
        ("vanilla+irdma-loaded", "shared", "irdma-loaded on worker-0"),
    ],
)
async def test_a_world_that_is_not_supported_is_refused_with_nothing_written(world_name, method, code):
    world, heard = await open_for("roce", world=world_name), Heard()
    with pytest.raises(api.Refused, match=code):
        await applied(world, intents_for(method, "roce"), progress=heard)
    assert heard.writes == []
