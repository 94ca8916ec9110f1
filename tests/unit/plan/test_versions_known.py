"""What is known to be wrong with versions that are there or would be, and GPUs that a driver is not for."""

from dataclasses import replace

import pytest
from unit.plan.clusters import a_cluster, a_gpu, a_node, a_subscription, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.intent.model import DriverIntent, Fabric, GpuDriver, GpuMemory, Method, NicDriver
from railwright.plan.plan import plan

CATALOG = load_catalog()
NETWORK, GPU = ("nvidia-network-operator",) * 2, ("gpu-operator-certified", "nvidia-gpu-operator")
IN_BOX = DriverIntent(nic=NicDriver.IN_BOX)


def adopted(of, csv):
    package, namespace = of
    subscription = a_subscription("theirs", package, namespace) | {"status": {"installedCSV": csv}}
    group = an_object(kinds.OPERATOR_GROUP, "theirs", namespace, spec={"targetNamespaces": [namespace]})
    return subscription, group, an_object(kinds.CLUSTER_SERVICE_VERSION, csv, namespace)


def planned(*objects, inside=None, method=Method.SHARED, fabric=Fabric.ROCE, **intent):
    node = a_node(0, inside or hardware(fabric))
    return plan((an_intent(method, fabric, **intent),), a_cluster((node,), objects), CATALOG)


def warned(made, code):
    return [item.message for item in made.warnings if item.code == code]


@pytest.mark.parametrize(("version", "told"), [("26.1.0", True), ("26.4.1", False), ("99.1.0", False)])
def test_a_version_whose_support_has_ended_is_told(version, told):
    made = planned(*adopted(NETWORK, f"nvidia-network-operator.v{version}"))
    assert bool(warned(made, "operator-out-of-support")) == told


@pytest.mark.parametrize(("version", "told"), [("25.3.0", True), ("25.10.1", False), ("26.7.0", False)])
def test_a_gpu_operator_for_other_releases_is_told(version, told):
    made = planned(*adopted(GPU, f"gpu-operator-certified.v{version}"))
    assert bool(warned(made, "operator-outside-its-range")) == told


@pytest.mark.parametrize(
    ("version", "driver", "told"),
    [
        ("25.7.0", None, True),
        ("25.7.0", IN_BOX, False),
        ("25.4.0", None, False),
        ("25.10.0", None, False),
    ],
)
def test_a_known_defect_is_told_where_it_would_be_met(version, driver, told):
    made = planned(*adopted(NETWORK, f"nvidia-network-operator.v{version}"), driver=driver or DriverIntent())
    assert any("inventory" in text for text in warned(made, "known-defect")) == told


@pytest.mark.parametrize(
    ("device_id", "driver", "refused"),
    [
        ("1db5", DriverIntent(), True),
        ("1e02", DriverIntent(), False),
        ("what", DriverIntent(), False),
        ("1db5", DriverIntent(gpu=GpuDriver.PROPRIETARY, memory=GpuMemory.PEERMEM, nic=NicDriver.DOCA), False),
    ],
)
def test_a_gpu_that_the_open_modules_do_not_drive_is_refused(device_id, driver, refused):
    gpus = tuple(replace(a_gpu(number), device_id=device_id) for number in range(8))
    made = planned(inside=hardware(gpus=gpus), driver=driver)
    assert ("gpu-without-open-module" in {item.code for node in made.nodes for item in node.refused}) == refused


def test_what_infiniband_leaves_to_the_subnet_manager_is_told():
    made = planned(method=Method.SRIOV, fabric=Fabric.INFINIBAND)
    assert warned(made, "subnet-manager-virtualization")
    assert warned(planned(method=Method.SRIOV), "subnet-manager-virtualization") == []


def test_an_ipoib_child_is_said_to_have_its_ports_partition():
    made = planned(method=Method.SHARED, fabric=Fabric.INFINIBAND)
    assert "east-west partition" in {decision.key for decision in made.decisions}
