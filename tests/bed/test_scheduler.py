"""
The real kube-scheduler places what `railwright workload` prints, and says why when it cannot; KWOK runs the pods.

Real here: kube-scheduler, the controllers of workloads, etcd, kube-apiserver. Not real: nodes (allocatable is written
as device plugins would have it), containers, the networks that the annotations name.
"""

from collections.abc import Iterator

import pytest
import yaml
from support.kept import kept
from support.plane import crds_folder
from support.scenarios import SIX, WORLD
from support.scheduling import pod_plane, pods_when, printed_workload, put, why_unscheduled
from support.uncovered import record

from railwright.core import kinds
from railwright.core.ids import NodeName
from railwright.core.objects import KubeObject, Ref, dig
from railwright.lab.controlplane.nodes import set_allocatable
from railwright.lab.controlplane.plane import Plane
from railwright.lab.controlplane.pods import kwok_node
from railwright.lab.controlplane.programs import Unavailable

pytestmark = pytest.mark.bed
RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {{name: {name}}}
spec: {{method: {method}, fabric: {fabric}, workloadNamespaces: [training]}}
"""
TRAINING: KubeObject = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "training"}}


@pytest.fixture(scope="module")
def plane() -> Iterator[Plane]:
    with kept(pod_plane()) as answer:
        if isinstance(answer, Unavailable):
            record("pods placed by the real kube-scheduler, and run by KWOK", answer.reason)
            pytest.skip(answer.reason)
        yield answer


def node_of(pods: list[KubeObject]) -> set[str]:
    return {dig(pod, "spec", "nodeName", default="") for pod in pods}


def phases(pods: list[KubeObject]) -> set[str]:
    return {dig(pod, "status", "phase", default="") for pod in pods}


@pytest.mark.parametrize(("method", "fabric"), SIX)
async def test_a_pod_waits_with_the_schedulers_words_until_an_admitted_node_has_every_rail(
    plane: Plane, method: str, fabric: str
) -> None:
    name = f"{method}-{fabric}"
    printed = await printed_workload(WORLD[fabric], RAILS.format(name=name, method=method, fabric=fabric))
    admitted, other, stranger = (NodeName(f"{name}-{role}") for role in ("admitted", "other", "stranger"))
    nodes = [with_labels(kwok_node(node), printed.selector) for node in (admitted, other)]
    client = plane.client()
    try:
        await put(plane, [*nodes, kwok_node(stranger), {**TRAINING, "metadata": {"name": name}}])
        await set_allocatable(client, stranger, printed.requests)
        *most, last = sorted(printed.requests.items())
        await set_allocatable(client, admitted, dict(most))
        await put(plane, [into(printed.pod, name)])
        labels = printed.pod["metadata"]["labels"]
        waiting = await pods_when(
            plane, labels, lambda pods: any("Insufficient" in why_unscheduled(pod) for pod in pods)
        )
        assert f"Insufficient {last[0]}" in why_unscheduled(waiting[0])
        assert "didn't match Pod's node affinity/selector" in why_unscheduled(waiting[0])
        await set_allocatable(client, admitted, dict(printed.requests))
        running = await pods_when(plane, labels, lambda pods: phases(pods) == {"Running"})
        assert (phases(running), node_of(running)) == ({"Running"}, {admitted})
        await client.delete(Ref(kinds.POD, name, printed.pod["metadata"]["name"]))
        await set_allocatable(client, other, dict(printed.requests))
        await put(plane, [ending_late(into(printed.job, name))])
        template = printed.job["spec"]["template"]["metadata"]["labels"]
        done = await pods_when(plane, template, lambda pods: len(pods) == 2 and phases(pods) == {"Succeeded"})
        assert (phases(done), node_of(done)) == ({"Succeeded"}, {admitted, other})
    finally:
        await client.close()


def with_labels(node: KubeObject, labels: object) -> KubeObject:
    """Give a node labels and its host name, as a kubelet has it: the Job spreads over host names."""
    metadata = node["metadata"]
    own = {**metadata["labels"], **dict(labels), "kubernetes.io/hostname": metadata["name"]}  # type: ignore[call-overload]  # a mapping
    return {**node, "metadata": {**metadata, "labels": own}}


def ending_late(job: KubeObject) -> KubeObject:
    """Let a Job's pods run until both are placed: one that has ended keeps none of its node's rails."""
    late = {f"pod-complete.stage.kwok.x-k8s.io/{name}": "6s" for name in ("delay", "jitter-delay")}
    template = job["spec"]["template"]
    metadata = {**template["metadata"], "annotations": {**template["metadata"].get("annotations", {}), **late}}
    return {**job, "spec": {**job["spec"], "template": {**template, "metadata": metadata}}}


def into(obj: KubeObject, namespace: str) -> KubeObject:
    return {**obj, "metadata": {**obj["metadata"], "namespace": namespace}}


async def test_the_operators_deployments_run_where_their_bundles_want_them(plane: Plane) -> None:
    folder = crds_folder()
    if folder is None:
        record("operators' Deployments run by KWOK", "no folder of published bundles (RAILWRIGHT_CRDS)")
        pytest.skip("no folder of published bundles")
    deployments = [
        (item["name"], item["spec"])
        for file in sorted(folder.glob("*/*.clusterserviceversion.yaml"))
        for item in yaml.safe_load(file.read_text())["spec"]["install"]["spec"]["deployments"]
    ]
    nodes = [kwok_node(NodeName("any-worker")), kwok_node(NodeName("any-master"))]
    nodes[1]["metadata"]["labels"]["node-role.kubernetes.io/master"] = ""
    for node in nodes:
        node["metadata"]["labels"]["kubernetes.io/os"] = "linux"
    await put(plane, [*nodes, {**TRAINING, "metadata": {"name": "operators"}}])
    wanted = dict(deployments)
    made = [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": "operators"},
            "spec": spec,
        }
        for name, spec in wanted.items()
    ]
    await put(plane, made)
    replicas = sum(int(spec.get("replicas", 1)) for spec in wanted.values())
    running = await pods_when(
        plane, {}, lambda pods: len(in_operators(pods)) == replicas and phases(in_operators(pods)) == {"Running"}
    )
    assert {pod["metadata"]["name"].rsplit("-", 2)[0] for pod in in_operators(running)} == set(wanted)
    assert phases(in_operators(running)) == {"Running"}


def in_operators(pods: list[KubeObject]) -> list[KubeObject]:
    return [pod for pod in pods if pod["metadata"]["namespace"] == "operators"]
