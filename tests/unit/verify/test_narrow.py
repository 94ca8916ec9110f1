"""Who is named when halves say themselves what is wrong with them."""

import pytest

from railwright.core.ids import NodeName, RailName
from railwright.core.verdicts import Verdict
from railwright.verify.model import Cell, Direction, MemoryKind
from railwright.verify.narrow import narrow

A, B = NodeName("a"), NodeName("b")


def cell(number: int, reason: str) -> Cell:
    rail = RailName(f"rail{number}")
    verdict = Verdict.FAIL if reason else Verdict.PASS
    return Cell(f"c{number}", A, B, rail, rail, Direction.WRITE, MemoryKind.HOST, "engine", verdict, reason=reason)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("it may lock 64 KiB", "it may lock 64 KiB"), [("node", "b", "every rail of b: it may lock 64 KiB")]),
        (("it may lock 64 KiB", ""), [("port", "rail0 of b", "rail0 of b: it may lock 64 KiB")]),
        (
            ("it is down", "it may lock 64 KiB"),
            [
                ("port", "rail0 of b", "rail0 of b: it is down"),
                ("port", "rail1 of b", "rail1 of b: it may lock 64 KiB"),
            ],
        ),
    ],
    ids=["the-same-of-each-rail", "of-one-rail", "something-else-of-each"],
)
def test_a_node_is_named_when_each_of_its_rails_says_the_same_and_else_the_port(words, named) -> None:
    cells = [cell(number, f"rail{number} of b: {text}" if text else "") for number, text in enumerate(words)]
    blames = {f"c{number}": (B, RailName(f"rail{number}")) for number, text in enumerate(words) if text}
    assert [(item.kind, item.where, item.text) for item in narrow(cells, blames)] == named
