"""Taking, then inverting: the object is as it was, and what others did meanwhile stays."""

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from railwright.changes.compare import compare
from railwright.changes.invert import invert
from railwright.changes.model import MISSING, Action, Change, TakenField
from railwright.changes.shapes import Shapes
from railwright.changes.taken import merge_taken, taken_fields
from railwright.changes.tree import leaves, put, read, remove, thaw
from railwright.core.ids import StageName
from railwright.core.objects import ref_of
from railwright.manifests.model import Manifest

CONFIG = ("spec", "rdmaSharedDevicePlugin", "config")
EMBEDDED = ((".".join(CONFIG), "rdma-shared"),)


def an_object(spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": "NicClusterPolicy",
        "metadata": {"name": "nic-cluster-policy", **metadata},
        "spec": spec,
    }


def patched(value: Any, patch: Mapping[str, Any]) -> dict[str, Any]:
    """RFC 7396, written apart from the code under test."""
    result = dict(value) if isinstance(value, Mapping) else {}
    for key, item in patch.items():
        if item is None:
            result.pop(key, None)
        elif isinstance(item, Mapping):
            result[key] = patched(result.get(key), item)
        else:
            result[key] = item
    return result


def written(live: dict[str, Any], change: Change) -> dict[str, Any]:
    """What the API server would hold after the write, defaults left out."""
    result = thaw(live)
    for path, value in leaves(change.desired, Shapes(change.ref.kind)).items():
        if value != {} or read(result, path) is MISSING:
            put(result, path, value)
    return result


def take(
    live: dict[str, Any], wanted: dict[str, Any], embedded: Any = ()
) -> tuple[dict[str, Any], tuple[TakenField, ...]]:
    item = Manifest(StageName("s"), wanted, (), embedded=embedded)
    change = compare((item,), {item.ref: live}, frozenset()).items[0][1]
    return written(live, change), taken_fields(change, live)


def undo(
    live: dict[str, Any], taken: tuple[TakenField, ...], embedded: Any = ()
) -> tuple[dict[str, Any], Change | None]:
    change = invert(ref_of(live), created=False, uid="", taken=taken, embedded=embedded, live=live)
    if change is None:
        return live, None
    result = patched(live, change.desired)
    result["metadata"].pop("resourceVersion", None)
    return result, change


KEYS = st.sampled_from(["a", "b", "c"])
LEAVES = st.one_of(st.integers(0, 3), st.booleans(), st.text("xy", max_size=2), st.lists(st.integers(0, 2), max_size=2))
SHAPES = st.recursive(st.just(None), lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=12)


@st.composite
def objects_of_one_shape(draw: st.DrawFn, count: int) -> list[dict[str, Any]]:
    """Objects that agree on what is a map and what is a leaf, as a schema makes them."""
    shape = draw(st.dictionaries(KEYS, SHAPES, min_size=1, max_size=3))

    def fill(node: Any) -> Any:
        if node is None:
            return draw(LEAVES)
        return {key: fill(below) for key, below in node.items() if draw(st.booleans())}

    return [fill(shape) for _ in range(count)]


@given(objects_of_one_shape(2))
@settings(max_examples=100, deadline=None)
def test_taking_then_inverting_gives_the_object_back(specs: list[dict[str, Any]]) -> None:
    original = an_object(specs[0])
    after, taken = take(original, an_object(specs[1]))
    back, change = undo(after, taken)
    assert back == original
    assert change is None or change.left == ()


@given(objects_of_one_shape(3))
@settings(max_examples=100, deadline=None)
def test_what_others_changed_meanwhile_stays(specs: list[dict[str, Any]]) -> None:
    original = an_object(specs[0])
    after, taken = take(original, an_object(specs[1]))
    edits = {
        path: value
        for path, value in leaves(an_object(specs[2]), Shapes(ref_of(original).kind)).items()
        if value != {} and read(after, path) != value
    }
    edited = thaw(after)
    for path, value in edits.items():
        put(edited, path, value)
    back, _ = undo(edited, taken)
    previous = {item.path: item.previous for item in taken}
    for path, value in edits.items():
        assert read(back, path) == value
    for path in set(leaves(after, Shapes(ref_of(original).kind))) - set(edits):
        if path in previous and read(edited, path) == read(after, path) and read(after, path) != {}:
            assert read(back, path) == previous[path]


NAMES = st.lists(st.sampled_from(["r0", "r1", "r2", "r3"]), unique=True, max_size=3)


def pools(names: list[str], size: int) -> str:
    return json.dumps({"configList": [{"resourceName": name, "rdmaHcaMax": size} for name in names]})


@given(theirs=NAMES, ours=NAMES, added=st.booleans(), present=st.booleans())
@settings(max_examples=100, deadline=None)
def test_entries_of_a_shared_string_come_back_and_others_stay(
    theirs: list[str], ours: list[str], added: bool, present: bool
) -> None:
    original = an_object({"rdmaSharedDevicePlugin": {"config": pools(theirs, 1)}} if present else {})
    after, taken = take(original, an_object({"rdmaSharedDevicePlugin": {"config": pools(ours, 63)}}), EMBEDDED)
    if added:
        data = json.loads(read(after, CONFIG))
        data["configList"].append({"resourceName": "later", "rdmaHcaMax": 5})
        put(after, CONFIG, json.dumps(data))
    back, _ = undo(after, taken, EMBEDDED)
    if not added:
        assert back == original
        return
    left = {pool["resourceName"]: pool["rdmaHcaMax"] for pool in json.loads(read(back, CONFIG))["configList"]}
    assert left == {**(dict.fromkeys(theirs, 1) if present else {}), "later": 5}


def test_a_field_that_was_changed_since_is_left_and_named_with_its_owner() -> None:
    fields = {"manager": "argocd", "operation": "Apply", "fieldsV1": {"f:spec": {"f:a": {}}}}
    live = an_object({"a": 3}, resourceVersion="9", managedFields=[fields])
    change = undo(live, (TakenField(("spec", "a"), 1, 2),))[1]
    assert change is not None
    assert change.desired == {}
    assert [(item.path, item.old, item.new, item.owner) for item in change.left] == [(("spec", "a"), 3, 1, "argocd")]


def test_the_restoring_patch_is_guarded_by_the_version_that_was_read() -> None:
    live = an_object({"a": 2}, resourceVersion="9")
    change = undo(live, (TakenField(("spec", "a"), 1, 2),))[1]
    assert change is not None
    assert change.desired == {"spec": {"a": 1}, "metadata": {"resourceVersion": "9"}}


def test_a_map_that_we_made_goes_with_the_servers_defaults_in_it_but_not_with_fields_of_others() -> None:
    taken = (
        TakenField(("spec", "rdma", "enabled"), previous=MISSING, ours=True),
        TakenField(("spec", "rdma"), MISSING, {}),
    )
    manager = {"manager": "x", "operation": "Update", "fieldsV1": {"f:spec": {"f:other": {}}}}
    live = an_object({"rdma": {"enabled": True, "useHostMofed": False}, "other": 1}, managedFields=[manager])
    assert undo(live, taken)[0]["spec"] == {"other": 1}
    manager["fieldsV1"] = {"f:spec": {"f:rdma": {"f:useHostMofed": {}}}}
    assert undo(live, taken)[0]["spec"] == {"other": 1, "rdma": {"useHostMofed": False}}


def test_what_we_made_is_deleted_when_it_is_that_very_object() -> None:
    live = an_object({}, uid="u1", resourceVersion="4")
    change = invert(ref_of(live), created=True, uid="u1", taken=(), embedded=(), live=live)
    assert change is not None
    assert (change.action, change.desired["metadata"]["uid"], change.live_version) == (Action.DELETE, "u1", "4")


def test_an_object_that_was_made_again_by_someone_else_stays() -> None:
    live = an_object({}, uid="u2")
    change = invert(ref_of(live), created=True, uid="u1", taken=(), embedded=(), live=live)
    assert change is not None
    assert (change.action, change.desired, [item.old for item in change.left]) == (Action.RESTORE, {}, ["u2"])


def test_a_creation_that_was_never_confirmed_is_undone_only_when_our_fields_are_in_the_object() -> None:
    live = an_object({}, uid="u2")
    assert invert(ref_of(live), created=True, uid="", taken=(), embedded=(), live=live) is None
    fields = {"manager": "railwright", "operation": "Apply", "fieldsV1": {"f:spec": {"f:a": {}}}}
    live["metadata"]["managedFields"] = [fields]
    change = invert(ref_of(live), created=True, uid="", taken=(), embedded=(), live=live)
    assert change is not None
    assert change.action is Action.DELETE


def test_an_object_that_is_gone_needs_nothing() -> None:
    assert invert(ref_of(an_object({})), created=True, uid="u", taken=(), embedded=(), live=None) is None


def test_an_object_that_we_made_stays_while_others_have_entries_in_it() -> None:
    wanted = an_object({"rdmaSharedDevicePlugin": {"config": pools(["rail0"], 63)}})
    item = Manifest(StageName("s"), wanted, (), embedded=EMBEDDED)
    created = compare((item,), {}, frozenset()).items[0][1]
    taken = taken_fields(created, None)
    live = an_object({"rdmaSharedDevicePlugin": {"config": pools(["rail0"], 63)}}, uid="u1")
    alone = invert(item.ref, created=True, uid="u1", taken=taken, embedded=EMBEDDED, live=live)
    assert alone is not None
    assert alone.action is Action.DELETE
    put(live, CONFIG, pools(["theirs", "rail0"], 63))
    shared = invert(item.ref, created=True, uid="u1", taken=taken, embedded=EMBEDDED, live=live)
    assert shared is not None
    assert shared.action is Action.RESTORE
    assert [item.path[-1] for item in shared.left] == ["{resourceName=theirs}"]
    back = json.loads(read(patched(live, shared.desired), CONFIG))
    assert [pool["resourceName"] for pool in back["configList"]] == ["theirs"]


def test_two_writes_of_one_field_keep_the_first_previous_and_the_last_of_ours() -> None:
    path = ("spec", "a")
    assert merge_taken((TakenField(path, 1, 2),), (TakenField(path, 2, 3),)) == (TakenField(path, 1, 3),)


def test_items_of_keyed_lists_are_put_back_as_whole_lists() -> None:
    def a_pod(env: list[dict[str, str]]) -> dict[str, Any]:
        spec = {"containers": [{"name": "main", "env": env}]}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n"}, "spec": spec}

    original = a_pod([{"name": "A", "value": "1"}])
    after, taken = take(original, a_pod([{"name": "B", "value": "2"}]))
    env = after["spec"]["containers"][0]["env"]
    assert [item["name"] for item in env] == ["A", "B"]
    assert undo(after, taken)[0] == original


def test_removing_what_is_not_there_changes_nothing() -> None:
    obj: dict[str, Any] = {"spec": {}}
    remove(obj, ("spec", "a", "b"))
    remove(obj, ("spec", "a"))
    assert obj == {"spec": {}}
