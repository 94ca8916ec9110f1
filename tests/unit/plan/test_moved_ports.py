"""Ports that go into pods: their virtual functions would go in their place, and the node loses their addresses."""

import pytest
from unit.plan.clusters import a_cluster, a_node, a_port, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.core.ids import NetDevice
from railwright.facts.model import NetDeviceFacts
from railwright.intent.model import Method
from railwright.plan.plan import plan

CATALOG = load_catalog()
PARENT = a_port(3)
WITH_A_FUNCTION = (
    *(a_port(number) for number in range(8)),
    a_port(3, pci="0000:44:00.2", parent=PARENT.pci, netdev="ens3f0v0"),
)
FUNCTIONS, IN_USE = "host-device-port-has-functions", "host-device-port-in-use"


def planned(*objects, method=Method.HOST_DEVICE, labels=None, **inside):
    node = a_node(0, hardware(**inside), labels=labels or {})
    return plan((an_intent(method),), a_cluster((node,), objects), CATALOG)


def addressed(*addresses):
    return (NetDeviceFacts(NetDevice("ens3f0np0"), 1, PARENT.pci, None, (), 9000, "", addresses, ""),)


@pytest.mark.parametrize(("method", "refused"), [(Method.HOST_DEVICE, True), (Method.SHARED, False)])
def test_a_port_with_virtual_functions_is_not_moved(method, refused):
    made = planned(method=method, ports=WITH_A_FUNCTION)
    assert (FUNCTIONS in {item.code for item in made.nodes[0].refused}) == refused


def test_functions_on_a_node_of_a_fabric_may_be_ours_and_are_only_named():
    made = planned(ports=WITH_A_FUNCTION, labels={"railwright.dev/fabric.east-west": "admitted"})
    assert made.admitted == ("worker-0",)
    assert "host-device-functions-left" in {item.code for item in made.warnings}


@pytest.mark.parametrize(
    ("method", "addresses", "warned"),
    [
        (Method.HOST_DEVICE, ("10.1.2.3/24",), True),
        (Method.HOST_DEVICE, ("fe80::1/64",), False),
        (Method.HOST_DEVICE, (), False),
        (Method.SHARED, ("10.1.2.3/24",), False),
    ],
)
def test_an_address_that_the_node_loses_is_a_warning(method, addresses, warned):
    made = planned(method=method, netdevs=addressed(*addresses))
    assert (IN_USE in {item.code for item in made.warnings}) == warned


@pytest.mark.parametrize(("interface", "warned"), [("ens3f0np0", True), ("eno1", False)])
def test_a_port_that_somebody_sets_up_is_a_warning(interface, warned):
    state = {"interfaces": [{"name": interface, "type": "ethernet"}]}
    policy = an_object(kinds.NODE_NETWORK_CONFIGURATION_POLICY, "theirs", spec={"desiredState": state})
    found = [item.message for item in planned(policy).warnings if item.code == IN_USE]
    assert [("theirs" in text) for text in found] == ([True] if warned else [])
