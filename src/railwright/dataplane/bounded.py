"""
Run a half in a process of its own that cannot outlive its limit, nor whoever started it.

The half is a child in a session of its own; the kernel kills it when its parent dies, and it kills what it started
in the same way. So a hung driver, a peer that is gone or an interrupt never leave anything behind.
"""

import contextlib
import ctypes
import json
import os
import select
import signal
import time
from collections.abc import Callable

from railwright.dataplane.model import Problem, Reply, Request
from railwright.dataplane.run import run_half
from railwright.dataplane.wire import probe_of, reply_text

_SET_PARENT_DEATH_SIGNAL = 1
_READ_BYTES = 1 << 16


def end_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends; for the child to call, also before an exec."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def run_bounded(
    request: Request, timeout_s: float, enter: Callable[[], None] | None = None, *, until: int | None = None
) -> str:
    """
    Run a half to its end, at most `timeout_s`.

    Args:
        enter: called in the child first: where a lab puts it into a namespace, or takes rights away.
        until: a connection to whoever wants the reply: when that hangs up, the half is ended.

    Returns:
        The reply as wire.py writes it; one that says why there is none, where the child gave no whole one.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _be_the_half(request, writing, enter)
    os.close(writing)
    begin = time.monotonic()
    try:
        said, ended = _read_until(reading, begin + timeout_s, until)
    finally:
        os.close(reading)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    elapsed_s = time.monotonic() - begin
    if not ended:
        message = f"this half was not done after {timeout_s:.0f} s and was ended"
        return reply_text(_failed(request, "timed-out", message, elapsed_s))
    try:
        json.loads(said)
    except ValueError:
        how = (
            f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {os.waitstatus_to_exitcode(status)}"
        )
        return reply_text(_failed(request, "died", f"this half ended without an answer ({how})", elapsed_s))
    return said.decode()


def _be_the_half(request: Request, writing: int, enter: Callable[[], None] | None) -> None:
    """Be the child: never returns."""
    try:
        os.setsid()
        end_with_parent()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        try:
            if enter is not None:
                enter()
            reply = run_half(request)
        except OSError as error:
            reply = _failed(request, "not-permitted", f"this half could not be put in its place: {error}", 0.0)
        data = reply_text(reply).encode()
        while data:
            data = data[os.write(writing, data) :]
    finally:
        os._exit(0)


def _read_until(reading: int, deadline: float, until: int | None) -> tuple[bytes, bool]:
    """Read a pipe to its end; what was read, and whether the end came before the deadline and before a hang-up."""
    said = b""
    poller = select.poll()
    poller.register(reading, select.POLLIN | select.POLLHUP)
    if until is not None:
        poller.register(until, select.POLLRDHUP)
    while (left := deadline - time.monotonic()) > 0:
        ready = [descriptor for descriptor, _ in poller.poll(left * 1000)]
        if reading in ready:
            data = os.read(reading, _READ_BYTES)
            if not data:
                return said, True
            said += data
        elif ready:
            break
    return said, False


def _failed(request: Request, code: str, message: str, elapsed_s: float) -> Reply:
    role = getattr(getattr(request, "meeting", None), "role", "")
    return Reply(probe_of(request), Problem(code, message), role=role, elapsed_s=elapsed_s)
