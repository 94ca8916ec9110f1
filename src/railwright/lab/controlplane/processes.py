"""
Processes of a control plane: started with a log of their own, waited for, and ended by their own id.

None outlives the one that started it, not even when that is killed.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from railwright.core.errors import ClusterUnreachable

_LEASH = Path(__file__).with_name("leash.py")
STOP_LIMIT_S = 2.0
"""kube-apiserver waits for open watches; its data is thrown away, so it is not waited for longer than this."""


@dataclass(frozen=True)
class Started:
    """One process that runs."""

    name: str
    process: asyncio.subprocess.Process
    log: Path

    def tail(self) -> str:
        """Give the last lines of the log."""
        return " | ".join(self.log.read_text(errors="replace").strip().splitlines()[-5:])


async def start(
    name: str, argv: list[str], folder: Path, *, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> Started:
    """
    Start a program in a session of its own; a Ctrl-C at the terminal is ours to pass on.

    Args:
        folder: of its log.
        environment: what it sees besides our own.
    """
    log = folder / f"{name}.log"
    with log.open("ab") as out:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-S",
            str(_LEASH),
            str(os.getpid()),
            *argv,
            cwd=cwd,
            env={**os.environ, **(environment or {})},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    return Started(name, process, log)


async def stop(started: list[Started], limit_s: float = STOP_LIMIT_S) -> None:
    """End processes, last started first; what does not end in time is killed."""
    running = [each for each in reversed(started) if each.process.returncode is None]
    for each in running:
        each.process.terminate()
    waits = [asyncio.create_task(each.process.wait()) for each in running]
    if waits:
        await asyncio.wait(waits, timeout=limit_s)
    for each in running:
        if each.process.returncode is None:
            each.process.kill()
    await asyncio.gather(*waits)


def must_run(started: Started) -> None:
    """Raise ClusterUnreachable when the process has ended; its last words are in the message."""
    if started.process.returncode is not None:
        message = f"{started.name} ended with {started.process.returncode}: {started.tail()}"
        raise ClusterUnreachable(message)


def free_ports(count: int) -> list[int]:
    """Find ports that nobody listens on now; held together, so that they differ."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]
    finally:
        for each in sockets:
            each.close()
