"""Several fabrics on one cluster: composed, never at each other's cost, removed one by one."""

from dataclasses import dataclass, field

import pytest
from support.others import NIC, change, now_is, plugin_pools, store, with_pool
from support.scenarios import Heard, Yes, applied, open_for, rails
from support.traces import differences, seen_objects

from railwright import api
from railwright.core import kinds
from railwright.core.errors import PermissionMissing
from railwright.core.ids import FabricName
from railwright.core.objects import Ref, dig, labels_of
from railwright.core.risk import Risk
from railwright.ports.approval import Question
from railwright.simulator.cluster import SimCluster

FIRST, LAST = ("enp24s0np0", "enp58s0np0"), ("enp202s0np0", "enp218s0np0")
MACHINE = Ref(kinds.MACHINE_CONFIG, "", "99-railwright-worker")
WORKER = Ref(kinds.NODE, "", "worker-0")
SETTLE_S = 1800.0


def a_fabric(name, ports=FIRST, *, method="shared", more=""):
    named = ", ".join(f"{{name: rail{index}, netdev: {port}}}" for index, port in enumerate(ports))
    return rails(method, "roce", name=name, more=f"  rails: [{named}]\n{more}")


def east(**options):
    return api.parse_intents(a_fabric("east", **options))


def west(**options):
    return api.parse_intents(a_fabric("west", LAST, **options))


async def settled():
    world = await open_for("roce")
    await world.clock.sleep(SETTLE_S)
    return world


def subnets(world):
    """Subnet of each address pool, by name."""
    return {
        ref.name: obj["spec"]["subnet"]
        for ref, obj in store(world).objects.items()
        if ref.kind == kinds.NV_IPAM_IP_POOL
    }


async def without(world, name):
    record = await api.clean(world, (FabricName(name),), approval=Yes())
    assert record.exit_code == 0
    return record


SPELLED_ANEW = (
    "ConfigMap nvidia-network-operator/rdma-devices ",  # the configuration's text; what it means is compared apart
    "DaemonSet nvidia-network-operator/rdma-shared-dp-ds ",  # its hash
    "NicClusterPolicy nic-cluster-policy spec.rdmaSharedDevicePlugin.config",
    "ConfigMap railwright/",  # the ledger, with times of its own
    "Lease ",
    "Pod ",  # made anew when the policy's selector or configuration changes
)


def _own_differences(before, after):
    return [line for line in differences(before, after) if not line.startswith(SPELLED_ANEW)]


async def test_two_fabrics_of_one_file_share_what_there_is_one_of():
    world = await settled()
    before = await seen_objects(world.cluster)
    both = api.parse_intents(a_fabric("east") + "---\n" + a_fabric("west", LAST))
    assert (await applied(world, both)).exit_code == 0
    assert set(plugin_pools(world)) == {"east_rail0", "east_rail1", "west_rail0", "west_rail1"}
    terms = dig(now_is(world, NIC), "spec", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    assert [item["matchExpressions"][0]["key"] for item in terms["nodeSelectorTerms"]] == [
        "railwright.dev/fabric.east",
        "railwright.dev/fabric.west",
    ]
    files = {item["path"] for item in now_is(world, MACHINE)["spec"]["config"]["storage"]["files"]}
    assert {f"/etc/udev/rules.d/71-railwright-mtu-{name}.rules" for name in ("east", "west")} <= files
    assert len(set(subnets(world).values())) == 4

    assert (await api.clean(world, approval=Yes())).exit_code == 0
    await world.clock.sleep(SETTLE_S)
    assert differences(before, await seen_objects(world.cluster)) == []


async def test_a_fabric_applied_later_leaves_the_first_one_as_it_is():
    world = await settled()
    await applied(world, east())
    pools, addresses = plugin_pools(world), subnets(world)

    assert (await applied(world, west())).exit_code == 0
    assert {name: plugin_pools(world)[name] for name in pools} == pools
    assert {name: subnets(world)[name] for name in addresses} == addresses
    assert {"east", "west"} == {
        key.rpartition(".")[2] for key in labels_of(now_is(world, WORKER)) if key.startswith("railwright.dev/fabric.")
    }
    for intents in (east(), west()):
        heard = Heard()
        assert (await applied(world, intents, progress=heard)).exit_code == 0
        assert heard.writes == []


async def test_a_fabric_whose_name_comes_first_takes_no_subnet_of_an_earlier_one():
    world = await settled()
    await applied(world, west())
    addresses = subnets(world)
    await applied(world, east())
    assert {name: subnets(world)[name] for name in addresses} == addresses


async def test_removing_one_of_two_is_the_plan_without_it():
    world = await settled()
    await applied(world, east())
    alone, pools = await seen_objects(world.cluster), plugin_pools(world)
    await applied(world, west())
    await without(world, "west")
    await world.clock.sleep(SETTLE_S)
    assert _own_differences(alone, await seen_objects(world.cluster)) == []
    assert plugin_pools(world) == pools
    heard = Heard()
    await applied(world, east(), progress=heard)
    assert heard.writes == []
    assert (await api.status(world)).exit_code == 0


async def test_removing_one_of_two_asks_for_the_reboot_that_the_changed_node_configuration_costs():
    """The MachineConfig is shared: it stays, without the part of the one that goes."""

    class No:
        def approve(self, question):
            return question.risk is not Risk.REBOOT

    world = await settled()
    await applied(world, east())
    await applied(world, west())
    config = now_is(world, MACHINE)["spec"]
    with pytest.raises(api.Refused, match="nodes-prepared"):
        await api.clean(world, (FabricName("west"),), approval=No())
    assert now_is(world, MACHINE)["spec"] == config
    assert set(subnets(world)) >= {"west-rail0", "west-rail1"}


async def test_only_removing_the_last_one_needs_the_right_to_remove_the_ledgers_namespace(monkeypatch):
    async def may(self, verb, group, plural, namespace="", name=""):
        del self, group, namespace
        return (verb, plural) != ("delete", "namespaces") or name not in {"", "railwright"}

    world = await settled()
    await applied(world, east())
    await applied(world, west())
    monkeypatch.setattr(SimCluster, "may", may)
    await without(world, "west")
    with pytest.raises(PermissionMissing, match="delete namespaces railwright"):
        await api.clean(world, (FabricName("east"),), approval=Yes())


async def test_the_one_that_stays_keeps_its_addresses_when_the_first_goes():
    """Its subnets were chosen beside the other's; pods have addresses of them by now."""
    world = await settled()
    await applied(world, east())
    await applied(world, west())
    kept = {name: subnet for name, subnet in subnets(world).items() if name.startswith("west")}
    await without(world, "east")
    assert subnets(world) == kept
    assert set(plugin_pools(world)) == {"west_rail0", "west_rail1"}
    (decision,) = [
        item for item in (await api.plan(world, west())).plan.decisions if item.key == "west: spec.network.subnets"
    ]
    assert decision.value in {"172.24.0.0/14", "192.168.0.0/16"}


async def test_removing_one_of_two_leaves_no_trace_of_it_and_then_none_at_all():
    world = await settled()
    before = await seen_objects(world.cluster)
    await applied(world, east())
    await applied(world, west(method="host-device"))
    await without(world, "east")
    assert "rdmaSharedDevicePlugin" not in now_is(world, NIC)["spec"]
    assert not any(key.endswith(".east") for key in labels_of(now_is(world, WORKER)))
    await without(world, "west")
    await world.clock.sleep(SETTLE_S)
    assert differences(before, await seen_objects(world.cluster)) == []


async def test_entries_of_others_stay_when_one_of_two_goes():
    world = await settled()
    await applied(world, east())
    await applied(world, west())
    with_pool(world, "team_b")
    await without(world, "east")
    assert set(plugin_pools(world)) == {"west_rail0", "west_rail1", "team_b"}


@pytest.mark.parametrize(
    ("more", "key", "line"),
    [
        ("  driver: {nic: in-box}\n", "spec.driver.nic", 9),
        ("  driver: {gpu: proprietary, memory: nvidia-peermem}\n", "spec.driver.gpu", 9),
        ("  upgrade: {auto: false}\n", "spec.upgrade.auto", 10),
    ],
)
async def test_fabrics_that_contradict_are_refused_with_both_places(more, key, line):
    text = a_fabric("east", more="  driver: {nic: doca, gpu: open}\n  upgrade: {auto: true}\n")
    both = api.parse_intents(text + "---\n" + a_fabric("west", LAST, more=more))
    world = await open_for("roce")
    refusals = (await api.plan(world, both)).plan.refusals
    (found,) = [item for item in refusals if item.code == "fabrics-contradict" and item.message.endswith(key)]
    first, _, second = found.where.partition(" and ")
    assert first.startswith(f"rails.yaml:{line}:")
    assert second.startswith("rails.yaml:20:")
    with pytest.raises(api.Refused):
        await applied(world, both)


async def test_a_later_fabric_that_contradicts_the_applied_one_is_refused():
    world = await settled()
    await applied(world, east())
    heard = Heard()
    with pytest.raises(api.Refused) as refused:
        await applied(world, west(more="  upgrade: {auto: false}\n"), progress=heard)
    assert "fabrics-contradict" in refused.value.message
    assert heard.writes == []


async def test_a_port_is_a_rail_of_one_fabric_only():
    world = await open_for("roce")
    both = api.parse_intents(a_fabric("east") + "---\n" + a_fabric("west"))
    assert "port-in-two-fabrics" in {item.code for item in (await api.plan(world, both)).plan.refusals}


async def test_a_fabric_that_was_never_applied_is_not_removed():
    world = await settled()
    await applied(world, east())
    with pytest.raises(api.UsageError, match="west"):
        await api.clean(world, (FabricName("west"),), approval=Yes())


async def test_a_second_fabric_lists_and_asks_for_every_node_whose_driver_is_loaded_anew():
    """Its label widens the selector of the one policy, and the operator replaces driver pods of another form."""

    @dataclass
    class Asked:
        questions: list[Question] = field(default_factory=list)

        def approve(self, question):
            self.questions.append(question)
            return not question.takes_over

    world = await settled()
    only_first = "  nodes: {names: [worker-0]}\n"
    await applied(world, api.parse_intents(a_fabric("east", more=only_first)))
    only_second = "  nodes: {names: [worker-1]}\n"
    second = api.parse_intents(a_fabric("west", LAST, more=only_second))
    (reach,) = [item for item in (await api.plan(world, second)).plan.reaches if "anew" in item.what]
    assert reach.nodes == ("worker-0",)
    asked = Asked()
    assert (await api.apply(world, second, approval=asked)).exit_code == 0
    why = "NicClusterPolicy nic-cluster-policy changes in spec.nodeAffinity"
    (question,) = [item for item in asked.questions if any(why in line for line in item.details)]
    assert set(question.nodes) == {"worker-0", "worker-1"}
    assert question.details[0].startswith("moves DOCA driver")


async def test_removing_one_gives_plain_fields_back_that_only_it_took():
    """Of somebody's ClusterPolicy east takes gdrcopy, and west leaves it out: without east it is as it was."""
    world = await open_for("roce", world="adopt")
    policy = next(ref for ref in store(world).objects if ref.kind == kinds.CLUSTER_POLICY)
    change(world, policy, {"spec": {"gdrcopy": {"enabled": False}}}, who="team-a")
    await world.clock.sleep(SETTLE_S)
    before = now_is(world, policy)["spec"]
    east_ports, west_ports = (
        ("enp24s0np0", "enp58s0np0"),
        ("enp202s0np0", "enp218s0np0"),
    )
    east_text = a_fabric("east", east_ports, more="  driver: {gdrcopy: true}\n")
    west_text = a_fabric("west", west_ports)
    record = await api.apply(world, api.parse_intents(east_text), approval=AnyYes(), take_over=True)
    assert record.exit_code == 0
    assert now_is(world, policy)["spec"]["gdrcopy"] == {"enabled": True}
    assert (await applied(world, api.parse_intents(west_text))).exit_code == 0
    await without(world, "east")
    assert now_is(world, policy)["spec"] == before


class AnyYes:
    def approve(self, question):
        return True
