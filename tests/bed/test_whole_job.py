"""Apply, status and clean of each configuration on a real API server, with stand-ins for the operators."""

import pytest
from support.bed_world import bed_of
from support.plane import session_plane
from support.uncovered import record

from railwright.catalog.load import load_catalog
from railwright.core.verdicts import Verdict
from railwright.intent.parse import parse_intents
from railwright.lab.controlplane.programs import Unavailable
from railwright.pipeline.rehearse import rehearse

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
async def test_a_configuration_goes_from_nothing_to_applied_to_removed(method: str, fabric: str) -> None:
    with session_plane() as plane:
        if isinstance(plane, Unavailable):
            record(f"apply, status and clean of {method} on {fabric} on a real API server", plane.reason)
            pytest.skip(plane.reason)
        async with bed_of(plane, "h200-roce" if fabric == "roce" else "h200-ib") as bed:
            intents = parse_intents(RAILS.format(method=method, fabric=fabric))
            result = await rehearse(bed.world, intents, load_catalog())
            refused = bed.actors.refused
    assert refused == []
    assert (result.verdict, result.stopped_at, result.reason, result.left) == (Verdict.PASS, "", "", 0)
