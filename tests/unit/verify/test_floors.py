"""Floors, and what is fast."""

from dataclasses import replace

import pytest
from support.verifying import CATALOG, layout

from railwright.catalog.model import FloorEntry
from railwright.core.ids import NodeName, RailName
from railwright.core.verdicts import Verdict
from railwright.verify.floors import floor, judge_bandwidth, pcie_payload_gbps
from railwright.verify.judge import Measured, cell_of
from railwright.verify.model import Direction, MemoryKind, Seat, Step, Way
from railwright.verify.peers import slow_among_peers
from railwright.verify.planned import Options, plan_run
from railwright.verify.run import Bench
from railwright.verify.task import Effort, Reading, Task


def seat(node: str, rate: float | None = 400.0, pcie: float | None = 419.0) -> Seat:
    return Seat(NodeName(node), RailName("rail0"), rate_gbps=rate, pcie_gbps=pcie)


def minimum(source: Seat, target: Seat, *, size: int = 65536, qps: int = 4, direction=Direction.WRITE) -> float | None:
    return floor(source, target, direction, size, qps, CATALOG).minimum_gbps


def test_the_slower_of_port_and_pcie_of_either_end_is_the_limit() -> None:
    assert minimum(seat("a"), seat("b")) == 360.0
    assert minimum(seat("a"), seat("b", rate=200.0)) == 180.0
    assert minimum(seat("a", pcie=100.0), seat("b")) == 90.0


@pytest.mark.parametrize("options", [{"size": 65535}, {"qps": 3}, {"direction": Direction.BOTH}])
def test_where_messages_are_the_limit_or_both_directions_run_there_is_no_floor(options) -> None:
    assert minimum(seat("a"), seat("b"), **options) is None


@pytest.mark.parametrize(
    ("source", "average_gbps", "verdict"),
    [
        (seat("a", rate=None), 500.0, Verdict.UNKNOWN),
        (seat("a", pcie=None), 359.0, Verdict.UNKNOWN),
        (seat("a", pcie=None), 361.0, Verdict.PASS),
    ],
    ids=["port-rate", "pcie-below-the-port", "pcie-and-as-fast-as-the-port"],
)
def test_what_is_not_known_of_hardware_is_neither_a_skip_nor_a_failure(source, average_gbps, verdict) -> None:
    limit = floor(source, seat("b"), Direction.WRITE, 65536, 4, CATALOG)
    assert judge_bandwidth(average_gbps, limit) is verdict
    assert limit.unknown.endswith("of rail0 on a is not known")


def test_a_machine_with_a_floor_of_its_own_is_held_against_that() -> None:
    own = FloorEntry("15b3:1021", "", "gpu", 0.5, "Measured: a machine, 2026-11", "2026-11-30")
    catalog = replace(CATALOG, floors=(own,))
    ends = replace(seat("a"), nic_id="15b3:1021"), replace(seat("b"), nic_id="15b3:1021")
    gpu = floor(*ends, Direction.WRITE, 65536, 4, catalog, MemoryKind.GPU)
    host = floor(*ends, Direction.WRITE, 65536, 4, catalog, MemoryKind.HOST)
    assert (gpu.minimum_gbps, host.minimum_gbps) == (200.0, 360.0)


@pytest.mark.parametrize(
    ("speed", "lanes", "least", "most"),
    [(32.0, 16, 400, 440), (16.0, 16, 200, 220), (8.0, 16, 100, 110), (5.0, 8, 25, 32), (64.0, 16, 750, 900)],
)
def test_pcie_links_carry_what_their_encoding_leaves(speed, lanes, least, most) -> None:
    assert least < (pcie_payload_gbps(speed, lanes) or 0) < most


def test_a_pcie_link_that_is_not_known_carries_nothing_known() -> None:
    assert pcie_payload_gbps(None, 16) is None


# --- cells -----------------------------------------------------------------------------------------------------------


def judged(
    reading: Reading,
    *,
    family: str = "perftest",
    floors: bool = True,
    reference: bool = False,
    slow: str = "",
    source: Seat | None = None,
):
    seats = (source or seat("worker-0"), seat("worker-1"))
    made = replace(layout(2), has_floors=floors, seats=seats)
    step = Step(family, Direction.WRITE, MemoryKind.HOST)
    way = Way(NodeName("worker-0"), RailName("rail0"), NodeName("worker-1"), RailName("rail0"))
    task = Bench(made, {}, None, Effort()).task(step, way)  # type: ignore[arg-type]  # no clock is looked at
    assert isinstance(task, Measured)
    item = Measured(task.task, reading, slow=slow)
    return cell_of(item, made, CATALOG, None, has_reference=reference)


def measured(gbps: float, **options) -> Reading:
    return Reading(Verdict.PASS, average_gbps=gbps, at_bytes=65536, qps=4, **options)


def test_the_figure_of_record_is_held_against_the_floor() -> None:
    assert judged(measured(361.0, is_reference=True)).verdict is Verdict.PASS
    cell = judged(measured(359.0, is_reference=True))
    assert (cell.verdict, cell.fast, cell.floor_gbps) == (Verdict.FAIL, Verdict.FAIL, 360.0)
    assert "359.0 Gb/s on average, and 360.0 is the floor" in cell.reason


def test_on_hardware_a_port_whose_rate_is_not_known_leaves_it_open_whether_it_is_fast() -> None:
    cell = judged(measured(399.0, is_reference=True), source=seat("worker-0", rate=None))
    assert (cell.verdict, cell.fast) == (Verdict.UNKNOWN, Verdict.UNKNOWN)
    assert "port rate of rail0 on worker-0 is not known" in cell.reason
    assert judged(measured(399.0), floors=False, source=seat("worker-0", rate=None)).fast is Verdict.SKIP


def test_our_engine_below_the_floor_is_no_failure_of_the_hardware() -> None:
    assert judged(measured(200.0), family="engine", reference=True).verdict is Verdict.PASS
    alone = judged(measured(200.0), family="engine")
    assert (alone.verdict, alone.fast) == (Verdict.UNKNOWN, Verdict.UNKNOWN)


def test_without_hardware_there_is_no_floor_and_a_comparison_still_fails() -> None:
    assert judged(measured(0.2), floors=False).verdict is Verdict.PASS
    assert judged(measured(0.2), floors=False, slow="its peers reach 2").verdict is Verdict.FAIL


def test_lost_packets_fail_whatever_the_bandwidth() -> None:
    assert judged(measured(399.0, loss="packets were sent again")).fast is Verdict.FAIL


@pytest.mark.parametrize("ran", [Verdict.SKIP, Verdict.UNKNOWN, Verdict.FAIL])
def test_what_did_not_run_to_its_end_is_never_a_pass(ran) -> None:
    assert judged(Reading(ran, "why")).verdict is ran


def test_bytes_that_were_not_compared_are_never_a_pass() -> None:
    cell = judged(measured(399.0, bytes_checked=Verdict.UNKNOWN, bytes_reason="no checksum was made"))
    assert (cell.verdict, cell.reason) == (Verdict.UNKNOWN, "no checksum was made")


# --- peers -----------------------------------------------------------------------------------------------------------


def ran(number: int, source: str, target: str, gbps: float) -> Measured:
    step = Step("engine", Direction.WRITE, MemoryKind.HOST)
    way = Way(NodeName(source), RailName("rail0"), NodeName(target), RailName("rail0"))
    task = Bench(layout(2), {}, None, Effort()).task(step, way)  # type: ignore[arg-type]  # no clock is looked at
    made = task.task if isinstance(task, Measured) else task
    assert isinstance(made, Task)
    return Measured(replace(made, id=f"c{number}"), measured(gbps))


def test_a_way_far_below_the_better_half_of_its_kind_is_slow() -> None:
    items = [ran(1, "a", "b", 10.0), ran(2, "b", "a", 9.0), ran(3, "a", "c", 3.0), ran(4, "c", "a", 3.1)]
    assert set(slow_among_peers(items, 0.5)) == {"c3", "c4"}


def test_a_way_alone_has_no_peers() -> None:
    assert slow_among_peers([ran(1, "a", "b", 0.1)], 0.5) == {}


# --- what is planned -------------------------------------------------------------------------------------------------


def test_only_the_families_that_were_asked_for_are_planned() -> None:
    planned = plan_run(layout(3), Options(families=("latency",)))
    assert {step.family for step in planned.schedule.steps} == {"latency"}


def test_without_gpus_nothing_is_planned_for_their_memory() -> None:
    bare = layout(2)
    seats = tuple(Seat(item.node, item.rail) for item in bare.seats)
    planned = plan_run(replace(bare, seats=seats), Options())
    assert {step.memory for step in planned.schedule.steps} == {MemoryKind.HOST}
    assert any(step.family == "nixl" for step in planned.schedule.steps), "the control without RDMA is still run"


def test_crossed_rails_go_from_each_rail_to_every_other_one() -> None:
    planned = plan_run(layout(2, rails=4), Options(families=("engine",), cross_rail=True))
    crossed = {(way.source_rail, way.target_rail) for step, way in planned.cells_of(0) if step.rail_shift}
    assert len(crossed) == 4 * 3
    assert all(source != target for source, target in crossed)
