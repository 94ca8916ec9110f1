"""Traps of the platform, each fired and each near miss."""

from dataclasses import replace

import pytest
from unit.plan.clusters import a_cluster, a_node, a_port, a_subscription, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.facts.model import Platform, Topology
from railwright.intent.model import (
    DriverIntent,
    GpuDriver,
    GpuMemory,
    Ipam,
    Method,
    NetworkIntent,
    NicDriver,
    RailSelector,
    UpgradePolicy,
)
from railwright.manifests.render import render
from railwright.plan.plan import plan

CATALOG = load_catalog()
IN_BOX = DriverIntent(nic=NicDriver.IN_BOX)


def planned(*objects, cluster=None, **intent):
    snapshot = a_cluster((a_node(0, hardware()),), objects, **(cluster or {}))
    return plan((an_intent(**intent),), snapshot, CATALOG)


def refusals(made):
    return {item.code for item in made.refusals}


def warnings(made):
    return {item.code for item in made.warnings}


@pytest.mark.parametrize(
    ("spec", "driver", "refused"),
    [
        ({"ofedDriver": {}}, None, True),
        ({"ofedDriver": {}}, IN_BOX, False),
        ({"rdmaSharedDevicePlugin": {}}, None, False),
    ],
)
def test_the_driver_has_one_source(spec, driver, refused):
    made = planned(an_object(kinds.NIC_NODE_POLICY, "theirs", spec=spec), driver=driver or DriverIntent())
    assert ("nic-node-policy-has-driver" in refusals(made)) == refused


@pytest.mark.parametrize(
    ("name", "refused"),
    [("default", True), ("openshift-nfd", True), ("kube-system", True), ("training", False), ("openshifter", False)],
)
def test_namespaces_of_the_platform_take_no_workload(name, refused):
    assert ("namespace-of-the-platform" in refusals(planned(workload_namespaces=(name,)))) == refused


def test_a_namespace_that_lets_no_pod_lock_memory_is_told_with_the_command():
    level = "pod-security.kubernetes.io/enforce"
    for value, warned in (("restricted", True), ("baseline", True), ("privileged", False), (None, False)):
        namespace = an_object(kinds.NAMESPACE, "training")
        namespace["metadata"]["labels"] = {} if value is None else {level: value}
        found = [item.message for item in planned(namespace).warnings if item.code == "namespace-admits-no-rdma-pod"]
        assert bool(found) == warned
        assert all(f"oc label namespace training {level}=privileged --overwrite" in text for text in found)


@pytest.mark.parametrize(("version", "refused"), [("4.17.9", True), ("4.18.1", False), ("4.99.0", False)])
def test_isolation_needs_a_field_that_older_operators_lack(version, refused):
    made = planned(cluster={"openshift_version": version}, method=Method.SRIOV, rdma_isolation=True)
    assert ("isolation-needs-newer-openshift" in refusals(made)) == refused


@pytest.mark.parametrize(("csv", "warned"), [("v25.10.0", True), ("v26.1.0", False), ("v26.4.1", False)])
def test_old_operators_leave_plugin_pods_as_they_are(csv, warned):
    namespace = "nvidia-network-operator"
    subscription = a_subscription("theirs", namespace, namespace)
    subscription = {**subscription, "status": {"installedCSV": f"{namespace}.{csv}"}}
    group = an_object(kinds.OPERATOR_GROUP, "g", namespace, spec={"targetNamespaces": [namespace]})
    policy = an_object(
        kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", spec={"rdmaSharedDevicePlugin": {"config": "{}"}}
    )
    assert ("plugin-pods-stay-old" in warnings(planned(subscription, group, policy))) == warned


@pytest.mark.parametrize(
    ("networks", "ipam", "warned"),
    [
        ([], Ipam.WHEREABOUTS, True),
        ([{"rawCNIConfig": '{"ipam": {"type": "whereabouts"}}'}], Ipam.WHEREABOUTS, False),
        ([], Ipam.NV_IPAM, False),
    ],
)
def test_whereabouts_without_its_reconciler_leaks(networks, ipam, warned):
    operator = an_object(kinds.NETWORK_OPERATOR, "cluster", spec={"additionalNetworks": networks})
    made = planned(operator, network=NetworkIntent(ipam=ipam))
    assert ("whereabouts-leaks-addresses" in warnings(made)) == warned


def test_a_single_node_has_nowhere_to_drain_to():
    alone, asked = {"topology": Topology.SINGLE_NODE}, UpgradePolicy(auto=True)
    assert "single-node-upgrade" in warnings(planned(cluster=alone, upgrade=asked))
    assert "single-node-upgrade" not in warnings(planned(cluster=alone))
    assert "single-node-upgrade" not in warnings(planned())


@pytest.mark.parametrize(
    ("selector", "warned"), [({}, True), ({"network.nvidia.com/operator.mofed.wait": "false"}, False)]
)
def test_a_daemon_that_does_not_wait_for_the_driver_is_said(selector, warned):
    config = an_object(
        kinds.SRIOV_OPERATOR_CONFIG,
        "default",
        "openshift-sriov-network-operator",
        spec={"configDaemonNodeSelector": selector},
    )
    assert ("sriov-daemon-does-not-wait" in warnings(planned(config, method=Method.SRIOV))) == warned


@pytest.mark.parametrize(("version", "warned"), [(f"sha256:{'0' * 64}", True), ("doca3.3.0-26.01-1.0.0.0-0", False)])
def test_a_driver_by_digest_is_said(version, warned):
    assert ("driver-by-digest" in warnings(planned(driver=DriverIntent(nic_version=version)))) == warned


@pytest.mark.parametrize(("memory", "refused"), [(GpuMemory.DMA_BUF, True), (GpuMemory.PEERMEM, False)])
def test_dma_buf_needs_the_open_modules(memory, refused):
    made = planned(driver=DriverIntent(gpu=GpuDriver.PROPRIETARY, memory=memory))
    assert ("dma-buf-needs-open-module" in refusals(made)) == refused


@pytest.mark.parametrize(("upgrades", "warned"), [(True, False), (False, True)])
def test_driver_pods_that_somebody_must_delete_are_said(upgrades, warned):
    policy = an_object(
        kinds.CLUSTER_POLICY,
        "theirs",
        spec={"driver": {"kernelModuleType": "proprietary", "upgradePolicy": {"autoUpgrade": upgrades}}},
    )
    assert ("driver-pods-stay-old" in warnings(planned(policy))) == warned


@pytest.mark.parametrize(("device_id", "refused"), [("1021", False), ("1025", True)])
def test_sriov_takes_only_nics_that_its_operator_lists(device_id, refused):
    listed = {entry.device_id for entry in CATALOG.nics if entry.sriov_operator}
    ports = tuple(a_port(number, device_id=device_id) for number in range(8))
    made = plan((an_intent(Method.SRIOV),), a_cluster((a_node(0, hardware(ports=ports)),)), with_nic(device_id, listed))
    found = {item.code for node in made.nodes for item in node.refused}
    assert ("nic-not-supported-by-sriov-operator" in found) == refused


def with_nic(device_id, listed):
    """The catalog, with one more NIC that the SR-IOV operator does not list."""
    if device_id in listed:
        return CATALOG
    new = replace(CATALOG.nics[0], device_id=device_id, sriov_operator=False)
    return replace(CATALOG, nics=(*CATALOG.nics, new))


@pytest.mark.parametrize(("twin", "refused"), [("ens0f0np0", True), ("ens8f0np0", False)])
def test_a_name_that_fits_a_second_port_selects_no_rail(twin, refused):
    wish = an_intent(rails=(RailSelector("rail0", pci_address="0000:14:00.0"),))
    second = a_port(1, netdev=twin)
    inside = hardware(ports=(a_port(0), second, *(a_port(number) for number in range(2, 8))))
    made = plan((wish,), a_cluster((a_node(0, inside),)), CATALOG)
    assert ("rail-selector-ambiguous" in refusals(made)) == refused


@pytest.mark.parametrize(("platform", "refused"), [(Platform.KUBERNETES, True), (Platform.OPENSHIFT, False)])
def test_irdma_is_kept_away_by_a_machine_config_or_by_nobody(platform, refused):
    inside = hardware(modules={"mlx5_core": 0, "irdma": 0})
    pools = {} if platform is Platform.OPENSHIFT else {"pools": ()}
    made = plan((an_intent(),), a_cluster((a_node(0, inside),), platform=platform, **pools), CATALOG)
    found = {item.code for item in (*made.refusals, *(refusal for node in made.nodes for refusal in node.refused))}
    assert ("irdma-loaded" in found) == refused
    arguments = [
        item.obj["spec"]["kernelArguments"] for item in render(made).items if item.ref.kind == kinds.MACHINE_CONFIG
    ]
    assert arguments == ([] if refused else [["module_blacklist=irdma"]])
