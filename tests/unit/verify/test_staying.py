"""While it waits, a run lets others hear that it is still there; when it may not stay, it ends."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from support.verifying import CATALOG, layout

from railwright.core.errors import WriteConflict
from railwright.core.ids import NetDevice, NodeName, RailName
from railwright.dataplane.model import Problem, Reply
from railwright.ports.endpoint import HeldRail
from railwright.ports.progress import Silent
from railwright.simulator.clock import turn
from railwright.verify.planned import Options, plan_run
from railwright.verify.run import STAY_S
from railwright.verify.verify import verify


class Shared:
    """A clock that goes on by a little whenever everybody had a turn: who sleeps pushes nobody else on."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.now_s, UTC)

    def monotonic_s(self) -> float:
        return self.now_s

    async def sleep(self, seconds: float) -> None:
        until_s = self.now_s + seconds
        await turn()
        while self.now_s < until_s:
            await turn()

    async def go_on(self, until: asyncio.Task) -> None:
        while not until.done():
            self.now_s += 0.05
            await turn()


@dataclass(frozen=True)
class Hanging:
    """An endpoint whose halves come back when their time is up, and not before."""

    clock: Shared
    node: NodeName
    rails: tuple[HeldRail, ...] = (HeldRail(RailName("rail0"), NetDevice("net1")),)
    name: str = "hanging"
    meeting_address: str = "10.0.0.1"
    simulated: bool = True

    async def run(self, request, *, timeout_s):
        await self.clock.sleep(timeout_s)
        return Reply("engine", Problem("timed-out", "it hung"))


@dataclass
class Heard:
    """When it was said that the run is still there; from `lost_after` times on it may not stay."""

    clock: Shared
    lost_after: int = 10**6
    times_s: list[float] = field(default_factory=list)

    async def __call__(self) -> None:
        self.times_s.append(self.clock.now_s)
        if len(self.times_s) > self.lost_after:
            raise WriteConflict("another railwright is writing to this cluster")


async def run(heard: Heard) -> None:
    planned = plan_run(layout(2, rails=1), Options(quick=True, families=("engine",)))
    ends = [Hanging(heard.clock, node) for node in planned.layout.nodes]
    work = asyncio.ensure_future(verify(planned, ends, CATALOG, heard.clock, Silent(), stay=heard))
    await heard.clock.go_on(work)
    await work


async def test_even_halves_that_hang_leave_no_long_silence() -> None:
    heard = Heard(Shared())
    await run(heard)
    pauses = [later - earlier for earlier, later in zip(heard.times_s, heard.times_s[1:], strict=False)]
    assert heard.times_s[-1] > 10 * STAY_S
    assert max(pauses) <= 2 * STAY_S


async def test_a_run_that_may_not_stay_ends() -> None:
    with pytest.raises(WriteConflict):
        await run(Heard(Shared(), lost_after=2))
