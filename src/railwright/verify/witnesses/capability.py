"""
Witness 1, what the facts say: driver kinds, dma-buf or peermem, ACS on the way between GPU and NIC.

It says whether a direct path can be; never that bytes took it.
"""

from collections.abc import Callable, Iterable

from railwright.verify.model import MemoryKind, Says, Seat, Testimony, Way

NAME, NUMBER = "capability", 1


def testify(way: Way, source: Seat | None, target: Seat | None) -> Testimony:
    """Say what is known of both seats; it agrees only where both were read, and whole."""
    seats = [seat for seat in (source, target) if seat is not None]
    obstacles = _lines(seats, lambda seat: seat.obstacles)
    unread = [f"{text} could not be read" for text in _lines(seats, lambda seat: seat.unread)]
    good = _lines(seats, lambda seat: seat.capability)
    places = _lines(seats, lambda seat: [f"GPU and NIC are {seat.distance} apart"] if seat.distance else [])
    lines = (*obstacles, *unread, *good, *places)

    def say(says: Says, text: str) -> Testimony:
        return Testimony(NAME, NUMBER, way, MemoryKind.GPU, says, text, lines)

    if not any(seat.capability or seat.obstacles for seat in seats):
        return say(Says.ABSENT, "nothing is known of drivers and PCI paths here")
    if obstacles:
        return say(Says.UNCLEAR, obstacles[0])
    if unread or source is None or target is None or not (source.capability and target.capability):
        return say(
            Says.UNCLEAR, unread[0] if unread else "nothing is known of drivers and PCI paths at one of the ends"
        )
    return say(Says.AGREES, "drivers and PCI paths allow a direct way")


def _lines(seats: Iterable[Seat], of: Callable[[Seat], Iterable[str]]) -> list[str]:
    return [f"{seat.rail} of {seat.node}: {text}" for seat in seats for text in of(seat)]
