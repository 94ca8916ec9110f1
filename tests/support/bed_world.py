"""A simulated world's objects on a real API server, with stand-ins at work, on a clock that runs faster."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from support.plane import live_cluster

from railwright.adapters.cluster import LiveCluster
from railwright.core.ids import NodeName
from railwright.core.objects import Kind
from railwright.lab.controlplane.actors import Actors, FasterTime, acting
from railwright.lab.controlplane.client import Answered, PlaneClient
from railwright.lab.controlplane.definitions import named_kinds
from railwright.lab.controlplane.plane import Plane
from railwright.lab.controlplane.seed import seed
from railwright.ports.cluster import Cluster, Seen, Selection, Watch
from railwright.ports.node import NodeAnswer
from railwright.ports.world import World
from railwright.simulator.cluster import SimCluster
from railwright.simulator.open import open_simulator
from railwright.simulator.record import node_record
from railwright.simulator.worlds.machines import Machine
from railwright.standins.all import STANDINS

FACTOR = 60.0
"""An hour of drivers and drains in a minute."""


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
    factor: float

    async def next(self, timeout_s: float) -> tuple[Seen, ...]:
        return await self.inner.next(timeout_s / self.factor)


class FasterCluster(LiveCluster):
    """The live adapter whose watches wait by the faster clock."""

    @asynccontextmanager
    async def watch(self, selections: Sequence[Selection]) -> AsyncIterator[Watch]:
        async with super().watch(selections) as watch:
            yield _FasterWatch(watch, FACTOR)


@dataclass(frozen=True)
class Bed:
    """A world to work on, and the stand-ins at work in it."""

    world: World
    actors: Actors


def is_simulated(cluster: Cluster) -> SimCluster:
    assert isinstance(cluster, SimCluster)
    return cluster


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
async def bed_of(plane: Plane, world_name: str) -> AsyncIterator[Bed]:
    """Put a simulated world on the plane; what the API server refuses of it is a failure of the simulator."""
    engine = is_simulated(open_simulator(world_name).cluster).engine
    client, cluster = plane.client(), live_cluster(plane, FasterCluster)
    try:
        refused = await seed(client, list(engine.store.objects.values()))
        assert not refused, "\n".join(refused)
        time = FasterTime(FACTOR)
        actors = Actors(client, STANDINS, engine.seen().devices, time)
        async with acting(actors, await _named_and_served(client)):
            yield Bed(World(cluster, RecordNode(engine.machines, actors), time), actors)
    finally:
        await cluster.close()
        await client.close()
