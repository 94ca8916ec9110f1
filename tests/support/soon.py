"""What a real program makes of a write, once it has had its turn: nobody tells when that is."""

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TypeVar

from railwright.adapters.clock import RealClock

T = TypeVar("T")
LIMIT_S = 60.0
"""Real controllers answer in a second or two; a loaded machine takes ten times that."""
_LOOK_EVERY_S = 0.25


async def soon(read: Callable[[], Awaitable[T]], holds: Callable[[T], bool], limit_s: float = LIMIT_S) -> T:
    """Read until the claim holds, or for so long by the wall; gives what was read last, for the caller to judge."""
    until_s = monotonic() + limit_s
    while not holds(seen := await read()) and monotonic() < until_s:
        await RealClock().sleep(_LOOK_EVERY_S)
    return seen
