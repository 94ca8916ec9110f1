"""How stand-ins on a real API server keep their view straight."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from typing import Any

import httpx2
import pytest

from railwright.adapters.clock import RealClock
from railwright.core.kinds import CONFIG_MAP, SECRET
from railwright.core.objects import Kind, KubeObject, Ref
from railwright.lab.controlplane.actors import REACT_EVERY_S, Actors, acting
from railwright.lab.controlplane.client import Answered
from railwright.lab.controlplane.faster_time import FasterTime
from railwright.standins.model import Objects, Write

REF = Ref(CONFIG_MAP, "n", "c")


def a_map(version: int) -> KubeObject:
    metadata = {"name": "c", "namespace": "n", "resourceVersion": str(version)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


class Server:
    """Lists one object and sends events; refuses every write with `refusal`."""

    def __init__(self, events: list[tuple[str, int]], refusal: int = 422) -> None:
        self._events = events
        self._refusal = refusal
        self.told = asyncio.Event()

    async def list(self, kind: Kind) -> tuple[list[KubeObject], str]:
        return [a_map(5)], "5"

    async def follow(self, kind: Kind, version: str) -> AsyncGenerator[Mapping[str, Any], None]:
        for kind_of_event, number in self._events:
            yield {"type": kind_of_event, "object": a_map(number)}
        self.told.set()
        await asyncio.Event().wait()

    async def merge(self, ref: Ref, patch: KubeObject, *, status: bool = False) -> dict[str, Any]:
        raise Answered(self._refusal, "no")


def writes_always(world: Objects, now: object) -> tuple[Write, ...]:
    return (Write("merge", REF, {}),) if REF in world.objects else ()


async def test_an_event_that_is_older_than_what_is_known_is_not_taken() -> None:
    server = Server([("MODIFIED", 3)])
    actors = Actors(server, (), {}, FasterTime(1))  # type: ignore[arg-type]  # the calls it makes
    async with acting(actors, [CONFIG_MAP]):
        await server.told.wait()
        assert actors.seen().objects[REF]["metadata"]["resourceVersion"] == "5"


async def test_what_was_deleted_is_not_seen() -> None:
    server = Server([("DELETED", 6)])
    actors = Actors(server, (), {}, FasterTime(1))  # type: ignore[arg-type]  # the calls it makes
    async with acting(actors, [CONFIG_MAP]):
        await server.told.wait()
        assert REF not in actors.seen().objects


async def test_a_write_that_the_server_refuses_is_told_once_and_one_that_only_came_late_is_not() -> None:
    for code, told in ((422, 1), (409, 0)):
        server = Server([], code)
        actors = Actors(server, (("me", writes_always),), {}, FasterTime(1))  # type: ignore[arg-type]  # the calls it makes
        async with acting(actors, [CONFIG_MAP]):
            with suppress(TimeoutError):
                await actors.at_rest(0.15)
        assert len(actors.refused) == told


class SlowSecrets(Server):
    """Lists its secrets last, when `let_go` is set."""

    def __init__(self) -> None:
        super().__init__([])
        self.let_go = asyncio.Event()

    async def list(self, kind: Kind) -> tuple[list[KubeObject], str]:
        if kind == SECRET:
            await self.let_go.wait()
            return [], "5"
        return await super().list(kind)


async def test_no_stand_in_acts_on_a_world_that_it_has_seen_half_of() -> None:
    server = SlowSecrets()
    asked = asyncio.Event()

    def ask(world: Objects, now: object) -> tuple[Write, ...]:
        asked.set()
        return ()

    actors = Actors(server, (("me", ask),), {}, FasterTime(1))  # type: ignore[arg-type]  # the calls it makes
    async with acting(actors, [CONFIG_MAP, SECRET]):
        await server.told.wait()
        await RealClock().sleep(3 * REACT_EVERY_S)
        assert not asked.is_set()
        server.let_go.set()
        await asked.wait()


class Unreachable(Server):
    """Breaks the connection of the first write."""

    def __init__(self) -> None:
        super().__init__([])
        self.writes = 0

    async def merge(self, ref: Ref, patch: KubeObject, *, status: bool = False) -> dict[str, Any]:
        self.writes += 1
        if self.writes == 1:
            raise httpx2.ReadTimeout("no answer")
        return a_map(6)


async def test_a_write_without_an_answer_is_done_again() -> None:
    server = Unreachable()
    actors = Actors(server, (("me", writes_always),), {}, FasterTime(1))  # type: ignore[arg-type]  # the calls it makes
    async with acting(actors, [CONFIG_MAP]):
        with suppress(TimeoutError):
            await actors.at_rest(0.15)
    assert server.writes > 1
    assert actors.refused == []


def fails(world: Objects, now: object) -> tuple[Write, ...]:
    raise KeyError("spec")


async def test_stand_ins_that_stopped_are_told_of() -> None:
    actors = Actors(Server([]), (("me", fails),), {}, FasterTime(1))  # type: ignore[arg-type]  # the calls it makes
    with pytest.raises(KeyError):
        async with acting(actors, [CONFIG_MAP]):
            await actors.at_rest(0.15)
    assert actors.refused == ["stand-ins stopped: KeyError('spec')"]
