"""The clock of the person's machine jumps while an apply runs, or is wrong from the start: the end is the same."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from support.scenarios import Yes, applied, intents_for, open_for
from support.traces import differences, lasting_objects

from railwright import api
from railwright.ports.clock import Clock

DAY_S = 86_400.0
SETTLE_S = 1800.0


@dataclass
class JumpingClock:
    """Shows the wrong time from its read number `after` on; how long a wait takes does not depend on that."""

    inner: Clock
    jump_s: float
    after: int
    reads: int = 0

    def now(self) -> datetime:
        self.reads += 1
        return self.inner.now() + timedelta(seconds=self.jump_s if self.reads > self.after else 0.0)

    def monotonic_s(self) -> float:
        return self.inner.monotonic_s()

    async def sleep(self, seconds: float) -> None:
        await self.inner.sleep(seconds)


@pytest.mark.parametrize(
    ("jump_s", "after"),
    [
        pytest.param(DAY_S, 0, id="a day ahead all the time"),
        pytest.param(-DAY_S, 0, id="a day behind all the time"),
        pytest.param(DAY_S, 60, id="a day forward in the middle"),
        pytest.param(-3650 * DAY_S, 60, id="ten years back in the middle"),
    ],
)
async def test_a_clock_that_is_wrong_changes_nothing_of_the_end(jump_s: float, after: int) -> None:
    world = await open_for("roce")
    await world.clock.sleep(SETTLE_S)
    before = await lasting_objects(world.cluster)
    clock = JumpingClock(world.clock, jump_s, after)
    wrong = replace(world, clock=clock)
    record = await applied(wrong, intents_for("shared", "roce"), verify=False)
    assert record.exit_code == 0, [(stage.stage, stage.reason) for stage in record.stages]
    assert clock.reads > after
    assert (await api.status(wrong)).exit_code == 0
    # The next run is on a machine whose clock is right: a claim of the wrong time must not keep it out.
    assert (await applied(world, intents_for("shared", "roce"), verify=False)).exit_code == 0
    assert (await api.clean(wrong, approval=Yes())).exit_code == 0
    await world.clock.sleep(SETTLE_S)
    assert [
        line for line in differences(before, await lasting_objects(world.cluster)) if line.endswith("is left")
    ] == []
