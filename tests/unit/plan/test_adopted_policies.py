"""Policies of others: whom they reach, and what is taken of them."""

from dataclasses import replace

import pytest
from unit.plan.clusters import a_cluster, a_node, a_port, an_intent, an_object, carries, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.core.ids import NodeName
from railwright.intent.model import DriverIntent, GpuDriver, GpuMemory, NicDriver, NodeSelection
from railwright.plan.model import GpuPolicyShare, NicPolicyShare
from railwright.plan.plan import plan
from railwright.plan.reached import selects

CATALOG = load_catalog()
LABELLED = a_node(0, hardware(), labels={"rack": "7", "role": "gpu"})


def a_policy(*terms, **spec):
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    return an_object(
        kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", spec=spec | ({"nodeAffinity": affinity} if terms else {})
    )


def a_gpu_policy(**driver):
    return an_object(kinds.CLUSTER_POLICY, "theirs", spec={"driver": driver})


def expression(key, operator, *values):
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def share_of(kind, decided):
    return next(share for share in decided.shares if isinstance(share, kind))


@pytest.mark.parametrize(
    ("terms", "takes"),
    [
        ((), True),
        ((expression("role", "In", "gpu", "cpu"),), True),
        ((expression("role", "In", "cpu"),), False),
        ((expression("role", "NotIn", "cpu"),), True),
        ((expression("zone", "NotIn", "a"),), True),
        ((expression("role", "NotIn", "gpu"),), False),
        ((expression("role", "Exists"),), True),
        ((expression("zone", "Exists"),), False),
        ((expression("zone", "DoesNotExist"),), True),
        ((expression("rack", "Gt", "6"),), True),
        ((expression("rack", "Gt", "7"),), False),
        ((expression("rack", "Lt", "8"),), True),
        ((expression("role", "Lt", "8"),), False),
        ((expression("role", "In", "cpu"), expression("rack", "In", "7")), True),
        ((expression("rack", "In", "7") | {"matchFields": []},), True),
        (({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["worker-0"]}]},), True),
        (({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["worker-9"]}]},), False),
        (({},), False),
        ((expression("role", "Like", "g"),), True),
    ],
)
def test_a_selector_takes_a_node_as_the_scheduler_reads_it(terms, takes):
    """An operator that nobody knows yet takes the node: one more is checked then, never one less."""
    assert selects(a_policy(*terms), LABELLED) is takes


def only_worker_1(**changes):
    return an_intent(nodes=NodeSelection(names=(NodeName("worker-1"),)), **changes)


@pytest.mark.parametrize(
    ("other", "code"),
    [
        (a_node(0, hardware(carried=carries(3))), "uplink-would-be-cut"),
        (a_node(0, hardware(uplinks_known=False, uplinks_problem="no routes")), "uplink-unknown"),
        (a_node(0, None), "uplink-unknown"),
        (a_node(0, hardware()), ""),
        (a_node(0, hardware(ports=(), uplinks_known=False, uplinks_problem="no routes")), ""),
    ],
)
def test_a_driver_is_added_to_their_policy_only_if_no_node_that_it_selects_is_cut_off(other, code):
    cluster = a_cluster((other, a_node(1, hardware())), (a_policy(),))
    refusals = plan((only_worker_1(),), cluster, CATALOG).refusals
    assert [(item.code, item.where) for item in refusals] == ([(code, "worker-0")] if code else [])


@pytest.mark.parametrize(
    ("policy", "driver"),
    [
        (a_policy(ofedDriver={"version": "theirs"}), DriverIntent()),
        (a_policy(expression("role", "In", "fabric")), DriverIntent()),
        (a_policy(), DriverIntent(nic=NicDriver.IN_BOX)),
    ],
    ids=["the driver is there", "the policy leaves it out", "no driver is wanted"],
)
def test_nothing_is_refused_where_no_driver_comes_to_the_node(policy, driver):
    nodes = (a_node(0, hardware(carried=carries(3))), a_node(1, hardware(), labels={"role": "fabric"}))
    assert plan((only_worker_1(driver=driver),), a_cluster(nodes, (policy,)), CATALOG).refusals == ()


def test_sections_that_are_there_keep_their_images_and_a_missing_toleration_joins_theirs():
    theirs, ours = {"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}
    policy = a_policy(ofedDriver={}, nvIpam={"version": "old"}, tolerations=[theirs])
    cluster = a_cluster((a_node(0, hardware()),), (policy,))
    share = share_of(NicPolicyShare, plan((an_intent(tolerations=(ours,)),), cluster, CATALOG))
    assert (share.kept, share.tolerations) == (("nvIpam",), (theirs, ours))
    same = share_of(NicPolicyShare, plan((an_intent(tolerations=(theirs,)),), cluster, CATALOG))
    assert same.tolerations == ()


@pytest.mark.parametrize(
    ("live", "driver", "module", "rdma"),
    [
        ({"kernelModuleType": "open"}, DriverIntent(), "", {}),
        ({"kernelModuleType": "auto"}, DriverIntent(), "", {}),
        ({}, DriverIntent(), "", {}),
        ({}, DriverIntent(gpu=GpuDriver.OPEN), "open", {}),
        ({"kernelModuleType": "proprietary"}, DriverIntent(), "open", {}),
        ({"kernelModuleType": "open", "rdma": {"enabled": True, "useHostMofed": True}}, DriverIntent(), "", {}),
        ({"kernelModuleType": "open"}, DriverIntent(memory=GpuMemory.PEERMEM), "", {"enabled": True}),
        (
            {"kernelModuleType": "open", "rdma": {"enabled": True, "useHostMofed": True}},
            DriverIntent(memory=GpuMemory.PEERMEM),
            "",
            {"useHostMofed": False},
        ),
    ],
)
def test_of_their_gpu_policy_only_what_is_wrong_for_us_is_taken(live, driver, module, rdma):
    cluster = a_cluster((a_node(0, hardware()),), (a_gpu_policy(**live),))
    share = share_of(GpuPolicyShare, plan((an_intent(driver=driver),), cluster, CATALOG))
    assert (share.adopted, share.kernel_module_type, dict(share.rdma_taken)) == (True, module, rdma)


def test_a_node_that_their_policy_leaves_out_is_refused_alone():
    policy = a_policy(expression("role", "In", "gpu"))
    nodes = (replace(LABELLED), a_node(1, hardware(ports=(a_port(0),))))
    decided = plan((an_intent(),), a_cluster(nodes, (policy,)), CATALOG)
    assert [item.code for item in decided.nodes[1].refused] == ["policy-leaves-node-out"]
    assert decided.admitted == ("worker-0",)
    assert decided.refusals == ()
