"""
An HTTP proxy on loopback, before a real API server, that does on a seeded schedule what networks and servers do.

It knows HTTP and how Kubernetes words a refusal, and nothing of who asks. One request a connection: whoever asks has to
open another one, as after any break. What it did stands in `done`, so that a failure names its fault.
"""

import asyncio
import json
import random
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import parse_qsl, urlsplit

from railwright.adapters.clock import RealClock
from railwright.core.opening import opened

_CHUNK_BYTES = 1 << 16
_LONGEST_DELAY_S = 0.2
_REASONS = {
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
}
PASSING = ("delay", "drop before", "drop after", "truncate", "duplicate", "410", "429", "503", "500 etcd")
"""Faults that are gone when the same thing is asked again."""
FOR_GOOD = ("401", "403", "404", "409", "422", "500")
"""Answers that say no, whoever is right."""
OF_WATCHES = ("delay", "drop before", "truncate", "replay", "401", "403", "410", "500", "503")


@dataclass(frozen=True)
class Request:
    """One request as it came."""

    method: str
    target: str
    head: bytes
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def parameters(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query))

    @property
    def is_watch(self) -> bool:
        return "watch" in self.parameters

    @property
    def writes(self) -> bool:
        """Whether it stores something: not a dry run, and not a question about rights."""
        asks = self.path.endswith("reviews") or b'"dryRun"' in self.body or "dryRun" in self.parameters
        return self.method not in {"GET", "HEAD"} and not asks


@dataclass
class Schedule:
    """Which request meets which fault: the nth one meets the same in every run with this seed."""

    seed: int
    share: float = 0.0
    """Of requests that meet a fault; 0 lets everything through."""
    for_good: float = 0.0
    """Of faults, those after which asking again is no use."""

    def fault_of(self, number: int, request: Request) -> str:
        dice = random.Random(f"{self.seed}/{number}")
        if dice.random() >= self.share:
            return ""
        if request.is_watch:
            return dice.choice(OF_WATCHES)
        return dice.choice(FOR_GOOD if dice.random() < self.for_good else PASSING)


@dataclass
class FaultyProxy:
    """A proxy that runs."""

    upstream: str
    schedule: Schedule
    url: str = ""
    done: list[str] = field(default_factory=list)
    """Each fault: number, what was asked, what happened."""
    written: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of each write that reached the API server."""
    _number: int = 0
    _open: set["asyncio.Task[None]"] = field(default_factory=set)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
                await self._serve(await _request(reader), writer)
        finally:
            self._open.discard(task)
            writer.close()
            with suppress(ConnectionError, ssl.SSLError):
                await writer.wait_closed()

    async def end(self) -> None:
        for task in tuple(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, request: Request, writer: asyncio.StreamWriter) -> None:
        self._number += 1
        dice = random.Random(f"{self.schedule.seed}/{self._number}/how")
        fault = self.schedule.fault_of(self._number, request)
        if fault:
            self.done.append(f"{self._number}: {request.method} {request.target}: {fault}")
        if fault == "delay":
            await RealClock().sleep(dice.uniform(0, _LONGEST_DELAY_S))
        elif fault == "drop before":
            return
        elif fault[:3].isdecimal():
            writer.write(_refusal(int(fault[:3]), fault))
            await writer.drain()
            return
        if request.writes:
            self.written.append((request.method, request.path))
        async with self._asked(request) as answer:
            if fault == "drop after":
                await answer.read()
            elif fault == "duplicate":
                await answer.read()
                async with self._asked(request) as again:
                    await _passed_on(again, writer)
            elif fault == "truncate":
                await _truncated(answer, writer, dice)
            elif fault == "replay":
                await _replayed(answer, writer, dice)
            else:
                await _passed_on(answer, writer)

    @asynccontextmanager
    async def _asked(self, request: Request) -> AsyncIterator[asyncio.StreamReader]:
        place = urlsplit(self.upstream)
        context = _trusting() if place.scheme == "https" else None
        reader, writer = await opened(asyncio.open_connection(place.hostname, place.port, ssl=context), _ended)
        try:
            writer.write(request.head + request.body)
            await writer.drain()
            yield reader
        finally:
            await _ended((reader, writer))


@asynccontextmanager
async def faulty_proxy(upstream: str, schedule: Schedule) -> AsyncIterator[FaultyProxy]:
    """Run a proxy for the length of a block."""
    proxy = FaultyProxy(upstream, schedule)
    async with await asyncio.start_server(proxy.connected, "127.0.0.1", 0) as server:
        proxy.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield proxy
        finally:
            server.close()
            await proxy.end()


async def _ended(connection: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
    """End a connection at once: nobody is told, and nobody waited for."""
    writer = connection[1]
    writer.transport.abort()
    with suppress(ConnectionError, ssl.SSLError):
        await writer.wait_closed()


@cache
def _trusting() -> ssl.SSLContext:
    """Take a certificate that a server on loopback made itself. Kept: to load the machine's own takes 15 ms each time."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


async def _request(reader: asyncio.StreamReader) -> Request:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = [line.partition(":") for line in lines if line]
    kept = [f"{name}:{value}" for name, _, value in headers if name.lower() not in {"connection", "accept-encoding"}]
    sizes = [int(value) for name, _, value in headers if name.lower() == "content-length"]
    body = await reader.readexactly(sizes[0]) if sizes else b""
    made = "\r\n".join((first, *kept, "Connection: close", "", "")).encode("latin-1")
    return Request(method, target, made, body)


def _refusal(code: int, fault: str) -> bytes:
    """Word a refusal as kube-apiserver does; a storage that has no leader answers 500, and comes back."""
    message = "etcdserver: leader changed" if "etcd" in fault else f"the proxy says {_REASONS[code]}"
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}
    body = json.dumps({**status, "reason": _REASONS[code]}).encode()
    again = "Retry-After: 1\r\n" if code in {429, 503} else ""
    head = f"HTTP/1.1 {code} {_REASONS[code]}\r\nContent-Type: application/json\r\n{again}"
    return f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


async def _passed_on(answer: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await answer.read(_CHUNK_BYTES):
        writer.write(data)
        await writer.drain()


async def _truncated(answer: asyncio.StreamReader, writer: asyncio.StreamWriter, dice: random.Random) -> None:
    """Pass the head on and some of the body; of a watch, at least what comes first."""
    writer.write(await answer.readuntil(b"\r\n\r\n"))
    await writer.drain()
    data = await answer.read(_CHUNK_BYTES)
    writer.write(data[: dice.randint(0, max(0, len(data) - 1))])
    await writer.drain()


async def _replayed(answer: asyncio.StreamReader, writer: asyncio.StreamWriter, dice: random.Random) -> None:
    """Pass a watch on; now and then an event of before comes once more."""
    head = await answer.readuntil(b"\r\n\r\n")
    writer.write(head)
    if b"chunked" not in head:
        await _passed_on(answer, writer)
        return
    seen: list[bytes] = []
    while size := int((await answer.readline()).strip() or b"0", 16):
        data = (await answer.readexactly(size + 2))[:-2]
        seen.append(data)
        old = [dice.choice(seen)] if dice.random() < 0.5 and data.endswith(b"\n") else []
        for part in (data, *(item for item in old if item.endswith(b"\n"))):
            writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        await writer.drain()
    writer.write(b"0\r\n\r\n")
    await writer.drain()
