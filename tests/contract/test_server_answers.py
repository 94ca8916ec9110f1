"""What a Cluster promises where a server answers in parts, ends a stream, or refuses: simulator and kube-apiserver."""

import dataclasses
import itertools
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from railwright.adapters import cluster as adapter
from railwright.adapters import watching
from railwright.adapters.clock import RealClock
from railwright.adapters.cluster import LiveCluster
from railwright.adapters.kubeconfig import read_login
from railwright.adapters.nodes import ExecNodes
from railwright.adapters.transport import Transport
from railwright.core.errors import ObjectRefused, PermissionMissing
from railwright.core.kinds import CONFIG_MAP, NETWORK_ATTACHMENT_DEFINITION
from railwright.core.objects import KubeObject, Ref, dig
from railwright.lab.controlplane.plane import Plane
from railwright.ports.cluster import Selection, Watch
from railwright.ports.world import World
from railwright.simulator.open import open_simulator

_numbers = itertools.count()
NAMES = [f"thing-{number}" for number in range(5)]


def a_config_map(namespace: str, name: str = "thing", value: str = "1", **more: Any) -> KubeObject:
    metadata = {"name": name, "namespace": namespace, "labels": {"railwright.dev/test": "yes"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": value}, **more}


def a_definition(namespace: str, config: str) -> KubeObject:
    kind = NETWORK_ATTACHMENT_DEFINITION
    metadata = {"name": "thing", "namespace": namespace}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": {"config": config}}


async def a_namespace(world: World) -> str:
    name = f"answers-{os.getpid()}-{next(_numbers)}"
    await world.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return name


async def next_seen(watch: Watch, *path: str) -> list[Any]:
    """Wait for changes as every caller does: an empty answer may come early, and means to look again."""
    for _ in range(20):
        if seen := await watch.next(5):
            return [dig(each.obj, *path) for each in seen]
    pytest.fail("the watch shows nothing")


@pytest.fixture
def two_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "PAGE_SIZE", 2)


@pytest.mark.usefixtures("two_a_page")
async def test_a_list_in_pages_holds_each_object_once_in_order(world: World) -> None:
    namespace = await a_namespace(world)
    for name in NAMES:
        await world.cluster.apply(a_config_map(namespace, name))
    selection = Selection(CONFIG_MAP, namespace, labels="railwright.dev/test")
    assert [obj["metadata"]["name"] async for obj in world.cluster.list(selection)] == NAMES


@pytest.mark.usefixtures("two_a_page")
async def test_a_list_in_pages_is_of_the_moment_when_it_began(world: World) -> None:
    namespace = await a_namespace(world)
    for name in NAMES:
        await world.cluster.apply(a_config_map(namespace, name))
    found: list[str] = []
    async for obj in world.cluster.list(Selection(CONFIG_MAP, namespace)):
        if not found:
            await world.cluster.apply(a_config_map(namespace, "thing-9"))
            await world.cluster.delete(Ref(CONFIG_MAP, namespace, NAMES[-1]))
        found.append(obj["metadata"]["name"])
    assert [name for name in found if name.startswith("thing-")] == NAMES


async def test_a_watch_whose_stream_the_server_ended_goes_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "STREAM_S", 1)
    namespace = await a_namespace(world)
    async with world.cluster.watch([Selection(CONFIG_MAP, namespace, name="thing")]) as watch:
        for value in ("1", "2"):
            await world.clock.sleep(1.5)
            await world.cluster.apply(a_config_map(namespace, value=value))
            assert await next_seen(watch, "data", "a") == [value]


async def test_a_watch_from_a_version_no_longer_kept_starts_anew(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server answers 410 (version 1 is from before the kind was defined); a simulated one never forgets."""
    namespace = await a_namespace(world)
    told = watching.MergedWatch._version
    asked: list[str] = []

    async def outdated(self: watching.MergedWatch, each: watching.Followed) -> str:
        version = await told(self, each)
        asked.append(version)
        return "1" if len(asked) == 1 else version

    monkeypatch.setattr(watching.MergedWatch, "_version", outdated)
    async with world.cluster.watch([Selection(NETWORK_ATTACHMENT_DEFINITION, namespace)]) as watch:
        assert await watch.next(10) == ()
        assert len(asked) == (0 if world.cluster.simulated else 2)
        await world.cluster.apply(a_definition(namespace, "{}"))
        assert await next_seen(watch, "spec", "config") == ["{}"]


@pytest.fixture(params=["simulator", pytest.param("control plane", marks=pytest.mark.bed)])
async def reader(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    """A world in which we may read and nothing else."""
    if request.param == "simulator":
        yield open_simulator("h200-roce+api-forbidden")
        return
    plane: Plane = request.getfixturevalue("plane")
    login = read_login(None, {"KUBECONFIG": str(plane.kubeconfig)}, Path("/nonexistent"))
    cluster = LiveCluster(login.name, Transport(dataclasses.replace(login, token=await _token_of_a_reader(plane))))
    try:
        yield World(cluster, ExecNodes(cluster), RealClock())
    finally:
        await cluster.close()


async def _token_of_a_reader(plane: Plane) -> str:
    """Make a service account that may read ConfigMaps, by a role of its own: `view` is filled by a controller not here."""
    login = read_login(None, {"KUBECONFIG": str(plane.kubeconfig)}, Path("/nonexistent"))
    admin, client, name = LiveCluster(login.name, Transport(login)), plane.client(), f"reader-{next(_numbers)}"
    rbac = "rbac.authorization.k8s.io"
    subject = {"kind": "ServiceAccount", "name": name, "namespace": "default"}
    role = {
        "apiVersion": f"{rbac}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}],
    }
    binding = {
        "apiVersion": f"{rbac}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": name},
        "subjects": [subject],
    }
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "default"}}
    try:
        for obj in (account, role, binding):
            await admin.apply(obj)
        return await client.token_of("default", name)
    finally:
        await admin.close()
        await client.close()


async def test_a_write_without_the_right_names_verb_resource_and_namespace_and_writes_nothing(reader: World) -> None:
    with pytest.raises(PermissionMissing) as missing:
        await reader.cluster.apply(a_config_map("default", "never"))
    told = {key: missing.value.context[key] for key in ("verb", "resource", "namespace")}
    assert told == {"verb": "patch", "resource": "configmaps", "namespace": "default"}
    assert not missing.value.transient
    assert [obj async for obj in reader.cluster.list(Selection(CONFIG_MAP, "default", name="never"))] == []


async def test_whoever_may_only_read_is_told_so_before_the_write(reader: World) -> None:
    assert await reader.cluster.may("list", "", "configmaps", "default")
    assert not await reader.cluster.may("patch", "", "configmaps", "default")


async def by_apply(world: World, namespace: str) -> None:
    await world.cluster.apply(a_config_map(namespace, colour="red"))


async def by_patch(world: World, namespace: str) -> None:
    await world.cluster.patch(Ref(CONFIG_MAP, namespace, "thing"), {"colour": "red"})


Write = Callable[[World, str], Awaitable[None]]


@pytest.mark.parametrize("world", [pytest.param("control plane", marks=pytest.mark.bed)], indirect=True)
@pytest.mark.parametrize("write", [by_apply, by_patch])
async def test_an_unknown_field_is_refused_for_good_and_named(world: World, write: Write) -> None:
    """
    kube-apiserver answers 500 to an apply and 422 to a patch: neither mends itself, so neither may be sent again.

    The simulator leaves schemas to the real API server.
    """
    namespace = await a_namespace(world)
    made = await world.cluster.apply(a_config_map(namespace))
    with pytest.raises(ObjectRefused, match="colour") as refused:
        await write(world, namespace)
    assert not refused.value.transient
    live = await world.cluster.get(Ref(CONFIG_MAP, namespace, "thing"))
    assert live["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
