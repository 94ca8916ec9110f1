"""
The real NFD labels nodes by the configuration that we render, and our gate waits for exactly those labels.

Real here: NFD's master, which alone writes the labels, its garbage collector, its workers (each looks at the files of a
made-up host), etcd, kube-apiserver. Not real: NFD's operator, which makes the workers' DaemonSet and hands them our
configuration (its module is not to be had), kubelets, machines.
"""

from collections.abc import AsyncIterator
from functools import partial

import pytest
import pytest_asyncio
from support.bed_world import UNSEEN_FACTOR, Bed, CleanPace
from support.nfd_world import nfd_bed
from support.plane import crds_folder
from support.soon import soon
from support.uncovered import record

from railwright import api
from railwright.core import kinds
from railwright.core.objects import KubeObject, Ref, labels_of, ref_of
from railwright.core.verdicts import Verdict
from railwright.lab.controlplane.nfd import NFD_PROGRAMS, NODE_FEATURE
from railwright.lab.controlplane.plane import Plane
from railwright.lab.controlplane.programs import Unavailable, ensure_programs
from railwright.ports.approval import Question
from railwright.ports.progress import Silent

pytestmark = [pytest.mark.bed, pytest.mark.asyncio(loop_scope="module")]
STAGE = api.StageName("hardware-labelled")
RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {name: east-west}
spec: {method: sriov, fabric: roce, workloadNamespaces: [training]}
"""
PREFIX = "feature.node.kubernetes.io/"
FOUND = {
    f"{PREFIX}pci-15b3.present": "true",
    f"{PREFIX}pci-15b3.sriov.capable": "true",
    f"{PREFIX}pci-10de.present": "true",
    f"{PREFIX}rdma.capable": "true",
    f"{PREFIX}system-os_release.ID": "rhel",
    f"{PREFIX}system-os_release.VERSION_ID": "9.6",
    f"{PREFIX}system-os_release.OSTREE_VERSION": "9.6.20251106-0",
}


class Yes:
    def approve(self, question: Question) -> bool:
        return not question.takes_over


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bed(plane: Plane) -> AsyncIterator[Bed]:
    """A cluster on which the apply went up to the labels."""
    if crds_folder() is None:
        not_covered("no folder of published definitions (RAILWRIGHT_CRDS)")
    programs = await ensure_programs(Silent(), NFD_PROGRAMS)
    if isinstance(programs, Unavailable):
        not_covered(programs.reason)
    record("NFD's operator", "played: its module is not served; NFD's master, workers and garbage collector are real")
    record(
        "labels that only OpenShift's NFD writes (OSTREE_VERSION)", "made by a rule, which the real master evaluates"
    )
    async with nfd_bed(programs, plane, "h200-roce") as (opened, _):
        outcome = await api.apply(opened.world, api.parse_intents(RAILS), approval=Yes(), until=STAGE)
        assert {stage.stage: (stage.verdict, stage.reason) for stage in outcome.stages}[STAGE] == (
            Verdict.PASS,
            "ready",
        )
        yield opened


def not_covered(why: str) -> None:
    record("labels by the real NFD", why)
    pytest.skip(why)


async def nodes(bed: Bed) -> dict[str, dict[str, str]]:
    return {ref_of(obj).name: dict(labels_of(obj)) for obj in (await bed.client.list(kinds.NODE))[0]}


async def test_the_gate_passed_on_labels_that_the_real_nfd_wrote(bed: Bed) -> None:
    labels = await nodes(bed)
    looked = {ref_of(obj).name for obj in (await bed.client.list(NODE_FEATURE))[0]}
    assert looked == {name for name in labels if name.startswith("worker")}
    assert [name for name in looked if not FOUND.items() <= labels[name].items()] == []
    assert not any(key.startswith(PREFIX) for name in labels.keys() - looked for key in labels[name])


async def test_a_rule_of_somebody_else_is_evaluated_from_the_same_features(bed: Bed) -> None:
    rule: KubeObject = {
        "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
        "kind": "NodeFeatureRule",
        "metadata": {"name": "theirs", "namespace": "openshift-nfd"},
        "spec": {
            "rules": [{"name": "rails", "labels": {"example.com/rails": "true"}, "matchFeatures": CONNECTX_AND_GPU}]
        },
    }
    await bed.client.create(rule, ref_of(rule))
    labels = await soon(
        partial(nodes, bed), lambda found: sum("example.com/rails" in item for item in found.values()) == 2
    )
    assert {name for name, item in labels.items() if "example.com/rails" in item} == {"worker-0", "worker-1"}
    await bed.client.delete(ref_of(rule))
    labels = await soon(
        partial(nodes, bed), lambda found: not any("example.com/rails" in item for item in found.values())
    )
    assert not any("example.com/rails" in item for item in labels.values())


CONNECTX_AND_GPU = [
    {"feature": "pci.device", "matchExpressions": {"vendor": {"op": "In", "value": [vendor]}}}
    for vendor in ("15b3", "10de")
]


async def test_labels_of_a_node_go_with_its_features(bed: Bed) -> None:
    await bed.client.delete(Ref(NODE_FEATURE, "openshift-nfd", "worker-1"))
    labels = await soon(partial(nodes, bed), lambda found: not any(key.startswith(PREFIX) for key in found["worker-1"]))
    assert [key for key in labels["worker-1"] if key.startswith(PREFIX)] == []
    assert FOUND.items() <= labels["worker-0"].items()


async def test_clean_removes_nfd_and_names_the_labels_that_it_leaves(bed: Bed) -> None:
    """The last of this file: it takes everything away."""
    bed.actors.quiet_factor = UNSEEN_FACTOR
    removed = await api.clean(bed.world, approval=Yes(), progress=CleanPace(bed))
    assert [item for item in removed.objects if item.verdict is not Verdict.PASS] == []
    assert (await bed.client.list(kinds.NODE_FEATURE_DISCOVERY))[0] == []
    left = {key for item in (await nodes(bed)).values() for key in item if key.startswith(PREFIX)}
    told = " ".join(removed.cannot_be_restored)
    assert [key for key in left if key not in told] == []
    assert bed.actors.refused == []
