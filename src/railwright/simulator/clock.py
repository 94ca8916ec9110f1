"""The Clock of a simulated world: waiting is free, and lets the world go on."""

from collections.abc import Generator
from dataclasses import dataclass
from datetime import datetime

from railwright.simulator.engine import Engine


class _Turn:
    """Something to await that lets other tasks run once and takes no time."""

    def __await__(self) -> Generator[None, None, None]:
        yield


async def turn() -> None:
    """Let other tasks run once."""
    await _Turn()


@dataclass(frozen=True)
class SimClock:
    """Time that moves only while somebody waits; several waiting at once share it."""

    engine: Engine

    def now(self) -> datetime:
        """Simulated wall time, UTC."""
        return self.engine.now

    def monotonic_s(self) -> float:
        """Simulated seconds since the world was opened."""
        return self.engine.elapsed_s

    async def sleep(self, seconds: float) -> None:
        """Let the world go on by that many seconds."""
        until = self.engine.elapsed_s + seconds
        await turn()
        while self.engine.elapsed_s < until:
            self.engine.tick(until - self.engine.elapsed_s)
            await turn()
        self.engine.save(self.engine)
