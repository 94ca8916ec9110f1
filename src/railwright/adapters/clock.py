"""The time of this machine."""

import asyncio
import time
from datetime import UTC, datetime


class RealClock:
    """A Clock that waits as long as it says."""

    def now(self) -> datetime:
        """Wall time, UTC."""
        return datetime.now(UTC)

    def monotonic_s(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
