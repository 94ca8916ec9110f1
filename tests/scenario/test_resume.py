"""
Killed between any two writes and started again: the same end state as never killed, and clean leaves nothing.

The ordinary run takes a sample of the moments, and for each configuration the one before the objects that are its own;
what is marked as soak takes every write of every configuration.
"""

from dataclasses import replace
from functools import partial

import pytest
from support.kills import Killed, KillingCluster, LookingCluster
from support.others import store
from support.scenarios import SIX, Heard, Yes, applied, intents_for, open_for
from support.traces import OUR_NAMESPACE, differences, lasting_objects, seen_objects

from railwright import api
from railwright.apply.ledger import NAMESPACE_REF
from railwright.apply.ledger_text import text_to_entry
from railwright.core import kinds
from railwright.core.objects import dig, labels_of

SETTLE_S = 1800.0
SHARED = ("shared", "roce")
SAMPLE = (1, 2, 3, 17, 45, 90, 150, 210, 270)
"""Writes of an apply of shared roce; the test below sees to it that they are."""
OWN_KINDS = {
    "shared roce": (kinds.MACVLAN_NETWORK,),
    "shared infiniband": (kinds.IPOIB_NETWORK,),
    "host-device roce": (kinds.HOST_DEVICE_NETWORK,),
    "host-device infiniband": (kinds.NIC_CLUSTER_POLICY,),
    "sriov roce": (kinds.SRIOV_NETWORK_NODE_POLICY,),
    "sriov infiniband": (kinds.SRIOV_IB_NETWORK,),
}
LAST_TO_GO = {
    "shared": kinds.NIC_CLUSTER_POLICY,
    "host-device": kinds.SUBSCRIPTION,
    "sriov": kinds.SRIOV_OPERATOR_CONFIG,
}


async def settled(fabric):
    world = await open_for(fabric)
    await world.clock.sleep(SETTLE_S)
    return world


async def killed_apply(configuration, **moment):
    """Open a world and apply until just before a moment; None when it never came."""
    world = await settled(configuration[1])
    try:
        await applied(replace(world, cluster=KillingCluster(world.cluster, **moment)), intents_for(*configuration))
    except Killed:
        return world
    return None


async def killed_clean(configuration, **moment):
    """Apply, and clean until just before a moment: the world, and what was there before; None when it never came."""
    world = await settled(configuration[1])
    before = await seen_objects(world.cluster)
    assert (await applied(world, intents_for(*configuration))).exit_code == 0
    try:
        await api.clean(replace(world, cluster=KillingCluster(world.cluster, **moment)), approval=Yes())
    except Killed:
        return world, before
    return None


@pytest.fixture(scope="module")
def end_states():
    """What runs that nobody killed leave, by configuration."""
    return {}


async def end_state(configuration, end_states):
    if configuration not in end_states:
        world = await settled(configuration[1])
        assert (await applied(world, intents_for(*configuration))).exit_code == 0
        await world.clock.sleep(SETTLE_S)
        end_states[configuration] = await lasting_objects(world.cluster)
    return end_states[configuration]


async def ends_as_if_never_killed(world, configuration, end_states):
    intents = intents_for(*configuration)
    assert (await applied(world, intents)).exit_code == 0
    await world.clock.sleep(SETTLE_S)
    assert differences(await end_state(configuration, end_states), await lasting_objects(world.cluster)) == []
    heard = Heard()
    assert (await applied(world, intents, progress=heard)).exit_code == 0
    assert heard.writes == []


async def is_cleaned(world, before):
    assert (await api.clean(world, approval=Yes())).exit_code == 0
    await world.clock.sleep(SETTLE_S)
    assert differences(before, await seen_objects(world.cluster)) == []


# --- apply --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", SAMPLE)
async def test_killed_and_run_again_ends_as_if_never_killed(number, end_states):
    world = await killed_apply(SHARED, number=number)
    assert world is not None, "an apply makes fewer writes"
    await ends_as_if_never_killed(world, SHARED, end_states)


@pytest.mark.parametrize(
    ("configuration", "kind"),
    [(pair, kind) for pair in SIX for kind in OWN_KINDS[" ".join(pair)]],
    ids=lambda item: " ".join(item) if isinstance(item, tuple) else item.kind,
)
async def test_killed_between_the_ledger_and_an_object_of_its_own_it_ends_the_same(configuration, kind, end_states):
    world = await killed_apply(configuration, verb="apply", kind=kind)
    assert world is not None, f"an apply makes no {kind}"
    await ends_as_if_never_killed(world, configuration, end_states)


@pytest.mark.soak
@pytest.mark.parametrize("configuration", SIX, ids=" ".join)
async def test_killed_at_every_write_it_ends_the_same(configuration, end_states):
    number = 1
    while (world := await killed_apply(configuration, number=number)) is not None:
        await ends_as_if_never_killed(world, configuration, end_states)
        number += 1
    assert number > SAMPLE[-1]


# --- clean --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 4, 60, 200])
async def test_killed_and_cleaned_leaves_nothing(number):
    world, untouched = await killed_apply(SHARED, number=number), await settled("roce")
    await is_cleaned(world, await seen_objects(untouched.cluster))


@pytest.mark.parametrize("number", [1, 5, 40, 80])
async def test_a_clean_that_is_killed_goes_on_where_it_was(number):
    await is_cleaned(*await killed_clean(SHARED, number=number))


@pytest.mark.parametrize("configuration", SIX, ids=" ".join)
async def test_a_clean_that_is_killed_before_what_goes_late_leaves_nothing_either(configuration):
    await is_cleaned(*await killed_clean(configuration, verb="delete", kind=LAST_TO_GO[configuration[0]]))


@pytest.mark.soak
@pytest.mark.parametrize("configuration", SIX, ids=" ".join)
async def test_a_clean_that_is_killed_at_every_write_leaves_nothing(configuration):
    number = 1
    while (killed := await killed_clean(configuration, number=number)) is not None:
        await is_cleaned(*killed)
        number += 1
    assert number > 80


# --- the ledger ---------------------------------------------------------------------------------------------------


def ledger_of(world):
    """Read the ledger as it is stored, with nothing of the pipeline in between."""
    maps = [
        obj
        for ref, obj in store(world).objects.items()
        if (ref.kind, ref.namespace) == (kinds.CONFIG_MAP, OUR_NAMESPACE)
    ]
    shards = [obj for obj in maps if labels_of(obj).get("railwright.dev/ledger") == "entries"]
    return {text_to_entry(text, "").ref for obj in shards for text in dig(obj, "data", default={}).values()}


def look(world, written, bare, verb, ref):
    if ref.namespace != OUR_NAMESPACE and ref != NAMESPACE_REF:
        written.append(ref.kind)
        bare += [] if ref in ledger_of(world) else [f"{verb} {ref}"]


@pytest.mark.parametrize("configuration", SIX, ids=" ".join)
async def test_every_effect_is_in_the_ledger_before_it_happens_and_until_it_is_undone(configuration):
    world, written, bare = await open_for(configuration[1]), [], []
    looked_at = replace(world, cluster=LookingCluster(world.cluster, partial(look, world, written, bare)))
    assert (await applied(looked_at, intents_for(*configuration))).exit_code == 0
    assert (await api.clean(looked_at, approval=Yes())).exit_code == 0
    assert written.count(kinds.NIC_CLUSTER_POLICY) >= 2
    assert written.count(kinds.NODE) >= 4
    assert bare == []
