"""Everything that we render and make is accepted by a real API server under the published definitions."""

import pytest
from support.plane import crds_folder, live_cluster
from support.uncovered import record

from railwright.adapters.cluster import LiveCluster
from railwright.catalog.load import load_catalog
from railwright.core.errors import ClusterError
from railwright.core.ids import FabricName, NodeName
from railwright.core.objects import ref_of
from railwright.intent.parse import parse_intents
from railwright.lab.controlplane.plane import Plane
from railwright.manifests.verifiers import Run, Verifier, access_of, pod_of
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


async def test_what_a_run_of_verify_makes_is_accepted_strictly_and_its_network_policy_kept_as_written(
    plane: Plane,
) -> None:
    run = Run("0302080000", "training", FabricName("east-west"), "image", 60.0, has_scc=False)
    verifier = Verifier(NodeName("nowhere"), ("rail0",), {"rdma/rail0": 1})
    cluster = live_cluster(plane, LiveCluster)
    written = []
    try:
        await cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": run.namespace}})
        for obj in (*access_of(run), pod_of(run, 0, verifier)):
            await cluster.apply(obj)
            written.append(obj)
        (policy,) = (obj for obj in written if obj["kind"] == "NetworkPolicy")
        live = await cluster.get(ref_of(policy))
        assert live["spec"] == policy["spec"]
    finally:
        for obj in reversed(written):
            await cluster.delete(ref_of(obj))
        await cluster.close()
    assert [obj["kind"] for obj in written] == ["PriorityClass", "NetworkPolicy", "ServiceAccount", "Pod"]
