"""
Operators through real OLM, from published bundles: installed exactly as planned, and every trap that OLM is silent on.

Real here: OLM's two operators and its catalogs, etcd, kube-apiserver, kube-scheduler, the controllers of Deployments,
garbage collection and namespaces. Not real: what the operators' pods do (KWOK says that they run), package-server,
machines.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.kept import kept
from support.olm_world import OlmBed, OlmCluster, olm_bed, olm_cluster
from support.plane import crds_folder
from support.uncovered import record

from railwright import api
from railwright.core import kinds
from railwright.core.objects import Kind, KubeObject, Ref, dig, ref_of
from railwright.core.verdicts import Verdict
from railwright.lab.controlplane.actors import Actors
from railwright.lab.controlplane.client import Answered
from railwright.lab.controlplane.olm import Olm
from railwright.lab.controlplane.programs import Unavailable
from railwright.pipeline.model import ApplyRecord, CleanRecord
from railwright.ports.approval import Question
from railwright.ports.progress import Event, Note, StageEnded, Wrote

pytestmark = pytest.mark.bed
STAGE = api.StageName("operators-installed")
PLANNED = {
    "openshift-nfd": "nfd.v4.20.0",
    "openshift-sriov-network-operator": "sriov-network-operator.v4.20.0",
    "nvidia-network-operator": "nvidia-network-operator.v26.4.1",
    "nvidia-gpu-operator": "gpu-operator-certified.v26.3.3",
}
OLM_KINDS = (kinds.SUBSCRIPTION, kinds.INSTALL_PLAN, kinds.CLUSTER_SERVICE_VERSION, kinds.OPERATOR_GROUP)
WEBHOOKS = Kind("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration")
EXAMPLE = (Path(__file__).parents[2] / "examples" / "shared-roce.yaml").read_text() + "  network: {mtu: 1500}\n"
"""With the MTU that the ports have: no MachineConfig, so no roll-out to wait for."""


@pytest.fixture(scope="module")
def running() -> Iterator[OlmCluster]:
    folder = crds_folder()
    if folder is None:
        not_covered("no folder of published bundles (RAILWRIGHT_CRDS)")
    with kept(olm_cluster(folder)) as answer:
        if isinstance(answer, Unavailable):
            not_covered(answer.reason)
        yield answer


def not_covered(why: str) -> None:
    record("operators through real OLM", why)
    pytest.skip(why)


class Yes:
    def approve(self, question: Question) -> bool:
        return not question.takes_over


@dataclass
class Witness:
    """
    Listens to an apply, and notes the phases of CSVs at the moment when the stage has ended.

    Attributes:
        killing: OLM, and how many of our four Subscriptions are there when its operators are killed (0: never).
    """

    actors: Actors
    killing: tuple[Olm, int] | None = None
    subscribed: int = 0
    notes: list[str] = field(default_factory=list)
    phases: dict[str, str] = field(default_factory=dict)

    def emit(self, event: Event) -> None:
        if isinstance(event, Note):
            self.notes.append(event.text)
        if isinstance(event, Wrote) and event.ref.kind == kinds.SUBSCRIPTION:
            self.subscribed += 1
            if self.killing is not None and self.subscribed == self.killing[1]:
                self.killing[0].kill_operators()
        if isinstance(event, StageEnded) and event.stage == STAGE:
            csvs = [obj for ref, obj in self.actors.seen().objects.items() if ref.kind == kinds.CLUSTER_SERVICE_VERSION]
            self.phases = {obj["metadata"]["name"]: dig(obj, "status", "phase", default="") for obj in csvs}


async def apply(
    bed: OlmBed, intent: str = EXAMPLE, killing: tuple[Olm, int] | None = None
) -> tuple[ApplyRecord, Witness]:
    witness = Witness(bed.actors, killing=killing)
    intents = api.parse_intents(intent)
    return await api.apply(bed.world, intents, approval=Yes(), until=STAGE, progress=witness), witness


async def clean(bed: OlmBed) -> CleanRecord:
    removed = await api.clean(bed.world, approval=Yes())
    assert [item for item in removed.objects if item.verdict is not Verdict.PASS] == []
    while any(dig(obj, "status", "phase") == "Terminating" for obj in await listed(bed, kinds.NAMESPACE)):
        await bed.world.clock.sleep(0.5)
    return removed


async def listed(bed: OlmBed, kind: Kind) -> list[KubeObject]:
    return (await bed.client.list(kind))[0]


def an_object(kind: Kind, name: str, namespace: str = "", **parts: object) -> KubeObject:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **parts}


def a_group(name: str, namespace: str) -> KubeObject:
    return an_object(kinds.OPERATOR_GROUP, name, namespace, spec={"targetNamespaces": [namespace]})


def a_subscription(package: str, namespace: str, name: str = "") -> KubeObject:
    catalog = {"source": "redhat-operators", "sourceNamespace": "openshift-marketplace"}
    spec = {"name": package, "channel": "stable", "installPlanApproval": "Manual", **catalog}
    return an_object(kinds.SUBSCRIPTION, name or package, namespace, spec=spec)


@asynccontextmanager
async def there(bed: OlmBed, *objects: KubeObject) -> AsyncIterator[None]:
    """Have objects of somebody else for the length of a block; their namespaces go last."""
    try:
        for obj in objects:
            await bed.client.create(obj, ref_of(obj))
        yield
    finally:
        for obj in reversed(objects):
            with suppress(Answered):
                await bed.client.delete(ref_of(obj))


@pytest.mark.parametrize("killing", [0, pytest.param(2, id="OLM killed after two")])
async def test_exactly_the_planned_operators_are_installed_and_removed_without_a_trace(
    running: OlmCluster, killing: int
) -> None:
    """Both of OLM's operators may be killed in the middle, between two Subscriptions: that changes nothing of the end."""
    async with olm_bed(running) as bed:
        applied, witness = await apply(bed, killing=(running.olm, killing))
        assert sorted(running.olm.restarts) == (["catalog", "olm"] if killing else [])
        assert {stage.stage: (stage.verdict, stage.reason) for stage in applied.stages}[STAGE] == (
            Verdict.PASS,
            "ready",
        )
        assert witness.phases == dict.fromkeys(PLANNED.values(), "Succeeded")
        plans = await listed(bed, kinds.INSTALL_PLAN)
        assert {plan["metadata"]["namespace"]: plan["spec"]["clusterServiceVersionNames"] for plan in plans} == {
            namespace: [csv] for namespace, csv in PLANNED.items()
        }
        assert all(plan["spec"]["approved"] and plan["spec"]["approval"] == "Manual" for plan in plans)
        again, _ = await apply(bed)
        assert [stage.writes for stage in again.stages if stage.writes] == []
        await clean(bed)
        left = {str(kind): await listed(bed, kind) for kind in (*OLM_KINDS, WEBHOOKS)}
        assert {kind: objects for kind, objects in left.items() if objects} == {}
        assert not {obj["metadata"]["name"] for obj in await listed(bed, kinds.NAMESPACE)} & {*PLANNED}
        assert bed.actors.refused == []


REFUSED = {
    "operator-group-missing": (a_subscription("nfd", "crowded"),),
    "operator-groups-collide": (
        a_group("a", "crowded"),
        a_group("b", "crowded"),
        a_subscription("nfd", "crowded"),
    ),
    "operator-subscribed-twice": (
        a_group("a", "crowded"),
        a_subscription("nfd", "crowded"),
        a_subscription("nfd", "crowded", "made-in-console"),
    ),
}


@pytest.mark.parametrize("code", REFUSED)
async def test_what_stops_olm_without_a_word_is_refused_before_anything_is_written(
    running: OlmCluster, code: str
) -> None:
    async with olm_bed(running) as bed:
        with suppress(Answered):
            await bed.client.create(an_object(kinds.NAMESPACE, "crowded"), Ref(kinds.NAMESPACE, "", "crowded"))
        async with there(bed, *REFUSED[code]):
            prepared = await api.plan(bed.world, api.parse_intents(EXAMPLE))
            with pytest.raises(api.Refused):
                await apply(bed)
            ours = [obj for obj in await listed(bed, kinds.NAMESPACE) if obj["metadata"]["name"] in PLANNED]
    assert [refusal.code for refusal in prepared.plan.refusals] == [code]
    assert ours == []


async def test_a_channel_that_no_catalog_offers_is_refused(running: OlmCluster) -> None:
    async with olm_bed(running) as bed:
        prepared = await api.plan(bed.world, api.parse_intents(EXAMPLE + "  operators: {channels: {nfd: v1.0}}\n"))
    assert [refusal.code for refusal in prepared.plan.refusals] == ["channel-not-offered"]


# Whether OLM asks for the approval before the other operator has failed is a race on a slow machine.
@pytest.mark.soak
async def test_a_channel_that_went_is_said_and_a_foreign_operator_is_not_approved(running: OlmCluster) -> None:
    """A PackageManifest may be older than its catalog; OLM resolves all Subscriptions of a namespace together."""
    manifest = Ref(kinds.PACKAGE_MANIFEST, "openshift-marketplace", "sriov-network-operator")
    async with olm_bed(running) as bed:
        offered = next(obj for obj in await listed(bed, manifest.kind) if ref_of(obj) == manifest)
        gone = {**offered["status"]["channels"][0], "name": "gone"}
        await bed.client.merge(manifest, {"status": {"channels": [*offered["status"]["channels"], gone]}}, status=True)
        namespace = an_object(kinds.NAMESPACE, "openshift-nfd")
        group, foreign = a_group("theirs", "openshift-nfd"), a_subscription("unplanned", "openshift-nfd")
        async with there(bed, namespace, group, foreign):
            wanted = EXAMPLE + "  operators: {channels: {sriov-network-operator: gone}}\n"
            applied, witness = await apply(bed, wanted)
            plans = [obj for obj in await listed(bed, kinds.INSTALL_PLAN) if ref_of(obj).namespace == "openshift-nfd"]
            await clean(bed)
            stays = {kind: {ref_of(obj).name for obj in await listed(bed, kind)} for kind in OLM_KINDS}
        await bed.client.merge(manifest, {"status": offered["status"]}, status=True)
    assert applied.stages[-1].verdict is Verdict.FAIL
    assert "no operators found in channel gone of package sriov-network-operator" in applied.stages[-1].reason
    assert any("would also install unplanned.v1.0.0, which is not planned" in note for note in witness.notes)
    assert {"nfd.v4.20.0", "unplanned.v1.0.0"} in [set(plan["spec"]["clusterServiceVersionNames"]) for plan in plans]
    assert not any(plan["spec"]["approved"] for plan in plans)
    assert stays[kinds.SUBSCRIPTION] == {"unplanned"}
    assert stays[kinds.OPERATOR_GROUP] == {"theirs"}
    assert stays[kinds.CLUSTER_SERVICE_VERSION] == set()
