"""
A network namespace for programs that listen on ports of their own choice, with one way out: to one server of ours.

Needs root and the program `ip`; where either is missing, `why_no_namespace` says so.
"""

import asyncio
import contextlib
import ctypes
import os
import secrets
import shutil
import socket
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

from railwright.core.errors import ClusterUnreachable

_NAMED = Path("/run/netns")
_CLONE_NEWNET = 0x40000000
_CHUNK_BYTES = 1 << 16


def why_no_namespace() -> str:
    """Say why no network namespace can be made here; "" when it can."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "a network namespace needs root"
    if shutil.which("ip") is None:
        return "a network namespace needs the program ip (package iproute2), which is not installed"
    return ""


@asynccontextmanager
async def network_namespace(server_port: int) -> AsyncIterator[tuple[str, ...]]:
    """
    Make a network namespace for the length of a block.

    Args:
        server_port: of a server on this machine's loopback; the namespace has it at the same address.

    Yields:
        What to put in front of a command for it to run there.

    Raises:
        ClusterUnreachable: `ip` refused; the message holds what it said.
    """
    name = f"railwright-{secrets.token_hex(4)}"
    await _ip("netns", "add", name)
    try:
        await _ip("-n", name, "link", "set", "lo", "up")
        relay = _Relay(server_port)
        async with await asyncio.start_server(relay.connected, sock=await _listen_in(_NAMED / name, server_port)):
            try:
                yield ("ip", "netns", "exec", name)
            finally:
                await relay.end()
    finally:
        await _ip("netns", "delete", name)


async def _ip(*arguments: str) -> None:
    process = await asyncio.create_subprocess_exec(
        "ip", *arguments, stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    _, said = await process.communicate()
    if process.returncode != 0:
        message = f"ip {' '.join(arguments)}: {said.decode(errors='replace').strip()}"
        raise ClusterUnreachable(message)


async def _listen_in(namespace: Path, port: int) -> socket.socket:
    """Open a listening socket inside a namespace; a socket stays where it was made, whoever uses it."""
    with ThreadPoolExecutor(max_workers=1) as only_for_this:
        return await asyncio.get_running_loop().run_in_executor(only_for_this, _enter_and_listen, namespace, port)


def _enter_and_listen(namespace: Path, port: int) -> socket.socket:
    """Move the calling thread, which must do nothing else afterwards, into the namespace, and listen on loopback."""
    library = ctypes.CDLL(None, use_errno=True)
    with namespace.open() as file:
        if library.setns(file.fileno(), _CLONE_NEWNET) != 0:
            raise ClusterUnreachable(f"cannot enter {namespace}: {os.strerror(ctypes.get_errno())}")
    return socket.create_server(("127.0.0.1", port))


class _Relay:
    """Passes connections on to a server on this machine's loopback, byte by byte."""

    def __init__(self, port: int) -> None:
        self._port = port
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
                there, back = await asyncio.open_connection("127.0.0.1", self._port)
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
