"""
A half in a program of its own, because a library of somebody else's reads its settings once and speaks when it ends.

The child is this Python with a module of this package; it gets the request as an argument and answers with one marked
line among whatever the library prints.
"""

import dataclasses
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from railwright.dataplane.model import Problem, Reply, Request
from railwright.dataplane.problems import HalfFailed
from railwright.dataplane.programs import run_program
from railwright.dataplane.wire import probe_of, read_reply, read_request, reply_text, request_text

_MARK = "railwright-reply: "
_CHILD_LIMIT_S = 300.0
"""Longer than any run that is asked for; the caller's own limit ends the child before."""


def run_child(module: str, request: Request, settings: Mapping[str, str], log_setting: str) -> Reply:
    """
    Run a module's `main` with settings; its reply, with everything that was printed or logged as raw text.

    Args:
        log_setting: the variable by which the library is told to log into a file, or "" when it prints.
    """
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="railwright-") as folder:
        log = Path(folder) / "log"
        logged = {log_setting: str(log)} if log_setting else {}
        done = run_program(
            [sys.executable, "-m", module, request_text(request)],
            _CHILD_LIMIT_S,
            {**settings, **logged, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        words = log.read_text(errors="replace") if log.is_file() else ""
    lines = done.out.splitlines(keepends=True)
    marked = next((line for line in reversed(lines) if line.startswith(_MARK)), "")
    printed = "".join(line for line in lines if not line.startswith(_MARK))
    reply = _reply_of(marked, request, done.exit_code)
    shown = " ".join(f"{name}={value}" for name, value in settings.items())
    return dataclasses.replace(
        reply,
        raw=printed + words,
        raw_errors=done.err,
        command=f"{shown} python -m {module}",
        exit_code=done.exit_code,
        elapsed_s=time.monotonic() - begin,
    )


def _reply_of(marked: str, request: Request, exit_code: int | None) -> Reply:
    try:
        return read_reply(marked.removeprefix(_MARK))
    except ValueError:
        message = f"the program ended with {exit_code} and without an answer"
        return Reply(probe_of(request), Problem("died", message), role=getattr(request, "meeting").role)  # noqa: B009


def be_child(work: Callable[[Request], Reply]) -> None:
    """Be such a child: do the work, answer, and leave the rest to the library's own end."""
    request = read_request(sys.argv[1])
    try:
        reply = work(request)
    except HalfFailed as failure:
        role = getattr(getattr(request, "meeting", None), "role", "")
        reply = Reply(probe_of(request), failure.problem, role=role)
    sys.stdout.write(f"\n{_MARK}{reply_text(reply)}\n")
    sys.stdout.flush()
