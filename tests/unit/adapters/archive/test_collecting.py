"""What goes into an archive: what was read, cut down and redacted; never a Secret; whole, or no file at all."""

import io
import json
import os
import stat
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from railwright import api
from railwright.adapters.archive import record
from railwright.adapters.archive.collect import collecting
from railwright.adapters.archive.open import open_archive
from railwright.core import kinds
from railwright.core.archive import ArchiveManifest
from railwright.core.errors import (
    ClusterUnreachable,
    NotCollected,
    NotFound,
    PermissionMissing,
    Refused,
    UsageError,
)
from railwright.core.ids import NodeName
from railwright.core.objects import Kind, KubeObject, Ref
from railwright.core.redactor import Redactor
from railwright.pipeline.collect import gather, keeper, logs_of
from railwright.pipeline.collect_keep import keep
from railwright.ports.cluster import Selection
from railwright.ports.node import NodeAnswer
from railwright.ports.world import World
from railwright.simulator.open import open_simulator


class Altered:
    """A cluster that answers some things differently."""

    def __init__(self, inner: Any, **answers: Any) -> None:
        self._inner, self._answers = inner, answers

    def __getattr__(self, name: str) -> Any:
        return self._answers.get(name, getattr(self._inner, name))


def altered(**answers: Any) -> World:
    world = open_simulator("h200-roce")
    return World(Altered(world.cluster, **answers), world.node, world.clock)


async def collected(world: World, path: Path, *, redact: bool = True) -> ArchiveManifest:
    return await api.collect(world, path, redact=redact)


def files(path: Path) -> dict[str, bytes]:
    found = {}
    with tarfile.open(path) as tar:
        for member in tar:
            data = tar.extractfile(member)
            found[member.name] = data.read() if data else b""
    return found


async def test_the_file_is_for_its_owner_only_and_nothing_lies_beside_it(tmp_path: Path) -> None:
    await collected(open_simulator("h200-roce"), tmp_path / "a.tgz")
    assert stat.S_IMODE((tmp_path / "a.tgz").stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["a.tgz"]  # noqa: PTH208 - one folder, in a test


async def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a.tgz").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        await collected(open_simulator("h200-roce"), tmp_path / "a.tgz")
    assert (tmp_path / "a.tgz").read_text() == "mine"


async def test_a_link_that_leads_nowhere_is_a_file_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "a.tgz").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="exists already"):
        await collected(open_simulator("h200-roce"), tmp_path / "a.tgz")


async def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        await collected(open_simulator("h200-roce"), tmp_path / "absent" / "a.tgz")


async def test_a_cluster_that_goes_away_leaves_no_file(tmp_path: Path) -> None:
    async def gone(selection: Selection) -> AsyncIterator[KubeObject]:
        if selection.kind == kinds.DEPLOYMENT:
            raise ClusterUnreachable("the API server does not answer")
        async for obj in open_simulator("h200-roce").cluster.list(selection):
            yield obj

    with pytest.raises(ClusterUnreachable):
        await collected(altered(list=gone), tmp_path / "a.tgz")
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - one folder, in a test


async def test_what_may_not_be_read_is_in_the_manifest_and_not_collected_later(tmp_path: Path) -> None:
    inner = open_simulator("h200-roce").cluster

    async def forbidden(selection: Selection) -> AsyncIterator[KubeObject]:
        if selection.kind == kinds.MACHINE_CONFIG:
            raise PermissionMissing('cannot list resource "machineconfigs"')
        async for obj in inner.list(selection):
            yield obj

    manifest = await collected(altered(list=forbidden), tmp_path / "a.tgz")
    assert [(item.what, item.kind) for item in manifest.missing] == [
        ("MachineConfig.machineconfiguration.openshift.io", "MachineConfig")
    ]
    document = api.collect_document(manifest, tmp_path / "a.tgz")
    assert document.exit_code == 6
    assert "cannot list resource" in document.text
    async with open_archive(tmp_path / "a.tgz") as world:
        with pytest.raises(NotCollected, match="cannot list resource"):
            [obj async for obj in world.cluster.list(Selection(kinds.MACHINE_CONFIG))]


async def test_a_node_that_does_not_answer_says_why_in_the_archive(tmp_path: Path) -> None:
    class Deaf:
        async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
            return NodeAnswer("", "", "exec: no answer")

    world = open_simulator("h200-roce")
    manifest = await collected(World(world.cluster, Deaf(), world.clock), tmp_path / "a.tgz")
    assert {node.problem for node in manifest.nodes} == {"exec: no answer"}
    async with open_archive(tmp_path / "a.tgz") as archive:
        answer = await archive.node.read(NodeName("worker-0"), "", timeout_s=1)
    assert answer == NodeAnswer("", "", "exec: no answer")


async def test_a_part_of_a_record_is_a_part_when_it_is_read_back(tmp_path: Path) -> None:
    class Part:
        async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
            return NodeAnswer("=== railwright end\n", "sosreport", "only a part of it was collected: modules")

    world = open_simulator("h200-roce")
    await collected(World(world.cluster, Part(), world.clock), tmp_path / "a.tgz")
    async with open_archive(tmp_path / "a.tgz") as archive:
        answer = await archive.node.read(NodeName("worker-0"), "", timeout_s=1)
    assert (answer.via, answer.problem) == ("sosreport", "only a part of it was collected: modules")


def test_what_was_applied_last_is_not_kept_as_text() -> None:
    before = {"kubectl.kubernetes.io/last-applied-configuration": '{"spec": {"token": "x"}}', "mine": "1"}
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "annotations": before}}
    assert keep(obj)["metadata"]["annotations"] == {"mine": "1"}
    assert obj["metadata"]["annotations"] == before


async def test_secrets_are_never_asked_for(tmp_path: Path) -> None:
    asked: list[object] = []

    async def get(ref: Ref) -> KubeObject:
        asked.append(ref)
        raise NotFound("x")

    async with collecting(altered(get=get), tmp_path / "a.tgz", keep=keep, redaction=None) as collection:
        cluster = collection.world.cluster
        one, all_of_them = cluster.get(Ref(kinds.SECRET, "x", "s")), anext(aiter(cluster.list(Selection(kinds.SECRET))))
        for reading in (one, all_of_them):
            with pytest.raises(PermissionMissing, match="never read"):
                await reading
    assert asked == []


async def test_collecting_writes_nothing_to_the_cluster(tmp_path: Path) -> None:
    async with collecting(open_simulator("h200-roce"), tmp_path / "a.tgz", keep=keep, redaction=None) as collection:
        cluster, ref = collection.world.cluster, Ref(kinds.NODE, "", "worker-0")
        node = await cluster.get(ref)
        for write in (
            cluster.apply(node),
            cluster.patch(ref, {}),
            cluster.delete(ref),
            cluster.exec("a", "b", "c", ["id"], timeout_s=1),
        ):
            with pytest.raises(Refused):
                await write


SECRETS = {
    "sha256~AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "b8:3f:d2:c9:c0:de",
    "MT2245X01234",
    "8.8.8.8",
    "hunter22",
}


@pytest.mark.parametrize("redact", [True, False])
async def test_what_identifies_is_in_the_archive_only_without_redaction(tmp_path: Path, redact: bool) -> None:
    told = (
        "MAC b8:3f:d2:c9:c0:de serial: MT2245X01234 peer 8.8.8.8 password=hunter22 "
        "sha256~AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"
    )

    class Telling:
        async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
            return NodeAnswer(f"=== railwright meta\n{told}\n=== railwright end\n", told)

    async def logs(*_: object, **__: object) -> str:
        return f"{told}\n"

    async def objects(selection: Selection) -> AsyncIterator[KubeObject]:
        if selection.kind == kinds.POD:
            running = {"name": "c", "state": {"running": {}}, "restartCount": 1}
            yield {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "p", "namespace": "nvidia-gpu-operator", "annotations": {"a": told}},
                "status": {"phase": "Running", "containerStatuses": [running]},
            }
        elif selection.kind == kinds.NODE:
            yield {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-0", "annotations": {"a": told}}}

    cluster = Altered(open_simulator("h200-roce").cluster, list=objects, logs=logs)
    clock = open_simulator("h200-roce").clock
    manifest = await collected(World(cluster, Telling(), clock), tmp_path / "a.tgz", redact=redact)
    everything = b"\n".join(files(tmp_path / "a.tgz").values()).decode()
    assert {secret for secret in SECRETS if secret in everything} == (set() if redact else SECRETS)
    assert {(log.previous, log.container) for log in manifest.logs} == {(False, "c"), (True, "c")}


async def test_the_key_of_the_pseudonyms_is_new_each_time(tmp_path: Path) -> None:
    for name in ("a.tgz", "b.tgz"):
        await collected(open_simulator("h200-roce"), tmp_path / name)
    one, other = (files(tmp_path / name) for name in ("a.tgz", "b.tgz"))
    record_path = "railwright-archive/nodes/worker-0.txt"
    assert one[record_path] != other[record_path]


async def test_logs_are_bounded_one_by_one_and_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "LOG_CHARACTERS", 100)
    monkeypatch.setattr(record, "ALL_LOGS_BYTES", 250)

    async def logs(*_: object, **__: object) -> str:
        return "0123456789" * 50

    async with collecting(altered(logs=logs), tmp_path / "a.tgz", keep=keep, redaction=None) as collection:
        for number in range(3):
            await collection.world.cluster.logs("n", f"p{number}", "c", tail_lines=10)
        with pytest.raises(NotCollected, match="have reached"):
            await collection.world.cluster.logs("n", "p3", "c", tail_lines=10)
    assert collection.manifest
    assert [(log.size_bytes, log.cut) for log in collection.manifest.logs] == [(100, True)] * 3
    assert "p3" in collection.manifest.missing[0].what


async def test_an_answer_is_recorded_once_the_first_time(tmp_path: Path) -> None:
    async with collecting(open_simulator("h200-roce"), tmp_path / "a.tgz", keep=keep, redaction=None) as collection:
        for selection in (Selection(kinds.NODE), Selection(kinds.NODE), Selection(kinds.NODE, labels="a=b")):
            assert len([obj async for obj in collection.world.cluster.list(selection)]) in {0, 5}
    assert collection.manifest
    assert len(collection.manifest.lists) == 1


async def test_a_brief_list_does_not_stand_for_the_full_one(tmp_path: Path) -> None:
    inner = open_simulator("h200-roce").cluster

    async def shortened(selection: Selection) -> AsyncIterator[KubeObject]:
        async for obj in inner.list(selection):
            yield {key: obj[key] for key in obj if key != "spec"} if selection.brief else obj

    world = altered(list=shortened)
    async with collecting(world, tmp_path / "a.tgz", keep=keep, redaction=None) as collection:
        for brief in (True, False):
            [obj async for obj in collection.world.cluster.list(Selection(kinds.NODE, brief=brief))]
    async with open_archive(tmp_path / "a.tgz") as archive:
        found = [obj async for obj in archive.cluster.list(Selection(kinds.NODE))]
    assert found
    assert all("spec" in obj for obj in found)


async def test_lists_of_one_kind_in_two_versions_or_of_one_name_have_files_of_their_own(tmp_path: Path) -> None:
    async def none(selection: Selection) -> AsyncIterator[KubeObject]:
        yield {"metadata": {"name": selection.name or selection.kind.api_version.partition("/")[2]}}

    rules = [Kind(f"g.x/{version}", "Rule") for version in ("v1", "v1alpha1")]
    selections = [*map(Selection, rules), Selection(rules[0], namespace="a", name="one"), Selection(rules[1], "a")]
    async with collecting(altered(list=none), tmp_path / "a.tgz", keep=keep, redaction=None) as collection:
        for selection in (selections[2], *selections[:2]):
            [obj async for obj in collection.world.cluster.list(selection)]
    async with open_archive(tmp_path / "a.tgz") as archive:
        names = [
            [obj["metadata"]["name"] async for obj in archive.cluster.list(selection)] for selection in selections[:2]
        ]
    assert names == [["v1"], ["v1alpha1"]]


async def test_pods_are_kept_whole_wherever_a_subscription_puts_an_operator(tmp_path: Path) -> None:
    subscription = {"metadata": {"name": "n", "namespace": "elsewhere"}, "spec": {"name": "nvidia-network-operator"}}

    async def subscriptions(selection: Selection) -> AsyncIterator[KubeObject]:
        assert selection.kind == kinds.SUBSCRIPTION
        yield subscription

    kept = await keeper(altered(list=subscriptions).cluster)
    pod = a_pod("elsewhere")
    assert kept(pod) is pod
    assert kept(a_pod("shop"))["spec"] != pod["spec"]


async def test_a_list_that_was_not_read_to_its_end_is_not_in_the_archive(tmp_path: Path) -> None:
    async with collecting(open_simulator("h200-roce"), tmp_path / "a.tgz", keep=keep, redaction=None) as collection:
        await anext(aiter(collection.world.cluster.list(Selection(kinds.NODE))))
    async with open_archive(tmp_path / "a.tgz") as world:
        with pytest.raises(NotCollected):
            [obj async for obj in world.cluster.list(Selection(kinds.NODE))]


def a_pod(namespace: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "env": [{"name": "A", "value": "b"}], "args": ["x"], **spec}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": namespace, "annotations": {"a": "b"}},
        "spec": {"nodeName": "n", "containers": [container], "volumes": [{"name": "v"}]},
    }


def test_a_users_pod_is_cut_down_to_what_matters() -> None:
    kept = keep(a_pod("shop"))
    assert kept["spec"] == {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}
    assert "annotations" not in kept["metadata"]


@pytest.mark.parametrize(
    "pod",
    [
        a_pod("nvidia-gpu-operator"),
        a_pod("shop", resources={"limits": {"nvidia.com/gpu": 1}}),
        a_pod("shop") | {"metadata": {"name": "p", "annotations": {"k8s.v1.cni.cncf.io/networks": "rail0"}}},
    ],
)
def test_a_pod_of_the_stack_is_kept_whole(pod: dict[str, Any]) -> None:
    assert keep(pod) is pod


@pytest.mark.parametrize("name", ["rendered-worker-0123", "00-worker", "01-master-kubelet"])
def test_machine_configs_with_the_pull_secret_lose_their_contents(name: str) -> None:
    config = {
        "kind": "MachineConfig",
        "metadata": {"name": name},
        "spec": {"config": {"storage": {}}, "kernelArguments": ["iommu=pt"]},
    }
    assert keep(config)["spec"] == {"kernelArguments": ["iommu=pt"]}


def test_machine_configs_that_people_write_are_kept() -> None:
    config = {"kind": "MachineConfig", "metadata": {"name": "99-worker-irdma"}, "spec": {"config": {"storage": {}}}}
    assert keep(config) is config


def test_roles_of_others_lose_their_rules() -> None:
    role = {"apiVersion": "v", "kind": "Role", "metadata": {"name": "other"}, "rules": [1]}
    assert "rules" not in keep(role)
    assert keep({**role, "metadata": {"name": "railwright-rdma"}})["rules"] == [1]


def test_other_packages_of_the_catalogs_lose_their_descriptions() -> None:
    status = {"packageName": "other", "channels": [{"currentCSVDesc": {"description": "long"}}]}
    package = {"kind": "PackageManifest", "metadata": {"name": "other"}, "status": status}
    assert keep(package)["status"] == {"packageName": "other"}
    ours = {**package, "metadata": {"name": "nfd"}}
    assert keep(ours) is ours


def test_olms_copies_and_the_manifests_of_install_plans_are_left_out() -> None:
    copy = {"kind": "ClusterServiceVersion", "metadata": {"labels": {"olm.copiedFrom": "a"}}, "spec": {"version": "1"}}
    assert keep(copy)["spec"] == {}
    csv = {
        "kind": "ClusterServiceVersion",
        "metadata": {"annotations": {"alm-examples": "[]", "a": "b"}},
        "spec": {"icon": 1, "version": "1"},
    }
    assert keep(csv)["spec"] == {"version": "1"}
    assert keep(csv)["metadata"]["annotations"] == {"a": "b"}
    plan = {
        "kind": "InstallPlan",
        "status": {"phase": "Complete", "plan": [{"resource": {"name": "x", "manifest": "{}"}}]},
    }
    assert keep(plan)["status"] == {"phase": "Complete", "plan": [{"resource": {"name": "x"}}]}


def test_logs_are_asked_of_containers_that_ran() -> None:
    statuses = [
        {"name": "runs", "state": {"running": {}}, "restartCount": 0},
        {"name": "restarted", "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "restartCount": 3},
        {"name": "never", "state": {"waiting": {"reason": "ImagePullBackOff"}}, "restartCount": 0},
    ]
    assert logs_of({"status": {"containerStatuses": statuses}}) == (("runs", False), ("restarted", True))


async def test_names_from_the_cluster_cannot_lead_out_of_the_archive(tmp_path: Path) -> None:
    async def logs(*_: object, **__: object) -> str:
        return "x\n"

    async with collecting(altered(logs=logs), tmp_path / "a.tgz", keep=keep, redaction=Redactor()) as collection:
        await collection.world.cluster.logs("../..", "/etc", "..", tail_lines=1)
    assert all(
        name.startswith("railwright-archive/") and ".." not in name.split("/") for name in files(tmp_path / "a.tgz")
    )


def rewritten(source: Path, target: Path, change: Any) -> Path:
    """Copy an archive, with one file changed or left out."""
    with tarfile.open(target, "w:gz") as tar:
        for name, data in files(source).items():
            new = change(name, data)
            if new is not None:
                info = tarfile.TarInfo(name)
                info.size = len(new)
                tar.addfile(info, io.BytesIO(new))
    return target


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("format.json", b'{"format": "railwright-archive/9"}', "in the format 'railwright-archive/9'"),
        ("format.json", b"{", "no JSON"),
        ("manifest.json", None, "cut short"),
        ("manifest.json", b'{"format": 1}', "cannot be read"),
        ("served-kinds.json", None, "not in the archive"),
        ("served-kinds.json", b'["x"]', "cannot be read"),
    ],
)
async def test_a_damaged_archive_of_ours_is_refused(tmp_path: Path, name: str, data: bytes | None, words: str) -> None:
    await collected(open_simulator("h200-roce"), tmp_path / "a.tgz")
    path = rewritten(
        tmp_path / "a.tgz", tmp_path / "b.tgz", lambda path, old: data if path.endswith(f"/{name}") else old
    )
    with pytest.raises(UsageError, match=words) as refused:
        open_archive(path)
    assert refused.value.hint


@pytest.mark.parametrize("data", [None, b"", b"{]\n", b'{"a": 1}\n[]\n'])
async def test_a_list_that_is_damaged_is_never_an_empty_one(tmp_path: Path, data: bytes | None) -> None:
    await collected(open_simulator("h200-roce"), tmp_path / "a.tgz")
    path = rewritten(
        tmp_path / "a.tgz", tmp_path / "b.tgz", lambda path, old: data if path.endswith("Node/all.jsonl") else old
    )
    async with open_archive(path) as world:
        with pytest.raises(UsageError):
            [obj async for obj in world.cluster.list(Selection(kinds.NODE))]


async def test_the_manifest_is_json_that_a_person_can_read(tmp_path: Path) -> None:
    await collected(open_simulator("h200-roce"), tmp_path / "a.tgz")
    text = files(tmp_path / "a.tgz")["railwright-archive/manifest.json"].decode()
    assert json.loads(text)["format"] == "railwright-archive/1"
    assert text.count("\n") > 20


async def test_gathering_reads_events_of_the_operators_namespaces(tmp_path: Path) -> None:
    async with collecting(open_simulator("h200-roce"), tmp_path / "a.tgz", keep=keep, redaction=None) as collection:
        await gather(collection.world, api.Scope(), collection.missed, api.Silent())
    assert collection.manifest
    assert {"default", "nvidia-gpu-operator"} <= {i.namespace for i in collection.manifest.lists if i.kind == "Event"}


async def test_a_node_that_was_asked_for_and_is_not_there_could_not_be_had(tmp_path: Path) -> None:
    manifest = await api.collect(open_simulator("h200-roce"), tmp_path / "a.tgz", api.Scope(nodes=frozenset({"nope"})))
    assert [(item.what, item.why) for item in manifest.missing] == [
        ("Node nope", "not-found: the cluster has no such node")
    ]
