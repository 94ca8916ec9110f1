"""The lab's machine while it runs: booted in QEMU, spoken to through the agent, ended by its own id."""

import asyncio
import contextlib
import itertools
import json
import secrets
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from railwright.core.errors import ClusterUnreachable
from railwright.dataplane.bounded import end_with_parent
from railwright.lab.rdma.build import Image
from railwright.lab.rdma.guest.agent import PORT_NAME
from railwright.lab.rdma.tools import Emulator

BOOT_LIMIT_S = 240.0
"""Measured: 6 to 8 s on a quiet core, 76 s where twelve others wanted two cores (2026-11-30)."""
MEMORY_MIB = 768
CONTROL = "control"
"""Name of the socket to the agent, in the machine's folder."""
MONITOR = "monitor"
"""Name of the socket to QEMU itself."""
INITRD = "initrd"
_ANSWER_SPARE_S = 20.0
_LONGEST_ANSWER_BYTES = 1 << 26
_CONNECT_STEP_S = 0.05


@dataclass(frozen=True)
class ShellResult:
    """What a shell text said; `exit_code` is None when it was ended for taking too long."""

    exit_code: int | None
    out: str
    err: str


class Link:
    """One agent, wherever it runs: requests out, answers back, any number at the same time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Speak over a stream."""
        self._reader, self._writer = reader, writer
        # An answer to whoever spoke to this agent before must not be taken for one to us.
        self._numbers = itertools.count(secrets.randbelow(1 << 40))
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._greeting: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._listening = asyncio.create_task(self._listen())

    async def greeting(self, limit_s: float) -> dict[str, Any]:
        """Wait until the agent is there. Raises ClusterUnreachable."""
        try:
            async with asyncio.timeout(limit_s):
                return await self._greeting
        except TimeoutError:
            raise ClusterUnreachable(f"the lab's machine was not ready after {limit_s:.0f} s") from None

    async def shell(self, text: str, *, timeout_s: float = 30.0) -> ShellResult:
        """Run shell text as root, in the first namespace."""
        said = await self._ask({"shell": text, "timeout_s": timeout_s}, timeout_s)
        return ShellResult(said.get("exit_code"), said.get("out", ""), said.get("err", ""))

    async def must(self, text: str, *, timeout_s: float = 30.0) -> str:
        """Run shell text that has to succeed; its output. Raises ClusterUnreachable with its words."""
        done = await self.shell(f"set -e\n{text}", timeout_s=timeout_s)
        if done.exit_code != 0:
            words = " | ".join((done.err or done.out).strip().splitlines()[-3:])
            raise ClusterUnreachable(f"setting up the lab failed ({done.exit_code}): {words}")
        return done.out

    async def probe(self, probe: dict[str, Any], place: Mapping[str, Any], *, timeout_s: float) -> dict[str, Any]:
        """Run a half in a place; its reply, or {} when its process was killed. An interrupt ends the half."""
        said = await self._ask({"probe": probe, "place": dict(place), "timeout_s": timeout_s}, timeout_s)
        reply: dict[str, Any] = said.get("reply", {})
        return reply

    async def close(self) -> None:
        """Stop speaking; the agent goes on."""
        self._listening.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._listening
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def _ask(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._send({"id": number, **request})
        try:
            async with asyncio.timeout(timeout_s + _ANSWER_SPARE_S):
                return await self._waiting[number]
        except TimeoutError:
            raise ClusterUnreachable("the lab's machine does not answer any more") from None
        except asyncio.CancelledError:
            await self._send({"id": next(self._numbers), "end": number})
            raise
        finally:
            del self._waiting[number]

    async def _send(self, request: dict[str, Any]) -> None:
        self._writer.write(json.dumps(request).encode() + b"\n")
        await self._writer.drain()

    async def _listen(self) -> None:
        problem = ClusterUnreachable("the lab's machine has ended")
        with contextlib.suppress(OSError):
            while line := await self._reader.readline():
                said = json.loads(line)
                future = self._greeting if "ready" in said else self._waiting.get(said.get("id", 0))
                if future is not None and not future.done():
                    future.set_result(said)
        for future in (self._greeting, *self._waiting.values()):
            if not future.done():
                future.set_exception(problem)
        if not self._greeting.cancelled():
            self._greeting.exception()


@dataclass(frozen=True)
class MachineParts:
    """
    What a machine is started from.

    Attributes:
        own_code: a second file system, see own_code.py.
        nics: QEMU's arguments for the NICs that a method needs.
    """

    emulator: Emulator
    image: Image
    own_code: bytes
    nics: tuple[str, ...] = ()


def command(parts: MachineParts, initrd: Path, folder: Path) -> list[str]:
    """Write QEMU's command line."""
    return [
        *parts.emulator.command,
        *("-M", "q35", "-accel", "tcg,thread=single", "-cpu", "max", "-smp", "1", "-m", str(MEMORY_MIB)),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-serial", f"file:{folder}/console", "-qmp", f"unix:{folder}/{MONITOR},server=on,wait=off"),
        *("-device", "virtio-serial-pci", "-chardev", f"socket,id=c0,path={folder}/{CONTROL},server=on,wait=off"),
        *("-device", f"virtserialport,chardev=c0,name={PORT_NAME}"),
        *("-kernel", str(parts.image.kernel), "-initrd", str(initrd)),
        *("-append", "console=ttyS0 quiet panic=-1 mitigations=off"),
        *parts.nics,
    ]


async def start(
    parts: MachineParts, folder: Path, *, state: Path | None = None, outlives_us: bool = False
) -> asyncio.subprocess.Process:
    """
    Start the machine in a session of its own.

    Args:
        folder: for its console and sockets; must be empty, and short (a socket's path has 107 characters).
        state: of a machine that was kept, see kept.py; None boots.
        outlives_us: without it the kernel ends the machine when this process ends, however it does.
    """
    if state is None:
        initrd, waking = folder / INITRD, []
        await asyncio.to_thread(_write_both, initrd, parts.image.file_system, parts.own_code)
    else:
        # What it booted from is in its memory; QEMU only wants the same arguments again.
        initrd, waking = parts.image.file_system, ["-incoming", f"exec:cat {shlex.quote(str(state))}"]
    with await asyncio.to_thread((folder / "emulator.log").open, "wb") as log:
        return await asyncio.create_subprocess_exec(
            *command(parts, initrd, folder),
            *waking,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=None if outlives_us else end_with_parent,
        )


def _write_both(initrd: Path, first: Path, second: bytes) -> None:
    with initrd.open("wb") as out, first.open("rb") as source:
        shutil.copyfileobj(source, out)
        out.write(second)


async def connected(control: Path, process: asyncio.subprocess.Process | None = None) -> Link:
    """Connect to a machine's control socket; waited for while the machine's process lives."""
    deadline = asyncio.get_running_loop().time() + BOOT_LIMIT_S
    while asyncio.get_running_loop().time() < deadline:
        with contextlib.suppress(OSError):
            streams = await asyncio.open_unix_connection(str(control), limit=_LONGEST_ANSWER_BYTES)
            return Link(*streams)
        if process is not None and process.returncode is not None:
            break
        await asyncio.sleep(_CONNECT_STEP_S)
    log = control.parent / "emulator.log"
    words = log.read_text(errors="replace").strip()[-300:] if log.exists() else ""
    raise ClusterUnreachable(f"the lab's machine did not start: {words or 'no word from the emulator'}")
