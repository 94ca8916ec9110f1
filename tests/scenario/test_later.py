"""What comes later: a new node, a changed fabric, 64 nodes in two groups."""

import pytest
from support.others import change, driver_pods, make, now_is, remove, store
from support.scenarios import Yes, applied, intents_for, open_for
from support.traces import seen_objects

from railwright import api
from railwright.core import kinds
from railwright.core.errors import Refused
from railwright.core.objects import Ref, dig, labels_of

NEW = Ref(kinds.NODE, "", "worker-1")
OWN_MARKS = ("railwright.dev/", "nvidia.com/", "network.nvidia.com/", "sriovnetwork.openshift.io/", "feature.node")


def driver_nodes(world):
    return {dig(now_is(world, pod), "spec", "nodeName") for pod in driver_pods(world)}


async def with_a_node_that_joins_later(method):
    """Apply while worker-1 is not there; then it joins as a new machine does, with no labels of operators."""
    world = await open_for("roce")
    joining = now_is(world, NEW)
    remove(world, NEW)
    assert (await applied(world, intents_for(method, "roce"))).exit_code == 0
    metadata = {
        "name": NEW.name,
        "labels": {k: v for k, v in labels_of(joining).items() if not k.startswith(OWN_MARKS)},
    }
    make(world, {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {}, "status": joining["status"]})
    await world.clock.sleep(3600)
    return world


@pytest.mark.parametrize("method", ["shared", "sriov"])
async def test_a_node_that_joins_later_is_untouched_until_it_is_admitted(method):
    world = await with_a_node_that_joins_later(method)
    assert not any(key.startswith("railwright.dev/") for key in labels_of(now_is(world, NEW)))
    assert driver_nodes(world) == {"worker-0"}
    rails = {key for key in now_is(world, NEW)["status"]["allocatable"] if "east_west" in key}
    assert {now_is(world, NEW)["status"]["allocatable"][key] for key in rails} <= {"0"}
    prepared = await api.plan(world, intents_for(method, "roce"))
    reached = [item for item in prepared.plan.reaches if "ClusterPolicy" in item.what]
    assert "worker-1" in reached[0].nodes
    status = await api.status(world)
    assert status.not_admitted == (("worker-1", "apply has not admitted it yet"),)
    assert status.exit_code == 0

    assert (await applied(world, intents_for(method, "roce"))).exit_code == 0
    assert driver_nodes(world) == {"worker-0", "worker-1"}
    assert (await api.status(world)).not_admitted == ()


@pytest.mark.parametrize("label", ["railwright.dev/fabric.east-west", "railwright.dev/group.east-west"])
async def test_a_node_that_lost_a_label_of_ours_is_named_and_admitted_again(label):
    world = await open_for("roce")
    await applied(world, intents_for("shared", "roce"))
    change(world, NEW, {"metadata": {"labels": {label: None}}})
    await world.clock.sleep(3600)
    status = await api.status(world)
    named = {node for node, _ in status.not_admitted} | {ref.name for stage in status.stages for ref, _ in stage.drift}
    assert named == {"worker-1"}
    assert (await applied(world, intents_for("shared", "roce"))).exit_code == 0
    assert label in labels_of(now_is(world, NEW))
    again = await api.status(world)
    assert (again.not_admitted, again.exit_code) == ((), 0)


async def test_verify_names_a_node_that_lost_its_label_since_apply():
    world = await open_for("roce")
    await applied(world, intents_for("shared", "roce"))
    change(world, NEW, {"metadata": {"labels": {"railwright.dev/fabric.east-west": None}}})
    with pytest.raises(
        Refused, match=r"worker-1: its label railwright\.dev/fabric\.east-west=admitted, which .* is gone"
    ) as refused:
        await api.verify(world, None, approval=Yes())
    assert refused.value.hint.startswith("railwright apply admits again")
    assert "--include-busy" not in refused.value.hint


async def test_a_node_that_was_made_anew_under_its_name_is_not_admitted_and_status_says_so():
    """Its labels went with the old machine, and the ledger speaks of that one."""
    world = await open_for("roce")
    await applied(world, intents_for("shared", "roce"))
    old = now_is(world, NEW)
    remove(world, NEW)
    labels = {key: value for key, value in labels_of(old).items() if not key.startswith(OWN_MARKS)}
    make(
        world,
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NEW.name, "labels": labels}, "status": old["status"]},
    )
    await world.clock.sleep(3600)
    assert (await api.status(world)).not_admitted == (("worker-1", "apply has not admitted it yet"),)
    assert driver_nodes(world) == {"worker-0"}
    assert (await applied(world, intents_for("shared", "roce"))).exit_code == 0
    assert (await api.status(world)).exit_code == 0
    assert (await api.clean(world, approval=Yes())).exit_code == 0
    assert not any(key.startswith("railwright.dev/") for key in labels_of(now_is(world, NEW)))


async def test_a_fabric_that_changes_its_method_leaves_nothing_of_the_first():
    world = await open_for("roce")
    await applied(world, intents_for("shared", "roce"))
    assert (await applied(world, intents_for("host-device", "roce"))).exit_code == 0
    there = {ref.kind.kind for ref in store(world).objects}
    assert "MacvlanNetwork" not in there
    assert "HostDeviceNetwork" in there
    policy = now_is(world, Ref(kinds.NIC_CLUSTER_POLICY, "", "nic-cluster-policy"))
    assert "rdmaSharedDevicePlugin" not in policy["spec"]
    assert (await api.status(world)).exit_code == 0


@pytest.mark.soak
@pytest.mark.parametrize("method", ["shared", "host-device", "sriov"])
async def test_sixty_four_nodes_in_two_groups_are_done_whole(method):
    world, intents = await open_for("roce", world="mixed"), intents_for(method, "roce")
    plan = (await api.plan(world, intents)).plan
    if plan.is_refused:
        # A network names one netdev for all nodes: unlike groups need a fabric each.
        assert (method, {item.code for item in plan.refusals}) == ("shared", {"rail-names-differ"})
        return
    assert (await applied(world, intents)).exit_code == 0
    assert (await api.status(world)).exit_code == 0
    assert (await api.clean(world, approval=Yes())).exit_code == 0
    left = [line for line in await seen_objects(world.cluster) if "railwright" in str(line)]
    assert left == []
