"""A clock whose pace changes, and that processes share."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from railwright.lab.controlplane.faster_time import FasterTime

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Wall:
    def __init__(self) -> None:
        self.time = NOON

    def __call__(self) -> datetime:
        return self.time

    def passes(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


def test_it_runs_ahead_of_the_wall_by_its_factor() -> None:
    wall = Wall()
    time = FasterTime(60, wall)
    wall.passes(2)
    assert time.now() == NOON + timedelta(minutes=2)
    assert time.monotonic_s() == 120


def test_a_new_pace_counts_from_its_moment_on() -> None:
    wall = Wall()
    time = FasterTime(60, wall)
    wall.passes(2)
    time.run_at(1)
    wall.passes(5)
    assert time.now() == NOON + timedelta(minutes=2, seconds=5)


def test_a_second_process_follows_the_shared_time_through_a_change_of_pace(tmp_path: Path) -> None:
    wall = Wall()
    first = FasterTime(60, wall, shared=tmp_path / "clock")
    wall.passes(1)
    second = FasterTime(1, wall, shared=tmp_path / "clock")
    first.run_at(10)
    wall.passes(1)
    assert second.factor == 10
    assert second.now() == first.now() == NOON + timedelta(seconds=70)


async def test_a_wait_ends_when_its_time_has_come_by_this_clock() -> None:
    time = FasterTime(1000)
    began = time.monotonic_s()
    await time.sleep(50)
    assert time.monotonic_s() - began >= 50


async def test_it_says_that_somebody_waits_also_in_another_process(tmp_path: Path) -> None:
    first, second = FasterTime(1, shared=tmp_path / "clock"), FasterTime(1, shared=tmp_path / "clock")
    with second.waiting():
        assert first.is_waited_for
    assert not first.is_waited_for


def test_when_nobody_waits_any_more_it_goes_on_at_the_pace_of_work() -> None:
    time = FasterTime(150)
    with time.waiting(4):
        assert time.factor == 150
    assert time.factor == 4
