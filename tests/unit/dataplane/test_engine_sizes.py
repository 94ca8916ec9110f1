"""How much memory and how many transfers in flight a request means; and what single times sum up to."""

import pytest

from railwright.dataplane.model import EngineRequest, Meeting, Memory, RailEnd
from railwright.dataplane.verbs.drive import percentiles
from railwright.dataplane.verbs.half import WINDOW_BYTES, area_bytes, slots_for

BASE = EngineRequest(Meeting("connect", "", 0), RailEnd())


def _request(**change: object) -> EngineRequest:
    return EngineRequest(BASE.meeting, BASE.rail, **change)  # type: ignore[arg-type]


def test_depth_is_kept_while_it_fits_into_the_window() -> None:
    assert slots_for(65536, _request(depth=32, qps=4)) == 32


def test_large_messages_are_fewer_but_never_one_alone() -> None:
    assert slots_for(1 << 20, _request(depth=32, qps=4)) == WINDOW_BYTES // (4 << 20)
    assert slots_for(1 << 28, _request(depth=32)) == 2


def test_the_area_holds_the_largest_size() -> None:
    request = _request(sizes_bytes=(4096, 1 << 20), qps=2)
    assert area_bytes(request) == slots_for(1 << 20, request) * 2 << 20


@pytest.mark.parametrize(("kind", "grain"), [("host", 4096), ("gpu", 1 << 21)])
def test_the_area_ends_where_memory_may_end(kind: str, grain: int) -> None:
    request = _request(sizes_bytes=(8,), depth=2, memory=Memory(kind))  # type: ignore[arg-type]
    assert area_bytes(request) == grain


def test_percentiles_are_of_single_times_in_microseconds() -> None:
    times = [microseconds / 1e6 for microseconds in range(1, 1001)]
    assert percentiles(times) == {"min": 1.0, "p50": 501.0, "p90": 900.0, "p99": 990.0, "p999": 999.0, "max": 1000.0}


def test_no_time_has_no_percentiles() -> None:
    assert percentiles([]) == {}
