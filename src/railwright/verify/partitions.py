"""
Whether two InfiniBand ports can reach each other at all, by the partition keys that the subnet manager gave them. Pure.

Two ports talk only within a partition that both are in, and of which one is a full member at least: limited members
don't reach each other.

Which of several partitions two ports use is chosen here, for both: each by itself might take another one.

Source: InfiniBand Architecture Specification volume 1, 10.9.1 and 10.9.3 (P_Key, its membership bit 0x8000).
"""

from collections.abc import Iterable

from railwright.verify.model import Seat

_NUMBER, _FULL = 0x7FFF, 0x8000


def partition_number(key: str) -> int:
    """Give the number of a partition from its key as people write it: "0x8001" and "0x0001" are partition 1."""
    return int(key, 16) & _NUMBER


def valid_keys(table: Iterable[int]) -> tuple[int, ...]:
    """Leave out empty entries, and keys of partition 0, which are none."""
    return tuple(key for key in table if key & _NUMBER)


def kept_apart(source: Seat, target: Seat, partition: int | None) -> str:
    """
    Say why the keys of two ports keep them apart; "" when they don't, or when keys of either were not read.

    Args:
        partition: the number of the only one that counts; None when any does.
    """
    if not source.pkeys or not target.pkeys:
        return ""
    if partition is not None:
        for seat in (source, target):
            if said := lacks(seat, partition):
                return said
    shared = _shared(source, target)
    if not shared:
        return f"{_named(source)} and {_named(target)} share no partition: {_table(source)}; {_table(target)}"
    wanted = shared if partition is None else {partition}
    if wanted & (_full(source) | _full(target)):
        return ""
    numbers = ", ".join(f"0x{number:04x}" for number in sorted(wanted))
    return (
        f"{_named(source)} and {_named(target)} are limited members of {numbers} only, and such don't reach each other"
    )


def chosen(source: Seat, target: Seat) -> int | None:
    """
    Choose the partition that two ports use where the file asks for none: one in which they reach each other.

    That of both ports' IPoIB devices comes first, then that of one of them, then one in which both are full members.
    It is the same in both directions.

    Returns:
        Its number; None where there is none, or where keys of either were not read: then each half has to see by itself.
    """
    ends = (source, target)
    usable = _shared(source, target) & (_full(source) | _full(target))

    def rank(number: int) -> tuple[int, int, int]:
        own = sum(seat.ipoib_partition == number for seat in ends)
        return -own, -sum(number in _full(seat) for seat in ends), number

    return min(usable, key=rank, default=None)


def lacks(seat: Seat, partition: int) -> str:
    """Say that a port is not in a partition; "" when it is, or when its keys were not read."""
    if not seat.pkeys or partition in _numbers(seat):
        return ""
    return f"{_named(seat)} is not in partition 0x{partition:04x}: {_table(seat)}"


def _numbers(seat: Seat) -> set[int]:
    return {key & _NUMBER for key in seat.pkeys}


def _full(seat: Seat) -> set[int]:
    return {key & _NUMBER for key in seat.pkeys if key & _FULL}


def _shared(source: Seat, target: Seat) -> set[int]:
    """Give the numbers that both have; 0 is that of an invalid key."""
    return (_numbers(source) & _numbers(target)) - {0}


def _named(seat: Seat) -> str:
    return f"{seat.rail} of {seat.node}"


def _table(seat: Seat) -> str:
    return f"its port has {' '.join(f'0x{key:04x}' for key in seat.pkeys)}"
