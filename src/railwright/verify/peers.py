"""
A comparison with peers: a cell that is far slower than cells of the same kind between other nodes. Pure.

It finds what no floor finds, because there is none (soft-RoCE), or because it is generous. The measure is the better
half of the same kind: a slow node pulls down every pair that it is in, and must not become the measure itself.
"""

from collections.abc import Iterable
from statistics import median

from railwright.core.verdicts import Verdict
from railwright.verify.judge import Measured

FEWEST_WAYS = 2
"""Two directions of one pair are each other's peers."""

Kind = tuple[str, str, str, bool]


def kind_of(item: Measured) -> Kind:
    """Give what makes cells comparable: family, direction, memory, and whether rails are crossed."""
    step = item.task.step
    return (step.family, step.direction.value, step.memory.value, bool(step.rail_shift))


def slow_among_peers(items: Iterable[Measured], share: float) -> dict[str, str]:
    """
    Find cells below `share` of what the better half of their peers reached.

    Returns:
        Why, by the cell's id.
    """
    kinds: dict[Kind, list[Measured]] = {}
    for item in items:
        if item.reading.ran is Verdict.PASS and item.reading.average_gbps is not None:
            kinds.setdefault(kind_of(item), []).append(item)
    found: dict[str, str] = {}
    for group in kinds.values():
        if len({item.task.way for item in group}) < FEWEST_WAYS:
            continue
        rates = sorted(item.reading.average_gbps or 0.0 for item in group)
        usual = median(rates[len(rates) // 2 :])
        for item in group:
            rate = item.reading.average_gbps or 0.0
            if rate < share * usual:
                found[item.task.id] = f"{rate:.3g} Gb/s on average, and its peers reach {usual:.3g}"
    return found
