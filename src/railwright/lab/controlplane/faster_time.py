"""
A clock that runs faster than the wall's, at a pace that changes: fast while everybody only waits, slow while one works.

A file can hold the pace, for several processes to share one time; one beside it says that one of them waits.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

SLICE_S = 0.05
"""A wait looks at the clock again this often, for its pace may have changed."""


class FasterTime:
    """A Clock."""

    def __init__(
        self,
        factor: float,
        wall: Callable[[], datetime] = lambda: datetime.now(UTC),
        *,
        shared: Path | None = None,
    ) -> None:
        """
        Start, showing what the wall's clock shows.

        Args:
            factor: seconds of this clock in one of the wall's.
            shared: a file that other processes follow; one that is there already is followed.
        """
        self._wall = wall
        self._shared = shared
        self._mark = None if shared is None else shared.with_suffix(".waiting")
        self._factor = factor
        self._waits = 0
        self._met = self._then = wall()
        if shared is not None and not shared.exists():
            self._write()
        if self._mark is not None:
            self._mark.unlink(missing_ok=True)
        self._follow()
        self._started = self._then

    @property
    def factor(self) -> float:
        """How many of its seconds pass in one of the wall's."""
        self._follow()
        return self._factor

    @property
    def is_waited_for(self) -> bool:
        """Whether somebody waits for this time to pass, here or in another process."""
        return self._waits > 0 or (self._mark is not None and self._mark.exists())

    @contextmanager
    def waiting(self, work_factor: float | None = None) -> Iterator[None]:
        """Say that somebody waits, for the length of a block; after it time runs at `work_factor`, when it is given."""
        self._waits += 1
        if self._mark is not None:
            self._mark.touch()
        try:
            yield
        finally:
            self._waits -= 1
            if self._mark is not None:
                self._mark.unlink(missing_ok=True)
            if work_factor is not None and self._shared is None:
                self.run_at(work_factor)

    def run_at(self, factor: float) -> None:
        """Go on at another pace from this moment."""
        if factor == self.factor:
            return
        wall = self._wall()
        self._then += (wall - self._met) * self._factor
        self._met, self._factor = wall, factor
        if self._shared is not None:
            self._write()

    def now(self) -> datetime:
        """Give the time of the faster clock."""
        self._follow()
        return self._then + (self._wall() - self._met) * self._factor

    def monotonic_s(self) -> float:
        """Seconds of the faster clock since it was made."""
        return (self.now() - self._started).total_seconds()

    async def sleep(self, seconds: float) -> None:
        """Wait that long by the faster clock."""
        until = self.now() + timedelta(seconds=seconds)
        with self.waiting():
            while (left_s := (until - self.now()).total_seconds()) > 0:  # noqa: ASYNC110 - the pace may change meanwhile
                await asyncio.sleep(min(left_s / self.factor, SLICE_S))

    def _write(self) -> None:
        assert self._shared is not None
        new = self._shared.with_suffix(".new")
        new.write_text(json.dumps([self._met.isoformat(), self._then.isoformat(), self._factor]))
        new.replace(self._shared)

    def _follow(self) -> None:
        if self._shared is not None:
            met, then, self._factor = json.loads(self._shared.read_text())
            self._met, self._then = datetime.fromisoformat(met), datetime.fromisoformat(then)
