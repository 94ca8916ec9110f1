"""The Cluster port's two implementations, side by side."""

from collections.abc import AsyncIterator, Iterator

import pytest
from support.plane import crds_folder, live_cluster, session_plane
from support.uncovered import record

from railwright.adapters.clock import RealClock
from railwright.adapters.cluster import LiveCluster
from railwright.adapters.nodes import ExecNodes
from railwright.lab.controlplane.plane import Plane
from railwright.lab.controlplane.programs import Unavailable
from railwright.ports.world import World
from railwright.simulator.open import open_simulator


@pytest.fixture(scope="session")
def plane() -> Iterator[Plane]:
    with session_plane(crds_folder()) as answer:
        if isinstance(answer, Unavailable):
            record("contract suite on a real control plane", answer.reason)
            pytest.skip(answer.reason)
        yield answer


@pytest.fixture(params=["simulator", pytest.param("control plane", marks=pytest.mark.bed)])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    if request.param == "simulator":
        yield open_simulator("h200-roce")
        return
    cluster = live_cluster(request.getfixturevalue("plane"), LiveCluster)
    try:
        yield World(cluster, ExecNodes(cluster), RealClock())
    finally:
        await cluster.close()
