"""Compare: actions, fields, owners, shared strings."""

import json
from typing import Any

import pytest

from railwright.changes.compare import SOMEBODY, UNREADABLE, compare, drift
from railwright.changes.model import MISSING, Action, Change, TakenField
from railwright.core.errors import Refused
from railwright.core.ids import StageName
from railwright.core.objects import KubeObject, ref_of
from railwright.manifests.model import Manifest

STAGE = StageName("nic-driver-ready")
CONFIG = ("spec", "rdmaSharedDevicePlugin", "config")


def a_policy(spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": "NicClusterPolicy",
        "metadata": {"name": "nic-cluster-policy", **metadata},
        "spec": spec,
    }


def owned(manager: str, spec_fields: dict[str, Any], operation: str = "Apply") -> dict[str, Any]:
    return {"manager": manager, "operation": operation, "fieldsV1": {"f:spec": spec_fields}}


def a_manifest(obj: KubeObject, **more: Any) -> Manifest:
    return Manifest(STAGE, obj, (), **more)


def compared(obj: KubeObject, live: KubeObject | None, *, ours: bool = False, taken: Any = None, **more: Any) -> Change:
    ref = ref_of(obj)
    found = {} if live is None else {ref: live}
    known = frozenset({ref}) if ours else frozenset()
    changes = compare((a_manifest(obj, **more),), found, known, taken=None if taken is None else {ref: taken})
    return changes.items[0][1]


def test_an_absent_object_is_created() -> None:
    change = compared(a_policy({"a": 1}), None)
    assert (change.action, change.fields, change.live_version) == (Action.CREATE, (), "")


def test_fields_of_an_absent_object_that_is_not_ours_to_make_are_refused() -> None:
    with pytest.raises(Refused, match="NicClusterPolicy nic-cluster-policy is not there"):
        compared(a_policy({"a": 1}), None, partial=True)


def test_nothing_changes_when_all_fields_are_ours_and_hold() -> None:
    live = a_policy({"a": 1, "default": True}, resourceVersion="7", managedFields=[owned("railwright", {"f:a": {}})])
    change = compared(a_policy({"a": 1}), live, ours=True)
    assert (change.action, change.live_version) == (Action.UNCHANGED, "7")


def test_equal_fields_that_we_do_not_own_yet_are_written_for_their_ownership() -> None:
    live = a_policy({"a": 1}, managedFields=[owned("kubectl", {"f:a": {}}, "Update")])
    change = compared(a_policy({"a": 1}), live)
    assert (change.action, change.fields) == (Action.ADOPT, ())


def test_a_differing_field_names_its_other_owner() -> None:
    live = a_policy({"a": 1}, managedFields=[owned("argocd", {"f:a": {}})])
    change = compared(a_policy({"a": 2}), live)
    assert change.action is Action.ADOPT
    assert [(item.path, item.old, item.new, item.owner) for item in change.conflicts] == [
        (("spec", "a"), 1, 2, "argocd")
    ]


def test_our_own_earlier_value_is_no_conflict() -> None:
    live = a_policy({"a": 1}, managedFields=[owned("railwright", {"f:a": {}})])
    change = compared(a_policy({"a": 2}), live, ours=True)
    assert (change.action, change.conflicts, len(change.fields)) == (Action.UPDATE, (), 1)


def test_the_status_of_an_operator_owns_nothing_that_we_set() -> None:
    entry = {**owned("manager", {"f:a": {}}), "subresource": "status"}
    change = compared(a_policy({"a": 2}), a_policy({"a": 1}, managedFields=[entry]))
    assert change.fields[0].owner == ""


def test_a_manager_of_a_whole_map_owns_what_is_in_it() -> None:
    live = a_policy({"a": {"b": 1}}, managedFields=[owned("argocd", {"f:a": {}})])
    change = compared(a_policy({"a": {"b": 2}}), live)
    assert [(item.path, item.owner) for item in change.fields] == [(("spec", "a"), "argocd")]


def test_fields_that_we_own_and_no_longer_want_are_removed() -> None:
    live = a_policy({"a": 1, "b": 2}, managedFields=[owned("railwright", {"f:a": {}, "f:b": {}})])
    change = compared(a_policy({"a": 1}), live, ours=True)
    assert [(item.path, item.old, item.new) for item in change.fields] == [(("spec", "b"), 2, MISSING)]


def test_a_field_that_another_manager_owns_too_is_given_up_and_stays() -> None:
    fields = [owned("railwright", {"f:a": {}, "f:b": {}}), owned("argocd", {"f:b": {}})]
    change = compared(a_policy({"a": 1}), a_policy({"a": 1, "b": 2}, managedFields=fields), ours=True)
    assert (change.action, change.fields) == (Action.UPDATE, ())


def test_lists_of_pods_are_merged_by_their_keys() -> None:
    def a_job(env: list[dict[str, str]], **metadata: Any) -> dict[str, Any]:
        spec = {"template": {"spec": {"containers": [{"name": "main", "env": env}]}}}
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "j", "namespace": "n", **metadata},
            "spec": spec,
        }

    change = compared(
        a_job([{"name": "B", "value": "2"}]), a_job([{"name": "A", "value": "1"}, {"name": "B", "value": "1"}])
    )
    path = ("spec", "template", "spec", "containers", "[name=main]", "env", "[name=B]", "value")
    assert [item.path for item in change.fields] == [path]


def test_lists_of_custom_resources_are_one_value() -> None:
    live = a_policy({"ofedDriver": {"env": [{"name": "A", "value": "1"}]}})
    change = compared(a_policy({"ofedDriver": {"env": [{"name": "B", "value": "1"}]}}), live)
    assert [item.path for item in change.fields] == [("spec", "ofedDriver", "env")]


def test_quantities_are_compared_by_amount_and_other_text_is_not() -> None:
    live = a_policy({"resources": {"cpu": "1000m"}, "mtu": "9000"})
    change = compared(a_policy({"resources": {"cpu": 1}, "mtu": 9000}), live)
    assert [item.path for item in change.fields] == [("spec", "mtu")]


def test_an_empty_map_adds_nothing_to_a_filled_one() -> None:
    assert compared(a_policy({"nvIpam": {}}), a_policy({"nvIpam": {"image": "x"}})).fields == ()


def test_manifests_of_one_object_are_one_wish_and_never_give_up_what_a_later_stage_owns() -> None:
    first = a_manifest(a_policy({"a": 1}))
    second = a_manifest(a_policy({"b": 2}))
    ref = first.ref
    new = compare((first, second), {ref: a_policy({})}, frozenset()).items
    assert [change.desired["spec"] for _, change in new] == [{"a": 1}, {"a": 1, "b": 2}]
    live = a_policy({"a": 1, "b": 2}, managedFields=[owned("railwright", {"f:a": {}, "f:b": {}})])
    again = compare((first, second), {ref: live}, frozenset({ref})).items
    assert [change.action for _, change in again] == [Action.UNCHANGED, Action.UNCHANGED]


# --- shared strings ----------------------------------------------------------


def pools(*names: str, **more: Any) -> str:
    return json.dumps({"configList": [{"resourceName": name, "rdmaHcaMax": 63} for name in names], **more})


def with_config(text: str, **metadata: Any) -> dict[str, Any]:
    return a_policy({"rdmaSharedDevicePlugin": {"config": text}}, **metadata)


EMBEDDED = ((".".join(CONFIG), "rdma-shared"),)
FOREIGN = [owned("argocd", {"f:rdmaSharedDevicePlugin": {"f:config": {}}})]
OURS = [owned("railwright", {"f:rdmaSharedDevicePlugin": {"f:config": {}}})]


def config_of(change: Change) -> Any:
    return json.loads(change.desired["spec"]["rdmaSharedDevicePlugin"]["config"])


def test_our_entries_are_merged_into_a_string_of_others_without_a_conflict() -> None:
    live = with_config(pools("theirs", periodicUpdateInterval=60), managedFields=FOREIGN)
    change = compared(with_config(pools("rail0")), live, embedded=EMBEDDED)
    assert [(item.path[-1], item.old, item.owner) for item in change.fields] == [("{resourceName=rail0}", MISSING, "")]
    assert [pool["resourceName"] for pool in config_of(change)["configList"]] == ["theirs", "rail0"]
    assert config_of(change)["periodicUpdateInterval"] == 60
    assert change.conflicts == ()


def test_an_entry_of_our_name_with_other_content_is_a_conflict() -> None:
    live = with_config(json.dumps({"configList": [{"resourceName": "rail0", "rdmaHcaMax": 1}]}), managedFields=FOREIGN)
    change = compared(with_config(pools("rail0")), live, embedded=EMBEDDED)
    assert [(item.path[-1], item.owner) for item in change.conflicts] == [("{resourceName=rail0}", "argocd")]


def test_an_entry_that_the_ledger_does_not_know_is_someone_elses_even_in_our_string() -> None:
    live = with_config(json.dumps({"configList": [{"resourceName": "rail0", "rdmaHcaMax": 1}]}), managedFields=OURS)
    change = compared(with_config(pools("rail0")), live, ours=True, taken=(), embedded=EMBEDDED)
    assert [item.owner for item in change.conflicts] == [SOMEBODY]


def test_a_string_that_holds_our_entries_already_is_left_byte_for_byte() -> None:
    text = pools("theirs", "rail0").replace(" ", "   ")
    change = compared(with_config(pools("rail0")), with_config(text, managedFields=OURS), ours=True, embedded=EMBEDDED)
    assert change.desired["spec"]["rdmaSharedDevicePlugin"]["config"] == text
    assert change.action is Action.UNCHANGED


def test_a_string_that_cannot_be_read_is_a_conflict_on_the_whole_field() -> None:
    change = compared(with_config(pools("rail0")), with_config("{not json"), embedded=EMBEDDED)
    assert [(item.path, item.old, item.owner) for item in change.conflicts] == [(CONFIG, "{not json", UNREADABLE)]


def test_entries_that_are_ours_by_the_ledger_and_not_wanted_any_more_go() -> None:
    rail1 = {"resourceName": "rail1", "rdmaHcaMax": 63}
    taken = (TakenField((*CONFIG, "{resourceName=rail1}"), MISSING, rail1),)
    live = with_config(pools("theirs", "rail0", "rail1"), managedFields=OURS)
    change = compared(with_config(pools("rail0")), live, ours=True, taken=taken, embedded=EMBEDDED)
    assert [pool["resourceName"] for pool in config_of(change)["configList"]] == ["theirs", "rail0"]


def test_a_section_that_we_give_up_keeps_the_entries_of_others() -> None:
    rail0 = {"resourceName": "rail0", "rdmaHcaMax": 63}
    taken = (TakenField((*CONFIG, "{resourceName=rail0}"), MISSING, rail0),)
    live = with_config(pools("theirs", "rail0"), managedFields=OURS)
    change = compared(a_policy({}), live, ours=True, taken=taken)
    assert [pool["resourceName"] for pool in config_of(change)["configList"]] == ["theirs"]
    alone = compared(a_policy({}), with_config(pools("rail0"), managedFields=OURS), ours=True, taken=taken)
    assert [(item.path, item.new) for item in alone.fields] == [(CONFIG, MISSING)]


def test_without_the_ledger_a_section_with_entries_is_never_given_up() -> None:
    live = with_config(pools("theirs"), managedFields=OURS)
    assert [pool["resourceName"] for pool in config_of(compared(a_policy({}), live, ours=True))["configList"]] == [
        "theirs"
    ]


def test_classes_of_nfd_are_a_union_and_vendor_alone_is_wanted() -> None:
    def an_nfd(text: str) -> dict[str, Any]:
        return {
            "apiVersion": "nfd.openshift.io/v1",
            "kind": "NodeFeatureDiscovery",
            "metadata": {"name": "nfd-instance", "namespace": "openshift-nfd"},
            "spec": {"workerConfig": {"configData": text}},
        }

    ours = 'sources:\n  pci:\n    deviceClassWhitelist: ["02", "0207"]\n    deviceLabelFields: [vendor]\n'
    live = 'core:\n  sleepInterval: 60s\nsources:\n  pci:\n    deviceClassWhitelist: ["02", "12"]\n    deviceLabelFields: [class, vendor]\n'
    change = compared(an_nfd(ours), an_nfd(live), embedded=(("spec.workerConfig.configData", "nfd-config"),))
    assert [item.path[-1] for item in change.fields] == [
        "{sources.pci.deviceClassWhitelist=0207}",
        "{sources.pci.deviceLabelFields}",
    ]
    text = change.desired["spec"]["workerConfig"]["configData"]
    assert "sleepInterval: 60s" in text
    assert text.count("- '") == 3


def test_drift_names_only_fields_that_hold_another_value() -> None:
    items = (a_manifest(a_policy({"a": 1, "b": 2})), a_manifest({**a_policy({"a": 1}), "kind": "Absent"}))
    found = drift(items, {items[0].ref: a_policy({"a": 1, "b": 3})})
    assert {ref.name: [item.path for item in fields] for ref, fields in found.items()} == {
        "nic-cluster-policy": [("spec", "b")]
    }
