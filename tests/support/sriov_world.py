"""A simulated world on a real API server with the real SR-IOV network operator and its webhook in it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml
from support.bed_world import Bed, bed_of
from support.plane import ABSENT

from railwright.lab.controlplane.definitions import install_definitions, newest_folders
from railwright.lab.controlplane.plane import Plane, running_plane
from railwright.lab.controlplane.programs import Unavailable, ensure_programs
from railwright.lab.controlplane.sriov import SriovProcesses, ensure_sriov, running_sriov
from railwright.ports.progress import Silent
from railwright.standins.all import STANDINS
from railwright.standins.kinds import sriov_config_daemon

WORKING_FACTOR = 20.0
"""Where the real operator has its part: it answers within a second, which are twenty of these."""
PLAYED = (
    *((name, react) for name, react in STANDINS if not name.startswith("sriov-network-operator")),
    ("sriov-network-config-daemon", sriov_config_daemon.react),
)


@dataclass(frozen=True)
class SriovCluster:
    """A plane on which the operator may run, its programs, and the NICs that its bundle supports."""

    plane: Plane
    programs: Path
    nics: Mapping[str, str]


@asynccontextmanager
async def sriov_cluster(folder: Path) -> AsyncIterator[SriovCluster | Unavailable]:
    """Run a plane for the length of a block, or say why that is not possible here."""
    operator, programs = await ensure_sriov(Silent()), await ensure_programs(Silent())
    if isinstance(operator, Unavailable) or isinstance(programs, Unavailable):
        yield operator if isinstance(operator, Unavailable) else programs
        return
    async with running_plane(programs) as plane:
        client = plane.client()
        try:
            await install_definitions(client, folder, ABSENT)
        finally:
            await client.close()
        yield SriovCluster(plane, operator, supported_nics(folder))


def supported_nics(folder: Path) -> Mapping[str, str]:
    """Read what the newest published bundle supports."""
    bundle = next(name for name in newest_folders([path.name for path in folder.iterdir()]) if "sriov-network" in name)
    text = (folder / bundle / "supported-nic-ids_v1_configmap.yaml").read_text()
    data: Mapping[str, str] = yaml.safe_load(text)["data"]
    return data


@asynccontextmanager
async def sriov_bed(cluster: SriovCluster, world_name: str) -> AsyncIterator[tuple[Bed, SriovProcesses]]:
    """Put a world on the plane, and let the real operator follow its Deployment there."""
    async with (
        bed_of(cluster.plane, world_name, standins=PLAYED) as bed,
        running_sriov(cluster.programs, cluster.plane, cluster.nics) as processes,
    ):
        yield bed, processes
