"""
Witness 1, what the facts say: driver kinds, dma-buf or peermem, ACS on the way between GPU and NIC.

It says whether a direct path can be; never that bytes took it.
"""

from railwright.verify.model import MemoryKind, Says, Seat, Testimony, Way

NAME, NUMBER = "capability", 1


def testify(way: Way, source: Seat | None, target: Seat | None) -> Testimony:
    """Say what is known of both seats."""
    seats = [seat for seat in (source, target) if seat is not None]
    obstacles = tuple(f"{seat.rail} of {seat.node}: {text}" for seat in seats for text in seat.obstacles)
    good = tuple(f"{seat.rail} of {seat.node}: {text}" for seat in seats for text in seat.capability)
    places = tuple(
        f"{seat.rail} of {seat.node}: GPU and NIC are {seat.distance} apart" for seat in seats if seat.distance
    )

    def say(says: Says, text: str) -> Testimony:
        return Testimony(NAME, NUMBER, way, MemoryKind.GPU, says, text, (*obstacles, *good, *places))

    if not good and not obstacles:
        return say(Says.ABSENT, "nothing is known of drivers and PCI paths here")
    if obstacles:
        return say(Says.UNCLEAR, obstacles[0])
    return say(Says.AGREES, "drivers and PCI paths allow a direct way")
