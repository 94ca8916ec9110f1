"""InfiniBand ports that partition keys keep apart: their cells are left out, with that reason."""

from dataclasses import replace

import pytest
from support.verifying import CATALOG, endpoints, layout

from railwright.core.ids import NodeName, RailName
from railwright.core.verdicts import Verdict
from railwright.dataplane.model import Problem
from railwright.ports.progress import Silent
from railwright.verify.families.table import family
from railwright.verify.judge import Measured
from railwright.verify.model import Direction, MemoryKind, Seat, Step, VerifyRecord, Way
from railwright.verify.partitions import kept_apart, partition_number
from railwright.verify.planned import Options, plan_run
from railwright.verify.run import Bench
from railwright.verify.task import Effort
from railwright.verify.verify import verify


def seat(node: str, *keys: int) -> Seat:
    return Seat(NodeName(node), RailName("rail0"), pkeys=keys)


@pytest.mark.parametrize(
    ("source", "target", "wanted", "words"),
    [
        ((0xFFFF,), (0xFFFF,), None, ""),
        ((0xFFFF,), (0x7FFF,), None, ""),
        ((0x7FFF, 0x8001), (0x7FFF, 0x8001), None, ""),
        ((0x7FFF, 0x8001), (0x7FFF, 0x8001), 1, ""),
        ((0x7FFF, 0x8001), (0x7FFF,), 1, "rail0 of worker-1 is not in partition 0x0001: its port has 0x7fff"),
        ((0x7FFF,), (0x7FFF,), None, "limited members of 0x7fff only"),
        ((0xFFFF, 0x0001), (0xFFFF, 0x0001), 1, "limited members of 0x0001 only"),
        ((0x8001,), (0x8002,), None, "share no partition"),
        ((), (0xFFFF,), 1, ""),
    ],
    ids=[
        "default",
        "full-and-limited",
        "another-full",
        "the-wanted",
        "one-lacks-it",
        "both-limited",
        "both-limited-in-the-wanted",
        "nothing-shared",
        "not-read",
    ],
)
def test_ports_are_kept_apart_by_their_keys(source, target, wanted, words) -> None:
    said = kept_apart(seat("worker-0", *source), seat("worker-1", *target), wanted)
    assert words in said
    assert bool(said) == bool(words)


def test_a_key_is_written_with_and_without_its_membership() -> None:
    assert partition_number("0x8001") == partition_number("0x0001") == partition_number("1") == 1


def test_a_cell_between_them_is_left_out_and_says_why() -> None:
    made = replace(layout(2), seats=(seat("worker-0", 0x7FFF, 0x8001), seat("worker-1", 0x7FFF)), partition=1)
    step = Step("engine", Direction.WRITE, MemoryKind.HOST)
    way = Way(NodeName("worker-0"), RailName("rail0"), NodeName("worker-1"), RailName("rail0"))
    item = Bench(made, {}, None, Effort()).task(step, way)  # type: ignore[arg-type]  # no clock is looked at
    assert isinstance(item, Measured)
    assert item.reading.ran is Verdict.SKIP
    assert "not in partition 0x0001" in item.reading.reason


async def run_with(*tables: tuple[int, ...], wanted: int | None, method: str = "shared", wrap=tuple) -> VerifyRecord:
    """Verify one rail of as many nodes as there are tables of keys."""
    made = endpoints(len(tables), rails=1)
    keys = {endpoint.node: table for endpoint, table in zip(made, tables, strict=True)}
    plain = layout(len(tables), rails=1)
    seats = tuple(replace(each, pkeys=keys[each.node]) for each in plain.seats)
    planned = plan_run(replace(plain, seats=seats, partition=wanted, method=method), Options())
    return await verify(planned, wrap(made), CATALOG, made[0].board.clock, Silent())


@pytest.mark.parametrize(
    ("tables", "wanted", "code", "where"),
    [
        (((0x8001,), (0x8001,), (0x8001,)), 1, 0, []),
        (((0x8001,), (0x8001,), (0x8002,)), 1, 5, ["rail0 of worker-2"]),
        (((0x8001,), (0x8002,), (0x8002,)), 1, 5, ["rail0 of worker-1", "rail0 of worker-2"]),
        (((0x8001,), (0x8002,)), 1, 5, ["rail0 of worker-1"]),
        (((0x8002,), (0x8002,)), 1, 5, ["the whole fabric"]),
        (((0x8001,), (0x8001,), (0x8002,)), None, 5, ["rail0 of worker-2"]),
        (((0x8001,), (0x8001,), (0x8002,), (0x8002,)), None, 5, ["rail0"]),
        (((0x8001,), (0x0001,), (0x0001,)), 1, 5, ["rail0"]),
        (((0x7FFF,), (0x7FFF,), (0x7FFF,)), None, 6, []),
    ],
    ids=[
        "all-in-it",
        "one-lacks-it",
        "two-lack-it",
        "one-of-two-lacks-it",
        "nobody-has-it",
        "one-shares-none",
        "two-camps",
        "two-limited-members",
        "nobody-can-talk-and-none-was-asked-for",
    ],
)
async def test_ports_that_keys_cut_off_are_named_and_the_run_does_not_pass(tables, wanted, code, where) -> None:
    record = await run_with(*tables, wanted=wanted)
    assert ([item.where for item in record.culprits], record.exit_code) == (where, code)
    assert {cell.verdict for cell in record.cells} <= {Verdict.PASS, Verdict.SKIP}
    assert not any("not shown" in cell.reason for cell in record.cells)
    skipped = {cell.id for cell in record.cells if cell.verdict is Verdict.SKIP}
    if where:
        assert {cell for item in record.culprits for cell in item.cells} == skipped
        assert f"Not proven: partition keys cut off {', '.join(where)}." in record.summary.claim


async def test_the_keys_of_a_pf_are_not_taken_for_those_of_its_vfs() -> None:
    record = await run_with((0x8001,), (0x8001,), (0x8002,), wanted=1, method="sriov")
    assert (record.exit_code, record.culprits) == (0, ())
    assert {cell.verdict for cell in record.cells} == {Verdict.PASS}


class Refusing:
    """An endpoint from which nothing reaches anybody."""

    def __init__(self, inner) -> None:
        self._inner = inner
        self.name, self.node, self.rails = inner.name, inner.node, inner.rails
        self.meeting_address, self.simulated = inner.meeting_address, True

    async def run(self, request, *, timeout_s):
        return replace(await self._inner.run(request, timeout_s=timeout_s), problem=Problem("transfer-failed", "no"))


async def test_a_transfer_between_vfs_that_failed_has_the_keys_of_their_pfs_beside_it() -> None:
    record = await run_with(
        (0x8001,), (0x8002,), wanted=1, method="sriov", wrap=lambda made: [Refusing(e) for e in made]
    )
    assert record.exit_code == 5
    assert all(
        "of the PFs" in cell.reason and "0x8002" in cell.reason for cell in record.cells if cell.verdict == "FAIL"
    )


@pytest.mark.parametrize(
    ("source", "target", "ipoib", "number"),
    [
        ((0x8001, 0x8002), (0x8002, 0x8001), (None, None), 1),
        ((0x8001, 0x8002), (0x8002, 0x8001), (1, 2), 1),
        ((0x8001, 0x8002), (0x8001, 0x8002), (2, 2), 2),
        ((0x7FFF, 0x8001), (0xFFFF, 0x8001), (0x7FFF, 0x7FFF), 0x7FFF),
        ((0x7FFF, 0x8001), (0xFFFF, 0x8001), (None, None), 1),
        ((0x7FFF, 0x8005), (0xFFFF,), (None, None), 0x7FFF),
        ((0x7FFF, 0x8001), (0x7FFF, 0x8001), (0x7FFF, 0x7FFF), 1),
        ((0x7FFF, 0x8005), (0x7FFF,), (None, None), None),
        ((0x8000,), (0x8000,), (None, None), None),
        ((), (0xFFFF,), (None, None), None),
    ],
    ids=[
        "other-order",
        "other-order-and-each-its-own",
        "ipoib's",
        "ipoib's-of-which-one-is-full",
        "where-both-are-full",
        "the-only-one",
        "not-ipoib's-where-both-are-limited",
        "none-in-which-they-reach-each-other",
        "an-invalid-key",
        "not-read",
    ],
)
async def test_both_halves_are_given_one_partition_in_which_they_reach_each_other(
    source, target, ipoib, number
) -> None:
    made = endpoints(2, rails=1)
    plain = layout(2, rails=1)
    seats = tuple(
        replace(seat, pkeys=keys, ipoib_partition=own)
        for seat, keys, own in zip(plain.seats, (source, target), ipoib, strict=True)
    )
    bench = Bench(replace(plain, seats=seats), {each.node: each for each in made}, made[0].board.clock, Effort())
    ends = [(seat.node, seat.rail) for seat in seats]
    for one, other in (ends, ends[::-1]):
        way = Way(*one, *other)
        for family_name in ("engine", "perftest"):
            item = bench.task(Step(family_name, Direction.WRITE, MemoryKind.HOST), way)
            task = item.task if isinstance(item, Measured) else item
            halves = [half for each in family(family_name).exchanges(task) for half in (each.listen, each.connect)]
            assert {half.wire.partition for half in halves} == {number}


@pytest.mark.parametrize(("method", "wanted", "number"), [("sriov", None, None), ("shared", 2, 2)])
def test_no_partition_is_chosen_for_vfs_nor_where_the_file_names_one(method, wanted, number) -> None:
    """The keys of a PF say nothing of its VFs'."""
    made = replace(layout(2), method=method, partition=wanted)
    assert made.partition_between(seat("a", 0x8001, 0x8002), seat("b", 0x8002, 0x8001)) == number
