"""
Killed between any two writes of a move and started again: it ends as a move that nobody killed, and clean leaves nothing.

The ordinary run takes a sample of the moments; what is marked as soak takes every write.
"""

from dataclasses import replace

import pytest
from support.kills import Killed, KillingCluster
from support.newer_operator import MOVE, NEXT, catalog_offers, installed
from support.scenarios import Heard, Yes, applied, intents_for, open_for
from support.traces import differences, lasting_objects, seen_objects

from railwright import api

SETTLE_S = 1800.0
WANTED = {
    "drivers": "  driver: {nicVersion: doca3.3.0-26.01-1.0.0.0-0, gpuVersion: 570.195.03}\n",
    "operator": MOVE,
}
SAMPLE = {"drivers": (1, 12, 24), "operator": (8, 16)}
"""Writes of a move; the tests below see to it that they are."""


async def before_the_move(kind: str) -> tuple[api.World, dict]:
    """Open a world, and apply there what will move; and what was there before anything."""
    world = await open_for("roce")
    await world.clock.sleep(SETTLE_S)
    untouched = await seen_objects(world.cluster)
    assert (await applied(world, intents_for("shared", "roce"))).exit_code == 0
    if kind == "operator":
        catalog_offers(world, NEXT)
    await world.clock.sleep(SETTLE_S)
    return world, untouched


def wanted(kind: str) -> tuple[api.Intent, ...]:
    return intents_for("shared", "roce", more=WANTED[kind])


async def killed_move(kind: str, number: int) -> tuple[api.World, dict] | None:
    """Move until just before a write; None when there are fewer."""
    world, untouched = await before_the_move(kind)
    try:
        await applied(replace(world, cluster=KillingCluster(world.cluster, number)), wanted(kind))
    except Killed:
        return world, untouched
    return None


@pytest.fixture(scope="module")
def end_states() -> dict:
    """What moves that nobody killed leave."""
    return {}


async def end_state(kind: str, end_states: dict) -> dict:
    if kind not in end_states:
        world, _ = await before_the_move(kind)
        assert (await applied(world, wanted(kind))).exit_code == 0
        await world.clock.sleep(SETTLE_S)
        end_states[kind] = await lasting_objects(world.cluster)
    return end_states[kind]


async def ends_as_if_never_killed(world: api.World, untouched: dict, kind: str, end_states: dict) -> None:
    assert (await applied(world, wanted(kind))).exit_code == 0
    await world.clock.sleep(SETTLE_S)
    assert differences(await end_state(kind, end_states), await lasting_objects(world.cluster)) == []
    heard = Heard()
    assert (await applied(world, wanted(kind), progress=heard)).exit_code == 0
    assert heard.writes == []
    assert kind != "operator" or installed(world) == NEXT
    await is_cleaned(world, untouched, kind)


async def is_cleaned(world: api.World, untouched: dict, kind: str) -> None:
    assert (await api.clean(world, approval=Yes())).exit_code == 0
    await world.clock.sleep(SETTLE_S)
    left = differences(untouched, await seen_objects(world.cluster))
    assert [line for line in left if not (kind == "operator" and "PackageManifest" in line)] == []


@pytest.mark.parametrize(("kind", "number"), [(kind, number) for kind in SAMPLE for number in SAMPLE[kind]])
async def test_killed_in_a_move_and_run_again_it_ends_as_if_never_killed(
    kind: str, number: int, end_states: dict
) -> None:
    killed = await killed_move(kind, number)
    assert killed is not None, "a move makes fewer writes"
    await ends_as_if_never_killed(*killed, kind, end_states)


@pytest.mark.parametrize(("kind", "number"), [("drivers", 14), ("operator", 10)])
async def test_killed_in_a_move_and_cleaned_leaves_nothing(kind: str, number: int) -> None:
    killed = await killed_move(kind, number)
    assert killed is not None, "a move makes fewer writes"
    await is_cleaned(*killed, kind)


@pytest.mark.soak
@pytest.mark.parametrize("kind", SAMPLE)
async def test_killed_at_every_write_of_a_move_it_ends_the_same(kind: str, end_states: dict) -> None:
    number = 1
    while (killed := await killed_move(kind, number)) is not None:
        await ends_as_if_never_killed(*killed, kind, end_states)
        number += 1
    assert number > SAMPLE[kind][-1]
