"""What is slow is run again alone: only a measurement clears it."""

from dataclasses import replace

import pytest

from railwright.core.ids import NodeName, RailName
from railwright.core.verdicts import Verdict
from railwright.ports.endpoint import HeldRail
from railwright.verify.confirm import confirm
from railwright.verify.judge import Measured
from railwright.verify.model import Direction, MemoryKind, Step, Way
from railwright.verify.task import Effort, End, Reading, Task

STEP = Step("engine", Direction.WRITE, MemoryKind.HOST)
END = End(HeldRail(RailName("rail0"), ""), "10.0.0.1")  # type: ignore[arg-type]  # a netdev without a name


def item(cell: str, source: str, target: str, gbps: float | None) -> Measured:
    way = Way(NodeName(source), RailName("rail0"), NodeName(target), RailName("rail0"))
    ran = Verdict.PASS if gbps is not None else Verdict.UNKNOWN
    return Measured(Task(cell, STEP, way, END, END, 20000, Effort()), Reading(ran, average_gbps=gbps))


class Again:
    """A bench that measures what it was told to, by cell; None: no answer."""

    def __init__(self, rates: dict[str, float | None]) -> None:
        self.rates = rates

    async def run(self, tasks):
        return [
            Measured(task, Reading(Verdict.PASS if rate is not None else Verdict.UNKNOWN, average_gbps=rate))
            for task in tasks
            for rate in (self.rates[task.id.removesuffix(".again")],)
        ]

    def task(self, step, way, *, prefix):
        return replace(item(prefix, way.source, way.target, None))


ITEMS = (item("well", "a", "b", 10.0), item("slow", "c", "d", 1.0), item("slower", "d", "c", 0.5))
SLOW = {"slow": "slow beside its peers", "slower": "slower still"}


@pytest.mark.parametrize(
    ("rates", "kept"),
    [
        ({"well": 10.0, "slow": 9.0, "slower": 9.0}, {}),
        ({"well": 10.0, "slow": 1.0, "slower": 9.0}, {"slow": True, "slower": False}),
        ({"well": 10.0, "slow": None, "slower": None}, {"slow": False, "slower": False}),
        ({"well": 10.0, "slow": None, "slower": 9.0}, {"slow": False}),
        ({"well": None, "slow": 9.0, "slower": 9.0}, {"slow": False, "slower": False}),
    ],
    ids=["both-well", "one-still-slow", "no-answer", "one-without-an-answer", "nothing-to-hold-them-against"],
)
async def test_a_slow_cell_stays_slow_until_it_was_measured_to_be_well(rates, kept) -> None:
    done = await confirm(Again(rates), ITEMS, SLOW, 0.5)  # type: ignore[arg-type]  # stands in for a bench
    assert {found.task.id: found.confirmed for found in done.items if found.slow} == kept


@pytest.mark.parametrize(
    ("again", "note"),
    [
        (None, " (run again on its own: no answer)"),
        (9.0, " (on its own it was well, while others like it were still slow)"),
        (1.0, ""),
    ],
    ids=["no-answer", "well-alone", "slow-again"],
)
async def test_what_a_second_measurement_gave_is_said(again, note) -> None:
    rates = {"well": 10.0, "slow": again, "slower": 1.0}
    done = await confirm(Again(rates), ITEMS, SLOW, 0.5)  # type: ignore[arg-type]  # stands in for a bench
    (found,) = (found for found in done.items if found.task.id == "slow")
    assert found.slow == f"slow beside its peers{note}"


@pytest.mark.parametrize(
    ("first", "again", "said"),
    [
        (None, ("d", "port-down: it is DOWN"), "port-down: it is DOWN"),
        (None, None, "retries exceeded"),
        (("c", "no address"), ("d", "port-down: it is DOWN"), "no address"),
    ],
    ids=["only-then-known", "never-known", "known-at-once"],
)
async def test_a_failure_is_named_by_the_half_that_first_says_what_is_wrong_with_it(first, again, said) -> None:
    def failed(cell: str, blame: tuple[str, str] | None) -> Measured:
        reading = Reading(Verdict.FAIL, blame[1] if blame else "retries exceeded")
        at = (NodeName(blame[0]), RailName("rail0")) if blame else None
        return replace(item(cell, "c", "d", None), reading=replace(reading, blame=at))

    class FailsAgain(Again):
        async def run(self, tasks):
            return [replace(failed(task.id, again), task=task) for task in tasks]

    done = await confirm(FailsAgain({}), (failed("bad", first),), {}, 0.5)  # type: ignore[arg-type]  # stands in
    (found,) = done.items
    assert (found.reading.reason, found.confirmed) == (said, True)
    assert ("bad" in done.blames) == bool(first or again)
