"""
Where text leaves the process: streams that were closed, readers that went away, full disks, encodings without our signs.

Progress that nobody can see must not stop an apply; a result that cannot be written is an error.
"""

import contextlib
import errno
import io
import os
import sys

from railwright.core.errors import UsageError


class _Forgiving(io.TextIOWrapper):
    """A stream for progress and errors: what cannot be written is lost, and nothing else."""

    def write(self, text: str, /) -> int:
        """Write what can be written."""
        with contextlib.suppress(OSError):
            return super().write(text)
        return len(text)

    def flush(self) -> None:
        """Flush what can be flushed."""
        with contextlib.suppress(OSError):
            super().flush()


def prepare_streams() -> None:
    """Make the three streams of this process usable, whatever it was started with; done once, by its entry point."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115, PTH123 - open until the process ends
    if sys.stdout is None:
        # Only for reading, so that a result which goes nowhere is an error; and no other file gets this number.
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w")  # noqa: SIM115, PTH123 - open until the process ends
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    raw = open(os.devnull, "wb") if sys.stderr is None else sys.stderr.buffer  # noqa: SIM115, PTH123 - as above
    encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
    sys.stderr = _Forgiving(raw, encoding=encoding, errors="backslashreplace", line_buffering=True)


def write_result(text: str) -> None:
    """
    Write to stdout, at once; a reader that has seen enough (`| head`) has had its result.

    Raises:
        UsageError: the result cannot be written.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _hush()
    except OSError as error:
        raise unwritten(error) from error


def unwritten(error: OSError) -> UsageError:
    """Say that stdout takes nothing; what is still on its way there is let go."""
    _hush()
    why = "it is closed" if error.errno == errno.EBADF else error.strerror
    return UsageError(
        f"the result cannot be written to stdout: {why}",
        hint="what the command did stays done; run it again to see its result",
    )


def _hush() -> None:
    """Let what is still in stdout's buffer go nowhere: the interpreter flushes it when it ends."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
