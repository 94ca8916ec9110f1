"""What every Cluster promises: the simulator and a real kube-apiserver must agree."""

import itertools
import os
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from railwright.core.errors import KindNotServed, NotFound, WriteConflict
from railwright.core.kinds import CONFIG_MAP, MACHINE_CONFIG_POOL, NAMESPACE
from railwright.core.objects import Kind, KubeObject, Ref, dig, ref_of
from railwright.ports.cluster import Selection, ServedKind
from railwright.ports.world import World

UNSERVED = Kind("nobody.example.org/v1", "Nothing")
_numbers = itertools.count()


def a_name() -> str:
    return f"contract-{os.getpid()}-{next(_numbers)}"


def a_config_map(namespace: str, data: dict[str, str] | None = None, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "thing", "namespace": namespace, **metadata},
        "data": data if data is not None else {"a": "1"},
    }


async def a_namespace(world: World) -> str:
    name = a_name()
    await world.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return name


async def eventually(world: World, holds: Callable[[], Awaitable[bool]], limit_s: float = 30) -> None:
    began = world.clock.monotonic_s()
    while not await holds():
        assert world.clock.monotonic_s() - began < limit_s, "did not come true in time"
        await world.clock.sleep(0.1)


async def is_gone(world: World, ref: Ref) -> bool:
    try:
        await world.cluster.get(ref)
    except NotFound:
        return True
    return False


async def test_version_is_written_as_v_major_minor(world: World) -> None:
    assert (await world.cluster.version()).startswith("v1.")


async def test_served_kinds_say_plural_and_scope(world: World) -> None:
    served = await world.cluster.served_kinds()
    assert ServedKind(CONFIG_MAP, "configmaps", namespaced=True) in served
    assert ServedKind(NAMESPACE, "namespaces", namespaced=False) in served
    assert ServedKind(MACHINE_CONFIG_POOL, "machineconfigpools", namespaced=False) in served


async def test_what_was_applied_is_read_back_with_uid_and_version(world: World) -> None:
    namespace = await a_namespace(world)
    made = await world.cluster.apply(a_config_map(namespace))
    read = await world.cluster.get(ref_of(made))
    assert read["data"] == {"a": "1"}
    assert read["metadata"]["uid"] == made["metadata"]["uid"]
    assert read["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    assert (read["apiVersion"], read["kind"]) == ("v1", "ConfigMap")


async def test_applying_the_same_again_changes_nothing(world: World) -> None:
    namespace = await a_namespace(world)
    first = await world.cluster.apply(a_config_map(namespace))
    second = await world.cluster.apply(a_config_map(namespace))
    assert first["metadata"]["resourceVersion"] == second["metadata"]["resourceVersion"]


async def test_a_field_of_another_manager_is_a_conflict_that_names_it(world: World) -> None:
    namespace = await a_namespace(world)
    await world.cluster.apply(a_config_map(namespace), field_manager="somebody-else")
    with pytest.raises(WriteConflict) as conflict:
        await world.cluster.apply(a_config_map(namespace, {"a": "2"}))
    assert conflict.value.context == {".data.a": "somebody-else"}


async def test_take_over_forces_the_field(world: World) -> None:
    namespace = await a_namespace(world)
    await world.cluster.apply(a_config_map(namespace), field_manager="somebody-else")
    taken = await world.cluster.apply(a_config_map(namespace, {"a": "2"}), take_over=True)
    assert taken["data"] == {"a": "2"}


async def test_the_same_value_is_shared_without_a_conflict(world: World) -> None:
    namespace = await a_namespace(world)
    await world.cluster.apply(a_config_map(namespace), field_manager="somebody-else")
    shared = await world.cluster.apply(a_config_map(namespace, {"a": "1", "b": "2"}))
    assert shared["data"] == {"a": "1", "b": "2"}


async def test_a_field_that_is_given_up_goes(world: World) -> None:
    namespace = await a_namespace(world)
    await world.cluster.apply(a_config_map(namespace, {"a": "1", "b": "2"}))
    left = await world.cluster.apply(a_config_map(namespace, {"a": "1"}))
    assert left["data"] == {"a": "1"}


async def test_a_field_that_is_given_up_stays_when_another_has_it_too(world: World) -> None:
    namespace = await a_namespace(world)
    await world.cluster.apply(a_config_map(namespace, {"b": "2"}), field_manager="somebody-else")
    await world.cluster.apply(a_config_map(namespace, {"a": "1", "b": "2"}))
    left = await world.cluster.apply(a_config_map(namespace, {"a": "1"}))
    assert left["data"] == {"a": "1", "b": "2"}


async def test_a_dry_run_answers_and_stores_nothing(world: World) -> None:
    namespace = await a_namespace(world)
    answer = await world.cluster.apply(a_config_map(namespace), dry_run=True)
    assert answer["data"] == {"a": "1"}
    assert await is_gone(world, ref_of(answer))


async def test_an_old_version_in_apply_is_a_conflict_without_owners(world: World) -> None:
    namespace = await a_namespace(world)
    old = await world.cluster.apply(a_config_map(namespace))
    await world.cluster.apply(a_config_map(namespace, {"a": "2"}))
    version = old["metadata"]["resourceVersion"]
    with pytest.raises(WriteConflict) as conflict:
        await world.cluster.apply(a_config_map(namespace, {"a": "3"}, resourceVersion=version))
    assert not [path for path in conflict.value.context if path.startswith(".")]


async def test_the_present_version_in_apply_is_accepted(world: World) -> None:
    namespace = await a_namespace(world)
    made = await world.cluster.apply(a_config_map(namespace))
    version = made["metadata"]["resourceVersion"]
    changed = await world.cluster.apply(a_config_map(namespace, {"a": "2"}, resourceVersion=version))
    assert changed["data"] == {"a": "2"}


async def test_a_merge_patch_sets_and_removes_keys(world: World) -> None:
    namespace = await a_namespace(world)
    ref = ref_of(await world.cluster.apply(a_config_map(namespace, {"a": "1", "b": "2"})))
    patched = await world.cluster.patch(ref, {"data": {"a": None, "c": "3"}})
    assert patched["data"] == {"b": "2", "c": "3"}


async def test_a_merge_patch_of_an_old_version_is_a_conflict(world: World) -> None:
    namespace = await a_namespace(world)
    old = await world.cluster.apply(a_config_map(namespace))
    await world.cluster.apply(a_config_map(namespace, {"a": "2"}))
    version = old["metadata"]["resourceVersion"]
    with pytest.raises(WriteConflict):
        await world.cluster.patch(ref_of(old), {"metadata": {"resourceVersion": version}, "data": {"a": "3"}})


async def test_a_dry_run_patch_stores_nothing(world: World) -> None:
    namespace = await a_namespace(world)
    ref = ref_of(await world.cluster.apply(a_config_map(namespace)))
    assert (await world.cluster.patch(ref, {"data": {"a": "9"}}, dry_run=True))["data"] == {"a": "9"}
    assert (await world.cluster.get(ref))["data"] == {"a": "1"}


async def test_patching_what_is_not_there_is_not_found(world: World) -> None:
    namespace = await a_namespace(world)
    with pytest.raises(NotFound):
        await world.cluster.patch(Ref(CONFIG_MAP, namespace, "absent"), {"data": {"a": "1"}})


async def test_a_deleted_object_is_gone_and_deleting_again_is_not_found(world: World) -> None:
    namespace = await a_namespace(world)
    ref = ref_of(await world.cluster.apply(a_config_map(namespace)))
    await world.cluster.delete(ref)
    assert await is_gone(world, ref)
    with pytest.raises(NotFound):
        await world.cluster.delete(ref)


async def test_deleting_another_uid_is_a_conflict_and_leaves_the_object(world: World) -> None:
    namespace = await a_namespace(world)
    ref = ref_of(await world.cluster.apply(a_config_map(namespace)))
    with pytest.raises(WriteConflict):
        await world.cluster.delete(ref, uid="00000000-0000-0000-0000-000000000000")
    assert not await is_gone(world, ref)


async def test_deleting_by_its_own_uid_works(world: World) -> None:
    namespace = await a_namespace(world)
    made = await world.cluster.apply(a_config_map(namespace))
    await world.cluster.delete(ref_of(made), uid=made["metadata"]["uid"])
    assert await is_gone(world, ref_of(made))


async def test_a_dry_run_delete_leaves_the_object(world: World) -> None:
    namespace = await a_namespace(world)
    ref = ref_of(await world.cluster.apply(a_config_map(namespace)))
    await world.cluster.delete(ref, dry_run=True)
    assert not await is_gone(world, ref)


async def test_a_finalizer_holds_a_deleted_object_until_it_is_taken_off(world: World) -> None:
    namespace = await a_namespace(world)
    made = await world.cluster.apply(a_config_map(namespace, finalizers=["railwright.dev/test"]))
    await world.cluster.delete(ref_of(made))
    assert (await world.cluster.get(ref_of(made)))["metadata"]["deletionTimestamp"]
    await world.cluster.patch(ref_of(made), {"metadata": {"finalizers": None}})
    assert await is_gone(world, ref_of(made))


async def test_what_an_object_owns_goes_with_it(world: World) -> None:
    namespace = await a_namespace(world)
    owner = await world.cluster.apply(a_config_map(namespace))
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "thing", "uid": owner["metadata"]["uid"]}
    owned: KubeObject = a_config_map(namespace, name="owned", ownerReferences=[reference])
    await world.cluster.apply(owned)
    await world.cluster.delete(ref_of(owner))
    await eventually(world, lambda: is_gone(world, ref_of(owned)))


async def test_what_is_in_a_namespace_goes_with_it(world: World) -> None:
    namespace = await a_namespace(world)
    ref = ref_of(await world.cluster.apply(a_config_map(namespace)))
    await world.cluster.delete(Ref(NAMESPACE, "", namespace))
    await eventually(world, lambda: is_gone(world, ref))
    await eventually(world, lambda: is_gone(world, Ref(NAMESPACE, "", namespace)))


async def test_a_missing_namespace_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        await world.cluster.apply(a_config_map(a_name()))


@pytest.mark.parametrize("labels", ["colour=red", "colour,colour!=blue"])
async def test_a_list_takes_only_what_its_labels_select(world: World, labels: str) -> None:
    namespace = await a_namespace(world)
    for name, colour in (("one", {"colour": "red"}), ("two", {"colour": "blue"}), ("three", {})):
        await world.cluster.apply(a_config_map(namespace, name=name, labels=colour))
    selection = Selection(CONFIG_MAP, namespace=namespace, labels=labels)
    assert [obj["metadata"]["name"] async for obj in world.cluster.list(selection)] == ["one"]


async def test_a_list_by_name_holds_that_object_with_its_kind(world: World) -> None:
    namespace = await a_namespace(world)
    for name in ("one", "two"):
        await world.cluster.apply(a_config_map(namespace, name=name))
    listed = [obj async for obj in world.cluster.list(Selection(CONFIG_MAP, namespace=namespace, name="two"))]
    assert [ref_of(obj) for obj in listed] == [Ref(CONFIG_MAP, namespace, "two")]


async def test_a_kind_that_nobody_serves_is_said_so_by_every_call(world: World) -> None:
    ref = Ref(UNSERVED, "", "x")
    with pytest.raises(KindNotServed):
        await world.cluster.get(ref)
    with pytest.raises(KindNotServed):
        [obj async for obj in world.cluster.list(Selection(UNSERVED))]
    with pytest.raises(KindNotServed):
        await world.cluster.apply({"apiVersion": UNSERVED.api_version, "kind": "Nothing", "metadata": {"name": "x"}})
    with pytest.raises(KindNotServed):
        await world.cluster.delete(ref)


async def test_a_watch_sees_changes_and_deletions_after_it_was_opened(world: World) -> None:
    namespace = await a_namespace(world)
    await world.cluster.apply(a_config_map(namespace))
    async with world.cluster.watch([Selection(CONFIG_MAP, namespace=namespace), Selection(UNSERVED)]) as watch:
        await world.cluster.apply(a_config_map(namespace, {"a": "2"}))
        changed = await watch.next(10)
        assert [(dig(each.obj, "data", "a"), each.gone) for each in changed] == [("2", False)]
        await world.cluster.delete(Ref(CONFIG_MAP, namespace, "thing"))
        gone = await watch.next(10)
        assert [each.gone for each in gone] == [True]
        assert ref_of(gone[0].obj) == Ref(CONFIG_MAP, namespace, "thing")


async def test_a_watch_with_nothing_to_see_answers_empty(world: World) -> None:
    namespace = await a_namespace(world)
    async with world.cluster.watch([Selection(CONFIG_MAP, namespace=namespace)]) as watch:
        assert await watch.next(0.2) == ()


async def test_an_admin_may_do_everything(world: World) -> None:
    assert await world.cluster.may("create", "mellanox.com", "nicclusterpolicies")
