import re
from dataclasses import replace

import pytest
from unit.plan.clusters import FABRIC, a_cluster, a_node, an_intent, hardware, two_nodes

from railwright.catalog.load import load_catalog
from railwright.facts.model import Distance
from railwright.intent.model import Fabric, Method
from railwright.plan import model as m
from railwright.plan.plan import plan

CATALOG = load_catalog()
SIX = tuple((method, fabric) for method in Method for fabric in Fabric)
_KIND = {
    (Method.SHARED, Fabric.ROCE): "MacvlanNetwork",
    (Method.SHARED, Fabric.INFINIBAND): "IPoIBNetwork",
    (Method.HOST_DEVICE, Fabric.ROCE): "HostDeviceNetwork",
    (Method.HOST_DEVICE, Fabric.INFINIBAND): "HostDeviceNetwork",
    (Method.SRIOV, Fabric.ROCE): "SriovNetwork",
    (Method.SRIOV, Fabric.INFINIBAND): "SriovIBNetwork",
}


@pytest.mark.parametrize(("method", "fabric"), SIX)
def test_two_equal_nodes_are_admitted_with_eight_rails(method, fabric):
    made = plan((an_intent(method, fabric),), two_nodes(fabric), CATALOG)
    assert made.refusals == ()
    assert made.admitted == ("worker-0", "worker-1")
    assert len(made.rails) == 8
    assert {len(rail.ports) for rail in made.rails} == {2}


@pytest.mark.parametrize(("method", "fabric"), SIX)
def test_each_rail_has_a_network_of_the_methods_kind(method, fabric):
    made = plan((an_intent(method, fabric),), two_nodes(fabric), CATALOG)
    networks = [share for share in made.shares if isinstance(share, m.NetworkShare)]
    assert {network.kind for network in networks} == {_KIND[method, fabric]}
    assert {network.rail for network in networks} == {rail.name for rail in made.rails}


@pytest.mark.parametrize(("method", "fabric"), SIX)
def test_resource_names_have_no_dash(method, fabric):
    made = plan((an_intent(method, fabric),), two_nodes(fabric), CATALOG)
    assert all(re.fullmatch(r"[a-zA-Z0-9_]+", rail.resource.partition("/")[2]) for rail in made.rails)


@pytest.mark.parametrize(("method", "fabric"), SIX)
def test_the_same_facts_give_the_same_plan_in_any_order(method, fabric):
    snapshot = two_nodes(fabric)
    turned = replace(snapshot, nodes=tuple(reversed(snapshot.nodes)))
    assert plan((an_intent(method, fabric),), snapshot, CATALOG) == plan((an_intent(method, fabric),), turned, CATALOG)


def test_ports_are_paired_by_distance_and_not_by_index():
    inside = hardware()
    turned = replace(inside, ports=tuple(reversed(inside.ports)))
    made = plan((an_intent(),), a_cluster((a_node(0, turned),)), CATALOG)
    for rail in made.rails:
        assert rail.ports[0].distance is Distance.PIX
        assert str(rail.ports[0].pci)[:6] == str(rail.ports[0].gpu)[:6]


def test_each_rail_has_a_subnet_of_its_own():
    made = plan((an_intent(),), two_nodes(), CATALOG)
    subnets = [subnet for rail in made.rails for subnet in rail.subnets]
    assert len(subnets) == len(set(subnets)) == 8


def test_the_first_batch_is_one_canary_of_each_group():
    nodes = (*(a_node(n, hardware()) for n in range(3)), *(a_node(n, hardware(count=4)) for n in range(3, 5)))
    made = plan((an_intent(Method.SRIOV),), a_cluster(nodes), CATALOG)
    assert made.batches[0].nodes == ("worker-0", "worker-3")
    assert {warning.code for warning in made.warnings} >= {"unlike-nodes", "fewer-rails"}


def test_a_node_outside_the_fabric_has_its_gpu_operands_held_back():
    wish = replace(an_intent(), nodes=replace(an_intent().nodes, names=("worker-0",)))
    made = plan((wish,), two_nodes(), CATALOG)
    held = [share.node for share in made.shares if isinstance(share, m.NodeLabelShare) and share.held_back]
    assert held == ["worker-1"]
    assert made.admitted == ("worker-0",)


def test_a_machine_config_names_every_node_of_its_pool():
    wish = replace(an_intent(), nodes=replace(an_intent().nodes, names=("worker-0",)))
    inside = hardware(modules={"irdma": 0})
    made = plan((wish,), a_cluster((a_node(0, inside), a_node(1, hardware()))), CATALOG)
    reach = next(item for item in made.reaches if "MachineConfig" in item.what)
    assert reach.nodes == ("worker-0", "worker-1")
    assert "worker-1" in reach.mitigation


def test_nine_stages_are_there_in_order():
    made = plan((an_intent(),), two_nodes(), CATALOG)
    assert [stage.name for stage in made.stages] == [
        m.NODES_PREPARED, m.OPERATORS_INSTALLED, m.HARDWARE_LABELLED, m.NIC_DRIVER_READY, m.VFS_READY,
        m.GPU_DRIVER_READY, m.DEVICES_ALLOCATABLE, m.NETWORKS_ATTACHED, m.VERIFIED,
    ]  # fmt: skip
    assert not made.stage(m.VFS_READY).applies


def test_admission_labels_carry_the_fabric_and_the_group():
    made = plan((an_intent(),), two_nodes(), CATALOG)
    labels = [share.labels for share in made.shares if isinstance(share, m.NodeLabelShare)]
    assert labels == [{m.fabric_label(FABRIC): "admitted", m.group_label(FABRIC): "g1"}] * 2
