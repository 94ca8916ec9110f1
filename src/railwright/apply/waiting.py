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
"""Estimate: a server boots within a quarter of an hour."""
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
        limit_s: for how long what is left at a look is waited for; a later look may only lengthen it.
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
    """How long a wait has lasted, and how long it may."""

    def __init__(self, wait: Wait, means: Means) -> None:
        self._wait, self._means, self._started_s = wait, means, means.clock.monotonic_s()
        self.limit_s = 0.0

    @property
    def seconds(self) -> float:
        return self._means.clock.monotonic_s() - self._started_s

    def show(self, text: str, limit_s: float) -> None:
        self._means.progress.emit(Waiting(self._wait.stage, text, self.seconds, 0.0, limit_s))


async def until_nothing_is_left(wait: Wait, means: Means) -> Waited:
    """
    Wait.

    Raises:
        ClusterError: the API server was silent to the end of the limit, and at least for `AWAY_LIMIT_S`; or it refuses us.
        RunningElsewhere: another run took the ledger meanwhile.
    """
    elapsed = _Elapsed(wait, means)
    while True:
        try:
            if not await wait.look():
                return Waited({}, elapsed.limit_s)
            return await _watched(wait, means, elapsed)
        except RailwrightError as error:
            limit_s = max(elapsed.limit_s, AWAY_LIMIT_S)
            if not error.transient or elapsed.seconds >= limit_s:
                raise
            elapsed.show(f"the API server: {error.message}", limit_s)
        await means.clock.sleep(REREAD_S)


async def _watched(wait: Wait, means: Means, elapsed: _Elapsed) -> Waited:
    """Look and wait with one watch."""
    clock = means.clock
    async with means.cluster.watch(wait.selections) as watch:
        while True:
            left = await wait.look()
            elapsed.limit_s = max(elapsed.limit_s, wait.limit_s(left))
            if not left or elapsed.seconds >= elapsed.limit_s:
                return Waited(left, elapsed.limit_s)
            elapsed.show(wait.words(left), elapsed.limit_s)
            await means.ledger.renew()
            before_s = clock.monotonic_s()
            await watch.next(max(_SHORTEST_WAIT_S, min(REREAD_S, elapsed.limit_s - elapsed.seconds)))
            if clock.monotonic_s() - before_s < _SHORTEST_WAIT_S:
                await clock.sleep(_SHORTEST_WAIT_S)
