"""
One simulated world that goes on: store, machines, stand-ins and time, stepped together.

Time moves only when somebody waits. A person's write is not answered by stand-ins until then, as on a real cluster,
where a status is old for some time after an edit.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from railwright.core.errors import RailwrightError
from railwright.core.ids import NodeName
from railwright.core.objects import Kind, KubeObject, Ref
from railwright.simulator.hardware import Machine
from railwright.simulator.ownership import Manager
from railwright.simulator.store import Store
from railwright.standins.all import STANDINS
from railwright.standins.model import NodeDevices, Objects, Write
from railwright.standins.view import KindIndex

TICK_S = 5.0
LONGEST_TICK_S = 20.0
"""While nothing happens, ticks get longer up to this; what is due is then late by at most as much."""
QUIET_AFTER_ROUNDS = 25
"""A world that still writes after so many rounds in one tick fights with itself; the rest comes with the next tick."""


class _Moment(datetime):
    """A time that notices whether anybody reckons with it: who only writes it down gives the same answer later."""

    was_reckoned_with = False

    @classmethod
    def of(cls, now: datetime) -> "_Moment":
        """Take a time."""
        return cls.fromtimestamp(now.timestamp(), now.tzinfo)

    def __sub__(self, other: Any) -> Any:
        self.was_reckoned_with = True
        return super().__sub__(other)


@dataclass(frozen=True)
class _Answer:
    """What a stand-in's last answer was made from: kinds of objects, as they were, and the time if it mattered."""

    kinds: frozenset[Kind]
    mark: int
    at: datetime | None

    def stands(self, now: datetime, objects: KindIndex) -> bool:
        """Whether it would answer the same: nothing."""
        return self.at in {None, now} and not objects.has_news(self.kinds, self.mark)


@dataclass
class Engine:
    """A world on a simulated clock; `save` is called after everything that must outlive the process."""

    store: Store
    machines: tuple[Machine, ...]
    troubles: frozenset[str]
    now: datetime
    save: Callable[["Engine"], None] = field(default=lambda _: None)
    elapsed_s: float = 0.0
    silent: frozenset[str] = frozenset()
    """Stand-ins that do not run in this world."""
    _tick_s: float = TICK_S
    _devices: dict[NodeName, NodeDevices] = field(init=False)
    _answers: dict[str, _Answer] = field(default_factory=dict)

    def seen(self) -> Objects:
        """What stand-ins see now."""
        return Objects(self.store.objects, self._devices, self.troubles)

    def __post_init__(self) -> None:
        self._devices = {NodeName(machine.name): machine.devices() for machine in self.machines}

    def restore(
        self, objects: Iterable[tuple[Ref, KubeObject]], *, now: datetime, elapsed_s: float, version: int
    ) -> None:
        """Go on from a saved moment."""
        self.store.objects, self._answers = KindIndex(objects), {}
        self.store.version = version
        self.now, self.elapsed_s = now, elapsed_s

    def tick(self, at_most_s: float) -> None:
        """Let time go on by one tick, or by less when that is all there is."""
        before = self.store.version
        self.advance(min(self._tick_s, at_most_s))
        self._tick_s = TICK_S if self.store.version != before else min(2 * self._tick_s, LONGEST_TICK_S)

    def advance(self, seconds: float) -> None:
        """Let time go on, and then stand-ins react until nothing changes."""
        self.now += timedelta(seconds=seconds)
        self.elapsed_s += seconds
        self.settle()

    def settle(self) -> None:
        """Step every stand-in until all are quiet; one that looked only at what is as it was gives the same answer."""
        world, objects = self.seen(), self.store.objects
        for _ in range(QUIET_AFTER_ROUNDS):
            before = self.store.version
            for name, react in STANDINS:
                last = self._answers.get(name)
                if name in self.silent or (last is not None and last.stands(self.now, objects)):
                    continue
                mark, moment = objects.mark(), _Moment.of(self.now)
                writes = react(world, moment)
                self._answers[name] = _Answer(objects.asked(), mark, self.now if moment.was_reckoned_with else None)
                for write in writes:
                    self._carry_out(name, write)
            if self.store.version == before:
                return

    def _carry_out(self, name: str, write: Write) -> None:
        manager = Manager(name, "Update", "status" if write.verb == "status" else "")
        try:
            if write.verb == "create":
                self.store.create(write.body, manager, self.now)
            elif write.verb == "delete":
                self.store.delete(write.ref, self.now)
            else:
                self.store.merge(write.ref, write.body, manager, self.now, status=write.verb == "status")
        except RailwrightError:
            # A controller whose write fails tries again later; so does a stand-in, at its next step.
            return
