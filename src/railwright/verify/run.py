"""
Run exchanges: both halves of many at the same time, each bounded, with every raw reply kept.

An endpoint promises to come back in time; that it does is not relied on. Whatever is still running when a step's time
is up is ended, and is a reply with a problem like any other.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from railwright.core.ids import NodeName, RailName
from railwright.core.verdicts import Verdict
from railwright.dataplane.model import ANY_NETDEV, Problem, Reply, Request, Wire
from railwright.dataplane.wire import probe_of, reply_text
from railwright.facts.reading import together
from railwright.ports.clock import Clock
from railwright.ports.endpoint import Endpoint, HeldRail
from railwright.verify.families.table import family
from railwright.verify.judge import Measured
from railwright.verify.layout import Layout
from railwright.verify.model import MemoryKind, Step, Way
from railwright.verify.task import Effort, End, Exchange, Outcome, Reading, Task

GRACE_S = 10.0
"""On top of what the halves were given: for endpoints to end what they started."""
_FIRST_PORT, _PORTS, _PORTS_A_TASK = 20000, 8000, 4
_TURNS_WITHOUT_TIMER = 60
MOST_RAW_REPLIES = 20_000
"""Beyond so many, only the replies of cells that did not pass are kept."""


Stay = Callable[[], Awaitable[None]]
STAY_S = 5.0
"""How often somebody hears that we are still there."""


async def stay_without_words() -> None:
    """Tell nobody: nobody waits for it."""


@dataclass
class Bench:
    """What runs tasks: endpoints by node, time, and the raw replies so far."""

    layout: Layout
    endpoints: Mapping[NodeName, Endpoint]
    clock: Clock
    effort: Effort
    absent: Mapping[NodeName, str] = field(default_factory=dict)
    stay: Stay = stay_without_words
    raw: dict[str, str] = field(default_factory=dict)
    raw_left_out: int = 0
    _made: int = 0

    def task(self, step: Step, way: Way, *, prefix: str = "c") -> Task | Measured:
        """
        Make the task of a cell; where it can't be run a Measured that says why: SKIP or UNKNOWN.

        Args:
            prefix: of its id: "c" for planned cells, "x" for those that narrow a failure.
        """
        self._made += 1
        ends = tuple(self._end(node, rail) for node, rail in _places(way))
        seats = (self.layout.seat(way.source, way.source_rail), self.layout.seat(way.target, way.target_rail))
        task = Task(
            id=f"{prefix}{self._made:05d}",
            step=step,
            way=way,
            source=ends[0],
            target=ends[1],
            port=_FIRST_PORT + _PORTS_A_TASK * (self._made % (_PORTS // _PORTS_A_TASK)),
            effort=self.effort,
            wire=Wire(
                traffic_class=self.layout.traffic_class,
                path_mtu_bytes=self.layout.path_mtu_bytes,
                partition=self.layout.partition_between(*seats),
                timeout_exponent=self.layout.timeout_exponent,
            ),
            patience_s=self.layout.patience_s,
        )
        why_not = self._why_not(step, way)
        return task if why_not is None else Measured(task, Reading(*why_not))

    def _held(self, node: NodeName, rail: RailName) -> HeldRail | None:
        endpoint = self.endpoints.get(node)
        return next((item for item in endpoint.rails if item.rail == rail), None) if endpoint else None

    def _end(self, node: NodeName, rail: RailName) -> End:
        endpoint = self.endpoints.get(node)
        return End(self._held(node, rail) or HeldRail(rail, ANY_NETDEV), endpoint.meeting_address if endpoint else "")

    def _why_not(self, step: Step, way: Way) -> tuple[Verdict, str] | None:
        """Say why a cell can't be run: SKIP for what does not apply, before UNKNOWN for what is missing."""
        seats = [self.layout.seat(node, rail) for node, rail in _places(way)]
        for (node, rail), seat in zip(_places(way), seats, strict=True):
            if seat is None:
                return Verdict.SKIP, f"{node} has no {rail}"
            if seat.skip:
                return Verdict.SKIP, seat.skip
        source, target = seats
        apart = self.layout.kept_apart(source, target) if source and target else ""
        if apart:
            return Verdict.SKIP, apart
        for node, rail in _places(way):
            held = self._held(node, rail)
            if held is None:
                why = self.absent.get(node, f"nothing that runs there holds {rail}")
                return Verdict.UNKNOWN, f"{node}: {why}"
            if step.memory is MemoryKind.GPU and not held.gpu:
                return Verdict.SKIP, f"no GPU goes with {rail} of {node}"
        return None

    async def run(self, tasks: Iterable[Task]) -> list[Measured]:
        """
        Run tasks at the same time, each through its exchanges one after the other.

        Returns:
            One for each task, in order, also when its halves had to be ended.
        """
        ordered = list(tasks)
        if not ordered:
            return []
        exchanges = [family(task.step.family).exchanges(task) for task in ordered]
        outcomes: list[list[Outcome]] = [[] for _ in ordered]
        limit_s = GRACE_S + max(sum(item.limit_s + GRACE_S for item in group) for group in exchanges)
        works = [
            asyncio.create_task(self._exchanges(task, group, done))
            for task, group, done in zip(ordered, exchanges, outcomes, strict=True)
        ]
        ended = await self._bounded(works, limit_s)
        _raise_bugs(ended)
        return [
            self._measured(task, group, done, limit_s)
            for task, group, done in zip(ordered, exchanges, outcomes, strict=True)
        ]

    async def ask(self, node: NodeName, request: Request, limit_s: float) -> Reply:
        """Run one half that needs no other, bounded as all are."""
        work = asyncio.create_task(self.endpoints[node].run(request, timeout_s=limit_s))
        (reply,) = await self._bounded([work], limit_s + GRACE_S)
        _raise_bugs([reply])
        return reply if isinstance(reply, Reply) else _never_came_back(request, limit_s)

    async def exchange(self, task: Task, exchange: Exchange) -> Outcome:
        """Run both halves of one exchange of a task, bounded, and keep what they said."""
        done: list[Outcome] = []
        work = asyncio.create_task(self._exchanges(task, (exchange,), done))
        _raise_bugs(await self._bounded([work], exchange.limit_s + GRACE_S))
        self.raw |= {name: reply_text(reply) for name, reply in zip(done[0].evidence, done[0].replies, strict=True)}
        return done[0]

    async def _bounded(self, works: list[asyncio.Task[Any]], limit_s: float) -> list[Any]:
        """
        Wait for tasks, at most `limit_s`, and end what is left.

        The timer starts a little late: in a simulated world it would push time on, and halves that find each other
        there need none.

        Returns:
            What each task gave, or the exception that it ended with.
        """
        timer: asyncio.Task[None] | None = None
        until_s = self.clock.monotonic_s() + limit_s
        try:
            await self.stay()
            for _ in range(_TURNS_WITHOUT_TIMER):
                if all(work.done() for work in works):
                    break
                await self.clock.sleep(0.0)
            pending = {work for work in works if not work.done()}
            while pending and (left_s := until_s - self.clock.monotonic_s()) > 0:
                timer = timer or asyncio.create_task(self.clock.sleep(min(STAY_S, left_s)))
                finished, _ = await asyncio.wait({*pending, timer}, return_when=asyncio.FIRST_COMPLETED)
                pending -= finished
                if timer.done():
                    timer = None
                    await self.stay()
        finally:
            left = [*works, timer] if timer is not None else works
            for work in left:
                work.cancel()
            ended = await asyncio.gather(*left, return_exceptions=True)
        return ended[: len(works)]

    async def _exchanges(self, task: Task, group: tuple[Exchange, ...], done: list[Outcome]) -> None:
        for exchange in group:
            halves: dict[str, Reply] = {}
            try:
                await self._halves(task, exchange, halves)
            finally:
                missing = _never_came_back(exchange.connect, exchange.limit_s)
                source, target = halves.get("source", missing), halves.get("target", missing)
                outcome = Outcome(exchange, source, target, self._names(task, exchange))
                done.append(outcome)
            if exchange.name == "run" and any(reply.problem is not None for reply in outcome.replies):
                # Controls show that a success could have been a refusal: without the success they show nothing.
                return

    async def _halves(self, task: Task, exchange: Exchange, halves: dict[str, Reply]) -> None:
        """Run both halves; each reply is there as soon as its half is, so that one that hangs takes none away."""
        listening, _ = task.ends_driving
        listener, connector = ("source", "target") if listening is task.source else ("target", "source")
        nodes = {"source": task.way.source, "target": task.way.target}

        async def half(side: str, request: Request) -> None:
            halves[side] = await self.endpoints[nodes[side]].run(request, timeout_s=exchange.limit_s)

        await together((half(listener, exchange.listen), half(connector, exchange.connect)))

    def _names(self, task: Task, exchange: Exchange) -> tuple[str, str]:
        return f"{task.id}.{exchange.name}.source", f"{task.id}.{exchange.name}.target"

    def _measured(self, task: Task, group: tuple[Exchange, ...], done: list[Outcome], limit_s: float) -> Measured:
        if not done:
            missing = _never_came_back(group[0].connect, limit_s)
            done.append(Outcome(group[0], missing, missing, self._names(task, group[0])))
        seats = (
            self.layout.seat(task.way.source, task.way.source_rail),
            self.layout.seat(task.way.target, task.way.target_rail),
        )
        reading = family(task.step.family).read(task, tuple(done), seats)
        keep = len(self.raw) < MOST_RAW_REPLIES or reading.ran is not Verdict.PASS
        names: list[str] = []
        for outcome in done:
            for name, reply in zip(outcome.evidence, outcome.replies, strict=True):
                if keep:
                    self.raw[name] = reply_text(reply)
                    names.append(name)
                else:
                    self.raw_left_out += 1
        return Measured(task, reading, tuple(names))


def _places(way: Way) -> tuple[tuple[NodeName, RailName], tuple[NodeName, RailName]]:
    return (way.source, way.source_rail), (way.target, way.target_rail)


def _never_came_back(request: Request, limit_s: float) -> Reply:
    message = f"the half did not come back within {limit_s:.0f} s, and was given up"
    return Reply(probe_of(request), Problem("timed-out", message))


def _raise_bugs(ended: Iterable[object]) -> None:
    """Endpoints raise nothing of their own, so whatever was raised is a bug of ours: it must not pass as a result."""
    for item in ended:
        if isinstance(item, BaseException) and not isinstance(item, asyncio.CancelledError):
            raise item
