"""
Waits outside gates: look again by watch until nothing is left.

As in a gate, a watch that delivers nothing is not believed, and an API server that went away is waited for: on a single
node it reboots with what is waited for.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from railwright.apply.means import Means
from railwright.core.errors import RailwrightError
from railwright.core.ids import StageName
from railwright.core.objects import Ref
from railwright.ports.cluster import Selection
from railwright.ports.progress import Waiting

AWAY_LIMIT_S = 900.0
"""How long an API server may be silent on end. Estimate: a server boots within a quarter of an hour."""
REREAD_S = 15.0
"""A watch that delivered nothing for so long is not believed; a read that is no write's needs no longer patience."""
_SHORTEST_WAIT_S = 1.0
Left = Mapping[Ref, str]


@dataclass(frozen=True)
class Wait:
    """
    One wait.

    Attributes:
        selections: what is watched.
        look: gives what is left, each with what goes on; at best without patience of its own.
        limit_s: for how long what is left at a look is waited for, silence of the API server left out; a later look may
            only lengthen it.
        words: what is waited for, of what is left.
    """

    stage: StageName
    selections: Sequence[Selection]
    look: Callable[[], Awaitable[Left]]
    limit_s: Callable[[Left], float]
    words: Callable[[Left], str]


@dataclass(frozen=True)
class Waited:
    """How it ended: what is left after `limit_s`; nothing is the good end."""

    left: Left
    limit_s: float


class _Elapsed:
    """How long a wait has lasted, and how long it may; and since when the API server has been silent."""

    def __init__(self, wait: Wait, means: Means) -> None:
        self._wait, self._means, self._started_s = wait, means, means.clock.monotonic_s()
        self._silent_since_s: float | None = None
        self._silences_s = 0.0
        self.limit_s = 0.0

    @property
    def seconds(self) -> float:
        """How long it was waited for, without the time in which nobody could look."""
        return self._now_s() - self._started_s - self._silences_s

    @property
    def is_over(self) -> bool:
        return self.seconds >= self.limit_s

    async def look(self) -> Left:
        """
        Look, and note when looks begin and cease to fail.

        Only a look tells that the API server is silent: a watch that does not open, beside looks that are answered, takes
        nothing from the limit and adds nothing to it.
        """
        began_s = self._now_s()
        try:
            left = await self._wait.look()
        except RailwrightError:
            self._silent_since_s = began_s if self._silent_since_s is None else self._silent_since_s
            raise
        self._silences_s += self.silence_s
        self._silent_since_s = None
        self.limit_s = max(self.limit_s, self._wait.limit_s(left)) if left else self.limit_s
        return left

    @property
    def silence_s(self) -> float:
        """How long no look was answered; 0 when the last one was."""
        return 0.0 if self._silent_since_s is None else self._now_s() - self._silent_since_s

    def show(self, left: Left) -> None:
        self._emit(self._wait.words(left), self.seconds, self.limit_s)

    def show_silence(self, error: RailwrightError) -> None:
        self._emit(f"the API server: {error.message}", self.silence_s, AWAY_LIMIT_S)

    def _emit(self, text: str, seconds: float, limit_s: float) -> None:
        self._means.progress.emit(Waiting(self._wait.stage, text, seconds, 0.0, limit_s))

    def _now_s(self) -> float:
        return self._means.clock.monotonic_s()


async def until_nothing_is_left(wait: Wait, means: Means) -> Waited:
    """
    Wait; time in which the API server was silent is none of the limit's.

    Raises:
        ClusterError: the API server was silent for `AWAY_LIMIT_S` on end; or it refuses us.
        RunningElsewhere: another run took the ledger meanwhile.
    """
    elapsed = _Elapsed(wait, means)
    while True:
        try:
            left = await elapsed.look()
            if not left or elapsed.is_over:
                return Waited(left, elapsed.limit_s)
            return await _watched(wait, means, elapsed)
        except RailwrightError as error:
            if not error.transient or elapsed.silence_s >= AWAY_LIMIT_S:
                raise
            elapsed.show_silence(error)
        await means.clock.sleep(REREAD_S)


async def _watched(wait: Wait, means: Means, elapsed: _Elapsed) -> Waited:
    """Look and wait with one watch."""
    clock = means.clock
    async with means.cluster.watch(wait.selections) as watch:
        while True:
            left = await elapsed.look()
            if not left or elapsed.is_over:
                return Waited(left, elapsed.limit_s)
            elapsed.show(left)
            await means.ledger.renew()
            before_s = clock.monotonic_s()
            await watch.next(max(_SHORTEST_WAIT_S, min(REREAD_S, elapsed.limit_s - elapsed.seconds)))
            if clock.monotonic_s() - before_s < _SHORTEST_WAIT_S:
                await clock.sleep(_SHORTEST_WAIT_S)
