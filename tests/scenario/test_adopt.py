"""Operators and policies that others installed: used as they are, changed where it must be, given back as they were."""

import pytest
from support.others import (
    NIC,
    TEAM_POOL,
    an_ip_pool,
    change,
    device_classes,
    driver_pods,
    make,
    now_is,
    only_on,
    open_changed,
    plugin_pools,
    remove,
    with_device_class,
    with_pool,
)
from support.scenarios import Heard, Yes, applied, beside_team_a, intents_for, open_for, verdicts
from support.traces import differences, seen_objects

from railwright import api
from railwright.changes.model import Action
from railwright.core import kinds
from railwright.core.objects import Ref, dig, ref_of
from railwright.simulator.faults.uplinks import uplink_is_connectx

METHODS = ("shared", "host-device", "sriov")
NFD = Ref(kinds.NODE_FEATURE_DISCOVERY, "openshift-nfd", "cluster-nfd")
GPU = Ref(kinds.CLUSTER_POLICY, "", "team-gpu-policy")
SETTLE_S = 1800.0
PEERMEM = "  driver: {memory: nvidia-peermem}\n"


class YesToAll:
    """Consents to everything, to taking fields of others too."""

    def approve(self, question):
        return True


async def adopt_world(*faults):
    world = await open_for("roce", *faults, world="adopt")
    await world.clock.sleep(SETTLE_S)
    return world


async def took_over(world, intents):
    return await api.apply(world, intents, approval=YesToAll(), take_over=True)


OPERATORS_OWN = (
    "Pod ",  # made anew for a changed section, and again for the old one
    "ConfigMap openshift-sriov-network-operator/device-plugin-config",  # stays, empty, from the first policy on
    "SriovNetworkNodeState ",  # says since then that its last sync had no error
)


def traces(before, after):
    """Everything that is not as it was, but for what operators of others keep for themselves."""
    return [line for line in differences(before, after) if not line.startswith(OPERATORS_OWN)]


async def removed(world):
    record = await api.clean(world, approval=Yes())
    assert record.exit_code == 0
    return {item.ref: item for item in record.objects}, record


def adopted_fields(prepared):
    """What would change in objects of others, by object: fields as text."""
    return {
        change.ref: sorted(".".join(item.path) for item in change.fields)
        for _, change in prepared.changes.items
        if change.action is Action.ADOPT and change.ref.kind != kinds.NODE
    }


@pytest.mark.parametrize("method", ["host-device", "sriov"])
async def test_a_port_that_team_a_hands_out_is_not_taken_away(method):
    world = await adopt_world()
    plan = (await api.plan(world, intents_for(method, "roce"))).plan
    assert {item.code for node in plan.nodes for item in node.refused} == {"port-used-by-others"}
    assert [item.code for item in plan.refusals] == ["no-node-admitted"]


@pytest.mark.parametrize("method", METHODS)
async def test_it_works_beside_others_settings_with_no_consent_to_take_any_and_leaves_no_trace(method):
    world, intents = await adopt_world(), beside_team_a(method)
    before = await seen_objects(world.cluster)

    record = await applied(world, intents)
    assert [item for item in verdicts(record.stages) if item[1] != "SKIP"] == []
    assert record.exit_code == 0
    now = await api.status(world)
    assert (now.exit_code, [stage.name for stage in now.stages if stage.drift]) == (0, [])

    heard = Heard()
    await applied(world, intents, progress=heard)
    assert heard.writes == []

    await removed(world)
    await world.clock.sleep(SETTLE_S)
    assert traces(before, await seen_objects(world.cluster)) == []


async def test_a_plan_takes_only_what_is_missing():
    world = await adopt_world()
    prepared = await api.plan(world, intents_for("shared", "roce"))
    fields = adopted_fields(prepared)
    assert set(fields) == {NFD, NIC, GPU}
    assert fields[GPU] == []
    assert all(".{resourceName=east_west_rail" in field for field in fields[NIC])
    assert all(".{sources.pci.deviceClassWhitelist=" in field for field in fields[NFD])
    assert not any(change.conflicts for _, change in prepared.changes.items)
    assert "operators-installed" not in {stage for stage, _ in prepared.changes.items}


async def test_versions_that_others_chose_stay():
    world = await adopt_world()
    await applied(world, intents_for("shared", "roce"))
    nic, gpu = now_is(world, NIC)["spec"], now_is(world, GPU)["spec"]
    assert nic["ofedDriver"]["version"] == "doca3.2.0-25.10-1.2.8.0-2"
    assert nic["rdmaSharedDevicePlugin"]["version"] == "network-operator-v25.10.0"
    assert (nic["nvIpam"]["version"], nic["nvIpam"]["enableWebhook"]) == ("network-operator-v25.10.0", True)
    assert gpu["driver"]["version"] == "580.95.05"


async def test_entries_of_others_survive_apply_a_later_change_of_intent_and_clean():
    world = await adopt_world()
    await applied(world, intents_for("shared", "roce"))
    assert len(plugin_pools(world)) == 9
    with_pool(world, "team_b_late")
    make(world, an_ip_pool("team-b-late"))
    with_device_class(world, NFD, "0108")

    few = intents_for("shared", "roce", more="  rails: [{name: rail0, netdev: enp24s0np0}]\n  podsPerRail: 7\n")
    record = await applied(world, few)
    assert record.exit_code == 0
    pools = plugin_pools(world)
    assert set(pools) == {"team_a_storage", "team_b_late", "east_west_rail0"}
    assert pools["east_west_rail0"]["rdmaHcaMax"] == 7
    assert {"0200", "0108", "0207"} <= set(device_classes(world, NFD))

    await removed(world)
    assert set(plugin_pools(world)) == {"team_a_storage", "team_b_late"}
    assert device_classes(world, NFD) == ["0200", "03", "12", "0108"]
    assert now_is(world, TEAM_POOL)["spec"]["subnet"] == "10.64.0.0/24"
    assert now_is(world, ref_of(an_ip_pool("team-b-late")))["spec"]["perNodeBlockSize"] == 8


async def test_an_entry_of_ours_that_somebody_changed_is_left_and_reported():
    world = await adopt_world()
    await applied(world, intents_for("shared", "roce"))
    with_pool(world, "east_west_rail3")
    objects, _ = await removed(world)
    assert set(plugin_pools(world)) == {"team_a_storage", "east_west_rail3"}
    (left,) = objects[NIC].left
    assert (left.path[-1], left.old["rdmaHcaMax"], left.owner) == ("{resourceName=east_west_rail3}", 5, "team-b")


async def test_entries_that_a_controller_takes_out_again_are_drift_and_come_back():
    world, intents = await adopt_world(), intents_for("shared", "roce")
    theirs = now_is(world, NIC)["spec"]["rdmaSharedDevicePlugin"]["config"]
    await applied(world, intents)
    change(world, NIC, {"spec": {"rdmaSharedDevicePlugin": {"config": theirs}}}, who="argocd-controller")
    drifted = [ref for stage in (await api.status(world)).stages for ref, _ in stage.drift]
    assert drifted == [NIC]
    assert (await applied(world, intents)).exit_code == 0
    assert len(plugin_pools(world)) == 9


async def test_a_field_of_others_is_taken_only_with_consent_and_given_back():
    world, intents = await adopt_world(), intents_for("shared", "roce", more=PEERMEM)
    before = await seen_objects(world.cluster)
    refused = await applied(world, intents)
    stopped = refused.stages[-1]
    assert (refused.exit_code, stopped.stage, stopped.writes) == (4, "gpu-driver-ready", ())
    assert "spec.driver.rdma.enabled is False, set by argocd-controller; wanted True" in stopped.reason

    assert (await took_over(world, intents)).exit_code == 0
    assert now_is(world, GPU)["spec"]["driver"]["rdma"] == {"enabled": True}
    assert (await api.status(world)).exit_code == 0
    await removed(world)
    await world.clock.sleep(SETTLE_S)
    assert traces(before, await seen_objects(world.cluster)) == []


async def test_consent_that_is_not_given_stops_before_the_field_is_taken():
    world = await adopt_world()
    with pytest.raises(api.Refused):
        await applied(world, intents_for("shared", "roce", more=PEERMEM), take_over=True)
    assert now_is(world, GPU)["spec"]["driver"]["rdma"] == {"enabled": False}


async def test_a_module_of_the_wrong_kind_is_shown_with_its_owner():
    world = await adopt_world()
    change(world, GPU, {"spec": {"driver": {"kernelModuleType": "proprietary"}}}, who="team-gpu")
    prepared = await api.plan(world, intents_for("shared", "roce"))
    (conflict,) = [item for _, change in prepared.changes.items for item in change.conflicts]
    assert (".".join(conflict.path), conflict.old, conflict.owner) == (
        "spec.driver.kernelModuleType",
        "proprietary",
        "team-gpu",
    )


async def test_a_policy_that_does_not_upgrade_drivers_by_itself_is_named_before():
    world = await adopt_world()
    change(world, GPU, {"spec": {"driver": {"upgradePolicy": {"autoUpgrade": False}}}}, who="team-gpu")
    codes = {item.code for item in (await api.plan(world, intents_for("shared", "roce"))).plan.warnings}
    assert "driver-pods-stay-old" not in codes
    codes = {item.code for item in (await api.plan(world, intents_for("shared", "roce", more=PEERMEM))).plan.warnings}
    assert "driver-pods-stay-old" in codes


async def test_a_module_that_the_operator_may_choose_is_left_to_it():
    world = await adopt_world()
    change(world, GPU, {"spec": {"driver": {"kernelModuleType": "auto"}}}, who="team-gpu")
    assert adopted_fields(await api.plan(world, intents_for("shared", "roce")))[GPU] == []


async def test_a_driver_that_we_add_stays_ours_and_goes_with_us():
    world, intents = await adopt_world(), intents_for("shared", "roce")
    change(world, NIC, {"spec": {"ofedDriver": None}}, who="team-a")
    await world.clock.sleep(SETTLE_S)
    before = await seen_objects(world.cluster)
    prepared = await api.plan(world, intents)
    assert "driver-without-canary" in {warning.code for warning in prepared.plan.warnings}

    assert (await applied(world, intents)).exit_code == 0
    assert dig(now_is(world, NIC), "spec", "ofedDriver", "version")
    heard = Heard()
    await applied(world, intents, progress=heard)
    assert heard.writes == []

    await removed(world)
    await world.clock.sleep(SETTLE_S)
    assert traces(before, await seen_objects(world.cluster)) == []


async def test_a_driver_is_not_added_where_the_policy_reaches_a_node_that_it_would_cut_off():
    """worker-0 is in no fabric, and the policy of others selects it all the same."""
    world = open_changed("adopt", lambda draft: only_on("worker-0", draft, uplink_is_connectx(draft)))
    change(world, NIC, {"spec": {"ofedDriver": None}}, who="team-a")
    await world.clock.sleep(SETTLE_S)
    intents = intents_for("shared", "roce", more="  nodes: {names: [worker-1]}\n")
    plan = (await api.plan(world, intents)).plan
    assert {(item.code, item.where) for item in plan.refusals} == {("uplink-would-be-cut", "worker-0")}
    assert "br-ex" in plan.refusals[0].seen
    with pytest.raises(api.Refused):
        await applied(world, intents)

    host = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["worker-1"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [host]}]}
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    change(world, NIC, {"spec": {"nodeAffinity": affinity}}, who="team-a")
    assert (await applied(world, intents)).exit_code == 0
    assert now_is(world, NIC)["spec"]["nodeAffinity"] == affinity


async def test_a_node_that_the_policy_leaves_out_is_refused_and_the_selector_stays():
    world, intents = await adopt_world(), intents_for("shared", "roce")
    host = {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["worker-1"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [host]}]}
    change(world, NIC, {"spec": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}})
    await world.clock.sleep(60)
    for pod in driver_pods(world):
        remove(world, pod)
    await world.clock.sleep(SETTLE_S)
    plan = (await api.plan(world, intents)).plan
    assert plan.admitted == ("worker-0",)
    assert [item.code for node in plan.nodes for item in node.refused] == ["policy-leaves-node-out"]
    assert (await applied(world, intents)).exit_code == 0


async def test_nv_ipam_that_we_added_stays_while_pools_of_others_need_it():
    """Its definitions are deleted with it, and every pool with them."""
    world, intents = await adopt_world(), intents_for("shared", "roce")
    remove(world, TEAM_POOL)
    change(world, NIC, {"spec": {"nvIpam": None}}, who="team-a")
    await world.clock.sleep(SETTLE_S)
    before = await seen_objects(world.cluster)
    assert (await applied(world, intents)).exit_code == 0
    make(world, an_ip_pool("team-b"))

    _, record = await removed(world)
    assert any("IPPool nvidia-network-operator/team-b" in note for note in record.notes)
    assert dig(now_is(world, NIC), "spec", "nvIpam", "image")
    await world.clock.sleep(SETTLE_S)
    assert now_is(world, ref_of(an_ip_pool("team-b")))

    remove(world, ref_of(an_ip_pool("team-b")))
    await removed(world)
    await world.clock.sleep(SETTLE_S)
    assert traces(before, await seen_objects(world.cluster)) == []


async def test_an_operator_that_olm_cannot_run_is_refused_before_a_node_is_touched():
    world, intents = await adopt_world("group-for-all"), intents_for("shared", "roce")
    prepared = await api.plan(world, intents)
    assert [item.code for item in prepared.plan.refusals] == ["operator-group-has-other-targets"]
    with pytest.raises(api.Refused):
        await applied(world, intents)


async def test_an_operator_of_others_that_was_never_approved_is_waited_for_though_none_is_ours():
    world = await adopt_world("approval-forgotten")
    record = await applied(world, intents_for("shared", "roce"))
    stopped = record.stages[-1]
    assert (record.exit_code, stopped.stage) == (4, "operators-installed")
    assert "sriov-network-operator" in stopped.reason
