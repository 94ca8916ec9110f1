"""Running a program of this machine that reads a script and prints a record: with a deadline, and a limit to what it prints."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MOST_BYTES = 32 << 20
"""More than any node record; what prints more is none."""
_CHUNK_BYTES = 64 << 10
_TOLD_BYTES = 4 << 10
_LEAVE_S = 5.0
"""For what was killed to be gone; whoever left its process group may hold its pipes open for ever."""


@dataclass(frozen=True)
class Said:
    """
    What a program printed.

    Attributes:
        text: its output; empty when `problem` says why there is none.
        exit_code: None when it did not end by itself.
    """

    text: str
    problem: str = ""
    exit_code: int | None = 0


class _TooMuchError(Exception):
    """More came than any record has."""


async def say(program: Sequence[str], stdin: str, *, timeout_s: float) -> Said:
    """Run a program in a session of its own, so that all of it can be ended."""
    try:
        process = await asyncio.create_subprocess_exec(
            *program,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return Said("", f"{program[0]} cannot be run: {reason}", None)
    feeding = asyncio.create_task(_feed(process, stdin))
    printed, complaints = asyncio.create_task(_all_of(process.stdout)), asyncio.create_task(_end_of(process.stderr))
    try:
        async with asyncio.timeout(timeout_s):
            _, out, told = await asyncio.gather(feeding, printed, complaints)
            await process.wait()
    except _TooMuchError:
        return Said("", f"it printed more than {MOST_BYTES >> 20} MiB", None)
    except TimeoutError:
        return Said("", f"the script did not end within {timeout_s:g} s", None)
    finally:
        await _stop(feeding, printed, complaints)
        await _end(process)
    if process.returncode != 0:
        return Said("", f"the script ended with {process.returncode} and said: {told}", process.returncode)
    return Said(out.decode(errors="replace"))


async def _feed(process: asyncio.subprocess.Process, text: str) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(text.encode())
        await process.stdin.drain()
    process.stdin.close()


async def _all_of(stream: asyncio.StreamReader | None) -> bytes:
    """Read to the end; raises _TooMuchError when there is none in sight."""
    assert stream is not None
    content = bytearray()
    while chunk := await stream.read(_CHUNK_BYTES):
        content += chunk
        if len(content) > MOST_BYTES:
            raise _TooMuchError
    return bytes(content)


async def _end_of(stream: asyncio.StreamReader | None) -> str:
    """Read to the end and give the last line."""
    assert stream is not None
    end = b""
    while chunk := await stream.read(_CHUNK_BYTES):
        end = (end + chunk)[-_TOLD_BYTES:]
    lines = end.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "nothing"


async def _stop(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End it and everything that it started; what has ended already is left alone."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        # asyncio tells that a process has ended once its pipes have: what is in them must be read, wanted or not.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LEAVE_S):
                await asyncio.gather(_drop(process.stdout), _drop(process.stderr), process.wait())


async def _drop(stream: asyncio.StreamReader | None) -> None:
    assert stream is not None
    while await stream.read(_CHUNK_BYTES):
        pass
