"""
The real SR-IOV network operator and its webhook: what they make of our objects, what they refuse, and the whole job.

Real here: the operator, its webhook called by the API server, etcd, kube-apiserver, garbage collection, namespaces. Not
real: its config daemon (a stand-in reports ports and VFs and asks for drains as the real one does), its resources
injector, the other operators, kubelets, machines.
"""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from support.bed_world import QUIET_FACTOR, UNSEEN_FACTOR, Bed, CleanPace
from support.kept import kept
from support.left_after_clean import LEFT, LEFT_BY_SRIOV_OPERATOR, left_at_rest
from support.plane import crds_folder
from support.soon import soon
from support.sriov_world import WORKING_FACTOR, SriovCluster, sriov_bed, sriov_cluster
from support.uncovered import record
from support.whole_state import read_state

from railwright import api
from railwright.core import kinds
from railwright.core.errors import ObjectRefused
from railwright.core.objects import Kind, KubeObject, Ref, annotations_of, dig, ref_of
from railwright.core.verdicts import Verdict
from railwright.lab.controlplane.programs import Unavailable
from railwright.lab.controlplane.sriov import NAMESPACE, SriovProcesses
from railwright.ports.approval import Question
from railwright.ports.progress import Event, StageStarted, Wrote

pytestmark = [pytest.mark.bed, pytest.mark.asyncio(loop_scope="module")]
RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {{name: east-west}}
spec: {{method: sriov, fabric: {fabric}, workloadNamespaces: [training]}}
"""
WORLDS = {"roce": "h200-roce", "infiniband": "h200-ib"}
KILLED_AT = (kinds.SRIOV_NETWORK_NODE_POLICY, kinds.SRIOV_NETWORK)
"""Where the operator is killed, in the middle of its policies and of its networks, nothing of the end changes."""
NODES = ("worker-0", "worker-1")
RESOURCES = tuple(f"east_west_rail{number}" for number in range(8))
ADMISSION = tuple(
    Kind("admissionregistration.k8s.io/v1", kind)
    for kind in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
)
NOT_REAL = (
    ("the SR-IOV config daemon", "played: a kernel without ports makes no VFs; drains are asked for as it asks"),
    ("SR-IOV's resources injector", "not run: its webhook is configured and does not answer, which it tolerates"),
)


class Yes:
    def approve(self, question: Question) -> bool:
        return not question.takes_over


@dataclass(frozen=True)
class Pace:
    """
    Lets time run fast while nodes reboot, and no faster than the real operator can follow after that.

    Attributes:
        killed_at: after the first object of each of these kinds the operator is killed, and started anew.
    """

    bed: Bed
    processes: SriovProcesses
    killed_at: set[Kind]

    def emit(self, event: Event) -> None:
        if isinstance(event, Wrote) and event.ref.kind in self.killed_at:
            self.killed_at.remove(event.ref.kind)
            self.processes.kill_operator()
        if isinstance(event, StageStarted):
            self.bed.actors.quiet_factor = QUIET_FACTOR if event.stage == "nodes-prepared" else WORKING_FACTOR


@dataclass(frozen=True)
class Applied:
    """A fabric after its apply, and the cluster before it."""

    fabric: str
    kills: int
    bed: Bed
    processes: SriovProcesses
    before: dict[Ref, KubeObject]
    outcome: api.ApplyRecord

    @property
    def expected_starts(self) -> list[str]:
        return ["sriov-network-operator", "sriov-webhook", *["sriov-network-operator"] * self.kills]

    async def listed(self, kind: Kind, namespace: str = "") -> dict[str, KubeObject]:
        found = (await self.bed.client.list(kind))[0]
        return {ref_of(obj).name: obj for obj in found if namespace in {"", ref_of(obj).namespace}}


@pytest.fixture(scope="module")
def cluster() -> Iterator[SriovCluster]:
    folder = crds_folder()
    if folder is None:
        not_covered("no folder of published definitions (RAILWRIGHT_CRDS)")
    with kept(sriov_cluster(folder)) as answer:
        if isinstance(answer, Unavailable):
            not_covered(answer.reason)
        yield answer


def not_covered(why: str) -> None:
    record("the real SR-IOV network operator and its webhook", why)
    pytest.skip(why)


@pytest_asyncio.fixture(
    scope="module",
    loop_scope="module",
    params=[pytest.param("roce", marks=pytest.mark.soak), "roce, operator killed", "infiniband"],
)
async def applied(request: pytest.FixtureRequest, cluster: SriovCluster) -> AsyncIterator[Applied]:
    for what, why in NOT_REAL:
        record(what, why)
    fabric, _, killed = request.param.partition(", ")
    killed_at = KILLED_AT if killed else ()
    async with sriov_bed(cluster, WORLDS[fabric]) as (bed, processes):
        before = await read_state(bed.client, [*bed.kinds, *ADMISSION])
        intents = api.parse_intents(RAILS.format(fabric=fabric))
        pace = Pace(bed, processes, set(killed_at))
        outcome = await api.apply(bed.world, intents, approval=Yes(), progress=pace, verify=False)
        yield Applied(fabric, len(killed_at), bed, processes, before, outcome)


async def test_every_stage_passes_through_the_real_operator_and_its_webhook(applied: Applied) -> None:
    not_passed = {(stage.stage, stage.verdict) for stage in applied.outcome.stages if stage.verdict is not Verdict.PASS}
    assert not_passed == {("verified", Verdict.SKIP)}
    assert applied.processes.starts == applied.expected_starts
    for kind in ADMISSION:
        webhooks = (await applied.listed(kind))["sriov-operator-webhook-config"]["webhooks"]
        assert [(item["failurePolicy"], bool(item["clientConfig"]["caBundle"])) for item in webhooks] == [
            ("Fail", True)
        ]
    assert (await api.status(applied.bed.world)).exit_code == 0


async def test_policies_become_the_spec_of_node_states_and_the_configuration_of_the_device_plugin(
    applied: Applied,
) -> None:
    states = await applied.listed(kinds.SRIOV_NETWORK_NODE_STATE, NAMESPACE)
    assert set(states) == set(NODES)
    for state in states.values():
        groups = [(port["numVfs"], group) for port in state["spec"]["interfaces"] for group in port["vfGroups"]]
        made = {(group["resourceName"], group["isRdma"], group["vfRange"], vfs) for vfs, group in groups}
        assert made == {(resource, True, "0-7", 8) for resource in RESOURCES}
    data = (await applied.listed(kinds.CONFIG_MAP, NAMESPACE))["device-plugin-config"]["data"]
    assert set(data) == set(NODES)
    for text in data.values():
        pools = {pool["resourceName"]: pool["selectors"] for pool in json.loads(text)["resourceList"]}
        assert set(pools) == set(RESOURCES)
        assert {pool["IsRdma"] for pool in pools.values()} == {True}
        links = {tuple(pool.get("linkTypes", ())) for pool in pools.values()}
        assert links == {("infiniband" if applied.fabric == "infiniband" else "ether",)}


async def test_each_network_becomes_one_that_names_its_resource(applied: Applied) -> None:
    attached = await applied.listed(kinds.NETWORK_ATTACHMENT_DEFINITION, "training")
    resources = {annotations_of(nad)["k8s.v1.cni.cncf.io/resourceName"] for nad in attached.values()}
    assert resources == {f"openshift.io/{resource}" for resource in RESOURCES}
    types = {json.loads(nad["spec"]["config"])["type"] for nad in attached.values()}
    assert types == {"ib-sriov" if applied.fabric == "infiniband" else "sriov"}


REFUSED = {
    "resourceName": ("east-west", 'resource name "east-west" contains invalid characters'),
    "numVfs": (129, "numVfs(129) in CR east-west-rail0 exceed the maximum allowed value"),
    "nodeSelector": ({"no": "such"}, "no matched node is selected by the nodeSelector in CR east-west-rail0"),
    "nicSelector": ({"pfNames": ["nobody"]}, "no supported NIC is selected by the nicSelector in CR east-west-rail0"),
}


@pytest.mark.parametrize("field", REFUSED)
async def test_what_the_webhook_refuses_comes_back_with_its_words(applied: Applied, field: str) -> None:
    value, words = REFUSED[field]
    policy = (await applied.listed(kinds.SRIOV_NETWORK_NODE_POLICY))["east-west-rail0"]
    identity = {"name": "east-west-rail0", "namespace": NAMESPACE}
    wrong = {
        "apiVersion": policy["apiVersion"],
        "kind": policy["kind"],
        "metadata": identity,
        "spec": {**policy["spec"], field: value},
    }
    with pytest.raises(ObjectRefused) as refused:
        await applied.bed.world.cluster.apply(wrong, take_over=True)
    assert words in refused.value.message
    assert "operator-webhook.sriovnetwork.openshift.io" in refused.value.message


async def test_settings_under_another_name_are_refused_by_the_webhook(applied: Applied) -> None:
    other = {
        "apiVersion": kinds.SRIOV_OPERATOR_CONFIG.api_version,
        "kind": kinds.SRIOV_OPERATOR_CONFIG.kind,
        "metadata": {"name": "other", "namespace": NAMESPACE},
        "spec": {},
    }
    with pytest.raises(ObjectRefused, match="only default SriovOperatorConfig in"):
        await applied.bed.world.cluster.apply(other)


async def test_the_rdma_mode_of_a_pool_reaches_the_node_states(applied: Applied) -> None:
    pool = (await applied.listed(kinds.SRIOV_NETWORK_POOL_CONFIG))["east-west"]
    await applied.bed.client.merge(ref_of(pool), {"spec": {"rdmaMode": "exclusive"}})

    async def modes() -> set[object]:
        states = await applied.listed(kinds.SRIOV_NETWORK_NODE_STATE, NAMESPACE)
        return {dig(state, "spec", "system", "rdmaMode") for state in states.values()}

    with applied.bed.time.waiting():
        assert await soon(modes, lambda found: found == {"exclusive"}) == {"exclusive"}
    await applied.bed.client.merge(ref_of(pool), {"spec": {"rdmaMode": None}})


async def test_clean_leaves_the_cluster_as_it_was_and_no_node_drained(applied: Applied) -> None:
    """The last of this fabric: it takes everything away."""
    bed = applied.bed
    bed.actors.quiet_factor = UNSEEN_FACTOR
    removed = await api.clean(bed.world, approval=Yes(), progress=CleanPace(bed))
    assert [item for item in removed.objects if item.verdict is not Verdict.PASS] == []
    before = {ref: obj for ref, obj in applied.before.items() if ref.kind not in ADMISSION}
    assert await left_at_rest(bed, before, (*LEFT, *LEFT_BY_SRIOV_OPERATOR)) == ()
    for kind in (*ADMISSION, kinds.NETWORK_ATTACHMENT_DEFINITION):
        assert await applied.listed(kind) == {}
    assert applied.processes.operator is None
    assert applied.processes.webhook is None
    assert applied.processes.starts == applied.expected_starts
    assert bed.actors.refused == []
