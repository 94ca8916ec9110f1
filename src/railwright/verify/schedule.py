"""
Who talks to whom, and when: a tournament of disjoint pairs, so that time grows with N nodes and not with N squared.

Pure. Pairs are numbers of nodes, not names: 1,000 nodes have half a million of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from railwright.core.ids import NodeName
from railwright.verify.model import LeftOut, ScheduleSummary, Step

ROUND_OVERHEAD_S = 1.0
"""Between rounds: nothing is set up anew, halves only find each other."""

Pair = tuple[int, int]


@dataclass(frozen=True)
class Schedule:
    """
    Rounds of disjoint pairs, each run through all steps, all rails of a pair at once.

    Attributes:
        rounds: pairs of indices into `nodes`; the first round alone touches every node (but one, when N is odd).
        rounds_possible: a whole tournament's.
    """

    nodes: tuple[NodeName, ...]
    rounds: tuple[tuple[Pair, ...], ...]
    rounds_possible: int
    steps: tuple[Step, ...]
    left_out_steps: tuple[Step, ...] = ()
    reason: str = ""
    """Why rounds or steps were left out; "" when none was."""

    def pairs(self) -> Iterator[tuple[int, NodeName, NodeName]]:
        """Every pair with the number of its round, in order."""
        for number, matches in enumerate(self.rounds):
            for first, second in matches:
                yield number, self.nodes[first], self.nodes[second]

    @property
    def expected_s(self) -> float:
        """How long it takes: every round runs all its steps, one after the other."""
        return len(self.rounds) * round_s(self.steps)

    def summary(self, rails: int, *, cells: int, gpus_per_node: int) -> ScheduleSummary:
        """Sum it up; `rails` is how many a node holds."""
        return ScheduleSummary(
            rounds=len(self.rounds),
            rounds_possible=self.rounds_possible,
            pairs=sum(len(matches) for matches in self.rounds),
            steps=self.steps,
            cells=cells,
            expected_s=self.expected_s,
            held_gpus=gpus_per_node * len(self.nodes),
            held_rails=rails * len(self.nodes),
        )


def tournament(count: int) -> tuple[tuple[Pair, ...], ...]:
    """
    Pair `count` players so that everyone meets everyone once: count-1 rounds for an even count, count for an odd one.

    The circle method: one place stays, the others move on by one after each round; with an odd count the fixed place
    is nobody's, and whoever meets it rests.
    """
    if count < 2:
        return ()
    odd = count % 2
    seats = count + odd
    ring = seats - 1
    rounds = []
    for shift in range(ring):
        matches = [] if odd else [_ordered(shift, ring)]
        matches += [_ordered((shift + step) % ring, (shift - step) % ring) for step in range(1, seats // 2)]
        rounds.append(tuple(matches))
    return tuple(rounds)


def _ordered(first: int, second: int) -> Pair:
    return (first, second) if first < second else (second, first)


def round_s(steps: tuple[Step, ...]) -> float:
    """How long one round takes, in seconds."""
    return ROUND_OVERHEAD_S + sum(step.expected_s for step in steps)


def make_schedule(
    nodes: tuple[NodeName, ...],
    steps: tuple[Step, ...],
    *,
    budget_s: float | None = None,
    most_rounds: int | None = None,
) -> Schedule:
    """
    Plan what fits.

    Args:
        steps: most important first: a budget too small for one round drops steps from the end.
        budget_s: None for no limit.
        most_rounds: None for the whole tournament; a quick run takes one round (two when N is odd: nobody is left out).
    """
    whole = tournament(len(nodes))
    rounds, kept, reasons = whole, steps, []
    if most_rounds is not None and most_rounds + len(nodes) % 2 < len(whole):
        rounds = whole[: most_rounds + len(nodes) % 2]
        reasons.append(f"a quick run: {len(rounds)} of {len(whole)} rounds")
    if budget_s is not None and rounds:
        while len(kept) > 1 and round_s(kept) > budget_s:
            kept = kept[:-1]
        fitting = max(0, int(budget_s // round_s(kept)))
        if len(kept) < len(steps):
            reasons.append(f"the budget of {budget_s:g} s has room for {len(kept)} of {len(steps)} steps of a round")
        if fitting < len(rounds):
            rounds = rounds[:fitting]
            reasons.append(f"the budget of {budget_s:g} s has room for {fitting} of {len(whole)} rounds")
    return Schedule(nodes, rounds, len(whole), kept, steps[len(kept) :], "; ".join(reasons))


def left_out(schedule: Schedule, rails: int) -> tuple[LeftOut, ...]:
    """Name what a budget or a quick run left out: whole rounds, and steps of the rounds that are run."""
    found = []
    if len(schedule.rounds) < schedule.rounds_possible:
        missing = tournament(len(schedule.nodes))[len(schedule.rounds) :]
        pairs = [pair for matches in missing for pair in matches]
        examples = tuple(f"{schedule.nodes[a]} with {schedule.nodes[b]}" for a, b in pairs[:5])
        steps = len(schedule.steps) + len(schedule.left_out_steps)
        found.append(LeftOut(f"pairs left out: {schedule.reason}", len(pairs) * rails * steps, examples))
    if schedule.left_out_steps:
        pairs_run = sum(len(matches) for matches in schedule.rounds)
        examples = tuple(f"{step.family} {step.direction} {step.memory}" for step in schedule.left_out_steps[:5])
        reason = f"steps left out: {schedule.reason}"
        found.append(LeftOut(reason, pairs_run * rails * len(schedule.left_out_steps), examples))
    return tuple(found)
