"""Planning again on a cluster that has been applied to, and what a plan owes to what is there besides."""

from dataclasses import replace

import pytest
from unit.plan.clusters import (
    FABRIC,
    a_cluster,
    a_node,
    a_port,
    a_subscription,
    an_intent,
    an_object,
    carries,
    hardware,
    two_nodes,
)

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.facts.model import LinkLayer
from railwright.intent.model import Fabric, Method, NetworkIntent, NodeSelection, RailSelector
from railwright.plan import model as m
from railwright.plan.plan import plan

CATALOG = load_catalog()
LABELS = {m.fabric_label(FABRIC): m.ADMITTED}


def _second_labelled(labels, **changes):
    snapshot = two_nodes(**changes)
    return replace(snapshot, nodes=(snapshot.nodes[0], replace(snapshot.nodes[1], labels=labels)))


def _share(made, kind):
    return next(share for share in made.shares if isinstance(share, kind))


def test_an_admitted_node_that_went_bad_is_said():
    made = plan((an_intent(),), _second_labelled(LABELS, carried=carries(3)), CATALOG)
    assert "admitted-node-went-bad" in {warning.code for warning in made.warnings}
    assert made.nodes[1].was_admitted


def test_an_admitted_node_that_went_bad_keeps_its_label():
    made = plan((an_intent(),), _second_labelled(LABELS, carried=carries(3)), CATALOG)
    kept = [share.node for share in made.shares if isinstance(share, m.NodeLabelShare) and not share.held_back]
    assert kept == ["worker-0", "worker-1"]


def test_a_foreign_nic_policy_keeps_its_selector():
    live = an_object(kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", spec={})
    made = plan((an_intent(),), a_cluster(two_nodes().nodes, (live,)), CATALOG)
    share = _share(made, m.NicPolicyShare)
    assert share.adopted
    assert share.node_labels == ()


def test_a_subscription_that_is_there_is_adopted():
    group = an_object(kinds.OPERATOR_GROUP, "theirs", "openshift-nfd", spec={"targetNamespaces": ["openshift-nfd"]})
    made = plan((an_intent(),), a_cluster(two_nodes().nodes, (a_subscription("my-nfd"), group)), CATALOG)
    nfd = next(share for share in made.shares if isinstance(share, m.OperatorShare) and share.package == "nfd")
    assert nfd.adopted
    assert nfd.subscription == "my-nfd"


def test_gpu_operands_that_run_are_not_taken_away():
    snapshot = _second_labelled({"nvidia.com/gpu.deploy.driver": "true"}, nvidia_driver="open 580.95.05")
    made = plan((an_intent(nodes=NodeSelection(names=("worker-0",))),), snapshot, CATALOG)
    assert not any(isinstance(share, m.NodeLabelShare) and share.held_back for share in made.shares)
    assert "gpu-operands-run-elsewhere" in {warning.code for warning in made.warnings}


def test_a_partition_key_that_a_shared_device_cannot_have_is_refused():
    wish = an_intent(Method.SHARED, Fabric.INFINIBAND, network=NetworkIntent(pkey="0x8001"))
    assert plan((wish,), two_nodes(Fabric.INFINIBAND), CATALOG).refusals


def test_a_low_memlock_limit_is_lifted():
    made = plan((an_intent(),), two_nodes(memlock_limit="64"), CATALOG)
    assert any("memlock" in file.content for file in _share(made, m.MachineShare).files)


def _with_a_held_port(*, labels=LABELS, method=Method.HOST_DEVICE, rails=None, **port):
    ports = tuple(a_port(number, **(port if number == 3 else {})) for number in range(8))
    node = a_node(0, hardware(ports=ports), labels=labels)
    return plan((an_intent(method, rails=rails),), a_cluster((node,)), CATALOG)


MOVED = {"netdev": None, "carrier": None}
MOVED_WITH_ITS_RDMA_DEVICE = {**MOVED, "rdma": None, "state": "", "link_layer": LinkLayer.UNKNOWN}
ANY_PORT = tuple(RailSelector(name=f"rail{number}", device_id="1021") for number in range(7))


@pytest.mark.parametrize("port", [MOVED, MOVED_WITH_ITS_RDMA_DEVICE])
@pytest.mark.parametrize("rails", [None, ANY_PORT])
def test_a_port_that_a_pod_holds_refuses_its_node_instead_of_giving_rails_other_names(port, rails):
    made = _with_a_held_port(rails=rails, **port)
    (node,) = made.nodes
    (refusal,) = [item for item in node.refused if item.code == "pods-hold-ports"]
    assert node.was_admitted
    assert a_port(3).pci in refusal.message


@pytest.mark.parametrize(
    "changes",
    [
        {"labels": {}, **MOVED},
        {"driver": "vfio-pci", **MOVED},
        {"method": Method.SHARED, **MOVED},
        {"link_layer": LinkLayer.INFINIBAND, **MOVED},
        {"rails": (RailSelector(name="rail0", pci_address=str(a_port(0).pci)),), **MOVED},
        {},
    ],
)
def test_only_a_port_that_a_pod_can_hold_and_a_rail_can_need_refuses_its_node(changes):
    made = _with_a_held_port(**changes)
    assert not [item for item in made.nodes[0].refused if item.code == "pods-hold-ports"]
