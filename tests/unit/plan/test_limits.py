"""What versions, drivers, kernels and names do not allow: each refused or said, each with a near miss."""

from dataclasses import replace

import pytest
from unit.plan.clusters import a_cluster, a_node, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.facts.model import Platform
from railwright.intent.model import DriverIntent, GpuMemory, Method
from railwright.manifests.render import render
from railwright.plan.plan import plan
from railwright.ports.cluster import ServedKind

CATALOG = load_catalog()
HELM = (kinds.NIC_CLUSTER_POLICY, kinds.CLUSTER_POLICY, kinds.NETWORK_ATTACHMENT_DEFINITION)


def planned(*objects, inside=None, cluster=None, method=Method.SHARED, **wish):
    nodes = (a_node(0, inside or hardware()), a_node(1, hardware()))
    return plan((an_intent(method, **wish),), a_cluster(nodes, objects, **(cluster or {})), CATALOG)


def codes(made):
    return {
        item.code
        for item in (*made.refusals, *made.warnings, *(refusal for node in made.nodes for refusal in node.refused))
    }


def subscribed(package, namespace, csv):
    group = an_object(kinds.OPERATOR_GROUP, "theirs", namespace, spec={"targetNamespaces": [namespace]})
    return group, an_object(
        kinds.SUBSCRIPTION, "theirs", namespace, spec={"name": package, "channel": "c"}, status={"installedCSV": csv}
    )


def gpu_operator(version):
    return subscribed("gpu-operator-certified", "nvidia-gpu-operator", f"gpu-operator-certified.v{version}")


def a_gpu_policy(**driver):
    return an_object(kinds.CLUSTER_POLICY, "theirs", spec={"driver": driver})


def a_nad(labels):
    nad = an_object(kinds.NETWORK_ATTACHMENT_DEFINITION, "east-west-rail0", "training", spec={})
    return nad | {"metadata": nad["metadata"] | {"labels": labels}}


@pytest.mark.parametrize(("version", "there"), [("24.9.2", True), ("25.3.0", False)])
@pytest.mark.parametrize(
    ("code", "inside"),
    [
        ("gpu-operator-without-module-type", hardware()),
        ("gpu-operator-without-64k-pages", hardware(page_size_bytes=65536)),
        ("operator-older-than-supported", hardware()),
    ],
)
def test_an_old_gpu_operator_cannot_do_everything(code, inside, version, there):
    assert (code in codes(planned(*gpu_operator(version), inside=inside))) == there


@pytest.mark.parametrize(("version", "there"), [("25.4.0", True), ("25.7.0", False), ("26.4.1", False)])
def test_an_old_network_operator_is_said(version, there):
    theirs = subscribed("nvidia-network-operator", "nvidia-network-operator", f"nvidia-network-operator.v{version}")
    assert ("operator-older-than-supported" in codes(planned(*theirs))) == there


@pytest.mark.parametrize(
    ("kernel", "memory", "there"),
    [
        ("5.4.0-150-generic", None, True),
        ("5.11.22", None, True),
        ("5.14.0-570.el9", None, False),
        ("6.8.0-87-generic", None, False),
        ("", None, False),
        ("5.4.0-150-generic", GpuMemory.PEERMEM, False),
    ],
)
def test_a_kernel_without_dma_buf_keeps_its_node_out(kernel, memory, there):
    made = planned(inside=hardware(kernel_version=kernel), driver=DriverIntent(memory=memory))
    assert ("kernel-without-dma-buf" in codes(made)) == there
    assert "worker-1" in made.admitted


@pytest.mark.parametrize(("version", "there"), [("470.57.02", True), ("515.43.04", False), ("580.95.05", False)])
def test_a_gpu_driver_without_dma_buf_is_refused(version, there):
    asked = planned(driver=DriverIntent(gpu_version=version))
    adopted = planned(a_gpu_policy(version=version, kernelModuleType="open"))
    assert [("gpu-driver-without-dma-buf" in codes(made)) for made in (asked, adopted)] == [there, there]


@pytest.mark.parametrize(
    ("driver", "there"),
    [
        ({"useNvidiaDriverCRD": True, "kernelModuleType": "proprietary"}, True),
        ({"useNvidiaDriverCRD": True, "kernelModuleType": "open"}, False),
        ({"kernelModuleType": "proprietary"}, False),
    ],
)
def test_driver_fields_that_nobody_reads_are_not_written(driver, there):
    assert ("gpu-driver-in-other-kind" in codes(planned(a_gpu_policy(**driver)))) == there


@pytest.mark.parametrize(
    ("labels", "there"), [({}, True), ({"nvidia.network-operator.state": "state-Macvlan-Network"}, False)]
)
def test_a_network_of_others_is_not_written_over(labels, there):
    assert ("network-name-taken" in codes(planned(a_nad(labels)))) == there


@pytest.mark.parametrize(("served", "there"), [(HELM, False), (HELM[:2], True)])
def test_plain_kubernetes_needs_multus(served, there):
    kubernetes = {
        "platform": Platform.KUBERNETES,
        "pools": (),
        "served_kinds": tuple(ServedKind(kind, "", namespaced=False) for kind in served),
    }
    assert ("multus-missing" in codes(planned(cluster=kubernetes))) == there


@pytest.mark.parametrize(("device_id", "gate"), [("2941", True), ("2335", False)])
def test_a_gate_that_the_hardware_needs_is_set_where_it_is_not(device_id, gate):
    inside = hardware()
    inside = replace(inside, gpus=tuple(replace(gpu, device_id=device_id) for gpu in inside.gpus))
    fresh = planned(inside=inside, method=Method.SRIOV)
    live = an_object(
        kinds.SRIOV_OPERATOR_CONFIG,
        "default",
        "openshift-sriov-network-operator",
        spec={"featureGates": {"mellanoxFirmwareReset": True}},
    )
    kept = planned(live, inside=inside, method=Method.SRIOV)

    def configs(made):
        return [item.obj["spec"] for item in render(made).items if item.ref.kind == kinds.SRIOV_OPERATOR_CONFIG]

    assert configs(fresh)[0].get("featureGates") == ({"mellanoxFirmwareReset": True} if gate else None)
    assert configs(kept) == []
