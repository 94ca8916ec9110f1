"""What the SR-IOV operator, the machine-config operator and kubelets do."""

import json

import pytest
from unit.simulator.walk import (
    allocatable,
    an_object,
    nic_policy,
    node,
    plugin,
)
from unit.standins.clusters import POLICY, SHARED, ready_cluster

from railwright.core.errors import NotFound, ObjectRefused, PermissionMissing
from railwright.core.ids import NodeName
from railwright.core.kinds import (
    CLUSTER_SERVICE_VERSION,
    CONFIG_MAP,
    MACHINE_CONFIG_POOL,
    NETWORK_ATTACHMENT_DEFINITION,
    SRIOV_IB_NETWORK,
    SRIOV_NETWORK,
    SRIOV_NETWORK_NODE_POLICY,
    SRIOV_NETWORK_NODE_STATE,
)
from railwright.core.objects import Ref
from railwright.simulator.open import open_simulator
from railwright.standins.kinds import kubelet
from railwright.standins.model import Objects
from railwright.standins.operators import SRIOV

# --- SR-IOV ----------------------------------------------------------------------------------------------------------


def a_sriov_policy(name="rail0", **spec):
    body = {
        "nodeSelector": {"node-role.kubernetes.io/worker": ""},
        "nicSelector": {"pfNames": ["enp24s0np0"], "vendor": "15b3"},
        "numVfs": 8,
        "resourceName": name,
        "isRdma": True,
        "mtu": 9000,
        **spec,
    }
    return an_object("sriovnetwork.openshift.io/v1", "SriovNetworkNodePolicy", name, SRIOV.namespace, spec=body)


async def sriov_cluster(spec="h200-roce"):
    world = await ready_cluster(spec)
    config = {"enableOperatorWebhook": True, "enableInjector": True}
    await world.cluster.apply(
        an_object("sriovnetwork.openshift.io/v1", "SriovOperatorConfig", "default", SRIOV.namespace, spec=config)
    )
    await world.clock.sleep(30)
    return world


async def state_of(world, name="worker-0"):
    return await world.cluster.get(Ref(SRIOV_NETWORK_NODE_STATE, SRIOV.namespace, name))


async def test_vfs_are_made_and_counted_and_their_resource_outlives_the_policy_with_zero():
    world = await sriov_cluster()
    assert (await state_of(world))["status"]["interfaces"][0]["totalvfs"] == 16
    await world.cluster.apply(a_sriov_policy())
    await world.clock.sleep(20)
    assert (await state_of(world))["status"]["syncStatus"] == "InProgress"
    await world.clock.sleep(120)
    state = await state_of(world)
    assert state["status"]["syncStatus"] == "Succeeded"
    assert len(state["status"]["interfaces"][0]["Vfs"]) == 8
    assert await allocatable(world, "openshift.io/rail0") == "8"
    record = (await world.node.read(NodeName("worker-0"), "railwright", timeout_s=1)).text
    assert record.count("physfn=0000:18:00.0") == 8
    await world.cluster.delete(Ref(SRIOV_NETWORK_NODE_POLICY, SRIOV.namespace, "rail0"))
    await world.clock.sleep(120)
    assert await allocatable(world, "openshift.io/rail0") == "0"


async def test_a_port_with_vfs_is_not_offered_and_its_name_selects_them():
    world = await sriov_cluster()
    await world.cluster.apply(a_sriov_policy())
    await world.clock.sleep(200)
    selectors = {"port": {"pfNames": ["enp24s0np0"]}, "address": {"pciAddresses": ["0000:18:00.0"]}}
    for name, selector in selectors.items():
        config = {"resourceList": [{"resourcePrefix": "nvidia.com", "resourceName": name, "selectors": selector}]}
        await world.cluster.apply(nic_policy(sriovDevicePlugin=plugin(config, "sriov-network-device-plugin")))
        await world.clock.sleep(300)
        assert await allocatable(world, f"nvidia.com/{name}") == ("8" if name == "port" else "0")


@pytest.mark.parametrize(
    ("fault", "status", "error"),
    [("vfs-stuck", "InProgress", ""), ("vf-lockdown", "Failed", "mellanox device detected when in lockdown mode")],
)
async def test_vfs_that_do_not_come(fault, status, error):
    world = await sriov_cluster(f"h200-roce+{fault}")
    await world.cluster.apply(a_sriov_policy())
    await world.clock.sleep(900)
    state = (await state_of(world))["status"]
    assert (state["syncStatus"], state["lastSyncError"]) == (status, error)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"nicSelector": {"pfNames": ["nobody"]}}, "no supported NIC is selected"),
        ({"nodeSelector": {"nobody": ""}}, "no matched node is selected"),
        ({"resourceName": "rail-0"}, "contains invalid characters"),
        ({"numVfs": 129}, "exceed the maximum allowed value"),
    ],
)
async def test_the_sriov_webhook_refuses(spec, text):
    world = await sriov_cluster()
    with pytest.raises(ObjectRefused, match=text):
        await world.cluster.apply(a_sriov_policy(**spec))


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ("not json", "Invalid json of RdmaSharedDevicePluginConfig"),
        ({"configList": [{"resourceName": "a", "resourcePrefix": "rdma"}]}, "must be a valid FQDN"),
        ({"configList": [{"resourceName": "a", "selectors": {"ifNames": ["x"]}}]}, "rdmaHcaMax is required"),
    ],
)
async def test_the_network_operators_webhook_refuses(config, text):
    world = await ready_cluster()
    section = plugin({}, "k8s-rdma-shared-dev-plugin") | {
        "config": config if isinstance(config, str) else json.dumps(config)
    }
    with pytest.raises(ObjectRefused, match=text):
        await world.cluster.apply(nic_policy(rdmaSharedDevicePlugin=section))


async def test_a_sriov_network_takes_its_nad_with_it_through_its_finalizer():
    world = await sriov_cluster()
    spec = {"networkNamespace": "default", "resourceName": "rail0", "ipam": "{}"}
    ref = Ref(SRIOV_NETWORK, SRIOV.namespace, "net0")
    await world.cluster.apply(
        an_object("sriovnetwork.openshift.io/v1", "SriovNetwork", "net0", SRIOV.namespace, spec=spec)
    )
    await world.clock.sleep(5)
    nad = Ref(NETWORK_ATTACHMENT_DEFINITION, "default", "net0")
    assert json.loads((await world.cluster.get(nad))["spec"]["config"])["type"] == "sriov"
    await world.cluster.delete(ref)
    assert (await world.cluster.get(ref))["metadata"]["deletionTimestamp"]
    await world.clock.sleep(5)
    for gone in (nad, ref):
        with pytest.raises(NotFound):
            await world.cluster.get(gone)


# --- machine configs and ports ---------------------------------------------------------------------------------------


def a_machine_config():
    body = an_object(
        "machineconfiguration.openshift.io/v1",
        "MachineConfig",
        "99-worker-railwright",
        spec={"kernelArguments": ["module_blacklist=irdma"]},
    )
    body["metadata"]["labels"] = {"machineconfiguration.openshift.io/role": "worker"}
    return body


async def test_a_machine_config_reboots_one_node_after_the_other_and_irdma_is_gone():
    world = open_simulator("h200-roce+irdma-loaded")
    before = await world.node.read(NodeName("worker-0"), "railwright", timeout_s=1)
    assert "irdma" in before.text
    await world.cluster.apply(a_machine_config())
    await world.clock.sleep(60)
    pool = await world.cluster.get(Ref(MACHINE_CONFIG_POOL, "", "worker"))
    assert pool["status"]["unavailableMachineCount"] == 1
    down = await world.node.read(NodeName("worker-0"), "railwright", timeout_s=1)
    assert "not ready" in down.problem
    await world.clock.sleep(700)
    pool = await world.cluster.get(Ref(MACHINE_CONFIG_POOL, "", "worker"))
    assert {item["type"]: item["status"] for item in pool["status"]["conditions"]}["Updated"] == "True"
    after = await world.node.read(NodeName("worker-0"), "railwright", timeout_s=1)
    assert "\nirdma " not in after.text


async def test_a_paused_pool_rolls_nothing_out():
    world = open_simulator("h200-roce+pool-paused")
    await world.cluster.apply(a_machine_config())
    await world.clock.sleep(1000)
    pool = await world.cluster.get(Ref(MACHINE_CONFIG_POOL, "", "worker"))
    assert pool["status"]["updatedMachineCount"] == 0
    assert not (await node(world))["spec"].get("unschedulable")


async def test_a_forbidding_api_server_says_what_may_not_be_done():
    world = open_simulator("h200-roce+api-forbidden")
    with pytest.raises(PermissionMissing, match='cannot patch resource "configmaps"'):
        await world.cluster.apply(an_object("v1", "ConfigMap", "x", "default", data={}))
    assert await world.cluster.may("list", "", "nodes")
    assert not await world.cluster.may("patch", "", "nodes")


async def test_a_plugin_that_finds_nothing_leaves_zero_behind_a_ready_policy():
    world = await ready_cluster("h200-roce+plugin-finds-nothing")
    await world.cluster.apply(nic_policy(rdmaSharedDevicePlugin=plugin(SHARED, "k8s-rdma-shared-dev-plugin")))
    await world.clock.sleep(400)
    assert (await world.cluster.get(POLICY))["status"]["state"] == "ready"
    assert await allocatable(world, "rdma/rail0") == "0"


async def test_host_device_pools_count_the_ports_they_select():
    world = await ready_cluster()
    pools = {
        "resourceList": [
            {"resourceName": "one", "resourcePrefix": "nvidia.com", "selectors": {"pfNames": ["enp24s0np0"]}},
            {
                "resourceName": "rest",
                "resourcePrefix": "nvidia.com",
                "selectors": {"vendors": ["15b3"], "isRdma": True},
            },
            {"resourceName": "none", "resourcePrefix": "nvidia.com", "selectors": {"linkTypes": ["infiniband"]}},
        ]
    }
    await world.cluster.apply(nic_policy(sriovDevicePlugin=plugin(pools, "sriov-network-device-plugin")))
    await world.clock.sleep(400)
    counts = [await allocatable(world, f"nvidia.com/{name}") for name in ("one", "rest", "none")]
    assert counts == ["1", "7", "0"]


async def test_a_pool_names_the_machine_configs_it_holds_only_once_they_are_rolled_out():
    world = open_simulator("h200-roce")
    ref = Ref(MACHINE_CONFIG_POOL, "", "worker")
    await world.cluster.apply(a_machine_config())
    await world.clock.sleep(10)
    pool = await world.cluster.get(ref)

    def held(part):
        return [item["name"] for item in part["configuration"]["source"]]

    assert held(pool["spec"]) == ["00-worker", "99-worker-railwright"]
    assert held(pool["status"]) == ["00-worker"]
    await world.clock.sleep(700)
    assert held((await world.cluster.get(ref))["status"]) == ["00-worker", "99-worker-railwright"]


async def test_infiniband_vfs_and_their_network():
    world = await sriov_cluster("h200-ib")
    policy = a_sriov_policy(nicSelector={"pfNames": ["ibp24s0"], "vendor": "15b3"}, linkType="ib", numVfs=4)
    del policy["spec"]["mtu"]
    await world.cluster.apply(policy)
    spec = {"networkNamespace": "default", "resourceName": "rail0", "ipam": "{}", "linkState": "enable"}
    kind = "SriovIBNetwork"
    await world.cluster.apply(an_object("sriovnetwork.openshift.io/v1", kind, "ib0", SRIOV.namespace, spec=spec))
    await world.clock.sleep(150)
    assert await allocatable(world, "openshift.io/rail0") == "4"
    state = await state_of(world)
    assert state["spec"]["interfaces"][0]["linkType"] == "ib"
    nad = await world.cluster.get(Ref(NETWORK_ATTACHMENT_DEFINITION, "default", "ib0"))
    assert json.loads(nad["spec"]["config"])["type"] == "ib-sriov"


async def test_a_stopped_sriov_operator_lets_networks_go_but_not_those_of_infiniband():
    world = await sriov_cluster()
    api, place = "sriovnetwork.openshift.io/v1", SRIOV.namespace
    for kind in ("SriovNetwork", "SriovIBNetwork"):
        spec = {"networkNamespace": "default", "resourceName": "rail0", "ipam": "{}"}
        await world.cluster.apply(an_object(api, kind, kind.lower(), place, spec=spec))
    await world.clock.sleep(5)
    await world.cluster.delete(Ref(CLUSTER_SERVICE_VERSION, place, "sriov-network-operator.v4.20.0-202511191710"))
    await world.clock.sleep(5)
    await world.cluster.delete(Ref(SRIOV_NETWORK, place, "sriovnetwork"))
    await world.cluster.delete(Ref(SRIOV_IB_NETWORK, place, "sriovibnetwork"))
    await world.clock.sleep(60)
    with pytest.raises(NotFound):
        await world.cluster.get(Ref(SRIOV_NETWORK, place, "sriovnetwork"))
    assert (await world.cluster.get(Ref(SRIOV_IB_NETWORK, place, "sriovibnetwork")))["metadata"]["deletionTimestamp"]


async def test_a_new_driver_version_reaches_the_nodes_one_by_one_only_with_auto_upgrade():
    for automatic, version in ((True, "26.07-0.1.0"), (False, "26.04-1.1.0")):
        world = await ready_cluster()
        await world.cluster.apply(nic_policy())
        await world.clock.sleep(400)
        driver = {
            "image": "doca-driver",
            "repository": "nvcr.io/nvidia/mellanox",
            "version": "doca3.5.0-26.07-0.1.0.0-1",
            "upgradePolicy": {"autoUpgrade": automatic},
        }
        await world.cluster.apply(nic_policy(ofedDriver=driver))
        await world.clock.sleep(100)
        status = (await world.cluster.get(POLICY))["status"]
        assert status["state"] == "notReady"
        await world.clock.sleep(900)
        text = (await world.node.read(NodeName("worker-1"), "railwright", timeout_s=1)).text
        assert f"mlx5_version\t{version}" in text


async def test_a_plugin_configuration_without_pools_counts_nothing():
    """The real operator writes null when the last policy of a node is gone, while its plugin still runs."""
    world = await sriov_cluster()
    await world.cluster.apply(a_sriov_policy())
    await world.clock.sleep(150)
    engine = world.cluster.engine
    ref = Ref(CONFIG_MAP, SRIOV.namespace, "device-plugin-config")
    empty = {
        **engine.store.objects[ref],
        "data": dict.fromkeys(engine.store.objects[ref]["data"], '{"resourceList":null}'),
    }
    writes = kubelet.react(Objects({**engine.store.objects, ref: empty}, engine.seen().devices), world.clock.now())
    counted = {write.ref.name: write.body["status"]["allocatable"]["openshift.io/rail0"] for write in writes}
    assert counted == {"worker-0": "0", "worker-1": "0"}
