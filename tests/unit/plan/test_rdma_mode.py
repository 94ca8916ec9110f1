"""The RDMA mode of a node: refused where it, or what somebody makes of it, leaves pods without their RDMA device."""

import json

import pytest
from unit.plan.clusters import a_cluster, a_node, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.facts.model import NodeSystem
from railwright.intent.model import Method
from railwright.plan.plan import plan

CATALOG = load_catalog()
GPU_NODES = {"matchLabels": {"role": "gpu"}}
SHARED = {"rdmaSharedDevicePlugin": {"config": json.dumps({"configList": [{"resourceName": "theirs"}]})}}
MOVED = {"sriovDevicePlugin": {"config": json.dumps({"resourceList": [{"resourceName": "theirs"}]})}}
EMPTY = {"rdmaSharedDevicePlugin": {"config": json.dumps({"configList": []})}}
ELSEWHERE = {
    "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "role", "operator": "In", "values": ["cpu"]}]}]
    }
}


def codes(*objects, mode="shared", **intent):
    """Codes that refuse the one node."""
    node = a_node(0, hardware(rdma_netns_mode=mode), labels={"role": "gpu"})
    made = plan((an_intent(**intent),), a_cluster((node,), objects), CATALOG)
    return {refusal.code for refusal in made.nodes[0].refused}


def a_pool_config(mode, selector):
    spec = {"rdmaMode": mode, "nodeSelector": selector}
    return an_object(kinds.SRIOV_NETWORK_POOL_CONFIG, "theirs", "openshift-sriov-network-operator", spec=spec)


@pytest.mark.parametrize("method", list(Method))
@pytest.mark.parametrize("mode", ["shared", "exclusive"])
def test_without_isolation_every_method_needs_the_shared_mode(method, mode):
    assert ("rdma-mode-exclusive" in codes(mode=mode, method=method)) == (mode == "exclusive")


@pytest.mark.parametrize(
    ("method", "fabric", "refused"),
    [(Method.SRIOV, "east-west", False), (Method.SRIOV, "north", True), (Method.SHARED, "east-west", True)],
)
def test_a_node_of_the_fabric_leaves_the_mode_after_isolation_was_taken_out(method, fabric, refused):
    node = a_node(0, hardware(rdma_netns_mode="exclusive"), labels={f"railwright.dev/fabric.{fabric}": "admitted"})
    made = plan((an_intent(method),), a_cluster((node,)), CATALOG)
    assert ("rdma-mode-exclusive" in {item.code for item in made.nodes[0].refused}) == refused
    assert ("rdma-mode-still-exclusive" in {item.code for item in made.warnings}) != refused


@pytest.mark.parametrize(
    ("mode", "arguments", "modprobe", "refused"),
    [
        (None, "", (), False),
        (None, "quiet ib_core.netns_mode=0", (), True),
        (None, "", ("/etc/modprobe.d/sriov.conf: options ib_core netns_mode=0",), True),
        (None, "ib_core.netns_mode=1", ("/etc/modprobe.d/x.conf: options ib_core netns_mode=1",), False),
        ("shared", "ib_core.netns_mode=0", (), False),
    ],
)
def test_a_node_without_ib_core_has_the_mode_that_it_is_set_up_for(mode, arguments, modprobe, refused):
    inside = hardware(rdma_netns_mode=mode, kernel_arguments=arguments, system=NodeSystem(modprobe=modprobe))
    made = plan((an_intent(),), a_cluster((a_node(0, inside),)), CATALOG)
    assert ("rdma-mode-exclusive" in {item.code for item in made.nodes[0].refused}) == refused


def test_isolation_takes_nodes_of_either_mode():
    assert codes(mode="exclusive", method=Method.SRIOV, rdma_isolation=True) == set()
    assert codes(mode="shared", method=Method.SRIOV, rdma_isolation=True) == set()


@pytest.mark.parametrize(
    ("mode", "selector", "refused"),
    [
        ("exclusive", GPU_NODES, True),
        ("exclusive", {"matchLabels": {"role": "cpu"}}, False),
        ("shared", GPU_NODES, False),
        ("", GPU_NODES, False),
    ],
)
def test_a_pool_of_others_that_changes_the_mode_is_seen_before_the_reboot(mode, selector, refused):
    assert ("rdma-mode-exclusive" in codes(a_pool_config(mode, selector), method=Method.HOST_DEVICE)) == refused


@pytest.mark.parametrize(
    ("spec", "isolated", "refused"),
    [
        (SHARED, True, True),
        (MOVED, True, True),
        (EMPTY, True, False),
        (SHARED | {"nodeAffinity": ELSEWHERE}, True, False),
        (SHARED, False, False),
    ],
)
def test_isolation_is_refused_beside_device_pools_of_others_on_the_node(spec, isolated, refused):
    policy = an_object(kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", spec=spec)
    assert ("isolation-breaks-others" in codes(policy, method=Method.SRIOV, rdma_isolation=isolated)) == refused


@pytest.mark.parametrize(
    ("is_rdma", "plugins", "role", "refused"),
    [
        (True, "", "gpu", True),
        (True, '{"type": "tuning"}', "gpu", True),
        (True, '{"type": "rdma"}', "gpu", False),
        (False, "", "gpu", False),
        (True, "", "cpu", False),
    ],
)
def test_functions_of_others_keep_their_rdma_device_only_by_its_plugin(is_rdma, plugins, role, refused):
    namespace = "openshift-sriov-network-operator"
    spec = {
        "resourceName": "theirs",
        "isRdma": is_rdma,
        "nodeSelector": {"role": role},
        "nicSelector": {"pfNames": ["x"]},
    }
    objects = (
        an_object(kinds.SRIOV_NETWORK_NODE_POLICY, "theirs", namespace, spec=spec),
        an_object(kinds.SRIOV_NETWORK, "theirs", namespace, spec={"resourceName": "theirs", "metaPlugins": plugins}),
    )
    assert ("isolation-breaks-others" in codes(*objects, method=Method.SRIOV, rdma_isolation=True)) == refused
