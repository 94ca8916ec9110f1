"""A section whose string holds entries of others stays whole: without image and version it is refused, or breaks."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from railwright.changes.compare import compare
from railwright.changes.invert import invert
from railwright.changes.model import MISSING, Change, TakenField
from railwright.changes.tree import merge_patch, patched
from railwright.core.ids import StageName
from railwright.core.objects import ref_of
from railwright.manifests.model import Manifest

SECTION = ("spec", "rdmaSharedDevicePlugin")
CONFIG, IMAGE = (*SECTION, "config"), (*SECTION, "image")
EMBEDDED = ((".".join(CONFIG), "rdma-shared"),)
OURS = "{resourceName=ours}"


def pools(*names: str) -> str:
    return json.dumps({"configList": [{"resourceName": name} for name in names]})


def a_policy(config: str | None, *, config_owner: str = "railwright", **spec: Any) -> dict[str, Any]:
    """A policy whose plugin section is ours, but perhaps for the string in it."""
    owned = {"f:rdmaSharedDevicePlugin": {"f:image": {}, **({"f:config": {}} if config_owner == "railwright" else {})}}
    managed = [{"manager": "railwright", "operation": "Apply", "fieldsV1": {"f:spec": owned}}]
    if config_owner != "railwright":
        theirs = {"f:spec": {"f:rdmaSharedDevicePlugin": {"f:config": {}}}}
        managed.append({"manager": config_owner, "operation": "Update", "fieldsV1": theirs})
    section = {} if config is None else {"rdmaSharedDevicePlugin": {"image": "plugin", "config": config}}
    return {
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": "NicClusterPolicy",
        "metadata": {"name": "nic-cluster-policy", "uid": "u", "resourceVersion": "7", "managedFields": managed},
        "spec": {**section, **spec},
    }


def taken() -> tuple[TakenField, ...]:
    return (
        TakenField((*CONFIG, OURS), MISSING, {"resourceName": "ours"}),
        TakenField(CONFIG, MISSING, pools("ours")),
        TakenField(IMAGE, MISSING, "plugin"),
        TakenField(SECTION, MISSING, {}),
    )


def given_up(live: dict[str, Any]) -> Change:
    """Compare a plan that wants nothing of the section any more."""
    ref = ref_of(live)
    wanted = {**a_policy(None), "metadata": {"name": ref.name}}
    items = (Manifest(StageName("s"), wanted, ()),)
    return compare(items, {ref: live}, frozenset({ref}), taken={ref: taken()}).items[0][1]


def section_of(change: Change) -> dict[str, Any]:
    return dict(change.desired["spec"].get("rdmaSharedDevicePlugin", {}))


@pytest.mark.parametrize("owner", ["railwright", "team-b"])
def test_ours_is_taken_out_whoever_owns_the_string_and_the_rest_stays(owner: str) -> None:
    """Who edits a string by hand owns it from then on; our entry is in it all the same."""
    change = given_up(a_policy(pools("ours", "theirs"), config_owner=owner))
    assert section_of(change)["image"] == "plugin"
    assert json.loads(section_of(change)["config"])["configList"] == [{"resourceName": "theirs"}]
    assert [item.path for item in change.fields] == [(*CONFIG, OURS)]
    assert (change.conflicts, change.embedded) == ((), EMBEDDED)


def test_a_string_from_which_they_took_ours_is_not_written_and_what_is_beside_it_stays() -> None:
    change = given_up(a_policy(pools("theirs"), config_owner="team-b"))
    assert section_of(change) == {"image": "plugin"}
    assert change.fields == ()


def test_a_section_with_nothing_of_others_goes_as_a_whole() -> None:
    change = given_up(a_policy(pools("ours")))
    assert section_of(change) == {}
    assert {item.path for item in change.fields} == {CONFIG, IMAGE}


def undone(live: dict[str, Any]) -> Change:
    change = invert(ref_of(live), created=False, uid="u", taken=taken(), embedded=EMBEDDED, live=live)
    assert change is not None
    return change


def test_undo_leaves_a_section_whole_that_others_use_and_names_what_it_leaves() -> None:
    live = a_policy(pools("ours", "theirs"), config_owner="team-b")
    change = undone(live)
    after = patched(live, change.desired)["spec"]["rdmaSharedDevicePlugin"]
    assert (after["image"], json.loads(after["config"])["configList"]) == ("plugin", [{"resourceName": "theirs"}])
    assert [(item.path, item.old) for item in change.left] == [(IMAGE, "plugin")]


def test_undo_removes_a_section_that_only_we_used() -> None:
    live = a_policy(pools("ours"))
    assert patched(live, undone(live).desired)["spec"] == {}


TREES = st.recursive(
    st.integers(0, 3), lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3), max_leaves=6
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), TREES, max_size=3)


@given(OBJECTS, OBJECTS)
@settings(deadline=None)
def test_a_merge_patch_leads_from_one_object_to_the_other(old: dict[str, Any], new: dict[str, Any]) -> None:
    patch = merge_patch(old, new)
    assert _bare(patched(old, patch)) == _bare(new)


def _bare(value: Any) -> Any:
    """Maps without the empty ones: a merge patch cannot tell an empty map from none."""
    if not isinstance(value, dict):
        return value
    found = {key: _bare(item) for key, item in value.items()}
    return {key: item for key, item in found.items() if item != {}}
