"""Clusters of other shapes: done whole, or refused with the reason and nothing written."""

import pytest
from support.scenarios import Heard, applied, intents_for, open_for

from railwright import api


@pytest.mark.parametrize("method", ["shared", "host-device", "sriov"])
@pytest.mark.parametrize("world_name", ["sno", "gb200"])
async def test_a_world_of_another_shape_is_done_whole(world_name, method):
    world = await open_for("roce", world=world_name)
    assert (await applied(world, intents_for(method, "roce"))).exit_code == 0
    assert (await api.status(world)).exit_code == 0


@pytest.mark.parametrize(
    ("world_name", "method", "code"),
    [
        ("hcp", "shared", "hosted-control-plane"),
        ("hcp", "sriov", "hosted-control-plane"),
        ("vanilla", "sriov", "sriov-on-plain-kubernetes"),
    ],
)
async def test_a_world_that_is_not_supported_is_refused_with_nothing_written(world_name, method, code):
    world, heard = await open_for("roce", world=world_name), Heard()
    with pytest.raises(api.Refused, match=code):
        await applied(world, intents_for(method, "roce"), progress=heard)
    assert heard.writes == []
