"""A simulated world's objects on a real API server, with stand-ins at work, on a clock that runs faster."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from support.plane import live_cluster

from railwright.adapters.clock import RealClock
from railwright.adapters.cluster import LiveCluster
from railwright.adapters.transport import Transport
from railwright.core.ids import NodeName
from railwright.core.kinds import CUSTOM_RESOURCE_DEFINITION, NAMESPACE
from railwright.core.objects import Kind, KubeObject, Ref, ref_of
from railwright.lab.controlplane.actors import BUSY_FACTOR, Actors, acting
from railwright.lab.controlplane.client import Answered, PlaneClient
from railwright.lab.controlplane.definitions import named_kinds
from railwright.lab.controlplane.faster_time import SLICE_S, FasterTime
from railwright.lab.controlplane.plane import Plane
from railwright.lab.controlplane.seed import seed
from railwright.ports.cluster import Seen, Selection, Watch
from railwright.ports.node import NodeAnswer
from railwright.ports.progress import Event, Waiting
from railwright.ports.world import World
from railwright.simulator.cluster import SimCluster
from railwright.simulator.engine import Engine
from railwright.simulator.open import open_simulator
from railwright.simulator.record import node_record
from railwright.simulator.worlds.machines import Machine
from railwright.standins.all import STANDINS
from railwright.standins.model import React

QUIET_FACTOR = 150.0
"""Reboots of two nodes in four seconds."""
AT_REST_S = 1.0
"""A world in which nothing was written for so long, by the wall, has settled."""
UNSEEN_FACTOR = 10.0
"""
For clean: real controllers are at work there whom nobody here sees.

The namespace controller begins five seconds after a deletion, whatever our clock says.
Source: kubernetes v1.36 pkg/controller/namespace/namespace_controller.go, namespaceDeletionGracePeriod.
"""


@dataclass(frozen=True)
class RecordNode:
    """Answers with the record of a made-up machine, and of what real objects did to it."""

    machines: tuple[Machine, ...]
    actors: Actors

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
        machine = next((each for each in self.machines if each.name == node), None)
        if machine is None:
            return NodeAnswer("", "", f"there is no node {node}")
        return NodeAnswer(node_record(machine, self.actors.seen()), "made-up machine")


@dataclass(frozen=True)
class _FasterWatch:
    inner: Watch
    time: FasterTime

    async def next(self, timeout_s: float) -> tuple[Seen, ...]:
        until_s = self.time.monotonic_s() + timeout_s
        with self.time.waiting(BUSY_FACTOR):
            while (left_s := until_s - self.time.monotonic_s()) > 0:
                seen = await self.inner.next(min(left_s / self.time.factor, SLICE_S))
                if seen:
                    return seen
        return ()


class FasterCluster(LiveCluster):
    """The live adapter whose watches wait by the faster clock."""

    def __init__(self, name: str, transport: Transport, time: FasterTime) -> None:
        super().__init__(name, transport)
        self._time = time

    @asynccontextmanager
    async def watch(self, selections: Sequence[Selection]) -> AsyncIterator[Watch]:
        async with super().watch(selections) as watch:
            yield _FasterWatch(watch, self._time)


@dataclass(frozen=True)
class Bed:
    """A world to work on, and the stand-ins at work in it."""

    world: World
    actors: Actors
    time: FasterTime
    client: PlaneClient
    kinds: tuple[Kind, ...]
    """Every kind that is served and that railwright names."""


@dataclass(frozen=True)
class CleanPace:
    """Progress of a clean: time runs fast while nodes reboot for the last time, and slowly before that."""

    bed: Bed

    def emit(self, event: Event) -> None:
        if isinstance(event, Waiting):
            self.follow(event.waiting_for)

    def follow(self, waiting_for: str) -> None:
        """Keep time for a clean that waits for this."""
        rolls_out = "rendered-" in waiting_for or "MachineConfigPool" in waiting_for
        self.bed.actors.quiet_factor = QUIET_FACTOR if rolls_out else UNSEEN_FACTOR


def engine_of(world_name: str) -> Engine:
    """Begin a simulated world for what is in it."""
    cluster = open_simulator(world_name).cluster
    assert isinstance(cluster, SimCluster)
    return cluster.engine


async def _named_and_served(client: PlaneClient) -> list[Kind]:
    served = []
    for kind in named_kinds():
        try:
            await client.resource(kind)
        except Answered:
            continue
        served.append(kind)
    return served


@asynccontextmanager
async def bed_of(
    plane: Plane,
    world_name: str,
    clock: Path | None = None,
    *,
    standins: Sequence[tuple[str, React]] = STANDINS,
) -> AsyncIterator[Bed]:
    """
    Put a simulated world on the plane; what the API server refuses of it is a failure of the simulator.

    Args:
        clock: a file for processes that share the bed's time.
        standins: who is played.
    """
    engine = engine_of(world_name)
    time = FasterTime(QUIET_FACTOR, shared=clock)
    client, cluster = plane.client(), live_cluster(plane, lambda name, transport: FasterCluster(name, transport, time))
    try:
        served = await _named_and_served(client)
        await wipe(client, served, keep=frozenset(ref.name for ref in engine.store.objects if ref.kind == NAMESPACE))
        refused = await seed(client, list(engine.store.objects.values()))
        assert not refused, "\n".join(refused)
        actors = Actors(client, standins, engine.seen().devices, time)
        async with acting(actors, served):
            await RealClock().sleep(0)
            with time.waiting():
                await actors.at_rest(AT_REST_S)
            world = World(cluster, RecordNode(engine.machines, actors), time)
            yield Bed(world, actors, time, client, tuple(served))
    finally:
        await cluster.close()
        await client.close()


async def wipe(client: PlaneClient, kinds: Iterable[Kind], *, keep: frozenset[str]) -> None:
    """Take away what an earlier world left; these namespaces stay, for the next world has them too."""
    for kind in kinds:
        if kind in {NAMESPACE, CUSTOM_RESOURCE_DEFINITION}:
            continue
        for obj in (await client.list(kind))[0]:
            ref = ref_of(obj)
            if not ref.name.startswith("system:"):
                await _take_away(client, ref, obj)
    while going := [obj for obj in (await client.list(NAMESPACE))[0] if _is_going(obj, keep)]:
        for obj in going:
            await _take_away(client, ref_of(obj), obj)
        await RealClock().sleep(0.5)


def _is_going(namespace: KubeObject, keep: frozenset[str]) -> bool:
    name = namespace["metadata"]["name"]
    return name not in keep and not name.startswith("kube-")


async def _take_away(client: PlaneClient, ref: Ref, obj: KubeObject) -> None:
    with suppress(Answered):
        if obj["metadata"].get("finalizers"):
            await client.merge(ref, {"metadata": {"finalizers": None}})
        await client.delete(ref)
