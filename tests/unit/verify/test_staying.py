"""While it waits, a run lets others hear that it is still there; when it may not stay, it ends."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from support.verifying import CATALOG, endpoints, layout

from railwright.core.errors import ClusterBusy, ClusterUnreachable, LoginExpired, RailwrightError, WriteConflict
from railwright.core.ids import NetDevice, NodeName, RailName
from railwright.core.verdicts import Verdict
from railwright.dataplane.model import EngineRequest, EvidenceRequest, Problem, Reply
from railwright.ports.clock import Clock
from railwright.ports.endpoint import HeldRail
from railwright.ports.progress import Silent
from railwright.simulator.clock import turn
from railwright.verify.model import VerifyRecord
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

    clock: Clock
    lost_after: int = 10**6
    error: RailwrightError = field(default_factory=lambda: WriteConflict("another run took over", hint="wait for it"))
    times_s: list[float] = field(default_factory=list)

    async def __call__(self) -> None:
        self.times_s.append(self.clock.monotonic_s())
        if len(self.times_s) > self.lost_after:
            raise self.error


async def run(heard: Heard) -> VerifyRecord:
    planned = plan_run(layout(2, rails=1), Options(quick=True, families=("engine",)))
    ends = [Hanging(heard.clock, node) for node in planned.layout.nodes]
    work = asyncio.ensure_future(verify(planned, ends, CATALOG, heard.clock, Silent(), stay=heard))
    await heard.clock.go_on(work)
    return await work


async def test_even_halves_that_hang_leave_no_long_silence() -> None:
    heard = Heard(Shared())
    await run(heard)
    pauses = [later - earlier for earlier, later in zip(heard.times_s, heard.times_s[1:], strict=False)]
    assert heard.times_s[-1] > 10 * STAY_S
    assert max(pauses) <= 2 * STAY_S


async def test_a_run_that_may_not_stay_ends() -> None:
    record = await run(Heard(Shared(), lost_after=2))
    assert (record.summary.interrupted, record.summary.verdict, record.exit_code) == (True, Verdict.UNKNOWN, 3)
    assert {cell.verdict for cell in record.cells} == {Verdict.UNKNOWN, Verdict.SKIP}, "there is no GPU"
    assert {cell.reason for cell in record.cells if cell.verdict is Verdict.UNKNOWN} == {
        "not run: the run was ended before: another run took over"
    }
    assert len(record.cells) == record.schedule.cells
    assert record.summary.claim.startswith("The run was ended before it was done: another run took over.")
    assert "wait for it" in record.summary.notes[0]


@pytest.mark.parametrize(
    ("error", "ends"),
    [(ClusterUnreachable("no answer"), False), (ClusterBusy("no answer"), False), (LoginExpired("no answer"), True)],
)
async def test_what_was_measured_outlives_an_api_server_that_does_not_answer(error, ends) -> None:
    made = endpoints(4, rails=1)
    heard = Heard(made[0].board.clock, lost_after=8, error=error)
    planned = plan_run(layout(4, rails=1), Options(families=("engine",)))
    record = await verify(planned, made, CATALOG, made[0].board.clock, Silent(), stay=heard)
    reached = [cell for cell in record.cells if cell.evidence]
    assert bool(reached)
    assert (len(reached) < len(record.cells), record.summary.interrupted) == (ends, ends)
    assert "no answer" in " ".join((record.summary.claim, *record.summary.notes))
    assert "and it went on" in " ".join(record.summary.notes) or ends


class Broken:
    """An endpoint with a bug of ours in what it does with one kind of request."""

    def __init__(self, inner: Hanging, kind: type) -> None:
        self._inner, self._kind = inner, kind
        self.name, self.node, self.rails = "broken", inner.node, inner.rails
        self.meeting_address, self.simulated = inner.meeting_address, True

    async def run(self, request, *, timeout_s):
        if isinstance(request, self._kind):
            raise ZeroDivisionError
        return await self._inner.run(request, timeout_s=timeout_s)


@dataclass(frozen=True)
class Noted(Hanging):
    """One that notes which of its halves begin, and which are over."""

    begun: list[object] = field(default_factory=list)
    over: list[object] = field(default_factory=list)

    async def run(self, request, *, timeout_s):
        self.begun.append(request)
        try:
            return await super().run(request, timeout_s=timeout_s)
        finally:
            self.over.append(request)


@pytest.mark.parametrize("kind", [EvidenceRequest, EngineRequest], ids=["looking around", "a half"])
async def test_a_bug_in_one_half_leaves_no_other_running(kind: type) -> None:
    clock = Shared()
    planned = plan_run(layout(2, rails=1), Options(quick=True, families=("engine",)))
    first, second = planned.layout.nodes
    noted = Noted(clock, second)
    ends = [Broken(Hanging(clock, first), kind), noted]
    work = asyncio.ensure_future(verify(planned, ends, CATALOG, clock, Silent()))
    await clock.go_on(work)
    with pytest.raises(ZeroDivisionError):
        await work
    assert noted.begun
    assert noted.over == noted.begun
