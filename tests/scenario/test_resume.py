"""
Killed between any two writes and started again: the same end state as never killed, and clean leaves nothing.

The ordinary run takes a sample of the moments; RAILWRIGHT_EVERY_KILL=1 takes every one.
"""

import os
from dataclasses import replace

import pytest
from support.kills import Killed, KillingCluster
from support.scenarios import Heard, Yes, applied, intents_for, open_for
from support.traces import differences, lasting_objects, seen_objects

from railwright import api

SETTLE_S = 1800.0
MOST_WRITES = 400
"""More than one apply of shared roce makes; the test below sees to it."""
SAMPLE = (1, 2, 3, 17, 45, 90, 150, 210, 270)
EVERY = range(1, MOST_WRITES + 1)
MOMENTS = EVERY if os.environ.get("RAILWRIGHT_EVERY_KILL") else SAMPLE


async def _killed_at(number):
    """Open a world and apply until just before its write `number`; None when there were fewer."""
    world = await open_for("roce")
    await world.clock.sleep(SETTLE_S)
    deadly = replace(world, cluster=KillingCluster(world.cluster, number))
    try:
        await applied(deadly, intents_for("shared", "roce"))
    except Killed:
        return world
    return None


@pytest.fixture(scope="module")
def never_killed():
    return {}


async def _end_state(never_killed):
    """What a run that nobody killed leaves; made once."""
    if not never_killed:
        world = await open_for("roce")
        await world.clock.sleep(SETTLE_S)
        assert (await applied(world, intents_for("shared", "roce"))).exit_code == 0
        await world.clock.sleep(SETTLE_S)
        never_killed["state"] = await lasting_objects(world.cluster)
    return never_killed["state"]


@pytest.mark.parametrize("number", MOMENTS)
async def test_killed_and_run_again_ends_as_if_never_killed(number, never_killed):
    world, intents = await _killed_at(number), intents_for("shared", "roce")
    if world is None:
        return
    assert (await applied(world, intents)).exit_code == 0
    await world.clock.sleep(SETTLE_S)
    assert differences(await _end_state(never_killed), await lasting_objects(world.cluster)) == []

    heard = Heard()
    assert (await applied(world, intents, progress=heard)).exit_code == 0
    assert heard.writes == []


async def test_the_moments_cover_every_write():
    assert await _killed_at(SAMPLE[-1]) is not None
    assert await _killed_at(MOST_WRITES) is None


@pytest.mark.parametrize("number", [1, 4, 60, 200])
async def test_killed_and_cleaned_leaves_nothing(number):
    world = await _killed_at(number)
    untouched = await open_for("roce")
    await untouched.clock.sleep(SETTLE_S)
    assert (await api.clean(world, approval=Yes())).exit_code == 0
    await world.clock.sleep(SETTLE_S)
    assert differences(await seen_objects(untouched.cluster), await seen_objects(world.cluster)) == []


@pytest.mark.parametrize("number", [1, 5, 40, 80])
async def test_a_clean_that_is_killed_goes_on_where_it_was(number):
    world = await open_for("roce")
    await world.clock.sleep(SETTLE_S)
    before = await seen_objects(world.cluster)
    await applied(world, intents_for("shared", "roce"))
    with pytest.raises(Killed):
        await api.clean(replace(world, cluster=KillingCluster(world.cluster, number)), approval=Yes())
    assert (await api.clean(world, approval=Yes())).exit_code == 0
    await world.clock.sleep(SETTLE_S)
    assert differences(before, await seen_objects(world.cluster)) == []
