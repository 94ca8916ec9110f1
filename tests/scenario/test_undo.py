"""What clean, and a change of intent, give back: ours goes, what others made or changed meanwhile stays and is named."""

from dataclasses import replace

import pytest
from support.others import (
    NIC,
    change,
    make,
    now_is,
    plugin_pools,
    remove,
    store,
    with_pool,
)
from support.scenarios import Heard, Yes, applied, beside_team_a, intents_for, open_for
from support.traces import seen_objects

from railwright import api
from railwright.core import kinds
from railwright.core.errors import NotFound
from railwright.core.objects import Ref, dig, labels_of
from railwright.simulator.faults.uplinks import uplink_is_connectx
from railwright.simulator.worlds.model import Draft

SUBSCRIPTION = Ref(kinds.SUBSCRIPTION, "nvidia-network-operator", "nvidia-network-operator")
MACHINE = Ref(kinds.MACHINE_CONFIG, "", "99-railwright-worker")
NETWORK = Ref(kinds.MACVLAN_NETWORK, "", "east-west-rail0")
WORKER = Ref(kinds.NODE, "", "worker-1")
SETTLE_S = 1800.0


async def applied_world(method="shared", **options):
    world = await open_for("roce")
    assert (await applied(world, intents_for(method, "roce", **options))).exit_code == 0
    return world


async def adopted_world(method):
    world = await open_for("roce", world="adopt")
    assert (await applied(world, beside_team_a(method))).exit_code == 0
    return world


async def removed(world):
    record = await api.clean(world, approval=Yes())
    assert record.exit_code == 0
    return {item.ref: item for item in record.objects}


def section(world, name):
    return dig(now_is(world, NIC), "spec", name, default={})


async def test_a_pool_of_others_in_our_policy_survives_another_method():
    """What is beside it, image and version, stays with it: a section without them is refused or breaks."""
    world = await applied_world()
    with_pool(world, "team_b")
    record = await applied(world, intents_for("host-device", "roce"))
    assert record.exit_code == 0
    assert set(plugin_pools(world)) == {"team_b"}
    assert section(world, "rdmaSharedDevicePlugin")["version"] == "network-operator-v26.4.1"
    heard = Heard()
    await applied(world, intents_for("host-device", "roce"), progress=heard)
    assert heard.writes == []


async def test_a_policy_of_ours_that_others_use_by_now_stays_without_our_entries():
    world = await applied_world()
    with_pool(world, "team_b")
    objects = await removed(world)
    assert set(plugin_pools(world)) == {"team_b"}
    assert [item.path[-1] for item in objects[NIC].left] == ["{resourceName=team_b}"]
    assert section(world, "rdmaSharedDevicePlugin")["image"] == "k8s-rdma-shared-dev-plugin"
    assert "which we did not make" in objects[SUBSCRIPTION].reason


async def test_a_section_that_we_added_to_their_policy_stays_whole_while_others_use_it():
    world = await adopted_world("host-device")
    with_pool(world, "team_b", "sriovDevicePlugin")
    objects = await removed(world)
    assert set(plugin_pools(world, "sriovDevicePlugin")) == {"team_b"}
    assert section(world, "sriovDevicePlugin")["image"] == "sriov-network-device-plugin"
    assert ("spec", "sriovDevicePlugin", "image") in {item.path for item in objects[NIC].left}


async def test_a_dry_run_of_clean_changes_nothing_and_names_everything():
    world = await applied_world()
    before = await seen_objects(world.cluster)
    record = await api.clean(world, approval=Yes(), dry_run=True)
    assert {item.ref for item in record.objects} >= {NIC, NETWORK, SUBSCRIPTION, MACHINE}
    assert before == await seen_objects(world.cluster)


async def test_cleaning_again_finds_nothing_to_do():
    world = await applied_world()
    await removed(world)
    assert await removed(world) == {}


async def test_an_object_that_somebody_made_anew_is_theirs():
    world = await applied_world()
    theirs = {key: value for key, value in now_is(world, NETWORK).items() if key in {"apiVersion", "kind", "spec"}}
    remove(world, NETWORK)
    make(world, {**theirs, "metadata": {"name": NETWORK.name}})
    objects = await removed(world)
    assert (objects[NETWORK].action, "somebody made it anew" in objects[NETWORK].reason) == ("forget", True)
    assert now_is(world, NETWORK)


async def test_a_label_that_somebody_changed_is_left_and_reported():
    world = await applied_world()
    change(world, WORKER, {"metadata": {"labels": {"railwright.dev/group.east-west": "mine"}}})
    objects = await removed(world)
    assert [(item.path[-1], item.old) for item in objects[WORKER].left] == [("railwright.dev/group.east-west", "mine")]
    assert labels_of(now_is(world, WORKER))["railwright.dev/group.east-west"] == "mine"


async def test_objects_of_others_in_our_namespaces_keep_them():
    world = await applied_world()
    pod = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs", "namespace": "training"}}
    make(world, pod)
    objects = await removed(world)
    kept = objects[Ref(kinds.NAMESPACE, "", "training")]
    assert (kept.action, kept.reason) == ("keep", "it holds ConfigMap training/theirs, which we did not make")


async def test_a_node_that_went_bad_keeps_what_it_has_and_nothing_new_is_done_to_it():
    """Its uplink moved to a ConnectX: the next driver restart would cut it off."""
    world = await applied_world()
    before = labels_of(now_is(world, WORKER))
    _turn_bad(world, "worker-1")
    heard = Heard()
    record = await applied(world, intents_for("shared", "roce"), progress=heard)
    assert heard.writes == []
    assert {item.node for item in record.refused_nodes} == {"worker-1"}
    assert "admitted-node-went-bad" in {item.code for item in record.warnings}
    assert labels_of(now_is(world, WORKER)) == before
    now = await api.status(world)
    assert [node for node, _ in now.not_admitted] == ["worker-1"]
    assert ("nic-driver-ready", "UNKNOWN") in {(stage.name, stage.verdict.value) for stage in now.stages}
    assert now.exit_code == 6


async def test_clean_does_not_take_a_driver_from_a_node_that_would_be_cut_off():
    world = await applied_world()
    _turn_bad(world, "worker-1")
    with pytest.raises(api.Refused, match="worker-1"):
        await api.clean(world, approval=Yes())
    assert now_is(world, NIC)


async def test_node_configuration_in_force_is_kept_when_all_is_applied_again():
    """By then the nodes have what it gave them; without it they would lose that again, with a reboot."""
    world = await applied_world()
    config = now_is(world, MACHINE)["spec"]
    await world.clock.sleep(SETTLE_S)
    heard = Heard()
    await applied(world, intents_for("shared", "roce"), progress=heard)
    assert heard.writes == []
    assert now_is(world, MACHINE)["spec"] == config


async def test_address_pools_stay_as_they_are_when_a_node_goes_and_comes_again():
    """Another block size would give every node other addresses, under the pods that have some."""
    more = "  nodes: {names: [worker-0, worker-1]}\n  podsPerRail: 4\n  network: {subnets: 192.168.0.0/24}\n"
    world = await applied_world(more=more)
    pools = _pools(world)
    assert pools["east-west-rail0"]["perNodeBlockSize"] == 8
    one = intents_for("shared", "roce", more=more.replace(", worker-1", ""))
    for intents in (one, intents_for("shared", "roce", more=more)):
        assert (await applied(world, intents)).exit_code == 0
        assert _pools(world) == pools
    assert labels_of(now_is(world, WORKER))["railwright.dev/fabric.east-west"] == "admitted"


async def test_blocks_that_have_to_change_for_one_more_node_are_named_before():
    more = "  nodes: {names: [worker-0]}\n  podsPerRail: 4\n  network: {subnets: 192.168.0.0/24}\n"
    world = await applied_world(more=more)
    assert _pools(world)["east-west-rail0"]["perNodeBlockSize"] == 16
    both = intents_for("shared", "roce", more=more.replace("[worker-0]", "[worker-0, worker-1]"))
    warnings = (await api.plan(world, both)).plan.warnings
    assert "IPPool east-west-rail0" in {item.where for item in warnings if item.code == "address-blocks-change"}
    assert (await applied(world, both)).exit_code == 0
    assert _pools(world)["east-west-rail0"]["perNodeBlockSize"] == 8


async def test_only_what_a_change_of_intent_no_longer_wants_goes():
    world = await applied_world()
    fewer = intents_for("shared", "roce", more="  rails: [{name: rail0, netdev: enp24s0np0}]\n")
    assert (await applied(world, fewer)).exit_code == 0
    assert set(plugin_pools(world)) == {"east_west_rail0"}
    assert set(_pools(world)) == {"east-west-rail0"}
    assert now_is(world, NETWORK)
    with pytest.raises(NotFound):
        now_is(world, replace(NETWORK, name="east-west-rail1"))


def _pools(world):
    return {
        ref.name: obj["spec"]
        for ref, obj in store(world).objects.items()
        if ref.kind == kinds.NV_IPAM_IP_POOL and ref.name.startswith("east-west")
    }


def _turn_bad(world, node):
    """Somebody moves a node's uplink to a ConnectX port."""
    engine = world.cluster.engine
    machine = next(item for item in engine.machines if item.name == node)
    (bad,) = uplink_is_connectx(Draft((machine,), (), ())).machines
    engine.machines = tuple(bad if item.name == node else item for item in engine.machines)
