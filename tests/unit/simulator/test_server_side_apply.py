"""Server-side apply, as a real API server does it."""

from datetime import UTC, datetime

import pytest

from railwright.core.errors import KindNotServed, NotFound, ObjectRefused, WriteConflict
from railwright.core.kinds import CONFIG_MAP, NAMESPACE, NODE
from railwright.core.objects import Kind, Ref
from railwright.simulator.kinds import KUBERNETES
from railwright.simulator.ownership import Manager, from_fields_v1, owners_of
from railwright.simulator.store import Store

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
OURS, THEIRS = Manager("railwright", "Apply"), Manager("argocd-controller", "Apply")
SETTINGS = Ref(CONFIG_MAP, "lab", "settings")


def a_store() -> Store:
    store = Store(KUBERNETES)
    store.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}}, THEIRS, NOW)
    return store


def a_config_map(data, **metadata):
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "lab", **metadata},
        "data": data,
    }


def test_an_apply_owns_its_leaves_in_fields_v1():
    stored = a_store().apply(a_config_map({"a": "1"}), OURS, NOW)
    (line,) = stored["metadata"]["managedFields"]
    assert line["manager"] == "railwright"
    assert line["operation"] == "Apply"
    assert line["fieldsV1"] == {"f:data": {"f:a": {}}}


def test_a_field_that_is_not_sent_any_more_is_removed():
    store = a_store()
    store.apply(a_config_map({"a": "1", "b": "2"}), OURS, NOW)
    assert store.apply(a_config_map({"b": "2"}), OURS, NOW)["data"] == {"b": "2"}


def test_a_field_given_up_stays_when_somebody_else_owns_it_too():
    store = a_store()
    store.apply(a_config_map({"a": "1"}), THEIRS, NOW)
    store.apply(a_config_map({"a": "1", "b": "2"}), OURS, NOW)
    assert store.apply(a_config_map({"b": "2"}), OURS, NOW)["data"] == {"a": "1", "b": "2"}


def test_another_value_of_a_field_of_others_is_a_conflict_that_names_path_manager_and_value():
    store = a_store()
    store.apply(a_config_map({"a": "theirs"}), THEIRS, NOW)
    with pytest.raises(WriteConflict) as refused:
        store.apply(a_config_map({"a": "ours"}), OURS, NOW)
    assert refused.value.context == {".data.a": "argocd-controller"}
    assert "'theirs'" in refused.value.message


def test_taking_over_moves_the_field_to_us():
    store = a_store()
    store.apply(a_config_map({"a": "theirs", "b": "2"}), THEIRS, NOW)
    stored = store.apply(a_config_map({"a": "ours"}), OURS, NOW, take_over=True)
    owners = owners_of(stored)
    assert stored["data"] == {"a": "ours", "b": "2"}
    assert owners[OURS] == {("data", "a")}
    assert owners[THEIRS] == {("data", "b")}


def test_fields_written_by_a_patch_conflict_too():
    store = a_store()
    store.apply(a_config_map({"a": "1"}), OURS, NOW)
    store.merge(SETTINGS, {"data": {"a": "by hand"}}, Manager("kubectl-edit", "Update"), NOW)
    with pytest.raises(WriteConflict):
        store.apply(a_config_map({"a": "1"}), OURS, NOW)


def test_an_apply_that_changes_nothing_keeps_the_resource_version():
    store = a_store()
    first = store.apply(a_config_map({"a": "1"}), OURS, NOW)
    assert store.apply(a_config_map({"a": "1"}), OURS, NOW) is first


def test_an_old_resource_version_is_a_conflict():
    store = a_store()
    first = store.apply(a_config_map({"a": "1"}), OURS, NOW)
    store.apply(a_config_map({"a": "2"}), OURS, NOW)
    with pytest.raises(WriteConflict, match="changed since it was read"):
        store.apply(a_config_map({"a": "3"}, resourceVersion=first["metadata"]["resourceVersion"]), OURS, NOW)


def test_a_dry_run_answers_and_stores_nothing():
    store = a_store()
    answer = store.apply(a_config_map({"a": "1"}), OURS, NOW, dry_run=True)
    assert answer["data"] == {"a": "1"}
    with pytest.raises(NotFound):
        store.get(SETTINGS)


def test_an_empty_map_takes_nothing_away_from_others():
    store = a_store()
    store.apply(a_config_map({"a": "1"}), THEIRS, NOW)
    assert store.apply(a_config_map({}), OURS, NOW)["data"] == {"a": "1"}


def test_the_status_of_an_applied_object_is_left_out():
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"x": "1"}}
    assert "status" not in a_store().apply(node, OURS, NOW)


def test_a_change_of_the_spec_raises_the_generation_and_one_of_the_status_does_not():
    store = a_store()
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "lab"}, "spec": {"a": 1}}
    assert store.apply(pod, OURS, NOW)["metadata"]["generation"] == 1
    ref = Ref(Kind("v1", "Pod"), "lab", "p")
    status = store.merge(ref, {"status": {"phase": "Running"}}, THEIRS, NOW, status=True)
    assert status["metadata"]["generation"] == 1
    assert store.apply({**pod, "spec": {"a": 2}}, OURS, NOW)["metadata"]["generation"] == 2


def test_what_it_was_not_taught_is_refused():
    store = a_store()
    with pytest.raises(KindNotServed):
        store.apply({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}}, OURS, NOW)
    with pytest.raises(NotFound, match='namespaces "nowhere" not found'):
        store.apply(a_config_map({}, namespace="nowhere"), OURS, NOW)
    with pytest.raises(ObjectRefused):
        store.apply(a_config_map({}, namespace=""), OURS, NOW)
    with pytest.raises(ObjectRefused):
        store.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "x", "namespace": "lab"}}, OURS, NOW)


def test_items_of_finalizers_are_owned_one_by_one():
    store = a_store()
    store.apply(a_config_map({}, finalizers=["theirs/x"]), THEIRS, NOW)
    stored = store.apply(a_config_map({}, finalizers=["ours/y"]), OURS, NOW)
    assert sorted(stored["metadata"]["finalizers"]) == ["ours/y", "theirs/x"]


def test_fields_v1_of_a_real_server_is_read():
    tree = {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}, "f:spec": {"f:x": {}}}
    assert from_fields_v1(tree) == {("metadata", "labels", "a"), ("spec", "x")}


# --- delete ----------------------------------------------------------------------------------------------------------


def test_a_finalizer_holds_an_object_until_it_is_taken_off():
    store = a_store()
    store.apply(a_config_map({}, finalizers=["x/y"]), OURS, NOW)
    store.delete(SETTINGS, NOW)
    assert store.get(SETTINGS)["metadata"]["deletionTimestamp"]
    store.merge(SETTINGS, {"metadata": {"finalizers": None}}, THEIRS, NOW)
    with pytest.raises(NotFound):
        store.get(SETTINGS)


def test_a_namespace_waits_for_what_a_finalizer_holds():
    store = a_store()
    store.apply(a_config_map({}, finalizers=["x/y"]), OURS, NOW)
    home = Ref(NAMESPACE, "", "lab")
    store.delete(home, NOW)
    assert store.get(home)["metadata"]["deletionTimestamp"]
    store.merge(SETTINGS, {"metadata": {"finalizers": None}}, THEIRS, NOW)
    assert home not in store.objects


def test_what_an_object_owned_goes_with_it():
    store = a_store()
    owner = store.apply(a_config_map({}), OURS, NOW)
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "settings", "uid": owner["metadata"]["uid"]}
    child = a_config_map({}, name="child", ownerReferences=[reference])
    store.apply(child, OURS, NOW)
    store.delete(SETTINGS, NOW)
    assert Ref(CONFIG_MAP, "lab", "child") not in store.objects


def test_a_delete_of_another_uid_is_a_conflict():
    store = a_store()
    store.apply(a_config_map({}), OURS, NOW)
    with pytest.raises(WriteConflict, match="another object"):
        store.delete(SETTINGS, NOW, uid="00000000-0000-0000-0000-000000000000")


def test_the_objects_of_a_definition_go_with_it():
    store = a_store()
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"kind": "Thing", "plural": "things"},
            "versions": [{"name": "v1"}],
        },
    }
    store.apply(definition, OURS, NOW)
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}}
    store.apply(thing, OURS, NOW)
    store.delete(Ref(Kind("apiextensions.k8s.io/v1", "CustomResourceDefinition"), "", "things.example.com"), NOW)
    assert Ref(Kind("example.com/v1", "Thing"), "", "x") not in store.objects
    with pytest.raises(KindNotServed):
        store.get(Ref(Kind("example.com/v1", "Thing"), "", "x"))


def test_a_merge_patch_removes_with_null_and_is_guarded_by_a_resource_version():
    store = a_store()
    first = store.apply(a_config_map({"a": "1", "b": "2"}), OURS, NOW)
    assert store.merge(SETTINGS, {"data": {"a": None}}, OURS, NOW)["data"] == {"b": "2"}
    guard = {"resourceVersion": first["metadata"]["resourceVersion"]}
    with pytest.raises(WriteConflict):
        store.merge(SETTINGS, {"metadata": guard, "data": {"b": None}}, OURS, NOW)
    with pytest.raises(NotFound):
        store.merge(Ref(NODE, "", "none"), {}, OURS, NOW)
