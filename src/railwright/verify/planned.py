"""What a run will do, before it starts: rounds, steps, cells, minutes, what is held. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from railwright.core.ids import NodeName, RailName
from railwright.verify.families.table import steps
from railwright.verify.layout import EMULATED_EFFORT, EMULATED_PEER_SHARE, EMULATED_STEP_S, Layout
from railwright.verify.model import LeftOut, ScheduleSummary, Step, Way
from railwright.verify.schedule import Schedule, left_out, make_schedule
from railwright.verify.task import Effort

QUICK = Effort(duration_s=1.0, sizes_bytes=(1 << 20,), iterations=10, largest_gpu_bytes=1 << 26)
FULL = Effort()
_QUICK_ROUNDS = 1
_EXAMPLES = 5


@dataclass(frozen=True)
class Options:
    """
    What is asked of a run.

    Attributes:
        families: only these; empty for all.
        quick: one round, short, the families that prove most.
        budget_s: what fits into it is planned, what does not is named.
        cross_rail: from each rail to every other one too.
        peer_share: a cell below this share of its peers is slow.
        effort: None for the usual one of a quick or a full run.
        watch_s: for how long ports are watched before the start: those that carry traffic then are left out.
    """

    families: tuple[str, ...] = ()
    quick: bool = False
    budget_s: float | None = None
    cross_rail: bool = False
    peer_share: float = 0.5
    effort: Effort | None = None
    watch_s: float = 0.0

    @property
    def measured_with(self) -> Effort:
        """How much is measured."""
        return self.effort or (QUICK if self.quick else FULL)


@dataclass(frozen=True)
class Planned:
    """
    A run before it starts.

    Attributes:
        around: what else is made for it or stands around it meanwhile, a line each.
    """

    layout: Layout
    options: Options
    schedule: Schedule
    left_out: tuple[LeftOut, ...]
    around: tuple[str, ...] = ()

    @property
    def cells(self) -> int:
        """How many cells it has, those included that will be skipped."""
        pairs = sum(len(matches) for matches in self.schedule.rounds)
        return pairs * len(self.schedule.steps) * len(self.layout.rails)

    def summary(self) -> ScheduleSummary:
        """Sum it up."""
        return self.schedule.summary(len(self.layout.rails), cells=self.cells, gpus_per_node=self.layout.gpus_per_node)

    def cells_of(self, number: int) -> Iterator[tuple[Step, Way]]:
        """Every cell of one round, step by step."""
        for step in self.schedule.steps:
            for first, second in self.schedule.rounds[number]:
                pair = (self.schedule.nodes[first], self.schedule.nodes[second])
                yield from ((step, way) for way in ways_of(step, pair, self.layout.rails))


def plan_run(layout: Layout, options: Options) -> Planned:
    """Plan what fits, most important first; emulated processors are given little unless somebody chose how much."""
    is_little = layout.is_emulated and options.effort is None
    if is_little:
        options = replace(options, effort=EMULATED_EFFORT, peer_share=min(options.peer_share, EMULATED_PEER_SHARE))
    has_gpus = any(seat.gpu is not None for seat in layout.seats)
    shifts = tuple(range(1, len(layout.rails))) if options.cross_rail else ()
    wanted = steps(has_gpus=has_gpus, quick=options.quick, names=options.families, rail_shifts=shifts)
    if is_little:
        wanted = tuple(replace(step, expected_s=EMULATED_STEP_S) for step in wanted)
    elif options.effort is not None:
        share = options.effort.duration_s / FULL.duration_s
        wanted = tuple(replace(step, expected_s=max(1.0, step.expected_s * share)) for step in wanted)
    schedule = make_schedule(
        layout.nodes, wanted, budget_s=options.budget_s, most_rounds=_QUICK_ROUNDS if options.quick else None
    )
    return Planned(
        layout, options, schedule, (*_nodes_left_out(layout, schedule), *left_out(schedule, len(layout.rails)))
    )


def _nodes_left_out(layout: Layout, schedule: Schedule) -> Iterator[LeftOut]:
    """Name each node of which nothing is used, with the cells that it would have had with the others."""
    used = set(layout.nodes)
    reasons = {seat.node: seat.skip for seat in layout.seats if seat.node not in used}
    steps = len(schedule.steps) + len(schedule.left_out_steps)
    for number, (node, reason) in enumerate(sorted(reasons.items())):
        partners = len(layout.nodes) + number
        examples = tuple(f"{node} with {other}" for other in layout.nodes[:_EXAMPLES])
        yield LeftOut(f"{node}: {reason}", partners * len(layout.rails) * steps, examples)


def ways_of(step: Step, pair: tuple[NodeName, NodeName], rails: tuple[RailName, ...]) -> Iterator[Way]:
    """Give the ways of one step between two nodes: one a rail."""
    source, target = reversed(pair) if step.backwards else pair
    for index, rail in enumerate(rails):
        yield Way(source, rail, target, rails[(index + step.rail_shift) % len(rails)])
