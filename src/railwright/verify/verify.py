"""
A plan's rails and the endpoints that hold them -> VerifyRecord: every planned cell with a verdict, and what it proves.

The record exists before the run: a cell that was not reached is UNKNOWN in it, and an interrupt leaves a whole record.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from railwright.catalog.model import Catalog
from railwright.core.errors import RailwrightError
from railwright.core.ids import NodeName
from railwright.core.verdicts import Verdict
from railwright.dataplane.model import EvidenceRequest, RailEnd, Reply
from railwright.facts.reading import together
from railwright.ports.clock import Clock
from railwright.ports.endpoint import Endpoint
from railwright.ports.progress import Measuring, Progress
from railwright.verify.busy import without_busy
from railwright.verify.confirm import confirm, fails
from railwright.verify.judge import Measured
from railwright.verify.model import Culprit, VerifyRecord
from railwright.verify.narrow import Blame
from railwright.verify.path_mtu import try_small_packets
from railwright.verify.peers import slow_among_peers
from railwright.verify.planned import Planned
from railwright.verify.pod_tables import with_tables_of_pods
from railwright.verify.record import Findings, make_record
from railwright.verify.run import Bench, Stay, stay_without_words
from railwright.verify.swapped import find_swapped
from railwright.verify.task import Reading, Task
from railwright.verify.unseen import unchosen_partitions, unseen_traffic

_EVIDENCE_S = 30.0


@dataclass
class _Run:
    """One run on its way."""

    planned: Planned
    bench: Bench
    progress: Progress
    items: list[Measured] = field(default_factory=list)
    blames: dict[str, Blame] = field(default_factory=dict)
    culprits: list[Culprit] = field(default_factory=list)
    places: dict[NodeName, Reply] = field(default_factory=dict)
    interrupted: bool = False
    ended_by: RailwrightError | None = None
    unseen: list[str] = field(default_factory=list)
    """What could not be seen before anything was started."""
    silences: dict[str, int] = field(default_factory=dict)
    """What kept us from being heard for a while, and how often."""

    async def heard(self, stay: Stay) -> None:
        """Say that we are still there; an API server that does not answer lets nobody else in either."""
        try:
            await stay()
        except RailwrightError as error:
            if not error.transient:
                raise
            self.silences[error.message] = self.silences.get(error.message, 0) + 1


async def verify(
    planned: Planned,
    endpoints: Sequence[Endpoint],
    catalog: Catalog,
    clock: Clock,
    progress: Progress,
    *,
    absent: Mapping[NodeName, str] | None = None,
    stay: Stay = stay_without_words,
) -> VerifyRecord:
    """
    Run what was planned, confirm and narrow what failed, and judge.

    Args:
        absent: nodes of the plan without an endpoint, and why: their cells are UNKNOWN.
        stay: awaited every few seconds while something runs, by which others can tell that we are still there. A
            transient error of it is waited out; any other ends the run, and its exit code is the record's.

    A run that is ended so, or cancelled, gives its record all the same, marked as interrupted.
    """
    started_at, began_s = clock.now(), clock.monotonic_s()
    by_node = {endpoint.node: endpoint for endpoint in endpoints}
    bench = Bench(planned.layout, by_node, clock, planned.options.measured_with, dict(absent or {}))
    run = _Run(planned, bench, progress)
    bench.stay = partial(run.heard, stay)
    try:
        await _places(run)
        for number in range(len(run.planned.schedule.rounds)):
            await _round(run, number)
        await _confirm(run)
    except asyncio.CancelledError:
        run.interrupted = True
        _name_missing(run, "interrupted before it was run")
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
    except RailwrightError as error:
        run.interrupted, run.ended_by = True, error
        _name_missing(run, f"not run: the run was ended before: {error.message}")
    findings = Findings(
        items=tuple(run.items),
        blames=run.blames,
        culprits=tuple(run.culprits),
        places=run.places,
        raw=run.bench.raw,
        raw_left_out=run.bench.raw_left_out,
        interrupted=run.interrupted,
        ended_by=run.ended_by,
        notes=tuple(_notes(run)),
        started_at=started_at,
        ended_at=clock.now(),
        elapsed_s=clock.monotonic_s() - began_s,
    )
    return make_record(run.planned, findings, catalog)


async def _places(run: _Run) -> None:
    """
    Ask every endpoint what it is: limits, ports, GIDs, tools; kept as evidence beside the cells.

    What they read of their own ports is nearer than what was known before: partition tables of VFs, traffic of others.
    """
    endpoints, watch_s = run.bench.endpoints, run.planned.options.watch_s
    asks = [run.bench.ask(node, _look_around(each, watch_s), _EVIDENCE_S) for node, each in endpoints.items()]
    run.places = dict(zip(endpoints, await together(asks), strict=True))
    layout = with_tables_of_pods(run.planned.layout, endpoints.values(), run.places)
    if watch_s:
        layout = without_busy(layout, endpoints.values(), run.places)
        run.unseen += unseen_traffic(layout, endpoints.values(), run.places)
    run.unseen += unchosen_partitions(layout, endpoints.values())
    run.planned, run.bench.layout = replace(run.planned, layout=layout), layout


def _look_around(endpoint: Endpoint, watch_s: float) -> EvidenceRequest:
    rails = tuple(RailEnd(netdev=held.netdev, device=held.device) for held in endpoint.rails)
    return EvidenceRequest(watched=rails, watch_s=watch_s) if watch_s else EvidenceRequest()


async def _round(run: _Run, number: int) -> None:
    """Run one round, step by step; in a step every rail of every pair at once."""
    planned = run.planned
    cells = list(planned.cells_of(number))
    for step in planned.schedule.steps:
        tasks: list[Task] = []
        for wanted, way in cells:
            if wanted is not step:
                continue
            made = run.bench.task(step, way)
            if isinstance(made, Task):
                tasks.append(made)
            else:
                run.items.append(made)
        run.items += await run.bench.run(tasks)
        failed = sum(fails(item) for item in run.items)
        what = f"round {number + 1} of {len(planned.schedule.rounds)}: {step.family} {step.direction} of {step.memory} memory"
        run.progress.emit(Measuring(what, len(run.items), planned.cells, failed))


async def _confirm(run: _Run) -> None:
    slow = slow_among_peers(run.items, run.planned.options.peer_share)
    failing = sum(fails(item) for item in run.items)
    if not slow and not failing:
        return
    what = f"again, and on their own: {failing} failing, {len(slow)} slow beside their peers"
    run.progress.emit(Measuring(what, len(run.items), run.planned.cells, failing))
    done = await confirm(run.bench, run.items, slow, run.planned.options.peer_share)
    # What is confirmed stands before more is tried: an interrupt from here on takes none of it away.
    run.items, run.blames = list(done.items), done.blames
    run.items = list(await try_small_packets(run.bench, done.items))
    run.culprits += await find_swapped(run.bench, done.items, run.places)


def _notes(run: _Run) -> Iterator[str]:
    """Say what to do about what ended the run, what it did not see, and when it could not be heard."""
    if run.ended_by is not None and run.ended_by.hint:
        yield f"what ended the run too early: {run.ended_by.hint}"
    yield from run.unseen
    for message, times in run.silences.items():
        yield f"{times} x it could not be said that this run is still there, and it went on: {message}"


def _name_missing(run: _Run, why: str) -> None:
    """Give every cell that was not reached a place in the record."""
    seen = {(item.task.step, item.task.way) for item in run.items}
    for number in range(len(run.planned.schedule.rounds)):
        for step, way in run.planned.cells_of(number):
            if (step, way) in seen:
                continue
            made = run.bench.task(step, way)
            if isinstance(made, Task):
                made = Measured(made, Reading(Verdict.UNKNOWN, why))
            run.items.append(made)
