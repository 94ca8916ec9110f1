"""What reaches nodes that were not admitted, and what becomes of nodes that no longer fit."""

from dataclasses import replace

import pytest
from unit.plan.clusters import FABRIC, a_cluster, a_node, an_intent, hardware, two_nodes

from railwright.catalog.load import load_catalog
from railwright.core.ids import FabricName
from railwright.intent.model import DriverIntent, GpuMemory, Method, NicDriver, NodeSelection
from railwright.plan import model as m
from railwright.plan.plan import plan

CATALOG = load_catalog()
LEFT_OVER = {"nvidia.com/gpu.deploy.driver": "true"}
ONLY_FIRST = NodeSelection(names=("worker-0",))


def _second(**changes):
    snapshot = two_nodes()
    return replace(snapshot, nodes=(snapshot.nodes[0], replace(snapshot.nodes[1], **changes)))


def _held_back(made):
    return [share.node for share in made.shares if isinstance(share, m.NodeLabelShare) and share.held_back]


def test_labels_of_a_gpu_operator_that_is_gone_do_not_open_a_node():
    """They outlive the operator: a ClusterPolicy of ours would bring its driver to that node."""
    made = plan((an_intent(nodes=ONLY_FIRST),), _second(labels=LEFT_OVER), CATALOG)
    assert _held_back(made) == ["worker-1"]


@pytest.mark.parametrize(
    "changes",
    [
        {"allocatable": {"nvidia.com/gpu": 8}},
        {"hardware": hardware(nvidia_driver="open 580.95.05")},
        {"ready": False},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_gpu_operands_that_run_or_may_run_are_not_taken_away(changes):
    made = plan((an_intent(nodes=ONLY_FIRST),), _second(labels=LEFT_OVER, **changes), CATALOG)
    assert _held_back(made) == []
    assert "gpu-operands-run-elsewhere" in {warning.code for warning in made.warnings}


def test_an_admitted_node_that_lost_its_gpus_is_refused_not_forgotten():
    """Left out without a word, what it uses would count as no longer wanted, and be removed from under it."""
    inside = replace(hardware(), gpus=())
    made = plan((an_intent(),), _second(labels={m.fabric_label(FABRIC): m.ADMITTED}, hardware=inside), CATALOG)
    node = next(item for item in made.nodes if item.node == "worker-1")
    assert [refusal.code for refusal in node.refused] == ["node-without-hardware"]


def test_a_worker_without_gpus_that_was_never_admitted_is_left_out():
    made = plan((an_intent(),), _second(hardware=replace(hardware(), gpus=())), CATALOG)
    assert not next(item for item in made.nodes if item.node == "worker-1").refused


def test_nodes_that_the_sriov_daemon_reaches_beside_the_admitted_are_listed():
    """One selector can't hold the labels of two fabrics."""
    in_box = DriverIntent(nic=NicDriver.IN_BOX, memory=GpuMemory.DMA_BUF)
    nodes = tuple(a_node(number, hardware()) for number in range(3))
    wishes = tuple(
        an_intent(Method.SRIOV, driver=in_box, name=FabricName(name), nodes=NodeSelection(names=(f"worker-{number}",)))
        for number, name in enumerate(("east", "west"))
    )
    reaches = [item for item in plan(wishes, a_cluster(nodes), CATALOG).reaches if "SR-IOV" in item.what]
    assert [item.nodes for item in reaches] == [("worker-0", "worker-1", "worker-2")]
    assert [item for item in plan(wishes[:1], a_cluster(nodes), CATALOG).reaches if "SR-IOV" in item.what] == []
