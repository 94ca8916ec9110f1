"""
A machine as it was when it had just booted, kept in a file: waking it takes a second, booting it ten times as long.

The file belongs to one QEMU, one image, one version of our own code and one set of NICs; whatever differs boots anew.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import secrets
import shlex
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from railwright.core.errors import ClusterUnreachable
from railwright.lab.rdma import recipe
from railwright.lab.rdma.machine import (
    BOOT_LIMIT_S,
    CONTROL,
    INITRD,
    MEMORY_MIB,
    MONITOR,
    Link,
    MachineParts,
    connected,
    start,
)

_KEEP_LIMIT_S = _WAKE_LIMIT_S = 60.0
_STEP_S = 0.05
Ask = Callable[..., Awaitable[dict[str, Any]]]
_MOST_BYTES_A_SECOND = 1 << 34
"""QEMU holds back at 128 MiB a second where it is not told otherwise."""


@asynccontextmanager
async def running(parts: MachineParts, folder: Path) -> AsyncIterator[Link]:
    """Have a machine for the length of a block; see `wake_or_boot`."""
    process, link = await wake_or_boot(parts, folder)
    try:
        yield link
    finally:
        await link.close()
        await _end(process)


async def wake_or_boot(
    parts: MachineParts, folder: Path, *, outlives_us: bool = False
) -> tuple[asyncio.subprocess.Process, Link]:
    """
    Start a machine: the one that was kept, else a new one, which is then kept.

    Raises:
        ClusterUnreachable: it does not start.
    """
    state = state_file(parts)
    if state.is_file():
        with contextlib.suppress(ClusterUnreachable):
            return await _started(parts, folder, state, outlives_us=outlives_us)
        await asyncio.to_thread(_forget, state, folder)
    process, link = await _started(parts, folder, None, outlives_us=outlives_us)
    try:
        await keep(folder / MONITOR, state)
    except BaseException:
        await _end(process)
        raise
    return process, link


def state_file(parts: MachineParts) -> Path:
    """Name the file of a machine's state, by everything that it depends on."""
    program = Path(parts.emulator.command[0])
    stat = program.stat()
    depends = (
        *(*parts.emulator.command, str(stat.st_size), str(stat.st_mtime_ns)),
        *(str(parts.image.file_system), str(MEMORY_MIB), *parts.nics),
        hashlib.sha256(parts.own_code).hexdigest(),
    )
    whole = hashlib.sha256("\0".join(depends).encode()).hexdigest()
    nics = hashlib.sha256("\0".join(parts.nics).encode()).hexdigest()
    return recipe.cache_root(os.environ, Path.home()) / "states" / f"{nics[:8]}-{whole[:16]}"


async def keep(monitor: Path, state: Path) -> bool:
    """
    Write the machine's state, in place of an older one with the same NICs; it stands still meanwhile.

    Returns:
        False when QEMU could not, or there is no room: the machine goes on all the same.
    """
    written = state.with_name(f".{state.name}-{secrets.token_hex(4)}")
    try:
        await asyncio.to_thread(state.parent.mkdir, parents=True, exist_ok=True)
        async with asyncio.timeout(_KEEP_LIMIT_S), _monitor(monitor) as ask:
            await ask("migrate-set-parameters", {"max-bandwidth": _MOST_BYTES_A_SECOND})
            await ask("stop")
            try:
                kept = await _migrated(ask, f"exec:cat > {shlex.quote(str(written))}")
            finally:
                await ask("cont")
        if kept:
            await asyncio.to_thread(_replace, state, written)
    except (OSError, TimeoutError, ValueError):
        return False
    else:
        return kept
    finally:
        written.unlink(missing_ok=True)


async def _migrated(ask: Ask, target: str) -> bool:
    await ask("migrate", {"uri": target})
    while True:
        status = str((await ask("query-migrate")).get("status"))
        if status in {"completed", "failed"}:
            return status == "completed"
        await asyncio.sleep(_STEP_S)


def _replace(state: Path, written: Path) -> None:
    for older in state.parent.glob(f"{state.name.partition('-')[0]}-*"):
        older.unlink(missing_ok=True)
    written.rename(state)


@asynccontextmanager
async def _monitor(socket: Path) -> AsyncIterator[Ask]:
    """
    Speak to QEMU.

    Source: QEMU 7.2 docs/interop/qmp-spec.txt: a greeting, qmp_capabilities, then commands; events between answers.
    """
    reader, writer = await asyncio.open_unix_connection(str(socket))

    async def ask(command: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        writer.write(json.dumps({"execute": command, "arguments": arguments or {}}).encode())
        await writer.drain()
        while line := await reader.readline():
            said = json.loads(line)
            if "error" in said:
                raise ValueError(f"{command}: {said['error'].get('desc', '')}")
            if "return" in said:
                answer: dict[str, Any] = said["return"]
                return answer
        raise ConnectionResetError(f"{command}: QEMU has ended")

    try:
        await ask("qmp_capabilities")
        yield ask
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _started(
    parts: MachineParts, folder: Path, state: Path | None, *, outlives_us: bool
) -> tuple[asyncio.subprocess.Process, Link]:
    process = await start(parts, folder, state=state, outlives_us=outlives_us)
    try:
        link = await connected(folder / CONTROL, process)
        if state is None:
            await link.greeting(BOOT_LIMIT_S)
            await asyncio.to_thread((folder / INITRD).unlink)
        else:
            await _resume(folder / MONITOR)
            await link.must("true", timeout_s=_WAKE_LIMIT_S)
    except BaseException:
        await _end(process)
        raise
    return process, link


async def _resume(monitor: Path) -> None:
    """Let a machine go on that was kept while it stood still. Raises ClusterUnreachable."""
    try:
        async with asyncio.timeout(_WAKE_LIMIT_S), _monitor(monitor) as ask:
            while (await ask("query-status")).get("status") == "inmigrate":  # noqa: ASYNC110 - QEMU answers questions
                await asyncio.sleep(_STEP_S)
            await ask("cont")
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterUnreachable(f"the lab's machine that was kept does not wake: {error}") from error


def _forget(state: Path, folder: Path) -> None:
    """Take away a state that does not wake, and what its machine left in the folder."""
    state.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()
