"""
The file that keeps a world between commands: objects, versions and simulated time; written atomically.

Two commands on one file would each hold a world of their own: whoever finds that the file is no longer the one that
it read or wrote stops, before it would undo what the other did.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from railwright.core.errors import UsageError
from railwright.core.objects import ref_of
from railwright.simulator.engine import Engine

FORMAT = "railwright-simulated-world/1"
_DAMAGED = (AttributeError, KeyError, RecursionError, TypeError, ValueError)
"""What reading a file that holds something else ends with."""


@dataclass
class StateFile:
    """One file; what was saved last is not saved again."""

    path: Path
    world: str
    _saved: tuple[int, datetime] | None = None
    _seen: tuple[int, int, int] | None = None
    """The file as we know it (device, inode, time of change); None while there is none."""

    def save(self, engine: Engine) -> None:
        """Write the world beside the file and move it into place."""
        mark = (engine.store.version, engine.now)
        if mark == self._saved:
            return
        text = msgspec.json.encode(
            {
                "format": FORMAT,
                "world": self.world,
                "now": engine.now.isoformat(),
                "elapsed_s": engine.elapsed_s,
                "version": engine.store.version,
                "objects": list(engine.store.objects.values()),
            }
        )
        try:
            with _alone(self.path.parent):
                self._check_unchanged()
                self._replace(text)
                self._seen = _identity(self.path)
        except OSError as problem:
            message = f"the state of the simulated world cannot be written to {self.path}: {problem.strerror}"
            hint = "name a file in a folder that is there and can be written"
            raise UsageError(message, hint=hint, context={"file": str(self.path)}) from problem
        self._saved = mark

    def _check_unchanged(self) -> None:
        if _identity(self.path) != self._seen:
            message = (
                f"another command changed {self.path} while this one was at work; it stopped before its next write"
            )
            raise UsageError(
                message, hint="run the same command again: it goes on from there", context={"file": str(self.path)}
            )

    def _replace(self, text: bytes) -> None:
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self.path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise

    def load(self, engine: Engine) -> bool:
        """
        Put the saved world into the engine.

        Returns:
            False when there is no file yet.

        Raises:
            UsageError: the file is no saved world, or one of another world.
        """
        if not self.path.exists():
            return False
        hint = "give another file, or remove this one to begin anew"
        context = {"file": str(self.path)}
        try:
            if not self.path.is_file():
                # A device or a pipe has no end, and would be read until the memory is full.
                raise UsageError(f"{self.path} is no regular file", hint=hint, context=context)
            self._seen = _identity(self.path)
            saved = msgspec.json.decode(self.path.read_bytes())
            form = saved.get("format") if isinstance(saved, dict) else None
            if form != FORMAT:
                seen = f"format {str(form)[:60]!r}" if form is not None else "something else"
                message = f"{self.path} is no saved world (expected format {FORMAT!r}, seen {seen})"
                raise UsageError(message, hint=hint, context=context)
            world, objects = saved["world"], saved["objects"]
            now, elapsed_s, version = (
                datetime.fromisoformat(saved["now"]),
                float(saved["elapsed_s"]),
                int(saved["version"]),
            )
            refs = [(ref_of(obj), obj) for obj in objects]
            if world == self.world:
                engine.restore(refs, now=now, elapsed_s=elapsed_s, version=version)
        except OSError as problem:
            message = f"{self.path} cannot be read: {problem.strerror}"
            raise UsageError(message, hint=hint, context=context) from problem
        except msgspec.MsgspecError as problem:
            raise UsageError(f"{self.path} is no saved world: {problem}", hint=hint, context=context) from problem
        except _DAMAGED as problem:
            message = f"{self.path} is a damaged saved world: {_damage(problem)}"
            raise UsageError(message, hint=hint, context=context) from problem
        if world != self.world:
            raise UsageError(f"{self.path} holds world {world}, not {self.world}", hint=hint, context=context)
        self._saved = (version, now)
        return True


def _damage(problem: Exception) -> str:
    """Say in words what reading a part of it ended with."""
    if isinstance(problem, KeyError):
        return f"{problem} is missing"
    return str(problem) if isinstance(problem, ValueError) else "something in it has the wrong type"


def _identity(path: Path) -> tuple[int, int, int] | None:
    """Tell one version of a file from the next: each is written beside it and moved into place."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other commands out for the moment of a write; without file locks (Windows) that moment is a risk."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
