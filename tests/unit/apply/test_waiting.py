"""Waits outside gates: how long one lasts, and how long a silent API server is waited for."""

from dataclasses import dataclass

import pytest
from unit.apply.fake_world import FakeClock, FakeCluster
from unit.apply.stage_builders import means_of

from railwright.apply.ledger import LedgerStore
from railwright.apply.waiting import AWAY_LIMIT_S, REREAD_S, Left, Wait, until_nothing_is_left
from railwright.core import kinds
from railwright.core.errors import ClusterUnreachable
from railwright.core.ids import StageName
from railwright.core.objects import Ref
from railwright.ports.cluster import Selection

STATE = Ref(kinds.SRIOV_NETWORK_NODE_STATE, "sriov", "worker-0")
LIMIT_S = 1000.0


@dataclass
class Work:
    """Something that is done at a time, on an API server that is silent between others."""

    clock: FakeClock
    done_at_s: float
    silences_s: tuple[tuple[float, float], ...] = ()

    def answer(self) -> None:
        if any(begin <= self.clock.elapsed_s < end for begin, end in self.silences_s):
            raise ClusterUnreachable("no answer")

    async def look(self) -> Left:
        self.answer()
        return {} if self.clock.elapsed_s >= self.done_at_s else {STATE: "VFs go"}


async def waited(work: Work, cluster: FakeCluster) -> Left:
    wait = Wait(StageName("clean"), [Selection(STATE.kind)], work.look, lambda _: LIMIT_S, lambda left: left[STATE])
    return (await until_nothing_is_left(wait, means_of(cluster, LedgerStore(cluster, cluster.clock)))).left


@pytest.mark.parametrize(
    ("silences_s", "done_at_s"),
    [
        (((0.0, 600.0),), 700.0),
        (((950.0, 950.0 + AWAY_LIMIT_S - 60.0),), 1820.0),
        (((100.0, 800.0), (900.0, 1600.0), (1700.0, 2400.0)), 2700.0),
    ],
    ids=["from the first look", "late in the wait", "again and again, longer than the limit together"],
)
async def test_an_api_server_that_comes_back_costs_nothing_of_the_limit(
    silences_s: tuple[tuple[float, float], ...], done_at_s: float
) -> None:
    cluster = FakeCluster()
    assert await waited(Work(cluster.clock, done_at_s, silences_s), cluster) == {}


async def test_one_that_stays_away_is_waited_for_from_when_it_fell_silent() -> None:
    cluster = FakeCluster()
    with pytest.raises(ClusterUnreachable, match="no answer"):
        await waited(Work(cluster.clock, 1e9, ((950.0, 1e9),)), cluster)
    assert 950.0 + AWAY_LIMIT_S <= cluster.clock.elapsed_s <= 950.0 + AWAY_LIMIT_S + 2 * REREAD_S


async def test_what_is_left_after_the_limit_is_given_and_silence_is_not_counted() -> None:
    cluster = FakeCluster()
    assert await waited(Work(cluster.clock, 1e9, ((100.0, 700.0),)), cluster) == {STATE: "VFs go"}
    assert LIMIT_S + 600.0 <= cluster.clock.elapsed_s <= LIMIT_S + 600.0 + 2 * REREAD_S


async def test_a_watch_that_never_opens_beside_looks_that_are_answered_ends_with_the_limit() -> None:
    cluster = FakeCluster()

    def refuse(*_: object) -> None:
        raise ClusterUnreachable("no watch")

    cluster.watch = refuse
    assert await waited(Work(cluster.clock, 1e9), cluster) == {STATE: "VFs go"}
    assert LIMIT_S <= cluster.clock.elapsed_s <= LIMIT_S + REREAD_S
