"""What a plan says seldom: each on the smallest cluster that makes it say so, and silent on the one beside it."""

from dataclasses import replace

import pytest
from unit.plan.clusters import a_cluster, a_node, a_port, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.core.ids import NetDevice
from railwright.intent.model import (
    DriverIntent,
    Fabric,
    GpuDriver,
    Method,
    NetworkIntent,
    NicDriver,
    RailSelector,
)
from railwright.plan.plan import plan
from railwright.plan.subnets import DEFAULT_SUBNETS

CATALOG = load_catalog()
IB = Fabric.INFINIBAND
IN_BOX = DriverIntent(nic=NicDriver.IN_BOX)
DOCA_THERE = an_object(kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", spec={"ofedDriver": {"version": "24.10"}})
NO_VERSION = replace(CATALOG, network_operators=())


def said(wish, *objects, inside=None, catalog=CATALOG, **cluster):
    """Every code of a plan for one node: refusals of the whole and of the node, and warnings."""
    node = a_node(0, hardware(wish.fabric, **(inside or {})))
    made = plan((wish,), a_cluster((node,), objects, **cluster), catalog)
    notes = (*made.refusals, *(item for item in made.nodes[0].refused), *made.warnings)
    return {item.code for item in notes}


def newer(csv):
    """The catalogs of a cluster that offers another Network Operator."""
    packages = a_cluster(()).cluster.packages
    return tuple(
        replace(item, channels=tuple(replace(channel, head_csv=csv) for channel in item.channels))
        if item.package == "nvidia-network-operator"
        else item
        for item in packages
    )


ROWS = [
    # code, what makes a plan say it, and the near miss that does not
    ("driver-is-there", (an_intent(driver=IN_BOX), DOCA_THERE), (an_intent(driver=IN_BOX),)),
    ("no-workload-namespace", (an_intent(workload_namespaces=()),), (an_intent(),)),
    (
        "pkey-needs-sriov",
        (an_intent(Method.SHARED, IB, network=NetworkIntent(pkey="0x8001")),),
        (an_intent(Method.SRIOV, IB, network=NetworkIntent(pkey="0x8001")),),
    ),
    (
        "guid-pool-needs-ufm",
        (an_intent(Method.SRIOV, IB, network=NetworkIntent(guid="pool")),),
        (an_intent(Method.SRIOV, IB, network=NetworkIntent(guid="auto")),),
    ),
    (
        "gds-needs-open-module",
        (an_intent(driver=DriverIntent(gds=True, gpu=GpuDriver.PROPRIETARY)),),
        (an_intent(driver=DriverIntent(gds=True, gpu=GpuDriver.OPEN)),),
    ),
]
INSIDE = [
    # the same of what is inside the node
    ("secure-boot-unknown", an_intent(), {"secure_boot": None, "lockdown": None}, {"secure_boot": False}),
    ("gpu-driver-with-secure-boot", an_intent(), {"secure_boot": True}, {"secure_boot": False}),
    (
        "rail-selector-fits-several",
        an_intent(rails=(RailSelector("rail0", pci_address=a_port(0).pci),)),
        {"ports": (a_port(0), a_port(0, netdev=NetDevice("ens0f1np1")))},
        {"ports": (a_port(0), a_port(1))},
    ),
    ("driver-image-unknown", an_intent(), {"os_release": {"ID": "fedora", "VERSION_ID": "44"}}, {}),
    ("gds-with-secure-boot", an_intent(driver=DriverIntent(gds=True)), {"secure_boot": True}, {"secure_boot": False}),
]


@pytest.mark.parametrize(("code", "fires", "near"), ROWS, ids=[row[0] for row in ROWS])
def test_a_wish_is_answered_with_its_code(code, fires, near):
    assert code in said(*fires)
    assert code not in said(*near)


@pytest.mark.parametrize(("code", "wish", "fires", "near"), INSIDE, ids=[row[0] for row in INSIDE])
def test_a_node_is_answered_with_its_code(code, wish, fires, near):
    assert code in said(wish, inside=fires)
    assert code not in said(wish, inside=near)


def test_no_subnet_is_taken_where_the_cluster_uses_every_one():
    code = "no-free-subnet"
    assert code in said(an_intent(), cluster_networks=DEFAULT_SUBNETS)
    assert code not in said(an_intent(), cluster_networks=DEFAULT_SUBNETS[:-1])


def test_images_of_a_known_network_operator_stand_in_for_those_of_an_unknown_one():
    code = "network-operator-version-unknown"
    assert code in said(an_intent(), packages=newer("nvidia-network-operator.v99.1.0"))
    assert code not in said(an_intent())


def test_where_images_stand_in_the_key_that_names_another_driver_is_given():
    wish, packages = an_intent(), newer("nvidia-network-operator.v99.1.0")
    made = plan((wish,), a_cluster((a_node(0, hardware(wish.fabric)),), packages=packages), CATALOG)
    (warning,) = [item for item in made.warnings if item.code == "network-operator-version-unknown"]
    assert "spec.driver.nicVersion" in warning.message


def test_without_any_known_network_operator_no_image_can_be_named():
    assert "no-network-operator-version" in said(an_intent(), catalog=NO_VERSION)
