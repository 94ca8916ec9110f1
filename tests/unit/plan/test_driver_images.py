"""The driver that comes to a node, planned or of others, has an image for its system; what nobody loads is not judged."""

import pytest
from unit.plan.clusters import a_cluster, a_node, a_subscription, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.intent.model import DriverIntent, NicDriver
from railwright.plan.plan import plan

CATALOG = load_catalog()
OLD, GOOD = "24.10-0.7.0.0-0", "doca3.2.0-25.10-1.2.8.0-2"
NETWORK = "nvidia-network-operator"


def planned(version=None, *, mlx5_driver="", csv="", **driver):
    """Plan beside a policy of others with this driver, and a Network Operator of others."""
    objects = []
    if version is not None:
        spec = {"ofedDriver": {"version": version}}
        objects.append(an_object(kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", spec=spec))
    if csv:
        objects.append(a_subscription("theirs", NETWORK, NETWORK) | {"status": {"installedCSV": csv}})
        objects.append(an_object(kinds.OPERATOR_GROUP, "g", NETWORK, spec={"targetNamespaces": [NETWORK]}))
    node = a_node(0, hardware(mlx5_driver=mlx5_driver))
    return plan((an_intent(driver=DriverIntent(**driver)),), a_cluster((node,), tuple(objects)), CATALOG)


def refused(made):
    return "no-driver-image" in {item.code for item in made.nodes[0].refused}


@pytest.mark.parametrize(
    ("version", "more", "is_refused"),
    [
        (OLD, {}, True),
        (GOOD, {}, False),
        (OLD, {"mlx5_driver": "24.10-0.7.0"}, False),
        (OLD, {"nic": NicDriver.IN_BOX}, False),
        (GOOD, {"csv": f"{NETWORK}.v25.4.0"}, False),
        (None, {"csv": f"{NETWORK}.v25.4.0"}, True),
        (GOOD, {"nic_version": OLD}, False),
        (None, {"nic_version": OLD}, True),
    ],
)
def test_the_driver_that_comes_to_the_node_is_judged_and_no_other(version, more, is_refused):
    assert refused(planned(version, **more)) == is_refused


@pytest.mark.parametrize("version", ["", "sha256:0a1b", "99.01-0.0.0.0-0"])
def test_a_driver_of_others_of_which_nothing_is_known_is_a_warning(version):
    made = planned(version)
    assert not refused(made)
    assert "driver-image-unknown" in {item.code for item in made.warnings}
