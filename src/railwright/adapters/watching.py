"""
Watches of several selections, merged.

Each selection has a task: it reads the collection's resourceVersion, then follows the stream from there. A stream that
ends or breaks goes on from the last version seen; one whose version is too old (410) starts anew and tells the
caller to read again. A stream that is silent for longer than bookmarks come (about a minute) is taken for dead: an API
server whose etcd is gone sends nothing and no error.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import msgspec

from railwright.adapters.answers import Answer, Asked, error_of
from railwright.adapters.failures import understood
from railwright.adapters.transport import Request, Transport, is_too_old, pause_s
from railwright.core.errors import ClusterBusy, ClusterError, ClusterUnreachable
from railwright.core.objects import Kind, dig, ref_of
from railwright.ports.cluster import Seen

QUIET_S = 90.0
"""Bookmarks come about once a minute: half a minute more without a byte is a dead connection."""
STREAM_S = 240
"""The server ends a stream after this long; we go on from where it was."""
BETWEEN_STREAMS_S = 0.1
"""A server that ends each stream at once is not asked in a tight loop."""
MOST_WAITING = 10_000
"""Changes kept for a caller who does not ask; beyond, the oldest are dropped and the caller reads again anyway."""


@dataclass(frozen=True)
class Followed:
    """One selection with its path: `params` are its label and field selectors."""

    kind: Kind
    path: str
    params: tuple[tuple[str, str], ...]


class Gone(Exception):
    """The version to start from is too old; never leaves this file."""


class MergedWatch:
    """The Watch port over some streams; use it as an async context manager."""

    def __init__(self, transport: Transport, followed: tuple[Followed, ...]) -> None:
        """Prepare; streams are opened on entry."""
        self._transport = transport
        self._followed = followed
        self._waiting: list[Seen] = []
        self._woken = asyncio.Event()
        self._failure: ClusterError | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        """Note where each collection stands, so that nothing after this is missed."""
        versions = [await self._version(each) for each in self._followed]
        pairs = zip(self._followed, versions, strict=True)
        self._tasks = [asyncio.create_task(self._follow(each, version)) for each, version in pairs]
        return self

    async def __aexit__(self, *_: object) -> None:
        """End every stream."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def next(self, timeout_s: float) -> tuple[Seen, ...]:
        """Wait for changes; see the port. Raises what a stream met that waiting does not mend."""
        if not self._waiting and self._failure is None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await self._woken.wait()
        self._woken.clear()
        seen, self._waiting = tuple(self._waiting), []
        if self._failure is not None and not seen:
            raise self._failure
        return seen

    async def _version(self, each: Followed) -> str:
        params = (*each.params, ("limit", "1"))
        answer = await self._transport.json(Request("GET", each.path, f"watch {each.kind}", params))
        return str(dig(answer, "metadata", "resourceVersion", default=""))

    async def _follow(self, each: Followed, version: str) -> None:
        attempt = 1
        while True:
            try:
                async for event in self._events(each, version):
                    attempt = 1
                    version = self._take(event) or version
                await asyncio.sleep(BETWEEN_STREAMS_S)
            except Gone:
                version = ""
            except (ClusterBusy, ClusterUnreachable) as error:
                if is_too_old(error):
                    version = ""
                else:
                    await asyncio.sleep(pause_s(error, min(attempt, 6)))
                    attempt += 1
            except ClusterError as error:
                self._failure = error
                self._woken.set()
                return
            if not version:
                version = await self._anew(each)

    async def _anew(self, each: Followed) -> str:
        """Find the version to start from, and wake the caller: what was missed is not known."""
        try:
            version = await self._version(each)
        except (ClusterBusy, ClusterUnreachable):
            version = ""
        except ClusterError as error:
            self._failure = error
            version = ""
        self._woken.set()
        return version

    async def _events(self, each: Followed, version: str) -> AsyncIterator[Mapping[str, Any]]:
        params = (
            *each.params,
            ("watch", "true"),
            ("allowWatchBookmarks", "true"),
            ("resourceVersion", version),
            ("timeoutSeconds", str(STREAM_S)),
        )
        request = Request("GET", each.path, f"watch {each.kind}", params)
        async with self._transport.lines(request, quiet_s=QUIET_S) as lines:
            async for line in lines:
                with understood(request.what, self._transport.server):
                    event = _event_of(line)
                    failure = _stream_error(event["object"], request) if event["type"] == "ERROR" else None
                if failure is not None:
                    raise failure
                yield event

    def _take(self, event: Mapping[str, Any]) -> str:
        """Keep one event for the caller; give the version that it carries."""
        obj = event["object"]
        if event["type"] != "BOOKMARK":
            self._waiting.append(Seen(obj, gone=event["type"] == "DELETED"))
            del self._waiting[:-MOST_WAITING]
            self._woken.set()
        return str(dig(obj, "metadata", "resourceVersion", default=""))


def _event_of(line: str) -> Mapping[str, Any]:
    """Read one line of a stream. Raises AttributeError, KeyError, TypeError or ValueError for what is no event."""
    event: Mapping[str, Any] = msgspec.json.decode(line)
    if event["type"] not in {"BOOKMARK", "ERROR"}:
        ref_of(event["object"])
    elif not isinstance(event["object"], dict):
        message = "an event without an object"
        raise TypeError(message)
    return event


def _stream_error(status: Mapping[str, Any], request: Request) -> Exception:
    code = int(status.get("code") or 500)
    if code == 410:
        return Gone()
    return error_of(Answer(code, msgspec.json.encode(status).decode()), Asked(request.what))
