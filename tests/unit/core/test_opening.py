"""What was begun to be opened is open or closed afterwards, never in between."""

import asyncio

import pytest

from railwright.core.opening import opened


class Door:
    """Opens when it is let, and notes what became of it."""

    def __init__(self) -> None:
        self.begun, self.let = asyncio.Event(), asyncio.Event()
        self.told: list[str] = []

    async def open(self) -> str:
        self.begun.set()
        try:
            await self.let.wait()
        except asyncio.CancelledError:
            self.told.append("given up")
            raise
        self.told.append("open")
        return "door"

    async def close(self, what: str) -> None:
        self.told.append(f"{what} closed")


async def test_who_is_not_cancelled_has_it_open() -> None:
    door = Door()
    door.let.set()
    assert await opened(door.open(), door.close) == "door"
    assert door.told == ["open"]


async def test_who_is_cancelled_meanwhile_closes_it() -> None:
    door = Door()
    caller = asyncio.create_task(opened(door.open(), door.close))
    await door.begun.wait()
    caller.cancel()
    door.let.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert door.told == ["open", "door closed"]


async def test_what_does_not_open_in_time_is_given_up() -> None:
    door = Door()
    caller = asyncio.create_task(opened(door.open(), door.close, limit_s=0))
    await door.begun.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert door.told == ["given up"]


async def test_what_fails_to_open_fails_the_caller() -> None:
    async def broken() -> str:
        raise OSError("refused")

    with pytest.raises(OSError, match="refused"):
        await opened(broken(), Door().close)
