"""A cluster on which nothing is wrong: the doctor finds nothing that matters, bare or applied, whatever the method."""

from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from support.scenarios import SIX, applied, intents_for, open_for

from railwright import api
from railwright.simulator.worlds.table import WORLDS

MATTERS = {api.Severity.ERROR}
WITHOUT_APPLY = ("hcp", "adopt", "vanilla", "mixed")


def grave(record: api.DoctorRecord) -> list[str]:
    return [f"{item.rule}: {item.cause}" for item in record.diagnosis.findings if item.severity in MATTERS]


@pytest.mark.parametrize("world", [item.name for item in WORLDS])
async def test_nothing_is_wrong_with_a_world_that_nobody_broke(world):
    async with await api.open_cluster(f"sim:{world}") as opened:
        record = await api.diagnose(opened)
    assert grave(record) == []
    assert record.exit_code == 0, record.diagnosis.unknown


@pytest.mark.parametrize(("method", "fabric"), SIX)
async def test_nothing_is_wrong_after_an_apply(method, fabric):
    async with await open_for(fabric) as world:
        assert (await applied(world, intents_for(method, fabric))).exit_code == 0
        record = await api.diagnose(world)
    assert record.planned
    assert grave(record) == []
    assert record.exit_code == 0, record.diagnosis.unknown


LOOK_EACH_S = 90.0


@dataclass
class Looking:
    """A Cluster whose watchers ask the doctor now and then: as a person who is impatient while it is installed."""

    world: Any
    errors: dict[str, float] = field(default_factory=dict)
    looks: int = 0
    _next_s: float = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.world.cluster, name)

    @asynccontextmanager
    async def watch(self, selections):
        async with self.world.cluster.watch(selections) as inner:
            yield Watcher(inner, self)

    async def look(self) -> None:
        now_s = self.world.clock.monotonic_s()
        if now_s >= self._next_s:
            self._next_s, self.looks = now_s + LOOK_EACH_S, self.looks + 1
            for said in grave(await api.diagnose(self.world)):
                self.errors.setdefault(said, now_s)


@dataclass
class Watcher:
    inner: Any
    looking: Looking

    async def next(self, timeout_s: float):
        seen = await self.inner.next(timeout_s)
        await self.looking.look()
        return seen


@pytest.mark.parametrize(("method", "fabric"), SIX)
async def test_nothing_is_wrong_while_it_is_being_installed(method, fabric):
    async with await open_for(fabric) as world:
        looking = Looking(world)
        record = await applied(replace(world, cluster=looking), intents_for(method, fabric))
    assert record.exit_code == 0
    assert looking.looks > 10
    assert looking.errors == {}
