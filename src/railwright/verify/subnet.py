"""
What an InfiniBand subnet lets its ports do, by facts alone: for a subnet on which no byte can be moved. Pure.

Every way is a cell that is left out, with the reason that comes first: a port that is down, keys that keep two ports
apart, else what the subnet itself cannot do.
"""

from collections.abc import Mapping, Sequence
from itertools import permutations

from railwright.core.ids import NodeName
from railwright.core.verdicts import Verdict
from railwright.verify.model import Cell, Direction, MemoryKind, Seat
from railwright.verify.partitions import kept_apart


def cells_of_subnet(
    seats: Sequence[Seat], not_active: Mapping[NodeName, str], partition: int | None, no_bytes: str
) -> tuple[Cell, ...]:
    """
    Give a cell for each way.

    Args:
        seats: one a node, with the keys that were read.
        not_active: nodes whose port is not active, and its state.
        partition: the number of the one that is wanted.
        no_bytes: why nothing is moved between ports that may talk.
    """
    cells = []
    for number, (source, target) in enumerate(permutations(seats, 2), 1):
        down = next((seat for seat in (source, target) if seat.node in not_active), None)
        reason = f"{down.rail} of {down.node} is {not_active[down.node]}" if down else ""
        unread = next((seat for seat in (source, target) if not seat.pkeys), None)
        reason = reason or (f"the partition keys of {unread.node} were not read" if unread else "")
        reason = reason or kept_apart(source, target, partition) or no_bytes
        cells.append(
            Cell(
                id=f"c{number:05d}",
                source=source.node,
                target=target.node,
                source_rail=source.rail,
                target_rail=target.rail,
                direction=Direction.WRITE,
                memory=MemoryKind.HOST,
                family="engine",
                verdict=Verdict.SKIP,
                reason=reason,
            )
        )
    return tuple(cells)
