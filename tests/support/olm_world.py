"""A bare cluster with real OLM, and catalogs of the published operators: a simulated world's nodes on a real API server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from support.bed_world import FasterCluster, RecordNode, engine_of
from support.plane import ABSENT, live_cluster

from railwright.core.ids import NodeName
from railwright.core.kinds import CATALOG_SOURCE, NODE, PACKAGE_MANIFEST
from railwright.core.objects import Kind, KubeObject, ref_of
from railwright.lab.controlplane.actors import Actors, acting
from railwright.lab.controlplane.client import Answered, PlaneClient
from railwright.lab.controlplane.definitions import install_definitions, named_kinds
from railwright.lab.controlplane.faster_time import FasterTime
from railwright.lab.controlplane.olm import Olm, ensure_olm, running_olm
from railwright.lab.controlplane.olm_catalog import Bundle, Channel, Package, kinds_brought, published_packages
from railwright.lab.controlplane.plane import Plane, running_plane
from railwright.lab.controlplane.pods import (
    KWOK_MARK,
    KWOK_PROGRAMS,
    SCHEDULER_PROGRAMS,
    running_kwok,
    running_scheduler,
)
from railwright.lab.controlplane.programs import PROGRAMS, Unavailable, ensure_programs
from railwright.lab.controlplane.seed import seed
from railwright.ports.node import NodeAnswer
from railwright.ports.progress import Silent
from railwright.ports.world import World
from railwright.simulator.engine import Engine
from railwright.standins.all import STANDINS

WORLD = "h200-roce"
RELEASE = "4.20"
"""As the world's ClusterVersion says."""
NOT_PLAYED = ("catalog-operator", "deployment-controller")
"""OLM itself, and Deployments: their pods are made, scheduled and run by the real controllers, scheduler and KWOK."""
CONTROLLERS = ("deployment-controller", "replicaset-controller", "node-lifecycle-controller")
STANDINS_FACTOR = 150.0
"""Of the stand-ins' own time: controllers are available at once."""


@dataclass(frozen=True)
class OlmCluster:
    """A plane with OLM on it; `engine` is the simulated world that its nodes are from."""

    plane: Plane
    olm: Olm
    engine: Engine


@dataclass(frozen=True)
class OlmBed:
    """A world to work on, the stand-ins at work in it, and a client to look and to meddle."""

    world: World
    actors: Actors
    client: PlaneClient


@asynccontextmanager
async def olm_cluster(folder: Path) -> AsyncIterator[OlmCluster | Unavailable]:
    """Run everything for the length of a block, or say why that is not possible here."""
    folders = [await ensure_olm(Silent())]
    folders += [await ensure_programs(Silent(), group) for group in (PROGRAMS, SCHEDULER_PROGRAMS, KWOK_PROGRAMS)]
    for answer in folders:
        if isinstance(answer, Unavailable):
            yield answer
            return
    olm_programs, plane_programs, scheduler, kwok = (each for each in folders if isinstance(each, Path))
    packages = (*published_packages(folder, RELEASE), unplanned_package())
    engine = engine_of(WORLD)
    async with (
        running_plane(plane_programs, CONTROLLERS) as plane,
        running_scheduler(scheduler, plane),
        running_kwok(kwok, plane),
    ):
        client = plane.client()
        try:
            await install_definitions(client, folder, ABSENT | kinds_brought(packages))
            seeded = [_managed(obj) for obj in engine.store.objects.values() if ref_of(obj).kind not in _FROM_CATALOGS]
            refused = await seed(client, seeded)
        finally:
            await client.close()
        assert not refused, "\n".join(refused)
        async with running_olm(olm_programs, plane, packages) as olm:
            yield OlmCluster(plane, olm, engine)


_FROM_CATALOGS = (CATALOG_SOURCE, PACKAGE_MANIFEST)


def _managed(obj: KubeObject) -> KubeObject:
    """Let KWOK run the pods of a node."""
    if ref_of(obj).kind != NODE:
        return obj
    metadata = obj["metadata"]
    return {**obj, "metadata": {**metadata, "annotations": {**metadata.get("annotations", {}), **KWOK_MARK}}}


def unplanned_package() -> Package:
    """Make an operator that nobody planned, as small as OLM takes it: it needs nothing and starts nothing."""
    csv: KubeObject = {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {"name": "unplanned.v1.0.0", "namespace": "placeholder"},
        "spec": {
            "displayName": "Unplanned",
            "version": "1.0.0",
            "installModes": [{"type": "OwnNamespace", "supported": True}],
            "install": {"strategy": "deployment", "spec": {"deployments": []}},
        },
    }
    return Package("unplanned", "redhat-operators", "stable", (Channel("stable", (Bundle(csv),)),))


async def served_kinds(client: PlaneClient) -> list[Kind]:
    """Give the kinds that railwright names and this cluster serves now."""
    served = []
    for kind in named_kinds():
        try:
            await client.resource(kind)
        except Answered:
            continue
        served.append(kind)
    return served


@dataclass(frozen=True)
class _Prepared:
    """Nodes that need no MachineConfig: OLM is looked at here, and no roll-out has to be waited for."""

    inner: RecordNode

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
        answer = await self.inner.read(node, script, timeout_s=timeout_s)
        return replace(answer, text=answer.text.replace("memlock\t8192", "memlock\tunlimited"))


@asynccontextmanager
async def olm_bed(running: OlmCluster, factor: float = 1.0) -> AsyncIterator[OlmBed]:
    """Give a world to work on: stand-ins at work for everything but OLM, a clock that runs `factor` times faster."""
    time = FasterTime(factor)
    client = running.plane.client()
    cluster = live_cluster(running.plane, lambda name, transport: FasterCluster(name, transport, time))
    try:
        standins = [(name, react) for name, react in STANDINS if name not in NOT_PLAYED]
        actors = Actors(client, standins, running.engine.seen().devices, FasterTime(STANDINS_FACTOR))
        async with acting(actors, await served_kinds(client)):
            yield OlmBed(World(cluster, _Prepared(RecordNode(running.engine.machines, actors)), time), actors, client)
    finally:
        await cluster.close()
        await client.close()
