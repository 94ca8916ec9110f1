"""
Open what must not be given up half way: whoever is cancelled meanwhile still gets it, and closes it.

Measured: httpx2 2.16.2, 2026-11-30: a connection that is cancelled in its TLS handshake stays open until it is garbage.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

_Opened = TypeVar("_Opened")

FINISH_LIMIT_S = 1.0
"""A handshake takes milliseconds; a server that does not answer must not keep anybody longer."""


async def opened(
    opening: Coroutine[Any, Any, _Opened],
    close: Callable[[_Opened], Awaitable[None]],
    *,
    limit_s: float = FINISH_LIMIT_S,
) -> _Opened:
    """
    Wait for something to be open.

    Args:
        opening: ends with what is open, which the caller closes.
        close: closes it when the caller was cancelled before he had it.
        limit_s: for how long a cancelled caller waits.
    """
    task = asyncio.create_task(opening)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        done, _ = await asyncio.wait([task], timeout=limit_s)
        if not done:
            task.cancel()
            await asyncio.wait([task])
        if not task.cancelled() and task.exception() is None:
            await close(task.result())
        raise
