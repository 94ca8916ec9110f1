"""
Run stand-ins on a real API server: watch what they watch, let them react, write what they answer.

Time may run faster than the clock on the wall: a stand-in that waits ten minutes for a driver waits one second at 600.
Stamps are then ahead of the API server's own, never behind.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import httpx2

from railwright.core.ids import NodeName
from railwright.core.objects import Kind, KubeObject, Ref, ref_of
from railwright.lab.controlplane.client import Answered, PlaneClient
from railwright.standins.model import NodeDevices, Objects, React, Write

REACT_EVERY_S = 0.05
"""Stand-ins also act on time alone, so they are asked even when nothing was written."""
_MOVED_ON = (404, 409)
"""The object was made, deleted or changed since the stand-in saw it: it will see, and answer anew."""


class FasterTime:
    """A Clock that runs `factor` times faster than the wall's from the moment it is made."""

    def __init__(self, factor: float, wall: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Start now."""
        self._wall = wall
        self._factor = factor
        self._began = wall()

    def now(self) -> datetime:
        """Give the time of the faster clock."""
        return self._began + (self._wall() - self._began) * self._factor

    def monotonic_s(self) -> float:
        """Seconds of the faster clock since it was made."""
        return (self.now() - self._began).total_seconds()

    async def sleep(self, seconds: float) -> None:
        """Wait that long by the faster clock."""
        await asyncio.sleep(seconds / self._factor)


class Actors:
    """Stand-ins at work; `refused` holds the writes that the API server would not take, in order."""

    def __init__(
        self,
        client: PlaneClient,
        standins: Sequence[tuple[str, React]],
        devices: Mapping[NodeName, NodeDevices],
        time: FasterTime,
    ) -> None:
        """Prepare; nothing runs yet."""
        self.refused: list[str] = []
        self._client = client
        self._standins = standins
        self._devices = devices
        self._time = time
        self._objects: dict[Ref, KubeObject] = {}

    def seen(self) -> Objects:
        """Give what stand-ins see now."""
        return Objects(dict(self._objects), self._devices)

    async def follow(self, kind: Kind) -> None:
        """Keep the objects of one kind up to date until cancelled; a broken stream starts again from a list."""
        while True:
            with contextlib.suppress(Answered, httpx2.TransportError):
                listed, version = await self._client.list(kind)
                for ref in [ref for ref in self._objects if ref.kind == kind]:
                    del self._objects[ref]
                self._objects.update({ref_of(obj): obj for obj in listed})
                async for event in self._client.follow(kind, version):
                    if not self._take(event):
                        break
            await asyncio.sleep(REACT_EVERY_S)

    def _take(self, event: Mapping[str, Any]) -> bool:
        """Take one event of a watch; False when the stream has to start again."""
        if event["type"] not in ("ADDED", "MODIFIED", "DELETED"):
            return False
        obj = event["object"]
        if event["type"] == "DELETED":
            self._objects.pop(ref_of(obj), None)
        else:
            self._objects[ref_of(obj)] = obj
        return True

    async def act(self) -> None:
        """Let every stand-in react, again and again, until cancelled."""
        while True:
            for name, react in self._standins:
                for write in react(self.seen(), self._time.now()):
                    await self._write(name, write)
            await asyncio.sleep(REACT_EVERY_S)

    async def _write(self, name: str, write: Write) -> None:
        try:
            seen = await self._do(write)
        except Answered as answer:
            if answer.status_code not in _MOVED_ON:
                self.refused.append(f"{name}: {write.verb} {write.ref}: {answer}")
            return
        if seen is None:
            self._objects.pop(write.ref, None)
        else:
            self._objects[write.ref] = {
                "apiVersion": write.ref.kind.api_version,
                "kind": write.ref.kind.kind,
                **seen,
            }

    async def _do(self, write: Write) -> KubeObject | None:
        match write.verb:
            case "create":
                return await self._client.create(write.body, write.ref)
            case "delete":
                await self._client.delete(write.ref)
                return None
            case _:
                return await self._client.merge(write.ref, write.body, status=write.verb == "status")


@asynccontextmanager
async def acting(actors: Actors, kinds: Sequence[Kind]) -> AsyncIterator[None]:
    """Run stand-ins for the length of a block, over the objects of these kinds."""
    tasks = [asyncio.create_task(actors.follow(kind)) for kind in kinds]
    tasks.append(asyncio.create_task(actors.act()))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
    for end in ends:
        if isinstance(end, Exception) and not isinstance(end, asyncio.CancelledError):
            raise end
