"""Several reads at once: whoever is told of the first error is told when nothing of the others goes on any more."""

import asyncio

import pytest

from railwright.core.errors import ClusterBusy
from railwright.core.kinds import NODE, POD
from railwright.core.needs import of_kind
from railwright.facts.reading import together
from railwright.pipeline.rights import check_rights
from railwright.ports.world import World
from railwright.simulator.open import open_simulator


class Slow:
    """Work that takes a while to end when it is cancelled, as a request whose answer is on its way."""

    def __init__(self) -> None:
        self.begun = self.ended = 0

    async def __call__(self) -> None:
        self.begun += 1
        try:
            await asyncio.Event().wait()
        finally:
            await _turn()
            self.ended += 1


async def _turn() -> None:
    """Let the others have their turn."""
    done = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(done.set_result, None)
    await done


async def fails() -> None:
    await _turn()
    message = "no leader"
    raise ClusterBusy(message)


async def test_the_first_error_comes_when_the_rest_has_ended() -> None:
    slow = Slow()
    with pytest.raises(ClusterBusy):
        await together([slow(), fails(), slow()])
    assert (slow.begun, slow.ended) == (2, 2)


async def test_whoever_is_cancelled_leaves_nothing_behind() -> None:
    slow = Slow()
    task = asyncio.create_task(together([slow(), slow()]))
    await _turn()
    await _turn()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (slow.begun, slow.ended) == (2, 2)


async def test_a_question_about_rights_that_fails_leaves_no_other_on_its_way() -> None:
    """Seed 1 of the faulty network: the answers came when the connections were closed already."""
    world, slow = open_simulator("h200-roce"), Slow()

    class Asked:
        def __getattr__(self, name: str) -> object:
            return getattr(world.cluster, name)

        async def may(self, verb: str, *_: str) -> bool:
            await (fails() if verb == "delete" else slow())
            return True

    asked = World(Asked(), world.node, _At(), world.close)
    with pytest.raises(ClusterBusy):
        await check_rights(asked, "apply", (*of_kind("get list watch", POD), *of_kind("get delete", NODE)))
    assert slow.begun == slow.ended > 0


class _At:
    """A clock on which patience is over after the first try."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic_s(self) -> float:
        self.now_s += 1000.0
        return self.now_s
