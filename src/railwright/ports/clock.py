"""Time, as the only way to read it or to wait."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The time of a world: the machine's, or a simulator's."""

    def now(self) -> datetime:
        """Wall time, with time zone UTC."""

    def monotonic_s(self) -> float:
        """Seconds that never go back, from an arbitrary start."""

    async def sleep(self, seconds: float) -> None:
        """Wait; in a simulator the world goes on by that much."""
