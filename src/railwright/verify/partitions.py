"""
Whether two InfiniBand ports can reach each other at all, by the partition keys that the subnet manager gave them. Pure.

Two ports talk only within a partition that both are in, and of which one is a full member at least: limited members
don't reach each other.

Source: InfiniBand Architecture Specification volume 1, 10.9.1 and 10.9.3 (P_Key, its membership bit 0x8000).
"""

from railwright.verify.model import Seat

_NUMBER, _FULL = 0x7FFF, 0x8000


def partition_number(key: str) -> int:
    """Give the number of a partition from its key as people write it: "0x8001" and "0x0001" are partition 1."""
    return int(key, 16) & _NUMBER


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
    shared = _numbers(source) & _numbers(target)
    if not shared:
        return f"{_named(source)} and {_named(target)} share no partition: {_table(source)}; {_table(target)}"
    wanted = shared if partition is None else {partition}
    full = {key & _NUMBER for seat in (source, target) for key in seat.pkeys if key & _FULL}
    if wanted & full:
        return ""
    numbers = ", ".join(f"0x{number:04x}" for number in sorted(wanted))
    return (
        f"{_named(source)} and {_named(target)} are limited members of {numbers} only, and such don't reach each other"
    )


def lacks(seat: Seat, partition: int) -> str:
    """Say that a port is not in a partition; "" when it is, or when its keys were not read."""
    if not seat.pkeys or partition in _numbers(seat):
        return ""
    return f"{_named(seat)} is not in partition 0x{partition:04x}: {_table(seat)}"


def _numbers(seat: Seat) -> set[int]:
    return {key & _NUMBER for key in seat.pkeys}


def _named(seat: Seat) -> str:
    return f"{seat.rail} of {seat.node}"


def _table(seat: Seat) -> str:
    return f"its port has {' '.join(f'0x{key:04x}' for key in seat.pkeys)}"
