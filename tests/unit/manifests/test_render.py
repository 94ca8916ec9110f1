from dataclasses import replace

import pytest
from unit.manifests.plans import CONFIGURATIONS, FABRIC, NODES, a_plan, gpu_policy

from railwright.core.ids import FabricName
from railwright.core.objects import Kind
from railwright.manifests.model import Manifest
from railwright.manifests.render import RENDERERS, render
from railwright.manifests.yamltext import to_yaml
from railwright.plan import model as m


def rendered(*shares: m.Share) -> tuple[Manifest, ...]:
    return render(replace(a_plan(), shares=shares)).items


def test_every_share_has_a_renderer() -> None:
    assert set(RENDERERS) == set(m.Share.__args__)


@pytest.mark.parametrize(("method", "fabric"), CONFIGURATIONS)
def test_the_order_of_shares_and_of_keys_changes_no_byte(method, fabric) -> None:
    plan = a_plan(method, fabric)
    turned = replace(plan, shares=tuple(_turned(share) for share in reversed(plan.shares)))
    assert [to_yaml(item.obj) for item in render(turned).items] == [to_yaml(item.obj) for item in render(plan).items]


def _turned(share: m.Share) -> m.Share:
    if isinstance(share, m.NetworkShare):
        return replace(share, ipam=dict(reversed(share.ipam.items())))
    if isinstance(share, m.SriovConfigShare):
        return replace(share, daemon_node_selector=dict(reversed(share.daemon_node_selector.items())))
    return share


@pytest.mark.parametrize(("method", "fabric"), CONFIGURATIONS)
def test_everything_that_we_make_carries_our_label_and_nodes_do_not(method, fabric) -> None:
    for item in render(a_plan(method, fabric)).items:
        labels = item.obj["metadata"].get("labels", {})
        assert (labels.get("app.kubernetes.io/managed-by") == "railwright") is not item.partial


def test_objects_come_by_stage_and_networks_last() -> None:
    plan = a_plan()
    order = [stage.name for stage in plan.stages]
    items = render(plan).items
    assert [order.index(item.stage) for item in items] == sorted(order.index(item.stage) for item in items)
    assert [item.ref.kind.kind for item in items][-3:] == ["IPPool", "MacvlanNetwork", "MacvlanNetwork"]
    installed = [item.ref.kind.kind for item in items if item.stage == m.OPERATORS_INSTALLED]
    assert installed == ["Namespace"] * 4 + ["OperatorGroup"] * 4 + ["Subscription"] * 4 + ["SriovOperatorConfig"]


def test_a_policy_comes_before_the_nodes_that_it_selects() -> None:
    kinds = [item.ref.kind.kind for item in render(a_plan()).of_stage(m.NIC_DRIVER_READY)]
    assert kinds == ["NicClusterPolicy", "Node", "Node"]


def test_a_held_back_node_comes_before_the_policy_that_would_reach_it() -> None:
    held = m.NodeLabelShare(
        NODES[0], {"nvidia.com/gpu.deploy.operands": "false"}, FABRIC, m.GPU_DRIVER_READY, held_back=True
    )
    assert [item.ref.kind.kind for item in rendered(gpu_policy(), held)] == ["Node", "ClusterPolicy"]


def test_labels_of_two_fabrics_on_one_node_are_one_object() -> None:
    west = FabricName("west")
    shares = (
        m.NodeLabelShare(NODES[0], {"railwright.dev/fabric.west": "admitted"}, west),
        m.NodeLabelShare(NODES[0], {"railwright.dev/fabric.east-west": "admitted"}, FABRIC),
    )
    (item,) = rendered(*shares)
    assert item.obj["metadata"]["labels"] == {
        "railwright.dev/fabric.west": "admitted",
        "railwright.dev/fabric.east-west": "admitted",
    }
    assert item.fabrics == (FABRIC, west)
    assert item.node == NODES[0]


def test_a_later_stage_repeats_what_an_earlier_one_set_on_the_same_object() -> None:
    """Server-side apply drops the fields that a field manager no longer sends."""
    shares = (
        m.NodeLabelShare(NODES[0], {"a": "1"}, FABRIC),
        m.NodeLabelShare(NODES[0], {"b": "2"}, FABRIC, m.GPU_DRIVER_READY),
    )
    early, late = rendered(*shares)
    assert early.obj["metadata"]["labels"] == {"a": "1"}
    assert late.obj["metadata"]["labels"] == {"a": "1", "b": "2"}


def test_shares_that_contradict_each_other_are_a_bug_and_are_named() -> None:
    shares = (m.NodeLabelShare(NODES[0], {"a": "1"}, FABRIC), m.NodeLabelShare(NODES[0], {"a": "2"}, FABRIC))
    with pytest.raises(ValueError, match="Node worker-1 metadata labels a: '1' and '2'"):
        rendered(*shares)


def test_one_scc_serves_two_namespaces() -> None:
    shares = tuple(
        m.AccessShare(namespace, create_namespace=False, service_account="sa", scc="rdma", fabrics=(FABRIC,))
        for namespace in ("one", "two")
    )
    kinds = [item.ref.kind.kind for item in rendered(*shares)]
    assert kinds.count("SecurityContextConstraints") == 1
    assert kinds.count("RoleBinding") == 2


def test_what_no_renderer_knows_is_a_bug_and_is_named() -> None:
    with pytest.raises(ValueError, match="no renderer for str"):
        rendered("share")  # type: ignore[arg-type] - that is the point


def test_the_kind_of_every_object_is_one_that_core_names() -> None:
    for item in render(a_plan()).items:
        assert isinstance(item.ref.kind, Kind)
