"""What the stand-ins do, held to what the real operators were recorded to do (docs/sources.md, recordings)."""

import json

import pytest
from unit.simulator.walk import (
    allocatable,
    an_object,
    gpu_policy,
    nic_policy,
    plugin,
    subscribe,
)
from unit.standins.clusters import GPU_POLICY, POLICY, SHARED, label, ready_cluster

from railwright.core.errors import KindNotServed, NotFound
from railwright.core.kinds import (
    CLUSTER_POLICY,
    CLUSTER_SERVICE_VERSION,
    DAEMON_SET,
    DEPLOYMENT,
    INSTALL_PLAN,
    MACVLAN_NETWORK,
    NETWORK_ATTACHMENT_DEFINITION,
    NIC_CLUSTER_POLICY,
    NODE,
    NV_IPAM_IP_POOL,
    POD,
    SUBSCRIPTION,
)
from railwright.core.objects import Ref, dig
from railwright.ports.cluster import Selection
from railwright.simulator.open import open_simulator
from railwright.standins.operators import GPU, NETWORK, NFD

WAIT = "network.nvidia.com/operator.mofed.wait"
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


async def states(world):
    policy = await world.cluster.get(POLICY)
    return {item["name"]: item for item in policy["status"]["appliedStates"]}


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
    await world.cluster.delete(Ref(MACVLAN_NETWORK, "", "net0"))
    with pytest.raises(NotFound):
        await world.cluster.get(Ref(NETWORK_ATTACHMENT_DEFINITION, "default", "net0"))


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
    network = await world.cluster.get(Ref(MACVLAN_NETWORK, "", "net0"))
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
    late = "ClusterPolicy is not ready; states not ready: [state-device-plugin state-driver]"
    assert policy["status"]["conditions"][1]["message"] == late
    assert await allocatable(world, "nvidia.com/gpu") != "8"
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
