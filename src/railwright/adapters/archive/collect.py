"""Wrap a world so that everything that is read through it goes into an archive of ours."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC
from pathlib import Path

from railwright.adapters.archive.record import Recorder, RecordingCluster, RecordingNode, Redaction
from railwright.adapters.archive.write import archive_file
from railwright.core.archive import ArchiveManifest
from railwright.core.objects import KubeObject
from railwright.ports.world import World


@dataclass
class Collection:
    """
    A recording world; its manifest is there once the archive is written.

    Attributes:
        missed: takes what could not be had, and why, where no answer tells it.
    """

    world: World
    missed: Callable[[str, str], None]
    manifest: ArchiveManifest | None = None


@asynccontextmanager
async def collecting(
    world: World, path: Path, *, keep: Callable[[KubeObject], KubeObject], redaction: Redaction | None
) -> AsyncIterator[Collection]:
    """
    Record what is read until the end of the block; an error inside it leaves no file.

    Args:
        keep: cuts an object down to what may be in an archive at all.
        redaction: None to leave everything else as it is.

    Raises:
        UsageError: there is a file already, or it cannot be written.
    """
    now = world.clock.now()
    with archive_file(path, now) as writer:
        recorder = Recorder(writer, keep, redaction)
        inside = replace(
            world, cluster=RecordingCluster(world.cluster, recorder), node=RecordingNode(world.node, recorder)
        )
        collection = Collection(inside, recorder.missed)
        yield collection
        taken_at = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        manifest = recorder.finish(taken_at, world.cluster.name, simulated=world.cluster.simulated)
    collection.manifest = manifest
