"""An archive collected from a real API server answers what the API server answered."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.bed_world import bed_of
from support.plane import crds_folder

from railwright import api
from railwright.lab.controlplane.plane import Plane

pytestmark = pytest.mark.bed
RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {name: east-west}
spec: {method: sriov, fabric: roce, workloadNamespaces: [training]}
"""


async def documents(world: api.World) -> dict[str, Any]:
    prepared = await api.plan(world, api.parse_intents(RAILS))
    found = (
        api.snapshot_document(await api.discover(world)).as_data(),
        api.plan_document(prepared.plan, prepared.manifests, prepared.changes).as_data(),
    )
    for document in found:
        document.pop("taken_at", None)
    text = json.dumps(found).replace(world.cluster.name, "CLUSTER")
    return dict(zip(("discover", "plan"), json.loads(text), strict=True))


async def test_discover_and_plan_say_the_same_from_an_archive(plane: Plane, tmp_path: Path) -> None:
    async with bed_of(plane, "h200-roce") as bed:
        manifest = await api.collect(bed.world, tmp_path / "a.tgz", redact=False)
        live = await documents(bed.world)
    async with await api.open_cluster(f"bundle:{tmp_path / 'a.tgz'}") as archive:
        assert await documents(archive) == live
    assert manifest.missing == ()
    assert {item.kind for item in manifest.lists if item.objects} >= {"Node", "MachineConfigPool", "Namespace"}
    assert crds_folder() is None or manifest.served_kinds
