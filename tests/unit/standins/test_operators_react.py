"""What the stand-ins do, held to what the real operators were recorded to do (reference/operator-behaviour.md)."""

import json

import pytest
from unit.simulator.walk import (
    allocatable,
    an_object,
    gpu_policy,
    install_operators,
    nic_policy,
    node,
    plugin,
    subscribe,
)

from railwright.core.errors import KindNotServed, NotFound, ObjectRefused, PermissionMissing
from railwright.core.ids import NodeName
from railwright.core.kinds import (
    CLUSTER_POLICY,
    CLUSTER_SERVICE_VERSION,
    DAEMON_SET,
    DEPLOYMENT,
    INSTALL_PLAN,
    MACHINE_CONFIG_POOL,
    NETWORK_ATTACHMENT_DEFINITION,
    NIC_CLUSTER_POLICY,
    NODE,
    NV_IPAM_IP_POOL,
    POD,
    SRIOV_NETWORK,
    SRIOV_NETWORK_NODE_POLICY,
    SRIOV_NETWORK_NODE_STATE,
    SUBSCRIPTION,
)
from railwright.core.objects import Ref, dig
from railwright.ports.cluster import Selection
from railwright.simulator.open import open_simulator
from railwright.standins.operators import GPU, NETWORK, NFD, SRIOV

POLICY = Ref(NIC_CLUSTER_POLICY, "", "nic-cluster-policy")
GPU_POLICY = Ref(CLUSTER_POLICY, "", "gpu-cluster-policy")
WAIT = "network.nvidia.com/operator.mofed.wait"
SHARED = {"configList": [{"resourceName": "rail0", "rdmaHcaMax": 63, "selectors": {"ifNames": ["enp24s0np0"]}}]}
APPLIED_STATES = [
    "state-multus-cni",
    "state-container-networking-plugins",
    "state-ipoib-cni",
    "state-OFED",
    "state-SRIOV-device-plugin",
    "state-RDMA-device-plugin",
    "state-ib-kubernetes",
    "state-nv-ipam-cni",
    "state-nic-feature-discovery",
    "state-doca-telemetry-service",
    "state-nic-configuration-operator",
    "state-spectrum-x-operator",
]


async def ready_cluster(spec="h200-roce"):
    world = open_simulator(spec)
    await install_operators(world)
    return world


async def states(world):
    policy = await world.cluster.get(POLICY)
    return {item["name"]: item for item in policy["status"]["appliedStates"]}


async def label(world, name):
    return (await node(world))["metadata"]["labels"].get(name)


# --- OLM -------------------------------------------------------------------------------------------------------------


async def test_a_manual_install_waits_for_approval_and_then_brings_the_kinds():
    world = open_simulator("h200-roce")
    with pytest.raises(KindNotServed):
        await world.cluster.get(POLICY)
    await subscribe(world, NETWORK, "Manual")
    await world.clock.sleep(60)
    (plan,) = [item async for item in world.cluster.list(Selection(INSTALL_PLAN))]
    assert plan["status"]["phase"] == "RequiresApproval"
    subscription = await world.cluster.get(Ref(SUBSCRIPTION, NETWORK.namespace, NETWORK.package))
    assert subscription["status"]["state"] == "UpgradePending"
    assert "installedCSV" not in subscription["status"]
    await world.cluster.patch(
        Ref(INSTALL_PLAN, NETWORK.namespace, plan["metadata"]["name"]), {"spec": {"approved": True}}
    )
    await world.clock.sleep(60)
    csv = await world.cluster.get(Ref(CLUSTER_SERVICE_VERSION, NETWORK.namespace, "nvidia-network-operator.v26.4.1"))
    assert csv["status"]["phase"] == "Succeeded"
    with pytest.raises(NotFound):
        await world.cluster.get(POLICY)


async def test_the_subscription_is_at_latest_before_the_csv_has_succeeded():
    world = open_simulator("h200-roce+csv-stuck")
    await subscribe(world, NFD)
    await world.clock.sleep(120)
    subscription = await world.cluster.get(Ref(SUBSCRIPTION, NFD.namespace, NFD.package))
    assert subscription["status"]["state"] == "AtLatestKnown"
    (csv,) = [item async for item in world.cluster.list(Selection(CLUSTER_SERVICE_VERSION))]
    assert (csv["status"]["phase"], csv["status"]["reason"]) == ("Installing", "InstallWaiting")


async def test_olm_is_silent_with_two_operator_groups():
    world = open_simulator("h200-roce+olm-silent")
    await world.cluster.apply(
        an_object(
            "operators.coreos.com/v1alpha1",
            "Subscription",
            "nfd",
            NFD.namespace,
            spec={
                "name": "nfd",
                "channel": "stable",
                "source": "redhat-operators",
                "sourceNamespace": "openshift-marketplace",
            },
        )
    )
    await world.clock.sleep(600)
    assert "status" not in await world.cluster.get(Ref(SUBSCRIPTION, NFD.namespace, "nfd"))


async def test_a_package_that_the_catalog_lacks_fails_the_resolution():
    world = open_simulator("h200-roce+catalog-missing-package")
    await subscribe(world, NETWORK)
    await world.clock.sleep(30)
    subscription = await world.cluster.get(Ref(SUBSCRIPTION, NETWORK.namespace, NETWORK.package))
    failed = [item for item in subscription["status"]["conditions"] if item["type"] == "ResolutionFailed"]
    assert "no operators found in package nvidia-network-operator" in failed[0]["message"]


async def test_deleting_the_csv_takes_the_deployment_and_leaves_the_kinds():
    world = await ready_cluster()
    await world.cluster.delete(Ref(SUBSCRIPTION, NETWORK.namespace, NETWORK.package))
    await world.cluster.delete(Ref(CLUSTER_SERVICE_VERSION, NETWORK.namespace, "nvidia-network-operator.v26.4.1"))
    await world.clock.sleep(30)
    with pytest.raises(NotFound):
        await world.cluster.get(Ref(DEPLOYMENT, NETWORK.namespace, NETWORK.deployments[0]))
    with pytest.raises(NotFound):
        await world.cluster.get(POLICY)


# --- Network Operator ------------------------------------------------------------------------------------------------


async def test_all_twelve_states_are_there_from_the_first_write_and_in_order():
    world = await ready_cluster()
    await world.cluster.apply(nic_policy())
    assert "status" not in await world.cluster.get(POLICY)
    await world.clock.sleep(5)
    policy = await world.cluster.get(POLICY)
    assert [item["name"] for item in policy["status"]["appliedStates"]] == APPLIED_STATES
    assert policy["status"]["state"] == "notReady"
    assert "observedGeneration" not in policy["status"]


async def test_wait_is_false_without_a_policy_true_while_the_driver_starts_and_false_again():
    world = await ready_cluster()
    assert await label(world, WAIT) == "false"
    await world.cluster.apply(nic_policy())
    await world.clock.sleep(20)
    assert await label(world, WAIT) == "true"
    await world.clock.sleep(300)
    assert await label(world, WAIT) == "false"


async def test_the_plugin_runs_only_after_the_driver_and_ready_comes_before_allocatable_could_be_trusted():
    world = await ready_cluster()
    await world.cluster.apply(nic_policy(rdmaSharedDevicePlugin=plugin(SHARED, "k8s-rdma-shared-dev-plugin")))
    await world.clock.sleep(60)
    plugin_set = await world.cluster.get(Ref(DAEMON_SET, NETWORK.namespace, "rdma-shared-dp-ds"))
    assert plugin_set["status"]["desiredNumberScheduled"] == 0
    assert (await states(world))["state-RDMA-device-plugin"]["state"] == "notReady"
    assert await allocatable(world, "rdma/rail0") is None
    await world.clock.sleep(240)
    assert (await world.cluster.get(POLICY))["status"]["state"] == "ready"
    assert await allocatable(world, "rdma/rail0") == "63"


async def test_an_edit_leaves_the_old_ready_standing_for_a_moment_and_rolls_the_plugin():
    world = await ready_cluster()
    image = "k8s-rdma-shared-dev-plugin"
    await world.cluster.apply(nic_policy(rdmaSharedDevicePlugin=plugin(SHARED, image)))
    await world.clock.sleep(400)
    other = {"configList": [{"resourceName": "rail9", "rdmaHcaMax": 5, "selectors": {"ifNames": ["enp58s0np0"]}}]}
    await world.cluster.apply(nic_policy(rdmaSharedDevicePlugin=plugin(other, image)))
    assert (await world.cluster.get(POLICY))["status"]["state"] == "ready"
    await world.clock.sleep(60)
    assert await allocatable(world, "rdma/rail9") == "5"
    assert await allocatable(world, "rdma/rail0") == "0"


async def test_hand_edits_stay_and_deletions_are_repaired():
    world = await ready_cluster()
    await world.cluster.apply(nic_policy(rdmaSharedDevicePlugin=plugin(SHARED, "k8s-rdma-shared-dev-plugin")))
    await world.clock.sleep(10)
    ref = Ref(DAEMON_SET, NETWORK.namespace, "rdma-shared-dp-ds")
    await world.cluster.patch(ref, {"metadata": {"labels": {"edited": "yes"}}})
    await world.clock.sleep(10)
    assert (await world.cluster.get(ref))["metadata"]["labels"]["edited"] == "yes"
    await world.cluster.delete(ref)
    await world.clock.sleep(10)
    assert "edited" not in (await world.cluster.get(ref))["metadata"]["labels"]


async def test_a_policy_of_another_name_is_ignored():
    world = await ready_cluster()
    await world.cluster.apply({**nic_policy(), "metadata": {"name": "my-policy"}})
    await world.clock.sleep(10)
    policy = await world.cluster.get(Ref(NIC_CLUSTER_POLICY, "", "my-policy"))
    assert policy["status"]["state"] == "ignore"


async def test_an_empty_policy_is_ready_with_every_state_ignored():
    world = await ready_cluster()
    await world.cluster.apply(an_object("mellanox.com/v1alpha1", "NicClusterPolicy", "nic-cluster-policy", spec={}))
    await world.clock.sleep(10)
    assert {item["state"] for item in (await states(world)).values()} == {"ignore"}
    assert (await world.cluster.get(POLICY))["status"]["state"] == "ready"


async def test_without_ostree_version_the_driver_state_is_error_and_its_message_comes_with_the_second_write():
    world = await ready_cluster("h200-roce+nfd-upstream")
    await world.cluster.apply(nic_policy())
    async with world.cluster.watch([Selection(NIC_CLUSTER_POLICY)]) as watch:
        seen = await watch.next(30)
    texts = [dig(item.obj, "status", "appliedStates", 3, "message") for item in seen]
    assert texts[0] is None
    assert "required NFD Label missing" in texts[-1]
    assert (await world.cluster.get(POLICY))["status"]["state"] == "notReady"


@pytest.mark.parametrize(
    ("fault", "reason"), [("image-pull-fails", "ImagePullBackOff"), ("driver-crashes", "CrashLoopBackOff")]
)
async def test_a_driver_that_does_not_start_leaves_the_policy_not_ready_without_a_message(fault, reason):
    world = await ready_cluster(f"h200-roce+{fault}")
    await world.cluster.apply(nic_policy())
    await world.clock.sleep(900)
    assert (await states(world))["state-OFED"] == {"name": "state-OFED", "state": "notReady"}
    assert await label(world, WAIT) == "true"
    pods = [
        pod async for pod in world.cluster.list(Selection(POD, NETWORK.namespace)) if "mofed" in pod["metadata"]["name"]
    ]
    assert pods[0]["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == reason


async def test_deleting_the_policy_takes_the_pools_of_nv_ipam_and_leaves_the_nads():
    world = await ready_cluster()
    await world.cluster.apply(nic_policy(nvIpam={"image": "nvidia-k8s-ipam", "repository": "r", "version": "v"}))
    with pytest.raises(KindNotServed):
        await world.cluster.get(Ref(NV_IPAM_IP_POOL, NETWORK.namespace, "pool"))
    await world.clock.sleep(5)
    await world.cluster.apply(an_object("nv-ipam.nvidia.com/v1alpha1", "IPPool", "pool", NETWORK.namespace, spec={}))
    await world.cluster.apply(a_macvlan())
    await world.clock.sleep(5)
    await world.cluster.delete(POLICY)
    await world.clock.sleep(10)
    with pytest.raises(KindNotServed):
        await world.cluster.get(Ref(NV_IPAM_IP_POOL, NETWORK.namespace, "pool"))
    assert await world.cluster.get(Ref(NETWORK_ATTACHMENT_DEFINITION, "default", "net0"))
    assert await label(world, WAIT) == "false"


# --- networks --------------------------------------------------------------------------------------------------------


def a_macvlan(**spec):
    body = {"networkNamespace": "default", "master": "enp24s0np0", "mtu": 9000, "ipam": '{"type": "nv-ipam"}', **spec}
    return an_object("mellanox.com/v1alpha1", "MacvlanNetwork", "net0", spec=body)


async def test_a_nad_parses_and_goes_with_its_network():
    world = await ready_cluster()
    await world.cluster.apply(a_macvlan())
    await world.clock.sleep(5)
    nad = await world.cluster.get(Ref(NETWORK_ATTACHMENT_DEFINITION, "default", "net0"))
    config = json.loads(nad["spec"]["config"])
    assert (config["type"], config["master"], config["mtu"]) == ("macvlan", "enp24s0np0", 9000)
    await world.cluster.delete(Ref(kind_of_macvlan(), "", "net0"))
    with pytest.raises(NotFound):
        await world.cluster.get(Ref(NETWORK_ATTACHMENT_DEFINITION, "default", "net0"))


def kind_of_macvlan():
    from railwright.core.kinds import MACVLAN_NETWORK

    return MACVLAN_NETWORK


async def test_a_host_device_nad_names_its_resource():
    world = await ready_cluster()
    spec = {"networkNamespace": "default", "resourceName": "rail0", "ipam": "{}"}
    await world.cluster.apply(an_object("mellanox.com/v1alpha1", "HostDeviceNetwork", "hd", spec=spec))
    await world.clock.sleep(5)
    nad = await world.cluster.get(Ref(NETWORK_ATTACHMENT_DEFINITION, "default", "hd"))
    assert nad["metadata"]["annotations"]["k8s.v1.cni.cncf.io/resourceName"] == "nvidia.com/rail0"


async def test_a_network_whose_namespace_is_missing_waits_for_it():
    world = await ready_cluster()
    await world.cluster.apply(a_macvlan(networkNamespace="later"))
    await world.clock.sleep(5)
    network = await world.cluster.get(Ref(kind_of_macvlan(), "", "net0"))
    assert 'namespaces "later" not found' in network["status"]["reason"]
    await world.cluster.apply(an_object("v1", "Namespace", "later"))
    await world.clock.sleep(5)
    assert await world.cluster.get(Ref(NETWORK_ATTACHMENT_DEFINITION, "later", "net0"))


# --- GPU Operator ----------------------------------------------------------------------------------------------------


async def test_the_gpu_policy_gets_ready_with_reason_reconciled_and_a_second_one_gets_no_status():
    world = await ready_cluster()
    await world.cluster.apply(gpu_policy())
    await world.clock.sleep(60)
    policy = await world.cluster.get(GPU_POLICY)
    assert (
        policy["status"]["conditions"][1]["message"] == "ClusterPolicy is not ready; states not ready: [state-driver]"
    )
    await world.cluster.apply({**gpu_policy(), "metadata": {"name": "second"}})
    await world.clock.sleep(300)
    policy = await world.cluster.get(GPU_POLICY)
    assert (policy["status"]["state"], policy["status"]["conditions"][0]["reason"]) == ("ready", "Reconciled")
    assert "status" not in await world.cluster.get(Ref(CLUSTER_POLICY, "", "second"))
    assert await allocatable(world, "nvidia.com/gpu") == "8"


async def test_the_state_is_written_before_the_conditions():
    world = await ready_cluster()
    await world.cluster.apply(gpu_policy())
    async with world.cluster.watch([Selection(CLUSTER_POLICY)]) as watch:
        seen = await watch.next(30)
    assert "conditions" not in seen[0].obj["status"]
    assert seen[0].obj["status"]["state"] in {"ready", "notReady"}
    assert seen[1].obj["status"]["conditions"]


async def test_without_node_labels_the_gpu_policy_is_ready_and_says_why():
    world = await ready_cluster("h200-roce+no-nfd-labels")
    await world.cluster.apply(gpu_policy())
    await world.clock.sleep(60)
    policy = await world.cluster.get(GPU_POLICY)
    assert (policy["status"]["state"], policy["status"]["conditions"][0]["reason"]) == ("ready", "NFDLabelsMissing")


async def test_the_driver_set_is_named_by_the_ostree_version_or_lacks_its_toolkit_in_silence():
    for spec, name, containers in (
        ("h200-roce", "nvidia-driver-daemonset-9.6.20251106-0", 3),
        ("h200-roce+nfd-upstream", "nvidia-driver-daemonset", 2),
    ):
        world = await ready_cluster(spec)
        await world.cluster.apply(gpu_policy(rdma={"enabled": True}))
        await world.clock.sleep(10)
        made = await world.cluster.get(Ref(DAEMON_SET, GPU.namespace, name))
        assert len(made["spec"]["template"]["spec"]["containers"]) == containers


async def test_operands_held_back_leave_the_node_alone():
    world = await ready_cluster()
    await world.cluster.patch(
        Ref(NODE, "", "worker-0"), {"metadata": {"labels": {"nvidia.com/gpu.deploy.operands": "false"}}}
    )
    await world.cluster.apply(gpu_policy())
    await world.clock.sleep(300)
    assert await label(world, "nvidia.com/gpu.deploy.driver") is None
    assert await allocatable(world, "nvidia.com/gpu") is None
    assert await allocatable(world, "nvidia.com/gpu", "worker-1") == "8"


async def test_a_gpu_driver_that_crashes_keeps_the_policy_from_ready():
    world = await ready_cluster("h200-roce+gpu-driver-pod-fails")
    await world.cluster.apply(gpu_policy())
    await world.clock.sleep(900)
    assert (await world.cluster.get(GPU_POLICY))["status"]["state"] == "notReady"


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
