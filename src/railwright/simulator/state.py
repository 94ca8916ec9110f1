"""The file that keeps a world between commands: objects, versions and simulated time; written atomically."""

import os
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from railwright.core.errors import UsageError
from railwright.core.objects import ref_of
from railwright.simulator.engine import Engine

FORMAT = "railwright-simulated-world/1"


@dataclass
class StateFile:
    """One file; what was saved last is not saved again."""

    path: Path
    world: str
    _saved: tuple[int, datetime] | None = None

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
            self._replace(text)
        except OSError as problem:
            message = f"the state of the simulated world cannot be written to {self.path}: {problem.strerror}"
            raise UsageError(message, context={"file": str(self.path)}) from problem
        self._saved = mark

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
            saved = msgspec.json.decode(self.path.read_bytes())
            if saved["format"] != FORMAT:
                raise UsageError(
                    f"{self.path} has format {saved['format']}, expected {FORMAT}", hint=hint, context=context
                )
            world, objects = saved["world"], saved["objects"]
            now, elapsed_s, version = (
                datetime.fromisoformat(saved["now"]),
                float(saved["elapsed_s"]),
                int(saved["version"]),
            )
            refs = [(ref_of(obj), obj) for obj in objects]
        except (OSError, msgspec.MsgspecError, KeyError, TypeError, ValueError) as problem:
            raise UsageError(f"{self.path} is no saved world: {problem}", hint=hint, context=context) from problem
        if world != self.world:
            raise UsageError(f"{self.path} holds world {world}, not {self.world}", hint=hint, context=context)
        engine.restore(refs, now=now, elapsed_s=elapsed_s, version=version)
        self._saved = (version, now)
        return True
