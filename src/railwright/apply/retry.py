"""Do a call again when the answer says that it may work later; nothing else is ever repeated."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from railwright.core.errors import RailwrightError
from railwright.ports.clock import Clock

_Answer = TypeVar("_Answer")

WRITE_LIMIT_S = 120.0
"""A webhook whose operator is just starting answers within two minutes, or something is wrong with it."""

_FIRST_DELAY_S = 1.0
_LONGEST_DELAY_S = 15.0


async def retried(
    call: Callable[[], Awaitable[_Answer]],
    clock: Clock,
    *,
    limit_s: float = WRITE_LIMIT_S,
    also: tuple[type[RailwrightError], ...] = (),
) -> _Answer:
    """
    Call, and call again after 1, 2, 4 ... seconds while the error is transient or one of `also`.

    Raises:
        RailwrightError: the last error, when it is not to be repeated, or when `limit_s` would be passed.
    """
    started_s = clock.monotonic_s()
    delay_s = _FIRST_DELAY_S
    while True:
        try:
            return await call()
        except RailwrightError as error:
            repeatable = error.transient or isinstance(error, also)
            if not repeatable or clock.monotonic_s() - started_s + delay_s > limit_s:
                raise
        await clock.sleep(delay_s)
        delay_s = min(2 * delay_s, _LONGEST_DELAY_S)
