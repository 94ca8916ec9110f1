"""A simulated world on a real API server with the real NFD in it; its operator is played."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

from support.bed_world import Bed, bed_of, engine_of

from railwright.core.kinds import NODE
from railwright.lab.controlplane.nfd import NfdProcesses, running_nfd
from railwright.lab.controlplane.plane import Plane
from railwright.standins.all import STANDINS
from railwright.standins.kinds import nfd
from railwright.standins.model import Objects, Write


def operator_alone(world: Objects, now: datetime) -> tuple[Write, ...]:
    """Do what NFD's operator does, and leave the labels of nodes to NFD."""
    return tuple(write for write in nfd.react(world, now) if write.ref.kind != NODE)


PLAYED = tuple((name, operator_alone if react is nfd.react else react) for name, react in STANDINS)


@asynccontextmanager
async def nfd_bed(programs: Path, plane: Plane, world_name: str) -> AsyncIterator[tuple[Bed, NfdProcesses]]:
    """Put a world on the plane, and let the real NFD follow its Deployments and pods there."""
    async with (
        bed_of(plane, world_name, standins=PLAYED) as bed,
        running_nfd(programs, plane, engine_of(world_name).seen().devices) as processes,
    ):
        yield bed, processes
