"""Everything that we render is accepted by a real API server under the published definitions."""

import pytest
from support.plane import crds_folder, live_cluster
from support.uncovered import record

from railwright.adapters.cluster import LiveCluster
from railwright.catalog.load import load_catalog
from railwright.core.errors import ClusterError
from railwright.core.objects import ref_of
from railwright.intent.parse import parse_intents
from railwright.lab.controlplane.plane import Plane
from railwright.pipeline.prepare import prepare
from railwright.ports.progress import Silent
from railwright.simulator.open import open_simulator

pytestmark = pytest.mark.bed
CONFIGURATIONS = [
    (method, fabric) for fabric in ("roce", "infiniband") for method in ("shared", "host-device", "sriov")
]
RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {{name: east-west}}
spec: {{method: {method}, fabric: {fabric}, workloadNamespaces: [training]}}
"""


@pytest.mark.parametrize(("method", "fabric"), CONFIGURATIONS)
async def test_every_manifest_is_accepted_strictly(plane: Plane, method: str, fabric: str) -> None:
    if crds_folder() is None:
        why = "no folder of published definitions (RAILWRIGHT_CRDS)"
        record("manifests under published definitions", why)
        pytest.skip(why)
    world = open_simulator("h200-roce" if fabric == "roce" else "h200-ib")
    intents = parse_intents(RAILS.format(method=method, fabric=fabric))
    prepared = await prepare(world, intents, load_catalog(), Silent())
    cluster = live_cluster(plane, LiveCluster)
    refused = []
    try:
        await cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "training"}})
        for manifest in prepared.manifests.items:
            try:
                await cluster.apply(manifest.obj, take_over=True)
            except ClusterError as error:
                refused.append(f"{ref_of(manifest.obj)}: {error.message}")
    finally:
        await cluster.close()
    assert prepared.manifests.items
    assert refused == []
