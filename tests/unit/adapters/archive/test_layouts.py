"""What other tools gather is read as far as it goes, and what it does not hold is said."""

import asyncio
import io
import lzma
import shutil
import tarfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from support.gathers import gpu_gather, must_gather, sosreport, write_yaml

from railwright import api
from railwright.adapters.archive.open import open_archive
from railwright.core import kinds
from railwright.core.errors import KindNotServed, NotCollected, NotFound, Refused, UsageError
from railwright.core.ids import NodeName
from railwright.core.objects import Kind, Ref, ref_of
from railwright.facts.script import node_script
from railwright.ports.cluster import Selection
from railwright.ports.world import World
from railwright.simulator.open import open_simulator

GPU_NAMESPACE = "nvidia-gpu-operator"


class Yes:
    def approve(self, question: api.Question) -> bool:
        return not question.takes_over


@pytest.fixture(scope="module")
def live() -> World:
    world = open_simulator("h200-roce")
    intents = api.parse_intents(
        "apiVersion: railwright.dev/v1alpha1\nkind: RailFabric\nmetadata: {name: east-west}\n"
        "spec: {method: sriov, fabric: roce}\n"
    )
    asyncio.run(api.apply(world, intents, approval=Yes()))
    return world


@pytest.fixture(scope="module")
def gathered(live: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asyncio.run(must_gather(live, tmp_path_factory.mktemp("must-gather")))


async def refs(world: World, kind: Kind, namespace: str = "") -> list[Ref]:
    return sorted([ref_of(obj) async for obj in world.cluster.list(Selection(kind, namespace))])


async def answer(world: World, node: str) -> tuple[str, str]:
    said = await world.node.read(NodeName(node), node_script(), timeout_s=1)
    return said.text, said.problem


@pytest.mark.parametrize("form", ["folder", "tar", "tar.gz", "tar.xz"])
async def test_a_must_gather_is_known_by_what_is_in_it(gathered: Path, live: World, tmp_path: Path, form: str) -> None:
    path = gathered
    if form != "folder":
        path = tmp_path / "some-file"
        with tarfile.open(path, {"tar": "w", "tar.gz": "w:gz", "tar.xz": "w:xz"}[form]) as tar:  # type: ignore[call-overload]  # one of tarfile's own modes
            tar.add(gathered, "must-gather.local.1")
    async with open_archive(path) as world:
        assert "OpenShift must-gather, as of 2026-03-02T08:30:00Z" in world.notes[0]
        for kind in (kinds.NODE, kinds.SUBSCRIPTION, kinds.SRIOV_NETWORK_NODE_STATE, kinds.MACHINE_CONFIG_POOL):
            assert await refs(world, kind) == await refs(live, kind) != []
        assert await refs(world, kinds.POD, GPU_NAMESPACE) == await refs(live, kinds.POD, GPU_NAMESPACE)


async def test_objects_of_a_must_gather_are_those_of_the_cluster(gathered: Path, live: World) -> None:
    async with open_archive(gathered) as world:
        for kind in (kinds.NODE, kinds.CLUSTER_SERVICE_VERSION, kinds.MACHINE_CONFIG):
            for ref in await refs(live, kind):
                assert await world.cluster.get(ref) == await live.cluster.get(ref)


async def test_what_a_must_gather_does_not_hold_is_not_collected(gathered: Path) -> None:
    async with open_archive(gathered) as world:
        for kind in (kinds.CLUSTER_POLICY, kinds.SRIOV_IB_NETWORK, kinds.SECRET):
            with pytest.raises(NotCollected, match="not in the archive"):
                await refs(world, kind)
        with pytest.raises(NotCollected):
            await refs(world, kinds.POD, "training")
        with pytest.raises(NotCollected):
            await world.cluster.served_kinds()
        with pytest.raises(NotCollected):
            await world.cluster.version()
        with pytest.raises(NotCollected):
            await world.cluster.get(Ref(kinds.CONFIG_MAP, "training", "x"))
        assert (await answer(world, "worker-9"))[0] == ""


async def test_a_list_that_is_a_part_gives_the_part_and_says_so(gathered: Path) -> None:
    found: list[str] = []

    async def read(world: World) -> None:
        async for namespace in world.cluster.list(Selection(kinds.NAMESPACE)):
            found.append(namespace["metadata"]["name"])  # noqa: PERF401 - it ends in an error

    async with open_archive(gathered) as world:
        with pytest.raises(NotCollected, match=r"only \d+ of them"):
            await read(world)
    assert GPU_NAMESPACE in found


async def test_an_object_missing_from_a_whole_list_is_not_found(gathered: Path) -> None:
    async with open_archive(gathered) as world:
        with pytest.raises(NotFound):
            await world.cluster.get(Ref(kinds.POD, GPU_NAMESPACE, "absent"))
        with pytest.raises(NotFound):
            await world.cluster.get(Ref(kinds.NODE, "", "absent"))


async def test_logs_of_a_must_gather_are_read_from_their_end(gathered: Path, live: World) -> None:
    pod = await anext(aiter(live.cluster.list(Selection(kinds.POD, GPU_NAMESPACE))))
    container = pod["spec"]["containers"][0]["name"]
    async with open_archive(gathered) as world:
        text = await world.cluster.logs(GPU_NAMESPACE, pod["metadata"]["name"], container, tail_lines=1)
        assert text == "2026-03-02T08:29:01Z ready\n"
        with pytest.raises(NotCollected, match="log of"):
            await world.cluster.logs(GPU_NAMESPACE, "absent", container, tail_lines=1)


async def test_files_of_the_sriov_gather_are_a_part_of_a_node_record(gathered: Path) -> None:
    async with open_archive(gathered) as world:
        text, problem = await answer(world, "worker-0")
        assert "iommu=pt" in text
        assert text.endswith("=== railwright end\n")
        assert "only a part" in problem
        snapshot = await api.discover(world)
    worker = next(node for node in snapshot.nodes if node.name == "worker-0")
    assert worker.hardware is None, "nothing may be concluded from what is not in it"
    assert "iommu=pt" in snapshot.raw_nodes[NodeName("worker-0")]


async def test_several_images_in_one_must_gather_are_read_together(gathered: Path, live: World, tmp_path: Path) -> None:
    shutil.copytree(gathered, tmp_path, dirs_exist_ok=True)
    write_yaml(
        tmp_path / "quay-io-other" / "namespaces" / "extra" / "extra.yaml",
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "extra"}},
    )
    await gpu_gather(live, tmp_path / "nvcr-io-gpu-operator")
    async with open_archive(tmp_path) as world:
        assert "of 2 images; must-gather of the GPU operator" in world.notes[0]
        assert (await world.cluster.get(Ref(kinds.NAMESPACE, "", "extra")))["metadata"]["name"] == "extra"
        assert await refs(world, kinds.CLUSTER_POLICY) == await refs(live, kinds.CLUSTER_POLICY)


async def test_the_gpu_operators_gather_is_read(live: World, tmp_path: Path) -> None:
    async with open_archive(await gpu_gather(live, tmp_path)) as world:
        assert "must-gather of the GPU operator" in world.notes[0]
        for kind, namespace in (
            (kinds.CLUSTER_POLICY, ""),
            (kinds.DAEMON_SET, GPU_NAMESPACE),
            (kinds.POD, GPU_NAMESPACE),
        ):
            assert await refs(world, kind, namespace) == await refs(live, kind, namespace) != []
        pod = (await refs(live, kinds.POD, GPU_NAMESPACE))[1].name
        assert await world.cluster.logs(GPU_NAMESPACE, pod, "one", tail_lines=9) == "first\nsecond\n"
        with pytest.raises(NotCollected):
            await refs(world, kinds.NODE)


async def test_status_of_a_gather_without_the_ledger_does_not_say_that_nothing_was_applied(
    live: World, tmp_path: Path
) -> None:
    async with open_archive(await gpu_gather(live, tmp_path)) as world:
        document = api.status_document(await api.status(world))
    assert document.exit_code == 6
    assert "not known: the ledger is not readable" in document.text


async def test_a_gather_that_found_no_cluster_policy_says_that_there_is_none(tmp_path: Path) -> None:
    async with open_archive(await gpu_gather(open_simulator("h200-roce"), tmp_path)) as world:
        assert await refs(world, kinds.CLUSTER_POLICY) == []


async def test_the_network_operators_sosreport_is_read(live: World, tmp_path: Path) -> None:
    top, namespace = tmp_path / "network-operator-sosreport-20260302", "nvidia-network-operator"
    await sosreport(live, top)
    async with open_archive(tmp_path) as world:
        assert "sosreport of NVIDIA's network operator, as of 2026-03-02T08:30:00Z" in world.notes[0]
        assert await world.cluster.version() == await live.cluster.version()
        assert set(await world.cluster.served_kinds()) == set(await live.cluster.served_kinds())
        for kind in (kinds.NODE, kinds.NIC_CLUSTER_POLICY, kinds.SRIOV_NETWORK_NODE_STATE):
            assert await refs(world, kind) == await refs(live, kind) != []
        with pytest.raises(NotCollected, match="only"):
            await refs(world, kinds.POD, namespace)
        with pytest.raises(KindNotServed):
            await refs(world, Kind("nobody.example.org/v1", "Nothing"))
        pod = next(ref.name for ref in await refs(live, kinds.POD, namespace) if "mofed" in ref.name)
        assert "loaded" in await world.cluster.logs(namespace, pod, "mofed-container", tail_lines=1)


async def test_a_sos_report_of_a_node_is_a_part_of_its_record(tmp_path: Path) -> None:
    files = {
        "sos_commands/kernel/uname_-a": "Linux worker-7 5.14.0-570.el9.x86_64 #1 SMP x86_64 GNU/Linux\n",
        "sos_commands/host/hostname": "worker-7\n",
        "proc/cmdline": "iommu=pt\n",
        "proc/modules": "mlx5_core 1 0 - Live 0x0\n",
        "etc/os-release": "ID=rhcos\n",
    }
    path = tmp_path / "sosreport.tar.xz"
    with lzma.open(path, "wb") as file, tarfile.open(fileobj=file, mode="w") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(f"sosreport-worker-7/{name}")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    async with open_archive(path) as world:
        text, problem = await answer(world, "worker-7")
    assert "mlx5_core" in text
    assert "kernel\t5.14.0-570.el9.x86_64" in text
    assert "only a part" in problem


async def test_a_node_record_alone_is_a_world_of_one_node(live: World, tmp_path: Path) -> None:
    record = (await answer(live, "worker-0"))[0]
    (tmp_path / "record.txt").write_text(f"# taken by hand\n{record}")
    async with open_archive(tmp_path / "record.txt") as world:
        assert "node records of worker-0" in world.notes[0]
        snapshot = await api.discover(world)
    assert [node.name for node in snapshot.nodes] == ["worker-0"]
    assert snapshot.nodes[0].hardware is not None
    assert any(item.what == "Node" for item in snapshot.cluster.unseen), "what the API server would say is not known"


@pytest.mark.parametrize("name", ["policy.yaml", "policies.yml", "policies.json"])
async def test_loose_objects_are_read_and_nothing_is_concluded_from_them(tmp_path: Path, name: str) -> None:
    policy = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "gpu-cluster-policy"}}
    write_yaml(
        tmp_path / name, policy if name == "policy.yaml" else {"apiVersion": "v1", "kind": "List", "items": [policy]}
    )
    (tmp_path / "notes.yaml").write_text("just: [broken")
    async with open_archive(tmp_path) as world:
        assert "loose objects: ClusterPolicy" in world.notes[0]
        assert "damaged, and read only as far as it goes: notes.yaml: no YAML" in world.notes[0]
        assert await world.cluster.get(Ref(kinds.CLUSTER_POLICY, "", "gpu-cluster-policy")) == policy
        with pytest.raises(NotCollected):
            await world.cluster.get(Ref(kinds.CLUSTER_POLICY, "", "other"))


def test_of_files_that_are_all_damaged_each_says_so(tmp_path: Path) -> None:
    for number in range(7):
        (tmp_path / f"{number}.yaml").write_text("just: [broken")
    with pytest.raises(UsageError, match=r"nothing in it is known; damaged, .*0\.yaml: no YAML.*, and 2 more"):
        open_archive(tmp_path)


async def test_secrets_in_a_gather_are_not_given_out(tmp_path: Path) -> None:
    folder = tmp_path / "namespaces" / "x" / "core"
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "x"}, "data": {"a": "Yg=="}}
    write_yaml(folder / "secrets.yaml", {"items": [secret]})
    write_yaml(folder / "secrets" / "s.yaml", secret)
    async with open_archive(tmp_path) as world:
        with pytest.raises(NotCollected):
            await world.cluster.get(Ref(kinds.SECRET, "x", "s"))


async def test_an_archive_cannot_be_written_to(gathered: Path) -> None:
    async with open_archive(gathered) as world:
        ref = Ref(kinds.NODE, "", "worker-0")
        node = await world.cluster.get(ref)
        for write in (
            world.cluster.apply(node),
            world.cluster.patch(ref, {}),
            world.cluster.delete(ref),
            world.cluster.exec("a", "b", "c", ["id"], timeout_s=1),
        ):
            with pytest.raises(Refused, match="read only"):
                await write
        assert not await world.cluster.may("patch", "", "nodes")
        assert await world.cluster.may("get", "", "nodes")


async def test_a_watch_of_an_archive_sees_nothing(gathered: Path) -> None:
    async with open_archive(gathered) as world, world.cluster.watch([Selection(kinds.NODE)]) as watch:
        assert await watch.next(3600) == ()


@pytest.mark.parametrize(
    "act",
    [
        lambda world: api.apply(world, (), approval=Yes()),
        lambda world: api.clean(world, approval=Yes()),
        lambda world: api.diagnose(world, asked=api.Asked(fix=True)),
    ],
)
async def test_what_writes_refuses_an_archive_before_it_looks_at_it(
    gathered: Path, act: Callable[[World], Awaitable[object]]
) -> None:
    async with await api.open_cluster(f"bundle:{gathered}") as world:
        with pytest.raises(Refused, match="archive"):
            await act(world)


def test_a_folder_with_nothing_known_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "readme.md").write_text("hello")
    with pytest.raises(UsageError, match="nothing in it is known"):
        open_archive(tmp_path)


async def test_time_in_an_archive_stands_still_until_somebody_waits(gathered: Path) -> None:
    async with open_archive(gathered) as world:
        assert world.clock.now().isoformat() == "2026-03-02T08:30:00+00:00"
        await world.clock.sleep(90)
        assert world.clock.now().isoformat() == "2026-03-02T08:31:30+00:00"
        assert world.clock.monotonic_s() == 90
