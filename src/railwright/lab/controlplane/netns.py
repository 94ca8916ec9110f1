"""
A network namespace for programs that listen on ports of their own choice, with one way out: to one server of ours.

A program inside can be published at an address outside, port by port. Needs root and the program `ip`; where either is missing, `why_no_namespace` says so.
"""

import asyncio
import contextlib
import ctypes
import os
import secrets
import shutil
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from railwright.core.errors import ClusterUnreachable

_NAMED = Path("/run/netns")
_PREFIX = "railwright-lab-"
_CLONE_NEWNET = 0x40000000
_CHUNK_BYTES = 1 << 16
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True)
class NetNamespace:
    """A network namespace that is there."""

    name: str

    @property
    def command(self) -> tuple[str, ...]:
        """What to put in front of a command for it to run inside."""
        return ("ip", "netns", "exec", self.name)

    @asynccontextmanager
    async def published(self, port: int, address: str, outer_port: int) -> AsyncIterator[None]:
        """
        Have what listens on loopback inside at an address of this machine, for the length of a block.

        Raises:
            ClusterUnreachable: nobody may listen at that address here.
        """

        async def dial() -> Connection:
            made = await _inside(_NAMED / self.name, socket.socket)
            made.settimeout(0)
            try:
                await asyncio.get_running_loop().sock_connect(made, ("127.0.0.1", port))
            except BaseException:
                made.close()
                raise
            return await asyncio.open_connection(sock=made)

        try:
            outside = socket.create_server((address, outer_port))
        except OSError as error:
            message = f"cannot listen at {address}:{outer_port}: {error.strerror}"
            raise ClusterUnreachable(message) from error
        async with _relayed(outside, dial):
            yield


def why_no_namespace() -> str:
    """Say why no network namespace can be made here; "" when it can."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "a network namespace needs root"
    if shutil.which("ip") is None:
        return "a network namespace needs the program ip (package iproute2), which is not installed"
    return ""


@asynccontextmanager
async def network_namespace(server_port: int) -> AsyncIterator[NetNamespace]:
    """
    Make a network namespace for the length of a block.

    Args:
        server_port: of a server on this machine's loopback; the namespace has it at the same address.

    Raises:
        ClusterUnreachable: `ip` refused; the message holds what it said.
    """

    async def dial() -> Connection:
        return await asyncio.open_connection("127.0.0.1", server_port)

    for left in left_behind(_NAMED):
        # Somebody else may do the same at this moment.
        with contextlib.suppress(ClusterUnreachable):
            await _ip("netns", "delete", left)
    name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
    await _ip("netns", "add", name)
    try:
        await _ip("-n", name, "link", "set", "lo", "up")
        inside = await _inside(_NAMED / name, lambda: socket.create_server(("127.0.0.1", server_port)))
        async with _relayed(inside, dial):
            yield NetNamespace(name)
    finally:
        await _ip("netns", "delete", name)


def left_behind(named: Path) -> tuple[str, ...]:
    """Name the namespaces whose maker was killed before it could take them away: their names hold its process id."""
    found = sorted(path.name for path in named.glob(f"{_PREFIX}*")) if named.is_dir() else []
    owners = {name: name.removeprefix(_PREFIX).partition("-")[0] for name in found}
    return tuple(name for name, pid in owners.items() if pid.isdecimal() and not Path("/proc", pid).exists())


@asynccontextmanager
async def _relayed(listening: socket.socket, dial: Callable[[], Awaitable[Connection]]) -> AsyncIterator[None]:
    relay = _Relay(dial)
    async with await asyncio.start_server(relay.connected, sock=listening):
        try:
            yield
        finally:
            await relay.end()


async def _ip(*arguments: str) -> None:
    process = await asyncio.create_subprocess_exec(
        "ip", *arguments, stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    _, said = await process.communicate()
    if process.returncode != 0:
        message = f"ip {' '.join(arguments)}: {said.decode(errors='replace').strip()}"
        raise ClusterUnreachable(message)


async def _inside(namespace: Path, make: Callable[[], socket.socket]) -> socket.socket:
    """Make a socket inside a namespace; it stays where it was made, whoever uses it."""
    with ThreadPoolExecutor(max_workers=1) as only_for_this:
        return await asyncio.get_running_loop().run_in_executor(only_for_this, _enter_and_make, namespace, make)


def _enter_and_make(namespace: Path, make: Callable[[], socket.socket]) -> socket.socket:
    """Move the calling thread, which must do nothing else afterwards, into the namespace, and make a socket there."""
    library = ctypes.CDLL(None, use_errno=True)
    with namespace.open() as file:
        if library.setns(file.fileno(), _CLONE_NEWNET) != 0:
            raise ClusterUnreachable(f"cannot enter {namespace}: {os.strerror(ctypes.get_errno())}")
    return make()


class _Relay:
    """Passes connections on, byte by byte, to a server that `dial` connects to."""

    def __init__(self, dial: Callable[[], Awaitable[Connection]]) -> None:
        self._dial = dial
        self._serving: set[asyncio.Task[None]] = set()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until either side ends it."""
        task = asyncio.create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def end(self) -> None:
        """End every connection, and wait until all are closed."""
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with _closing(writer):
            try:
                there, back = await self._dial()
            except OSError:
                return
            async with _closing(back):
                ways = [asyncio.create_task(_pass_on(reader, back)), asyncio.create_task(_pass_on(there, writer))]
                try:
                    await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for way in ways:
                        way.cancel()
                    await asyncio.gather(*ways, return_exceptions=True)


@asynccontextmanager
async def _closing(writer: asyncio.StreamWriter) -> AsyncIterator[None]:
    try:
        yield
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK_BYTES):
            writer.write(data)
            await writer.drain()
