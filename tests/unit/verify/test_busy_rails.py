"""Rails that carry traffic of others when the run begins are left out, by name; what does not tell stays, and is said."""

from dataclasses import replace

import pytest
from support.verifying import CATALOG, endpoints, layout

from railwright.core.ids import NodeName
from railwright.core.verdicts import Verdict
from railwright.dataplane.model import Counter, Evidence, EvidenceRequest, Problem, RailEnd, Reply, Watched
from railwright.ports.endpoint import HeldRail
from railwright.ports.progress import Silent
from railwright.verify.busy import without_busy
from railwright.verify.model import VerifyRecord
from railwright.verify.planned import Options, plan_run
from railwright.verify.unseen import unseen_traffic
from railwright.verify.verify import verify

SYSFS, NETLINK = "sysfs counters mlx5_0/1", "netlink mlx5_0/1"
NODE = NodeName("worker-0")


def counters(sent: int, received: int, *, unit: str = "4 bytes", source: str = SYSFS) -> tuple[Counter, ...]:
    return Counter(source, "port_xmit_data", sent, unit), Counter(source, "port_rcv_data", received, unit)


def end_of(held: HeldRail) -> RailEnd:
    return RailEnd(netdev=held.netdev, device=held.device)


def place(rail: RailEnd, before: tuple[Counter, ...], after: tuple[Counter, ...], elapsed_s: float = 1.0) -> Reply:
    watched = (Watched(rail, elapsed_s, before, after),)
    return Reply("evidence", evidence=Evidence(0, -1, "", (), (), (), {}, {}, watched=watched))


@pytest.mark.parametrize(
    ("before", "after", "elapsed_s", "rate", "is_seen"),
    [
        (counters(0, 0), counters(0, 0), 1.0, "", True),
        (counters(0, 0), counters(3_000_000, 0), 1.0, "", True),
        (counters(7, 0), counters(250_000_007, 0), 1.0, "8 Gb/s", True),
        (counters(0, 0), counters(125_000_000, 125_000_000), 2.0, "4 Gb/s", True),
        (counters(0, 0), counters(10**9, 0, unit="packets"), 1.0, "", False),
        (counters(9, 9), counters(0, 10**9), 1.0, "32 Gb/s", True),
        (counters(0, 0), counters(10**9, 0, source=NETLINK), 1.0, "", False),
        ((), (), 1.0, "", False),
        (counters(0, 0), counters(10**9, 0), 0.0, "", False),
    ],
    ids=[
        "quiet",
        "chatter",
        "sends",
        "both-over-two-seconds",
        "a-unit-that-is-not-bytes",
        "one-was-reset",
        "another-counter",
        "no-counters",
        "no-time",
    ],
)
def test_what_a_port_carried_tells_whether_it_is_in_use(before, after, elapsed_s, rate, is_seen) -> None:
    pods = endpoints(2, rails=2)
    rail = end_of(pods[0].rails[1])
    places = {NODE: place(rail, before, after, elapsed_s)}
    made = without_busy(layout(2, rails=2), pods, places)
    words = "whether others use rail1 of worker-0 was not seen, and nothing is left out for it: the counters"
    assert any(note.startswith(words) for note in unseen_traffic(made, pods, places)) is not is_seen
    skipped = {(seat.node, seat.rail): seat.skip for seat in made.seats if seat.skip}
    said = f"busy: rail1 of worker-0 carried {rate} before anything was started"
    assert skipped == ({(NODE, "rail1"): said} if rate else {})


def test_why_a_seat_is_left_out_already_stays() -> None:
    pods, plain = endpoints(1, rails=1), layout(1, rails=1)
    taken = replace(plain, seats=tuple(replace(seat, skip="busy: pod a uses it") for seat in plain.seats))
    rail = end_of(pods[0].rails[0])
    made = without_busy(taken, pods, {NODE: place(rail, counters(0, 0), counters(10**9, 0))})
    assert [seat.skip for seat in made.seats] == ["busy: pod a uses it"]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply("evidence", Problem("tool-missing", "the image has no Python 3.11")), "the image has no Python 3.11"),
        (Reply("evidence"), "it said nothing of itself"),
        (None, "it said nothing of itself"),
        (place(RailEnd(), (), ()), "its port was not found"),
    ],
    ids=["no-python", "no-words", "no-reply", "another-port"],
)
def test_a_rail_that_nobody_watched_is_named_with_the_reason(reply, why) -> None:
    pods = endpoints(1, rails=2)
    places = {} if reply is None else {NODE: reply}
    said = f"whether others use rail0 of worker-0 (and 1 more) was not seen, and nothing is left out for it: {why}"
    assert list(unseen_traffic(layout(1, rails=2), pods, places)) == [said]


class InUse:
    """A pod whose first rail carries traffic for as long as it is watched; how long it was asked to is noted."""

    def __init__(self, inner) -> None:
        self._inner, self.asked = inner, []
        self.name, self.node, self.rails = inner.name, inner.node, inner.rails
        self.meeting_address, self.simulated = inner.meeting_address, True

    async def run(self, request, *, timeout_s):
        if isinstance(request, EvidenceRequest):
            self.asked.append((request.watch_s, len(request.watched)))
            busy = counters(10**9 if request.watched else 0, 0)
            return place(end_of(self.rails[0]), counters(0, 0), busy)
        return await self._inner.run(request, timeout_s=timeout_s)


async def run_with(watch_s: float) -> tuple[VerifyRecord, InUse]:
    made = endpoints(2, rails=2)
    first = InUse(made[0])
    planned = plan_run(layout(2, rails=2), Options(quick=True, watch_s=watch_s))
    return await verify(planned, [first, made[1]], CATALOG, made[0].board.clock, Silent()), first


async def test_cells_of_a_rail_in_use_are_left_out_and_the_others_run() -> None:
    record, first = await run_with(1.0)
    assert first.asked == [(1.0, 2)]
    verdicts = {(cell.source_rail, cell.verdict) for cell in record.cells}
    assert verdicts == {("rail0", Verdict.SKIP), ("rail1", Verdict.PASS)}
    assert record.cells[0].reason == "busy: rail0 of worker-0 carried 32 Gb/s before anything was started"
    assert [seat.skip[:5] for seat in record.seats] == ["busy:", "", "", ""]
    assert record.summary.notes == (
        "whether others use rail1 of worker-0 was not seen, and nothing is left out for it: its port was not found",
    )


async def test_where_nothing_is_watched_nothing_is_left_out() -> None:
    record, first = await run_with(0.0)
    assert first.asked == [(0.0, 0)]
    assert not record.summary.notes
    assert {cell.verdict for cell in record.cells} == {Verdict.PASS}
