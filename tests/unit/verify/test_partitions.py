"""InfiniBand ports that partition keys keep apart: their cells are left out, with that reason."""

from dataclasses import replace

import pytest
from support.verifying import layout

from railwright.core.ids import NodeName, RailName
from railwright.core.verdicts import Verdict
from railwright.verify.judge import Measured
from railwright.verify.model import Direction, MemoryKind, Seat, Step, Way
from railwright.verify.partitions import kept_apart, partition_number
from railwright.verify.run import Bench
from railwright.verify.task import Effort


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
