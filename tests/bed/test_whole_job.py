"""
Apply on a real API server, with stand-ins for the operators, as far as it is shown to go.

Definitions accept anything here: what is rendered meets the published ones in test_strict_apply.
"""

import pytest
from support.bed_world import bed_of
from support.plane import session_plane
from support.uncovered import record

from railwright.catalog.load import load_catalog
from railwright.core.ids import StageName
from railwright.core.verdicts import Verdict
from railwright.intent.parse import parse_intents
from railwright.lab.controlplane.programs import Unavailable
from railwright.pipeline.apply import apply_fabrics
from railwright.ports.approval import Question
from railwright.ports.progress import Silent

pytestmark = pytest.mark.bed
LAST = StageName("hardware-labelled")
RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {name: east-west}
spec: {method: shared, fabric: roce, workloadNamespaces: [training]}
"""


class Yes:
    def approve(self, question: Question) -> bool:
        return not question.takes_over


async def test_operators_are_installed_and_hardware_is_labelled() -> None:
    record(f"apply on a real API server after {LAST}, status and clean there", "only strict apply covers those stages")
    with session_plane(None) as plane:
        if isinstance(plane, Unavailable):
            record("apply on a real API server", plane.reason)
            pytest.skip(plane.reason)
        async with bed_of(plane, "h200-roce") as bed:
            intents = parse_intents(RAILS)
            result = await apply_fabrics(bed.world, intents, load_catalog(), Silent(), Yes(), until=LAST)
            refused = bed.actors.refused
    assert refused == []
    assert {stage.verdict for stage in result.stages} == {Verdict.PASS}
    assert result.stages[-1].stage == LAST
