"""Ports and subnets of others: a port that somebody hands out is not taken away, a subnet that is in use is not chosen."""

import json

import pytest
from unit.plan.clusters import a_cluster, a_node, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.intent.model import DriverIntent, Method, NetworkIntent, NicDriver
from railwright.plan.plan import plan

CATALOG = load_catalog()
OURS = {"app.kubernetes.io/managed-by": "railwright"}
SRIOV_NAMESPACE = "openshift-sriov-network-operator"


def planned(*objects, method=Method.SHARED, inside=None, labels=None, **intent):
    node = a_node(0, inside or hardware(), labels=labels or {})
    return plan((an_intent(method, **intent),), a_cluster((node,), objects), CATALOG)


def codes(made):
    return {refusal.code for node in made.nodes for refusal in node.refused}


def a_policy(section, *pools):
    key = {"rdmaSharedDevicePlugin": "configList", "sriovDevicePlugin": "resourceList"}[section]
    spec = {section: {"config": json.dumps({key: list(pools)})}}
    return an_object(kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", spec=spec)


def a_pool(**selectors):
    return {"resourceName": "theirs", "rdmaHcaMax": 8, "selectors": selectors}


def a_sriov_policy(selector, nodes=None, **metadata):
    spec = {"nicSelector": selector, "nodeSelector": nodes or {}, "numVfs": 4, "resourceName": "theirs"}
    made = an_object(kinds.SRIOV_NETWORK_NODE_POLICY, "theirs", SRIOV_NAMESPACE, spec=spec)
    return {**made, "metadata": {**made["metadata"], **metadata}}


USED = "port-used-by-others"


@pytest.mark.parametrize(
    ("selectors", "method", "refused"),
    [
        ({"ifNames": ["ens3f0np0"]}, Method.HOST_DEVICE, True),
        ({"ifNames": ["ens3f0np0"]}, Method.SRIOV, True),
        ({"ifNames": ["ens3f0np0"]}, Method.SHARED, False),
        ({"vendors": ["15b3"]}, Method.HOST_DEVICE, True),
        ({"vendors": ["15b3"], "linkTypes": ["infiniband"]}, Method.HOST_DEVICE, False),
        ({"ifNames": ["eno1"]}, Method.HOST_DEVICE, False),
        ({"isRdma": True}, Method.HOST_DEVICE, True),
    ],
)
def test_a_port_of_somebodys_shared_pool_is_not_moved_or_cut_up(selectors, method, refused):
    made = planned(a_policy("rdmaSharedDevicePlugin", a_pool(**selectors)), method=method)
    assert (USED in codes(made)) == refused


@pytest.mark.parametrize("method", list(Method))
def test_a_port_that_somebody_moves_into_pods_is_no_rail(method):
    assert USED in codes(planned(a_policy("sriovDevicePlugin", a_pool(pfNames=["ens3f0np0"])), method=method))


def test_alternatives_of_selectors_count_each():
    pool = a_pool() | {"selectors": [{"pfNames": ["eno1"]}, {"pfNames": ["ens3f0np0#0-3"]}]}
    assert USED in codes(planned(a_policy("sriovDevicePlugin", pool)))


@pytest.mark.parametrize(
    ("policy", "method", "refused"),
    [
        (a_sriov_policy({"pfNames": ["ens3f0np0#0-3"]}), Method.SRIOV, True),
        (a_sriov_policy({"vendor": "15b3"}), Method.HOST_DEVICE, True),
        (a_sriov_policy({"vendor": "15b3"}), Method.SHARED, False),
        (a_sriov_policy({"vendor": "8086"}), Method.SRIOV, False),
        (a_sriov_policy({"vendor": "15b3"}, {"rack": "2"}), Method.SRIOV, False),
        (a_sriov_policy({"vendor": "15b3"}, labels=OURS), Method.SRIOV, False),
        (a_sriov_policy({}), Method.SRIOV, False),
    ],
)
def test_a_port_of_somebodys_sriov_policy_is_left_to_it(policy, method, refused):
    assert (USED in codes(planned(policy, method=method))) == refused


def test_a_policy_for_a_labelled_rack_counts_where_the_label_is():
    policy = a_sriov_policy({"vendor": "15b3"}, {"rack": "2"})
    assert USED in codes(planned(policy, method=Method.SRIOV, labels={"rack": "2"}))


def subnets_of(made):
    return next(item.value for item in made.decisions if item.key.endswith("spec.network.subnets"))


@pytest.mark.parametrize(
    "theirs",
    [
        an_object(kinds.NV_IPAM_IP_POOL, "a", "nvidia-network-operator", spec={"subnet": "192.168.7.0/24"}),
        an_object(kinds.NV_IPAM_CIDR_POOL, "a", "nvidia-network-operator", spec={"cidr": "192.168.0.0/20"}),
        an_object(kinds.MACVLAN_NETWORK, "a", spec={"ipam": '{"type": "whereabouts", "range": "192.168.2.225/28"}'}),
        an_object(
            kinds.SRIOV_NETWORK,
            "a",
            SRIOV_NAMESPACE,
            spec={"ipam": '{"ipRanges": [{"range": "192.168.9.2-192.168.9.9/24"}]}'},
        ),
    ],
)
def test_a_subnet_that_pods_of_others_have_addresses_of_is_not_chosen(theirs):
    assert subnets_of(planned(theirs)) == "172.24.0.0/14"
    made = planned(theirs, network=NetworkIntent(subnets=("192.168.0.0/16",)))
    assert "subnet-of-others" in {warning.code for warning in made.warnings}
    assert made.refusals == ()


def test_text_that_is_no_ipam_says_nothing():
    odd = an_object(kinds.MACVLAN_NETWORK, "a", spec={"ipam": "type: dhcp"})
    other = an_object(kinds.IPOIB_NETWORK, "b", spec={"ipam": '["x"]'})
    assert subnets_of(planned(odd, other)) == "192.168.0.0/16"


@pytest.mark.parametrize(
    ("modules", "driver", "refused"),
    [
        ({"mlx5_core": 1, "nvme_rdma": 2}, None, True),
        ({"mlx5_core": 1, "nvme_rdma": 0, "rpcrdma": 0}, None, False),
        ({"mlx5_core": 1, "rpcrdma": 1}, DriverIntent(nic=NicDriver.IN_BOX), False),
    ],
)
def test_storage_over_rdma_keeps_the_doca_driver_off_whatever_its_nic(modules, driver, refused):
    made = planned(inside=hardware(modules=modules), driver=driver or DriverIntent())
    assert ("rdma-storage-in-use" in codes(made)) == refused
