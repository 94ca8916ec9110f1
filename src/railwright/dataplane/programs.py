"""Run one program of somebody else's: bounded in time, in a group of its own, its words kept whole."""

import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from railwright.dataplane.problems import HalfFailed


@dataclass(frozen=True)
class Finished:
    """What a program said; `exit_code` is None when it was ended for taking too long."""

    command: str
    exit_code: int | None
    out: str
    err: str
    elapsed_s: float


def find_program(name: str, package: str) -> str:
    """Give the path of a program. Raises HalfFailed "tool-missing" with the package that holds it."""
    path = shutil.which(name)
    if path is None:
        raise HalfFailed("tool-missing", f"{name} is not installed here (package {package})")
    return path


def run_program(command: Sequence[str], timeout_s: float, settings: Mapping[str, str] | None = None) -> Finished:
    """Run it to its end, or end it with everything that it started."""
    from railwright.dataplane.bounded import end_with_parent

    begin = time.monotonic()
    shown = " ".join(
        [*(f"{name}={shlex.quote(value)}" for name, value in (settings or {}).items()), shlex.join(command)]
    )
    process = subprocess.Popen(  # noqa: S603 - the command is ours, no shell reads it
        list(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "LC_ALL": "C", **(settings or {})},
        start_new_session=True,
        preexec_fn=end_with_parent,  # noqa: PLW1509 - a half has one thread
    )
    exit_code: int | None
    try:
        out, err = process.communicate(timeout=timeout_s)
        exit_code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        exit_code = None
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    return Finished(
        shown, exit_code, out.decode(errors="replace"), err.decode(errors="replace"), time.monotonic() - begin
    )
