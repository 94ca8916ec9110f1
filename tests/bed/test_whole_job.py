"""
The whole job on a real API server: apply, status, clean, for each configuration, and the cluster as it was before.

Real here: etcd, kube-apiserver with server-side apply, kube-controller-manager's garbage collector and namespaces, our
adapter over HTTP. Played by stand-ins: OLM, operators, kubelets, machine config operator; nodes answer from records.
"""

import pytest
from support.bed_world import UNSEEN_FACTOR, CleanPace, bed_of
from support.left_after_clean import left_at_rest
from support.plane import crds_folder
from support.uncovered import record
from support.whole_state import read_state

from railwright.catalog.load import load_catalog
from railwright.core.verdicts import Verdict
from railwright.intent.parse import parse_intents
from railwright.lab.controlplane.plane import Plane
from railwright.pipeline.apply import apply_fabrics
from railwright.pipeline.clean import clean
from railwright.pipeline.status import status
from railwright.ports.approval import Question
from railwright.ports.progress import Silent

pytestmark = pytest.mark.bed
CONFIGURATIONS = [
    (method, fabric) for fabric in ("roce", "infiniband") for method in ("shared", "host-device", "sriov")
]
RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {{name: east-west}}
spec: {{method: {method}, fabric: {fabric}, workloadNamespaces: [training]}}
"""


NOT_REAL = (
    ("OLM, operators, kubelets, device plugins, CNI, machine config operator", "played by stand-ins"),
    ("the inside of nodes", "records of made-up machines, not the node script"),
    ("nmstate", "NodeNetworkConfigurationPolicy is not served: no stand-in plays it"),
)


class Yes:
    def approve(self, question: Question) -> bool:
        return not question.takes_over


def skipped(method: str) -> set[str]:
    return {"verified"} if method == "sriov" else {"verified", "vfs-ready"}


@pytest.mark.parametrize(("method", "fabric"), CONFIGURATIONS)
async def test_every_stage_passes_and_clean_leaves_the_cluster_as_it_was(
    plane: Plane, method: str, fabric: str
) -> None:
    for what, why in NOT_REAL:
        record(f"the whole job on a real API server: {what}", why)
    if crds_folder() is None:
        record("the whole job under published definitions", "no folder of them (RAILWRIGHT_CRDS); small ones instead")
    intents, catalog = parse_intents(RAILS.format(method=method, fabric=fabric)), load_catalog()
    async with bed_of(plane, "h200-roce" if fabric == "roce" else "h200-ib") as bed:
        before = await read_state(bed.client, bed.kinds)
        applied = await apply_fabrics(bed.world, intents, catalog, Silent(), Yes())
        not_passed = {(stage.stage, stage.verdict) for stage in applied.stages if stage.verdict is not Verdict.PASS}
        assert not_passed == {(stage, Verdict.SKIP) for stage in skipped(method)}
        assert (await status(bed.world, None, catalog, Silent())).exit_code == 0
        bed.actors.quiet_factor = UNSEEN_FACTOR
        removed = await clean(bed.world, None, catalog, CleanPace(bed), Yes())
        assert [item for item in removed.objects if item.verdict is not Verdict.PASS] == []
        left = await left_at_rest(bed, before)
        assert bed.actors.refused == []
    assert left == ()
