"""What every Cluster promises to whoever only reads: an archive must agree with what it was collected from."""

import itertools
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from railwright.adapters.archive.collect import collecting
from railwright.adapters.archive.open import open_archive
from railwright.core.errors import KindNotServed, NotFound
from railwright.core.kinds import CONFIG_MAP, MACHINE_CONFIG_POOL, NAMESPACE
from railwright.core.objects import Kind, KubeObject, Ref, ref_of
from railwright.ports.cluster import Selection, ServedKind
from railwright.ports.world import World

UNSERVED = Kind("nobody.example.org/v1", "Nothing")
PLACE = f"reading-{os.getpid()}"
_numbers = itertools.count()


async def fill(world: World) -> str:
    """Make a namespace with three things in it."""
    name = f"{PLACE}-{next(_numbers)}"
    await world.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    for thing, labels in (("one", {"colour": "red"}), ("two", {"colour": "blue"}), ("three", {})):
        metadata = {"name": thing, "namespace": name, "labels": labels}
        await world.cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": thing}})
    return name


def as_it_is(obj: KubeObject) -> KubeObject:
    return obj


async def collect(world: World, place: str, path: Path) -> None:
    async with collecting(world, path, keep=as_it_is, redaction=None) as collection:
        cluster = collection.world.cluster
        await cluster.version()
        await cluster.served_kinds()
        for selection in (Selection(NAMESPACE), Selection(CONFIG_MAP, place)):
            async for _ in cluster.list(selection):
                pass


@pytest.fixture(params=["itself", "archive"])
async def filled(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> AsyncIterator[tuple[World, str]]:
    """A world, or an archive of it, with the namespace to look into."""
    place = await fill(world)
    if request.param == "itself":
        yield world, place
        return
    await collect(world, place, tmp_path / "a.tgz")
    async with open_archive(tmp_path / "a.tgz") as archive:
        yield archive, place


async def names(world: World, selection: Selection) -> list[str]:
    return [obj["metadata"]["name"] async for obj in world.cluster.list(selection)]


async def test_version_is_written_as_v_major_minor(filled: tuple[World, str]) -> None:
    assert (await filled[0].cluster.version()).startswith("v1.")


async def test_served_kinds_say_plural_and_scope(filled: tuple[World, str]) -> None:
    served = await filled[0].cluster.served_kinds()
    assert ServedKind(CONFIG_MAP, "configmaps", namespaced=True) in served
    assert ServedKind(MACHINE_CONFIG_POOL, "machineconfigpools", namespaced=False) in served


async def test_a_list_holds_whole_objects_with_their_kind(filled: tuple[World, str]) -> None:
    world, place = filled
    found = [obj async for obj in world.cluster.list(Selection(CONFIG_MAP, place))]
    for obj in found:
        assert obj == await world.cluster.get(ref_of(obj))
        assert obj["metadata"]["uid"]
    things = {obj["metadata"]["name"]: obj["data"] for obj in found}
    assert {"one": {"a": "one"}, "two": {"a": "two"}, "three": {"a": "three"}}.items() <= things.items()


@pytest.mark.parametrize(
    ("labels", "expected"),
    [("colour=red", {"one"}), ("colour,colour!=blue", {"one"}), ("colour", {"one", "two"}), ("colour=green", set())],
)
async def test_a_list_takes_only_what_its_labels_select(
    filled: tuple[World, str], labels: str, expected: set[str]
) -> None:
    world, place = filled
    assert set(await names(world, Selection(CONFIG_MAP, place, labels=labels))) == expected


async def test_a_list_by_name_holds_that_object(filled: tuple[World, str]) -> None:
    world, place = filled
    assert await names(world, Selection(CONFIG_MAP, place, name="two")) == ["two"]
    assert await names(world, Selection(NAMESPACE, name=place)) == [place]


async def test_what_does_not_exist_is_not_found(filled: tuple[World, str]) -> None:
    world, place = filled
    with pytest.raises(NotFound):
        await world.cluster.get(Ref(CONFIG_MAP, place, "absent"))
    with pytest.raises(NotFound):
        await world.cluster.get(Ref(NAMESPACE, "", "absent"))


async def test_a_namespace_that_does_not_exist_is_empty(filled: tuple[World, str]) -> None:
    world, _ = filled
    assert await names(world, Selection(CONFIG_MAP, "absent")) == []
    with pytest.raises(NotFound):
        await world.cluster.get(Ref(CONFIG_MAP, "absent", "one"))


async def test_a_kind_that_nobody_serves_is_said_so(filled: tuple[World, str]) -> None:
    world, _ = filled
    with pytest.raises(KindNotServed):
        await world.cluster.get(Ref(UNSERVED, "", "x"))
    with pytest.raises(KindNotServed):
        await names(world, Selection(UNSERVED))


async def test_whoever_may_read_is_told_so(filled: tuple[World, str]) -> None:
    assert await filled[0].cluster.may("list", "", "configmaps", filled[1])


async def test_a_watch_with_nothing_to_see_answers_empty(filled: tuple[World, str]) -> None:
    world, place = filled
    async with world.cluster.watch([Selection(CONFIG_MAP, place), Selection(UNSERVED)]) as watch:
        assert await watch.next(0.2) == ()
