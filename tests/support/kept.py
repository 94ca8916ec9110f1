"""Something asynchronous that is kept running for a whole test session, by a thread with a loop of its own."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TypeVar

START_LIMIT_S = 3600
"""Programs that are not cached are built first."""

Kept = TypeVar("Kept")


@contextmanager
def kept(context: AbstractAsyncContextManager[Kept]) -> Iterator[Kept]:
    """Enter a context in the thread, give what it gives, and leave it there when the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name=f"keeps {context}", daemon=True)
    thread.start()
    try:
        value = asyncio.run_coroutine_threadsafe(context.__aenter__(), loop).result(START_LIMIT_S)
        try:
            yield value
        finally:
            asyncio.run_coroutine_threadsafe(context.__aexit__(None, None, None), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
