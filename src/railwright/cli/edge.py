"""Where errors end: messages on stderr, exit codes, a debug file for what nobody expected."""

import asyncio
import json
import signal
import sys
import tempfile
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from railwright.cli.options import Common
from railwright.cli.streams import write_result
from railwright.core.errors import RailwrightError
from railwright.core.foreign_text import inert, inert_json
from railwright.core.redaction import redact, redact_text
from railwright.report.formats import to_json, to_text, to_yaml
from railwright.report.model import Document

_ENDINGS = ("SIGTERM", "SIGHUP")
"""What a scheduler, a service manager or a terminal that closes sends; not every system has both."""
_INTERRUPTED = 130
_BUG = 1


def run(action: Callable[[], Awaitable[int]], common: Common, *, writes: bool = False) -> int:
    """
    Run a command's coroutine and translate how it ends into an exit code.

    Args:
        writes: the command changes the cluster, and keeps in the ledger how far it came.
    """
    try:
        return asyncio.run(_run(action))
    except (KeyboardInterrupt, asyncio.CancelledError):
        going_on = "what was done is in the ledger; run the same command again to go on"
        sys.stderr.write(f"interrupted: {going_on if writes else 'run the same command again'}\n")
        return _INTERRUPTED
    except RailwrightError as error:
        show_error(error, common)
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the outermost edge: a bug of ours must not end in a bare traceback
        _show_bug(error)
        return _BUG


async def _run(action: Callable[[], Awaitable[int]]) -> int:
    with _endings_that_cancel():
        return await action()


@contextmanager
def _endings_that_cancel() -> Iterator[None]:
    """
    While a command runs, let whoever tells the process to end cancel it, as asyncio does on Ctrl-C.

    An exception out of a signal's handler comes up anywhere, in the middle of a write's book-keeping too. What a parent
    ignores stays ignored; where there are no such handlers (Windows, a thread), whatever was before stays.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    before: dict[int, Any] = {}
    for name in _ENDINGS:
        number = getattr(signal, name, None)
        if number is None or task is None or signal.getsignal(number) is signal.SIG_IGN:
            continue
        handler = signal.getsignal(number)
        with suppress(RuntimeError, ValueError):
            loop.add_signal_handler(number, task.cancel)
            before[number] = handler
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


def show(document: Document, common: Common) -> int:
    """Print a result in the wanted format; give its exit code."""
    formats = {"text": to_text, "json": to_json, "yaml": to_yaml}
    write_result(formats[common.output](document))
    return document.exit_code


def show_error(error: RailwrightError, common: Common) -> None:
    """Print an error on stderr: for people, or as JSON with the same fields."""
    if common.output == "json":
        fields = {
            "code": error.code,
            "exit_code": error.exit_code,
            "transient": error.transient,
            "message": error.message,
            "hint": error.hint,
            "context": error.context,
        }
        sys.stderr.write(inert_json(json.dumps({"error": redact(fields)}, indent=2)) + "\n")
        return
    retry = ", may be retried" if error.transient else ""
    lines = [f"error: {error.code}  (exit {error.exit_code}{retry})"]
    lines.extend(f"  {line}" for line in error.message.splitlines())
    lines.extend(f"  {key}: {value}" for key, value in error.context.items())
    if error.hint:
        lines.append(f"  next  {error.hint}")
    sys.stderr.write(inert(redact_text("\n".join(lines))) + "\n")


def _show_bug(error: Exception) -> None:
    trace = redact_text("".join(traceback.format_exception(error)))
    try:
        with tempfile.NamedTemporaryFile("w", prefix="railwright-bug-", suffix=".txt", delete=False) as debug:
            debug.write(trace)
        next_step = f"report it with {Path(debug.name)}"
    except OSError as full:
        next_step = f"report it with these lines, for which no file could be written ({full.strerror}):\n{trace}"
    sys.stderr.write(
        f"error: internal  (exit 1)\n  a bug of railwright: {type(error).__name__}: {inert(redact_text(str(error)))}\n"
        f"  next  {next_step}\n"
    )
