"""How driver pods are replaced: the recorded states in their order, slots, skipped nodes, pods that would not come back."""

import pytest

from railwright.core import kinds
from railwright.core.objects import Ref, dig, labels_of, ref_of
from railwright.standins.kinds.daemonsets import REVISION_LABEL, revision
from railwright.standins.kinds.driver_upgrades import Upgrade, roll
from railwright.standins.model import Objects

ORDER = {
    "ofed": ("drain-required", ()),
    "gpu": ("pod-deletion-required", ("validation-required",)),
}
SET = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "driver", "namespace": "ns", "uid": "set"},
    "spec": {"template": {"spec": {"containers": [{"name": "driver", "image": "driver:2"}]}}},
}


def a_node(name, **labels):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": {}}


def a_pod(name, node, *, form, owner="DaemonSet", spec=None):
    owners = [{"kind": owner, "name": "driver", "uid": "set" if owner == "DaemonSet" else "job"}] if owner else []
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "ns",
            "labels": {REVISION_LABEL: form},
            "ownerReferences": owners,
        },
        "spec": {"nodeName": node, "containers": [], **(spec or {})},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }


def merged(old, change):
    result = dict(old)
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(old.get(key, {}), value) if isinstance(value, dict) else value
    return result


def stepped(objects, upgrade):
    """Carry one round out; a driver pod that is deleted comes back in the newest form, and is ready."""
    found = {ref_of(obj): obj for obj in objects}
    for write in roll(Objects(found), upgrade):
        if write.verb == "merge":
            found[write.ref] = merged(found[write.ref], write.body)
            continue
        gone = found.pop(write.ref)
        if labels_of(gone)[REVISION_LABEL] == "old":
            new = a_pod(f"{write.ref.name}-new", gone["spec"]["nodeName"], form=revision(SET))
            found[ref_of(new)] = new
    return list(found.values())


def states_of(objects, upgrade, *, rounds=14):
    """The state of each node after each round, without repetitions."""
    seen = {}
    for _ in range(rounds):
        objects = stepped(objects, upgrade)
        for obj in objects:
            if obj["kind"] == "Node":
                trace = seen.setdefault(obj["metadata"]["name"], [])
                state = (labels_of(obj).get(upgrade.state_label), bool(obj["spec"].get("unschedulable")))
                if not trace or trace[-1] != state:
                    trace.append(state)
    return seen, objects


def an_upgrade(driver, **policy):
    return Upgrade(driver, {"autoUpgrade": True, "maxParallelUpgrades": 1, **policy}, (SET,))


def two_nodes(**labels):
    return [SET, a_node("a"), a_node("b", **labels), *(a_pod(f"driver-{n}", n, form="old") for n in ("a", "b"))]


@pytest.mark.parametrize("driver", ["ofed", "gpu"])
def test_a_node_goes_through_the_recorded_states_and_is_cordoned_meanwhile(driver):
    emptying, before_the_end = ORDER[driver]
    seen, _ = states_of(two_nodes(), an_upgrade(driver))
    assert seen["a"] == [
        ("upgrade-required", False),
        ("cordon-required", False),
        ("wait-for-jobs-required", True),
        (emptying, True),
        ("pod-restart-required", True),
        *((state, True) for state in before_the_end),
        ("uncordon-required", True),
        ("upgrade-done", False),
    ]


def test_nodes_go_one_after_the_other_where_one_slot_is_given():
    upgrade = an_upgrade("ofed")
    objects = two_nodes()
    for _ in range(30):
        objects = stepped(objects, upgrade)
        at_work = [obj for obj in objects if obj["kind"] == "Node" and obj["spec"].get("unschedulable")]
        assert len(at_work) <= 1
    assert {labels_of(obj)[upgrade.state_label] for obj in objects if obj["kind"] == "Node"} == {"upgrade-done"}


def test_a_node_that_is_marked_waits_and_keeps_its_old_pod():
    upgrade = an_upgrade("gpu")
    seen, objects = states_of(two_nodes(**{upgrade.skip_label: "true"}), upgrade, rounds=30)
    assert seen["b"] == [("upgrade-required", False)]
    pods = {dig(obj, "spec", "nodeName"): labels_of(obj)[REVISION_LABEL] for obj in objects if obj["kind"] == "Pod"}
    assert pods == {"a": revision(SET), "b": "old"}


def test_a_pod_with_a_gpu_that_nothing_would_make_again_fails_the_node_and_takes_the_slot():
    upgrade = an_upgrade("gpu")
    gpu = {"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}
    naked = a_pod("naked", "a", form="", owner="", spec=gpu)
    seen, objects = states_of([*two_nodes(), naked], upgrade, rounds=20)
    assert (seen["a"][-1], seen["b"]) == (("upgrade-failed", True), [("upgrade-required", False)])
    assert Ref(kinds.POD, "ns", "naked") in {ref_of(obj) for obj in objects}


def test_without_automatic_upgrades_the_labels_go_and_pods_stay():
    upgrade = Upgrade("gpu", {}, (SET,))
    objects = two_nodes(**{upgrade.state_label: "upgrade-done"})
    _, after = states_of(objects, upgrade, rounds=3)
    assert [labels_of(obj) for obj in after if obj["kind"] == "Node"] == [{}, {}]
    assert {labels_of(obj)[REVISION_LABEL] for obj in after if obj["kind"] == "Pod"} == {"old"}
