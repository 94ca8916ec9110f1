"""The time in an archive: the moment at which it was collected; waiting goes on from there at once."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass
class ArchiveClock:
    """A Clock that stands still until somebody waits."""

    taken_at: datetime
    _elapsed_s: float = 0.0

    def now(self) -> datetime:
        """When the archive was collected, and what was waited since."""
        return self.taken_at + timedelta(seconds=self._elapsed_s)

    def monotonic_s(self) -> float:
        """Seconds that were waited."""
        return self._elapsed_s

    async def sleep(self, seconds: float) -> None:
        """Nothing happens in an archive: the time is over at once."""
        self._elapsed_s += seconds
