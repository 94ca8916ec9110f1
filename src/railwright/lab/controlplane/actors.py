"""
Run stand-ins on a real API server: watch what they watch, let them react, write what they answer.

Their time runs faster than the clock on the wall while nothing happens and somebody waits: ten minutes for a driver are
two seconds at 300. While somebody works it runs slowly, for an API server takes its time however fast ours runs.
Stamps are ahead of the API server's own, never behind.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any

import httpx2

from railwright.core.ids import NodeName
from railwright.core.objects import Kind, KubeObject, Ref, dig, ref_of
from railwright.lab.controlplane.client import Answered, PlaneClient
from railwright.lab.controlplane.faster_time import FasterTime
from railwright.standins.model import NodeDevices, Objects, React, Write
from railwright.standins.view import KindIndex

REACT_EVERY_S = 0.05
"""Stand-ins also act on time alone, so they are asked even when nothing was written."""
QUIET_S = 0.2
"""So long, by the wall, nothing changes before time runs fast; and only while somebody waits for it."""
BUSY_FACTOR = 4.0
_GONE = 404
_MOVED_ON = (_GONE, 409)
"""The object was made, deleted or changed since the stand-in saw it: it will see, and answer anew."""


class Actors:
    """
    Stand-ins at work.

    Attributes:
        refused: the writes that the API server would not take, each once, in order.
        quiet_factor: how fast time runs while nothing changes.
    """

    def __init__(
        self,
        client: PlaneClient,
        standins: Sequence[tuple[str, React]],
        devices: Mapping[NodeName, NodeDevices],
        time: FasterTime,
    ) -> None:
        """Prepare; nothing runs yet."""
        self.refused: list[str] = []
        self.quiet_factor = time.factor
        self._client = client
        self._standins = standins
        self._devices = devices
        self._time = time
        self._objects = KindIndex()
        self._rounds, self._stopped = 0, False
        self._changed_at, self._changed_round = monotonic(), 0
        self._unlisted: set[Kind] = set()

    def seen(self) -> Objects:
        """Give what stand-ins see, now and later."""
        return Objects(self._objects, self._devices)

    async def follow(self, kind: Kind) -> None:
        """Keep the objects of one kind up to date until cancelled; a broken stream starts again from a list."""
        self._unlisted.add(kind)
        while True:
            with contextlib.suppress(Answered, httpx2.TransportError):
                listed, version = await self._client.list(kind)
                for ref in list(self._objects.by_kind.get(kind, ())):
                    del self._objects[ref]
                for obj in listed:
                    self._objects[ref_of(obj)] = obj
                self._unlisted.discard(kind)
                self._note_change()
                async with contextlib.aclosing(self._client.follow(kind, version)) as events:
                    async for event in events:
                        if not self._take(event):
                            break
            await asyncio.sleep(REACT_EVERY_S)

    def _take(self, event: Mapping[str, Any]) -> bool:
        """Take one event of a watch; False when the stream has to start again."""
        if event["type"] not in ("ADDED", "MODIFIED", "DELETED"):
            return False
        obj = event["object"]
        if event["type"] == "DELETED":
            self._forget(ref_of(obj))
        else:
            self._remember(ref_of(obj), obj)
        return True

    def _remember(self, ref: Ref, obj: KubeObject) -> None:
        """Take an object, unless a newer version of it is known: answers and events overtake each other."""
        known = self._objects.get(ref)
        if known is not None and _version(known) > _version(obj):
            return
        self._objects[ref] = obj
        if known is None or _content(known) != _content(obj):
            self._note_change()

    def _forget(self, ref: Ref) -> None:
        if ref in self._objects:
            del self._objects[ref]
            self._note_change()

    async def at_rest(self, seconds: float) -> None:
        """
        Wait until everything is followed and nothing has changed for so long from now on, by the wall.

        A caller has often just written something whose event is still on its way: earlier rest says nothing. Nor does
        time in which the stand-ins had no turn: on a loaded machine they must have been asked as often all the same.
        """
        began_at, began_round = monotonic(), self._rounds
        rounds = seconds / REACT_EVERY_S
        while (  # noqa: ASYNC110 - rest is no event
            self._unlisted
            or monotonic() - max(self._changed_at, began_at) < seconds
            or (not self._stopped and self._rounds - max(self._changed_round, began_round) < rounds)
        ):
            await asyncio.sleep(REACT_EVERY_S)

    def _note_change(self) -> None:
        self._changed_at, self._changed_round = monotonic(), self._rounds

    async def act(self) -> None:
        """Let every stand-in react, again and again, until cancelled; none acts on a world it has seen half of."""
        while self._unlisted:  # noqa: ASYNC110 - lists come from several tasks
            await asyncio.sleep(REACT_EVERY_S)
        while True:
            for name, react in self._standins:
                for write in react(self.seen(), self._time.now()):
                    await self._write(name, write)
                # A world at rest must not keep watches and the pipeline from their turn.
                await asyncio.sleep(0)
            self._rounds += 1
            quiet = self._time.is_waited_for and monotonic() - self._changed_at > QUIET_S
            self._time.run_at(self.quiet_factor if quiet else BUSY_FACTOR)
            await asyncio.sleep(REACT_EVERY_S)

    def ended(self, task: asyncio.Task[None]) -> None:
        """Tell of a task that ended by itself: a world that nobody plays any more must not be waited for in silence."""
        self._stopped = True
        if not task.cancelled() and task.exception() is not None:
            self.refused.append(f"stand-ins stopped: {task.exception()!r}")

    async def _write(self, name: str, write: Write) -> None:
        try:
            seen = await self._do(write)
        except httpx2.TransportError:
            # It may have been written or not: the stand-in will see, and answer anew.
            return
        except Answered as answer:
            if answer.status_code == _GONE and write.verb != "create":
                self._forget(write.ref)
            line = f"{name}: {write.verb} {write.ref}: {answer}"
            if answer.status_code not in _MOVED_ON and line not in self.refused:
                self.refused.append(line)
            return
        if seen is not None and (write.verb == "create" or write.ref in self._objects):
            types = {"apiVersion": write.ref.kind.api_version, "kind": write.ref.kind.kind}
            self._remember(write.ref, {**types, **seen})

    async def _do(self, write: Write) -> KubeObject | None:
        match write.verb:
            case "create":
                return await self._client.create(write.body, write.ref)
            case "delete":
                await self._client.delete(write.ref)
                return None
            case _:
                return await self._client.merge(write.ref, write.body, status=write.verb == "status")


def _content(obj: KubeObject) -> tuple[Any, ...]:
    """What counts as a change: not annotations, which hold the heartbeats of whoever holds a lease."""
    return dig(obj, "metadata", "labels"), {key: value for key, value in obj.items() if key != "metadata"}


def _version(obj: KubeObject) -> int:
    return int(obj["metadata"]["resourceVersion"])


@asynccontextmanager
async def acting(actors: Actors, kinds: Sequence[Kind]) -> AsyncIterator[None]:
    """Run stand-ins for the length of a block, over the objects of these kinds."""
    tasks = [asyncio.create_task(actors.follow(kind)) for kind in kinds]
    tasks.append(asyncio.create_task(actors.act()))
    for task in tasks:
        task.add_done_callback(actors.ended)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
    for end in ends:
        if isinstance(end, Exception) and not isinstance(end, asyncio.CancelledError):
            raise end
