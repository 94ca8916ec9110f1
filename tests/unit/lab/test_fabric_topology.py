"""A fat tree for ibsim: every cable said from both of its ends."""

import re

import pytest

from railwright.lab.fabric.fabric import partitions
from railwright.lab.fabric.topology import fat_tree


def _cables(text: str) -> set[tuple[tuple[str, str], tuple[str, str]]]:
    found = set()
    own = ""
    for line in text.splitlines():
        head = re.match(r'(?:Hca|Switch)\t\d+ "([^"]+)"', line)
        cable = re.match(r'\[(\d+)\]\t"([^"]+)"\[(\d+)\]', line)
        if head:
            own = head[1]
        elif cable:
            found.add(((own, cable[1]), (cable[2], cable[3])))
    return found


@pytest.mark.parametrize("hosts", [1, 4, 5, 8, 13])
def test_every_cable_has_two_ends_and_no_port_two_cables(hosts: int) -> None:
    cables = _cables(fat_tree(hosts))
    assert {(other, own) for own, other in cables} == cables
    assert len({own for own, _ in cables}) == len(cables)
    assert sum(own.startswith("H-") for (own, _), _ in cables) == hosts


def test_a_host_without_the_key_is_in_no_partition_of_the_rails() -> None:
    default, rails = partitions(3, left_out=3).splitlines()
    assert "ALL=limited" in default
    assert rails.count("=full") == 2
