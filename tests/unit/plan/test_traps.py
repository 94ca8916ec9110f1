"""Traps of the platform, each fired and each near miss."""

import pytest
from unit.plan.clusters import a_cluster, a_node, a_subscription, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.facts.model import Topology
from railwright.intent.model import DriverIntent, Ipam, Method, NetworkIntent, NicDriver
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
    assert "single-node-upgrade" in warnings(planned(cluster={"topology": Topology.SINGLE_NODE}))
    assert "single-node-upgrade" not in warnings(planned())
