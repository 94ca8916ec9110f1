"""What others told the SR-IOV operator: nodes that its daemon leaves out, or that are in a pool of theirs."""

import pytest
from unit.plan.clusters import a_cluster, a_node, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.intent.model import Method
from railwright.plan.plan import plan

CATALOG = load_catalog()
PLACE = "openshift-sriov-network-operator"
WAITS = {"network.nvidia.com/operator.mofed.wait": "false", "feature.node.kubernetes.io/pci-15b3.sriov.capable": "true"}
ZONE = {"zone": "a"}


def planned(*objects, method=Method.SRIOV, labels=None, **intent):
    node = a_node(0, hardware(), labels=labels or {})
    return plan((an_intent(method, **intent),), a_cluster((node,), objects), CATALOG)


def a_config(**spec):
    return an_object(kinds.SRIOV_OPERATOR_CONFIG, "default", PLACE, spec=spec)


def a_pool(name="theirs", **spec):
    return an_object(kinds.SRIOV_NETWORK_POOL_CONFIG, name, PLACE, spec=spec)


def codes(made):
    return {refusal.code for node in made.nodes for refusal in node.refused}


@pytest.mark.parametrize(
    ("selector", "labels", "refused"),
    [(ZONE, {}, True), (ZONE, {"zone": "b"}, True), (ZONE, ZONE, False), (WAITS, {}, False), ({}, {}, False)],
)
def test_a_node_to_which_no_daemon_comes_is_refused(selector, labels, refused):
    made = planned(a_config(configDaemonNodeSelector=selector), labels=labels)
    assert ("sriov-config-leaves-node-out" in codes(made)) == refused


@pytest.mark.parametrize(
    ("pool", "refused"),
    [
        (a_pool(nodeSelector={"matchLabels": ZONE}), True),
        (a_pool(nodeSelector={"matchExpressions": [{"key": "zone", "operator": "Exists"}]}), True),
        (a_pool(nodeSelector={"matchLabels": {"zone": "b"}}), False),
        (a_pool(nodeSelector={}), True),
        (a_pool(maxUnavailable=1), True),
        (a_pool(ovsHardwareOffloadConfig={"name": "worker"}), False),
        (a_pool(nodeSelector={"matchLabels": ZONE}, ovsHardwareOffloadConfig={"name": "worker"}), False),
    ],
)
def test_a_node_in_two_pools_would_never_be_drained(pool, refused):
    made = planned(pool, labels=ZONE)
    assert ("node-in-other-pool" in codes(made)) == refused
    said = [item.message for node in made.nodes for item in node.refused if item.code == "node-in-other-pool"]
    assert all("theirs" in text and "east-west" in text for text in said)


def test_what_others_told_the_operator_is_nothing_to_a_fabric_without_virtual_functions():
    made = planned(
        a_config(configDaemonNodeSelector=ZONE, disablePlugins=["mellanox"]),
        a_pool(nodeSelector={"matchLabels": ZONE}),
        method=Method.SHARED,
        labels={"zone": "a"},
    )
    assert codes(made) == set()
    assert "sriov-firmware-stays" not in {item.code for item in made.warnings}


@pytest.mark.parametrize(("vfs", "refused"), [(16, False), (17, True)])
def test_firmware_that_nobody_may_set_has_the_last_word(vfs, refused):
    made = planned(a_config(disablePlugins=["mellanox"]), vfs_per_rail=vfs)
    assert "sriov-firmware-stays" in {item.code for item in made.warnings}
    assert ("no-virtual-functions" in codes(made)) == refused
    assert "no-virtual-functions" not in codes(planned(a_config(), vfs_per_rail=vfs))


@pytest.mark.parametrize(("mode", "warned"), [("systemd", True), ("daemon", False)])
def test_functions_that_a_unit_makes_at_boot_are_told(mode, warned):
    made = planned(a_config(configurationMode=mode))
    assert ("sriov-by-systemd" in {item.code for item in made.warnings}) == warned
