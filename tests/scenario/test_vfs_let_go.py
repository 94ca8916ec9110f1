"""clean leaves the SR-IOV operator to its work: it goes on only when no node is drained any more, or says what holds."""

import asyncio

import pytest
from support.others import change, now_is, store
from support.scenarios import Yes, applied, beside_team_a, intents_for, open_for

from railwright import api
from railwright.core import kinds
from railwright.core.errors import StageError
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict
from railwright.ports.progress import Waiting

SRIOV = "openshift-sriov-network-operator"
STATE = Ref(kinds.SRIOV_NETWORK_NODE_STATE, SRIOV, "worker-0")
CONFIG = Ref(kinds.SRIOV_OPERATOR_CONFIG, SRIOV, "default")
SUBSCRIPTION = Ref(kinds.SUBSCRIPTION, SRIOV, "sriov-network-operator")


def set_state(world, value):
    change(world, STATE, {"metadata": {"annotations": {"sriovnetwork.openshift.io/current-state": value}}})


async def test_an_operator_in_the_middle_of_a_drain_is_not_removed_and_a_later_clean_goes_on():
    world = await open_for("roce")
    await applied(world, intents_for("sriov", "roce"))
    set_state(world, "Draining")
    stopped = await api.clean(world, approval=Yes())
    held = {item.ref: item.reason for item in stopped.objects if item.verdict is Verdict.FAIL}
    assert set(held) == {STATE}
    assert "the SR-IOV operator drains it or gives it back (Idle, Draining)" in held[STATE]
    assert stopped.exit_code == 4
    assert now_is(world, SUBSCRIPTION)
    set_state(world, "Idle")
    assert (await api.clean(world, approval=Yes())).exit_code == 0
    assert SUBSCRIPTION not in [item.ref for item in (await api.clean(world, approval=Yes())).objects]


async def test_vfs_are_gone_before_the_operator_is():
    world = await open_for("roce")
    await applied(world, intents_for("sriov", "roce"))
    began_s = world.clock.monotonic_s()
    assert (await api.clean(world, approval=Yes())).exit_code == 0
    assert world.clock.monotonic_s() - began_s > 60


async def test_a_clean_that_was_stopped_waits_again_under_an_operator_of_others():
    """The policies are gone by then, and stay in the ledger; its configuration was never in it."""
    world = await open_for("roce", world="adopt")
    await applied(world, beside_team_a("sriov"))
    set_state(world, "Draining")
    for _ in range(2):
        stopped = await api.clean(world, approval=Yes())
        assert [item.ref for item in stopped.objects if item.verdict is Verdict.FAIL] == [STATE]
    set_state(world, "Idle")
    assert (await api.clean(world, approval=Yes())).exit_code == 0


async def test_an_apply_of_another_method_that_was_stopped_waits_again_under_an_operator_of_others():
    """The policies are gone by then, and stay in the ledger until their VFs are gone too."""
    world = await open_for("roce", world="adopt")
    await applied(world, beside_team_a("sriov"))
    set_state(world, "Draining")
    for _ in range(2):
        with pytest.raises(StageError, match="the SR-IOV operator drains it or gives it back"):
            await applied(world, beside_team_a("shared"))
    set_state(world, "Idle")
    assert (await applied(world, beside_team_a("shared"))).exit_code == 0
    set_state(world, "Draining")
    assert (await applied(world, beside_team_a("shared"))).exit_code == 0, "it is nothing of ours any more"


async def test_an_apply_of_another_method_that_was_interrupted_at_its_wait_waits_again():
    world = await open_for("roce", world="adopt")
    await applied(world, beside_team_a("sriov"))
    set_state(world, "Draining")

    class Stopping:
        def emit(self, event):
            if isinstance(event, Waiting) and "the SR-IOV operator drains it" in event.waiting_for:
                task.cancel()

    task = asyncio.ensure_future(applied(world, beside_team_a("shared"), progress=Stopping()))
    assert (await task).interrupted
    with pytest.raises(StageError, match="the SR-IOV operator drains it or gives it back"):
        await applied(world, beside_team_a("shared"))


async def test_an_apply_of_fewer_rails_that_was_interrupted_at_its_wait_waits_again():
    """The method stays: what went is in the ledger until its VFs are gone, and nobody is asked for it twice."""
    world, asked = await open_for("roce"), []
    await applied(world, intents_for("sriov", "roce"))
    fewer = intents_for("sriov", "roce", more="  rails: [{name: rail0, netdev: enp24s0np0}]\n")
    set_state(world, "Draining")

    class Stopping:
        def emit(self, event):
            if isinstance(event, Waiting) and "the SR-IOV operator drains it" in event.waiting_for:
                task.cancel()

    class Asked(Yes):
        def approve(self, question):
            asked.append(question.what)
            return super().approve(question)

    task = asyncio.ensure_future(applied(world, fewer, progress=Stopping()))
    assert (await task).interrupted
    with pytest.raises(StageError, match="the SR-IOV operator drains it or gives it back"):
        await api.apply(world, fewer, approval=Asked())
    assert asked == []
    set_state(world, "Idle")
    assert (await applied(world, fewer)).exit_code == 0
    set_state(world, "Draining")
    assert (await applied(world, fewer)).exit_code == 0, "it is nothing of ours any more"


async def test_another_method_takes_the_operators_settings_away_only_when_its_work_is_done():
    world = await open_for("roce")
    await applied(world, intents_for("sriov", "roce"))
    set_state(world, "Draining")
    with pytest.raises(StageError, match="the SR-IOV operator drains it or gives it back"):
        await applied(world, intents_for("shared", "roce"))
    assert now_is(world, CONFIG)
    set_state(world, "Idle")
    assert (await applied(world, intents_for("shared", "roce"))).exit_code == 0
    states = [now_is(world, STATE)] if STATE in store(world).objects else []
    assert not any(port.get("numVfs") for state in states for port in state["status"]["interfaces"])
