"""
The whole job on a real API server: apply, status, clean, for each configuration, and the cluster as it was before.

Real here: etcd, kube-apiserver with server-side apply, kube-controller-manager's garbage collector and namespaces, our
adapter over HTTP. Played by stand-ins: OLM, operators, kubelets, machine config operator; nodes answer from records.
"""

import asyncio
from collections.abc import Mapping

import pytest
from support.bed_world import QUIET_FACTOR, UNSEEN_FACTOR, Bed, bed_of
from support.plane import crds_folder
from support.uncovered import record
from support.whole_state import Reviewed, differences, read_state, unexpected

from railwright.catalog.load import load_catalog
from railwright.core.objects import KubeObject, Ref
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
REST_LIMIT_S = 40
RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {{name: east-west}}
spec: {{method: {method}, fabric: {fabric}, workloadNamespaces: [training]}}
"""
LEFT = (
    Reviewed(
        r"Node worker-\d",
        r"metadata\.labels\.(feature\.node\.kubernetes\.io/|nvidia\.com/|network\.nvidia\.com/|sriovnetwork\.)",
        "operators leave their labels; clean names each of them in what cannot be restored",
    ),
    Reviewed(
        r"Node worker-\d",
        r"metadata\.annotations\.(nvidia\.com/gpu-driver-upgrade-enabled|machineconfiguration\.openshift\.io/)",
        "what operators and the machine config operator note for themselves",
    ),
    Reviewed(
        r"Node worker-\d",
        r"status\.(allocatable|capacity)\.(rdma/|nvidia\.com/|openshift\.io/)\S+: '0' was added",
        "a kubelet keeps the name of a resource whose plugin left, with 0",
    ),
    Reviewed(r"Node worker-\d", r"status\.conditions", "times and reasons: the nodes were rebooted"),
    Reviewed(r"MachineConfig rendered-worker-\d+", "was made", "the machine config operator keeps what it rendered"),
    Reviewed(r"MachineConfigPool worker", r"status\.conditions", "times: the pool was rolled out"),
    Reviewed(r"Pod openshift-machine-config-operator/machine-config-daemon-\w+", "", "the daemon's pods restarted"),
)
"""What may differ after a clean, and why. Whoever adds a line says why nobody can do better."""


class Yes:
    def approve(self, question: Question) -> bool:
        return not question.takes_over


async def left_at_rest(bed: Bed, before: Mapping[Ref, KubeObject]) -> tuple[str, ...]:
    """Give what a clean left that nobody reviewed, once operators and nodes had their time to follow."""
    bed.actors.quiet_factor = QUIET_FACTOR
    left: tuple[str, ...] = ()
    for _ in range(REST_LIMIT_S):
        left = unexpected(differences(before, await read_state(bed.client, bed.kinds)), LEFT)
        if not left:
            break
        await asyncio.sleep(1)
    return left


@pytest.mark.parametrize(("method", "fabric"), CONFIGURATIONS)
async def test_every_stage_passes_and_clean_leaves_the_cluster_as_it_was(
    plane: Plane, method: str, fabric: str
) -> None:
    if crds_folder() is None:
        record("the whole job under published definitions", "no folder of them (RAILWRIGHT_CRDS); small ones instead")
    intents, catalog = parse_intents(RAILS.format(method=method, fabric=fabric)), load_catalog()
    async with bed_of(plane, "h200-roce" if fabric == "roce" else "h200-ib") as bed:
        before = await read_state(bed.client, bed.kinds)
        applied = await apply_fabrics(bed.world, intents, catalog, Silent(), Yes())
        assert {stage.stage: stage.reason for stage in applied.stages if stage.verdict is not Verdict.PASS} == {
            stage.stage: stage.reason for stage in applied.stages if stage.verdict is Verdict.SKIP
        }
        assert (await status(bed.world, None, catalog, Silent())).exit_code == 0
        bed.actors.quiet_factor = UNSEEN_FACTOR
        removed = await clean(bed.world, None, catalog, Silent(), Yes())
        assert [item for item in removed.objects if item.verdict is not Verdict.PASS] == []
        left = await left_at_rest(bed, before)
        assert bed.actors.refused == []
    assert left == ()
