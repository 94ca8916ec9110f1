"""Open a simulated world by its specification: WORLD[+FAULT...][@STATE.json]."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from railwright.core.errors import KindNotServed, NotFound, UsageError
from railwright.ports.world import World
from railwright.simulator.clock import SimClock
from railwright.simulator.cluster import SimCluster
from railwright.simulator.consistency import check
from railwright.simulator.datapath.execution import Execution
from railwright.simulator.datapath.switchboard import Switchboard
from railwright.simulator.datapath.wires import Wiring, ports_of
from railwright.simulator.engine import Engine
from railwright.simulator.faults.table import FAULTS, Fault
from railwright.simulator.node import SimNode
from railwright.simulator.ownership import Manager
from railwright.simulator.state import StateFile
from railwright.simulator.store import Store
from railwright.simulator.worlds.model import Draft, Phase
from railwright.simulator.worlds.table import WORLDS

BEGINNING = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
"""When every simulated world is opened for the first time."""
WARM_UP_STEP_S = 60.0
_MOST_NAMED = 3


@dataclass(frozen=True)
class Specification:
    """A specification taken apart; `state` is None where the world is not kept."""

    world: str
    faults: tuple[str, ...]
    state: Path | None


def parse_specification(text: str) -> Specification:
    """Take WORLD[+FAULT...][@STATE.json] apart. Raises UsageError for names that are not in the tables."""
    names, at, file = text.partition("@")
    if at and not file:
        message = f"sim:{text} names no file after the @: nothing would be kept"
        raise UsageError(message, hint=f"sim:{names}@STATE.json, or sim:{names} for a world that is not kept")
    world, *faults = names.split("+")
    _check("world", world, [item.name for item in WORLDS])
    for fault in faults:
        _check("fault", fault, [item.name for item in FAULTS])
    return Specification(world, tuple(dict.fromkeys(faults)), Path(file) if file else None)


def _check(what: str, name: str, known: Sequence[str]) -> None:
    if name in known:
        return
    near = difflib.get_close_matches(name, known, n=1)
    if not near and name:
        near = [item for item in known if name.lower() in item][:_MOST_NAMED]
    meant = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise UsageError(
        f"there is no simulated {what} {name!r}{meant}",
        hint=f"{what}s: {', '.join(known)}",
        context={what: name},
    )


def open_simulator(spec: str) -> World:
    """
    Open a world; one with a state file goes on where it was left.

    Raises:
        UsageError: unknown world or fault, a state file that cannot be used, or a world that cannot be.
    """
    wanted = parse_specification(spec)
    draft = draft_of(wanted)
    check(draft)
    engine = Engine(Store(draft.kinds), draft.machines, draft.troubles, BEGINNING, silent=draft.silent)
    kept = StateFile(wanted.state, wanted.world) if wanted.state is not None else None
    if kept is None or not kept.load(engine):
        _begin_or_refuse(engine, draft.phases, spec)
    if kept is not None:
        engine.save = kept.save
        kept.save(engine)
    clock = SimClock(engine)
    sick = next((machine.name for machine in reversed(draft.machines) if machine.gpus), "")
    wiring = Wiring(ports_of(draft.machines), draft.troubles, sick)
    execution = Execution(Switchboard(wiring, clock))
    cluster = SimCluster(f"sim:{spec}", engine, draft.kubernetes_version, execution=execution)
    return World(cluster, SimNode(engine), clock)


def _begin_or_refuse(engine: Engine, phases: Iterable[Phase], spec: str) -> None:
    """Let a world come to be; what a fault adds may lean on what another world has."""
    try:
        begin(engine, phases)
    except (NotFound, KindNotServed) as error:
        message = f"sim:{spec} cannot be: {error.message}"
        raise UsageError(message, hint="railwright demo --list says in which world each fault shows") from error


def begin(engine: Engine, phases: Iterable[Phase]) -> None:
    """Let a world come to be, so that it stands still at its beginning."""
    phases = tuple(phases)
    engine.now = BEGINNING - timedelta(seconds=sum(phase.then_s for phase in phases))
    for phase in phases:
        for obj in phase.objects:
            engine.store.create(obj, Manager(phase.manager, "Update"), engine.now)
        left = phase.then_s
        while left > 0:
            engine.advance(min(WARM_UP_STEP_S, left))
            left -= WARM_UP_STEP_S
    engine.elapsed_s = 0.0
    engine.store.log.clear()


def draft_of(wanted: Specification) -> Draft:
    """Build what a specification names, without beginning it. Raises UsageError for a fault that breaks nothing there."""
    draft = next(item for item in WORLDS if item.name == wanted.world).build()
    for name in wanted.faults:
        fault = next(item for item in FAULTS if item.name == name)
        broken = fault.act(draft)
        if broken == draft:
            raise _breaks_nothing(fault, wanted.world)
        draft = broken
    return draft


def _breaks_nothing(fault: Fault, world: str) -> UsageError:
    """A world that is called broken and is whole would teach that the doctor finds nothing."""
    others = [item.name for item in WORLDS if fault.act(draft := item.build()) != draft]
    return UsageError(
        f"fault {fault.name} finds nothing to break in sim:{world}: {fault.description}",
        hint=f"it breaks something in {', '.join(f'sim:{name}+{fault.name}' for name in others) or 'no world by itself'} "
        f"(it shows in: {fault.matters})",
        context={"world": world, "fault": fault.name},
    )
