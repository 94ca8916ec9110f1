"""What single kinds hold, where a mistake would be accepted by the API server and fail later."""

import base64
import json
from dataclasses import replace

import pytest
import yaml
from unit.manifests.plans import (
    FABRIC,
    LABELS,
    NAMESPACE,
    a_network,
    driver,
    gpu_policy,
    nic_policy,
    operators,
    vf_shares,
)

from railwright.intent.model import Fabric, Method
from railwright.manifests.assemble import json_string
from railwright.manifests.kinds.access import access
from railwright.manifests.kinds.gpu import gpu_policy as render_gpu
from railwright.manifests.kinds.machineconfig import host_network, kubelet_config, machine_config
from railwright.manifests.kinds.networks import ip_pool, network
from railwright.manifests.kinds.nfd import feature_discovery
from railwright.manifests.kinds.nic import nic_policy as render_nic
from railwright.manifests.kinds.olm import operator
from railwright.manifests.kinds.sriov import node_policy, operator_config, pool_config
from railwright.plan import model as m


def spec_of(items):
    (item,) = items
    return item.obj["spec"]


# --- operators -------------------------------------------------------------------------------------------------------


def test_an_adopted_operator_is_left_as_it_is() -> None:
    assert operator(replace(operators()[0], adopted=True)) == ()


def test_no_second_operator_group_is_made() -> None:
    kinds = [item.ref.kind.kind for item in operator(replace(operators()[0], has_operator_group=True))]
    assert kinds == ["Namespace", "Subscription"]


def test_a_subscription_names_exactly_the_planned_version() -> None:
    spec = operator(operators()[2])[2].obj["spec"]
    assert spec["startingCSV"] == "nvidia-network-operator.v26.4.1"
    assert spec["installPlanApproval"] == "Manual"


# --- NFD -------------------------------------------------------------------------------------------------------------


def test_nfd_labels_by_vendor_only() -> None:
    share = m.NfdShare("nfd-instance", "openshift-nfd", ("02", "03"), ("vendor",), "", adopted=False)
    (item,) = feature_discovery(share)
    config = yaml.safe_load(item.obj["spec"]["workerConfig"]["configData"])
    assert config == {"sources": {"pci": {"deviceClassWhitelist": ["02", "03"], "deviceLabelFields": ["vendor"]}}}
    assert item.embedded == (("spec.workerConfig.configData", "nfd-config"),)


def test_an_adopted_nfd_keeps_its_operand() -> None:
    share = m.NfdShare("theirs", "nfd", ("02",), ("vendor",), "image", adopted=True)
    (item,) = feature_discovery(share)
    assert item.partial
    assert set(item.obj["spec"]) == {"workerConfig"}
    assert "labels" not in item.obj["metadata"]


# --- NicClusterPolicy ------------------------------------------------------------------------------------------------


def test_the_prefix_rdma_is_never_written_because_the_webhook_refuses_it() -> None:
    pools = tuple(m.DevicePool("rail0", prefix, {"ifNames": ["a"]}, FABRIC, 63) for prefix in ("", "rdma"))
    config = spec_of(render_nic(replace(nic_policy(Method.SHARED, Fabric.ROCE), shared_pools=pools)))
    entries = json.loads(config["rdmaSharedDevicePlugin"]["config"])["configList"]
    assert entries == [{"resourceName": "rail0", "rdmaHcaMax": 63, "selectors": {"ifNames": ["a"]}}] * 2


def test_a_prefix_that_somebody_chose_is_written() -> None:
    pools = (m.DevicePool("rail0", "example.com", {"ifNames": ["a"]}, FABRIC, 1),)
    config = spec_of(render_nic(replace(nic_policy(Method.SHARED, Fabric.ROCE), shared_pools=pools)))
    assert json.loads(config["rdmaSharedDevicePlugin"]["config"])["configList"][0]["resourcePrefix"] == "example.com"


def test_host_devices_get_the_prefix_that_their_network_looks_for() -> None:
    pools = (m.DevicePool("rail0", "", {"pfNames": ["a"], "isRdma": True}, FABRIC),)
    config = spec_of(render_nic(replace(nic_policy(Method.HOST_DEVICE, Fabric.ROCE), host_pools=pools)))
    assert json.loads(config["sriovDevicePlugin"]["config"])["resourceList"][0]["resourcePrefix"] == "nvidia.com"


def test_sriov_needs_no_device_plugin_of_the_network_operator() -> None:
    (item,) = render_nic(nic_policy(Method.SRIOV, Fabric.ROCE))
    assert not {"rdmaSharedDevicePlugin", "sriovDevicePlugin"} & set(item.obj["spec"])
    assert item.embedded == ()


def test_shared_infiniband_brings_the_ipoib_plugin() -> None:
    spec = spec_of(render_nic(nic_policy(Method.SHARED, Fabric.INFINIBAND)))
    assert spec["secondaryNetwork"]["ipoib"]["image"] == "ipoib-cni"


def test_nodes_of_any_fabric_are_selected() -> None:
    share = replace(nic_policy(Method.SHARED, Fabric.ROCE), node_labels=(("a", "1"), ("b", "2")))
    terms = spec_of(render_nic(share))["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert [term["matchExpressions"][0]["key"] for term in terms["nodeSelectorTerms"]] == ["a", "b"]


def test_an_adopted_policy_gets_only_what_a_fabric_wants() -> None:
    share = replace(nic_policy(Method.SHARED, Fabric.ROCE), driver=None, nv_ipam=False, node_labels=(), adopted=True)
    (item,) = render_nic(share)
    assert item.partial
    assert set(item.obj["spec"]) == {"rdmaSharedDevicePlugin"}


def test_an_adopted_policy_that_has_everything_is_judged_and_not_touched() -> None:
    share = replace(nic_policy(Method.SRIOV, Fabric.ROCE), driver=None, nv_ipam=False, node_labels=(), adopted=True)
    (item,) = render_nic(share)
    assert (item.obj["spec"], item.partial) == ({}, True)


def test_a_section_that_is_there_keeps_its_image_and_gets_only_pools() -> None:
    share = replace(
        nic_policy(Method.SHARED, Fabric.ROCE),
        driver=None,
        node_labels=(),
        adopted=True,
        kept=("rdmaSharedDevicePlugin", "nvIpam"),
    )
    (item,) = render_nic(share)
    assert list(item.obj["spec"]) == ["rdmaSharedDevicePlugin"]
    assert list(item.obj["spec"]["rdmaSharedDevicePlugin"]) == ["config"]


def test_guid_pools_and_pull_secrets_reach_their_components() -> None:
    pool = {
        "pKeyGUIDPoolRangeStart": "02:00:00:00:00:00:00:00",
        "pKeyGUIDPoolRangeEnd": "02:FF:FF:FF:FF:FF:FF:FF",
        "ufmSecret": "ufm",
        "periodicUpdateSeconds": "5",
    }
    share = replace(
        nic_policy(Method.SRIOV, Fabric.INFINIBAND),
        ib_kubernetes=pool,
        pull_secrets=("pull",),
        driver=replace(driver(), pull_secrets=("pull",)),
        tolerations=({"key": "gpu", "operator": "Exists"},),
    )
    spec = spec_of(render_nic(share))
    assert spec["ibKubernetes"]["periodicUpdateSeconds"] == 5
    assert spec["ibKubernetes"]["ufmSecret"] == "ufm"
    assert spec["ibKubernetes"]["imagePullSecrets"] == spec["ofedDriver"]["imagePullSecrets"] == ["pull"]
    assert spec["tolerations"] == [{"key": "gpu", "operator": "Exists"}]


def test_a_single_quote_never_reaches_a_string_that_is_pasted_into_yaml() -> None:
    text = json_string({"name": "o'brien"})
    assert "'" not in text
    assert json.loads(text) == {"name": "o'brien"}


# --- GPU -------------------------------------------------------------------------------------------------------------


def test_a_chosen_driver_version_brings_repository_and_image_along() -> None:
    driver_spec = spec_of(render_gpu(replace(gpu_policy(), driver_version="580.105.08", registry="mirror.test")))[
        "driver"
    ]
    assert (driver_spec["repository"], driver_spec["image"], driver_spec["version"]) == (
        "mirror.test/nvidia",
        "driver",
        "580.105.08",
    )


def test_a_mirror_alone_sets_no_repository() -> None:
    assert "repository" not in spec_of(render_gpu(replace(gpu_policy(), registry="mirror.test")))["driver"]


def test_gds_names_its_image_where_the_plan_knows_the_version() -> None:
    spec = spec_of(render_gpu(replace(gpu_policy(), gds=True, gds_version="2.29.4")))
    assert spec["gds"]["image"] == "nvidia-fs"
    assert spec_of(render_gpu(replace(gpu_policy(), gds=True)))["gds"] == {"enabled": True}


def test_an_adopted_gpu_policy_keeps_everything_but_the_memory_path() -> None:
    """Only what is wrong there for us is taken; a driver version, or what does no harm, is its owner's choice."""
    share = replace(gpu_policy(), adopted=True, gdrcopy=False)
    (item,) = render_gpu(replace(share, rdma_taken={"enabled": True}))
    assert item.partial
    assert item.obj["spec"] == {"driver": {"kernelModuleType": "open", "rdma": {"enabled": True}}}
    (right,) = render_gpu(replace(share, kernel_module_type="", driver_version="580.1"))
    assert right.obj["spec"] == {}


# --- SR-IOV ----------------------------------------------------------------------------------------------------------


def test_adopted_sriov_settings_keep_their_webhook_and_injector() -> None:
    share = m.SriovConfigShare("ns", LABELS, injector=True, webhook=True, adopted=True)
    assert spec_of(operator_config(share)) == {"configDaemonNodeSelector": LABELS}
    assert operator_config(replace(share, daemon_node_selector={})) == ()


def test_the_rdma_mode_is_left_alone_unless_chosen() -> None:
    pool = vf_shares(Fabric.ROCE)[0]
    assert isinstance(pool, m.SriovPoolShare)
    assert "rdmaMode" not in spec_of(pool_config(pool))
    assert spec_of(pool_config(replace(pool, rdma_mode="exclusive")))["rdmaMode"] == "exclusive"


def test_vfs_are_rdma_netdevices_of_the_wanted_link() -> None:
    policy = vf_shares(Fabric.INFINIBAND)[1]
    assert isinstance(policy, m.SriovPolicyShare)
    spec = spec_of(node_policy(policy))
    assert (spec["isRdma"], spec["deviceType"], spec["linkType"]) == (True, "netdevice", "ib")
    assert "mtu" not in spec


# --- networks --------------------------------------------------------------------------------------------------------


def test_a_vlan_of_zero_is_a_value() -> None:
    assert spec_of(network(a_network(Method.SRIOV, Fabric.ROCE, 0)))["vlan"] == 0


def test_chained_plugins_are_written_without_brackets() -> None:
    share = replace(
        a_network(Method.SRIOV, Fabric.ROCE, 0),
        settings={"meta_plugins": [{"type": "rdma"}, {"type": "tuning"}], "capabilities": {"ips": True}},
    )
    spec = spec_of(network(share))
    assert spec["metaPlugins"] == '{"type": "rdma"},{"type": "tuning"}'
    assert json.loads(spec["capabilities"]) == {"ips": True}
    assert (
        spec_of(network(replace(share, settings={"meta_plugins": '{"type": "rdma"}'})))["metaPlugins"]
        == '{"type": "rdma"}'
    )


def test_a_pkey_is_written_into_a_nad_by_hand() -> None:
    share = replace(
        a_network(Method.SRIOV, Fabric.INFINIBAND, 0),
        kind="NetworkAttachmentDefinition",
        settings={"pkey": "0x8001", "link_state": "enable", "ib_kubernetes": True},
    )
    (item,) = network(share)
    assert item.obj["metadata"]["namespace"] == NAMESPACE
    assert item.obj["metadata"]["annotations"] == {"k8s.v1.cni.cncf.io/resourceName": "openshift.io/east_west_rail0"}
    assert json.loads(item.obj["spec"]["config"]) == {
        "cniVersion": "0.3.1",
        "name": "east-west-rail0",
        "type": "ib-sriov",
        "pkey": "0x8001",
        "link_state": "enable",
        "ibKubernetesEnabled": True,
        "capabilities": {"infinibandGUID": True},
        "ipam": {"type": "nv-ipam", "poolName": "east-west-rail0"},
    }


@pytest.mark.parametrize(
    ("cni", "resource", "annotation"),
    [
        ({"type": "host-device"}, "rail0", "nvidia.com/rail0"),
        ({"plugins": [{"type": "sriov"}, {"type": "tuning"}]}, "rail0", "openshift.io/rail0"),
        ({"type": "ipoib", "mtu": 2044}, "", None),
        ({"type": "sriov"}, "example.com/rail0", "example.com/rail0"),
    ],
)
def test_a_nad_by_hand_names_its_resource(cni, resource, annotation) -> None:
    share = replace(
        a_network(Method.SRIOV, Fabric.ROCE, 0),
        kind="NetworkAttachmentDefinition",
        resource=resource,
        settings={"cni": cni},
    )
    (item,) = network(share)
    annotations = item.obj["metadata"].get("annotations", {})
    assert annotations.get("k8s.v1.cni.cncf.io/resourceName") == annotation
    assert ("ipam" in json.loads(item.obj["spec"]["config"])) == ("plugins" not in cni)


def test_a_setting_without_a_field_is_refused_and_not_dropped() -> None:
    share = replace(a_network(Method.SHARED, Fabric.INFINIBAND, 0), settings={"pkey": "0x8001"})
    with pytest.raises(ValueError, match=r"IPoIBNetwork east-west-rail0: settings \['pkey'\] have no field"):
        network(share)


def test_an_unknown_kind_of_network_is_refused() -> None:
    with pytest.raises(ValueError, match="OVSNetwork"):
        network(replace(a_network(Method.SRIOV, Fabric.ROCE, 0), kind="OVSNetwork"))


def test_routes_go_through_the_gateway_of_the_pool() -> None:
    share = m.IpPoolShare("p", "ns", "10.0.0.0/24", 8, "10.0.0.1", (), ("10.0.0.0/8",), {}, FABRIC)
    assert spec_of(ip_pool(share)) == {
        "subnet": "10.0.0.0/24",
        "perNodeBlockSize": 8,
        "gateway": "10.0.0.1",
        "routes": [{"dst": "10.0.0.0/8"}],
    }


# --- nodes' own system -----------------------------------------------------------------------------------------------


def test_a_machine_config_replaces_files_and_holds_their_exact_bytes() -> None:
    content = "[crio]\nname = 'ü'\n"
    share = m.MachineShare("99-x", "worker", (), (m.MachineFile("/etc/x", 0o644, content),), (), (FABRIC,))
    (file,) = spec_of(machine_config(share))["config"]["storage"]["files"]
    assert (file["overwrite"], file["mode"]) == (True, 420)
    assert base64.b64decode(file["contents"]["source"].partition("base64,")[2]).decode() == content


def test_a_machine_config_with_arguments_alone_has_no_ignition() -> None:
    share = m.MachineShare("99-x", "worker", ("module_blacklist=irdma",), (), (), (FABRIC,))
    assert spec_of(machine_config(share)) == {"kernelArguments": ["module_blacklist=irdma"]}


def test_the_topology_manager_is_set_for_one_pool() -> None:
    assert spec_of(kubelet_config(m.KubeletShare("numa", "worker", "restricted"))) == {
        "machineConfigPoolSelector": {"matchLabels": {"pools.operator.machineconfiguration.openshift.io/worker": ""}},
        "kubeletConfig": {"topologyManagerPolicy": "restricted"},
    }


def test_an_mtu_mentions_no_address() -> None:
    spec = spec_of(host_network(m.HostNetworkShare("mtu", LABELS, {"b": 9000, "a": 9000}, FABRIC)))
    assert spec["desiredState"]["interfaces"] == [
        {"name": name, "type": "ethernet", "state": "up", "mtu": 9000} for name in ("a", "b")
    ]


# --- access ----------------------------------------------------------------------------------------------------------


def test_pods_may_lock_memory_and_nothing_else() -> None:
    share = m.AccessShare("ns", create_namespace=False, service_account="sa", scc="rdma", fabrics=(FABRIC,))
    scc = access(share)[1].obj
    assert scc["allowedCapabilities"] == ["IPC_LOCK"]
    assert scc["requiredDropCapabilities"] == ["ALL"]
    assert not any(value for key, value in scc.items() if key.startswith(("allowHost", "allowPriv")))


def test_without_sccs_there_is_no_role_to_use_one() -> None:
    share = m.AccessShare("ns", create_namespace=True, service_account="sa", scc="", fabrics=(FABRIC,))
    assert [item.ref.kind.kind for item in access(share)] == ["Namespace", "ServiceAccount"]
