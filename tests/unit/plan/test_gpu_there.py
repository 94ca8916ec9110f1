"""A ClusterPolicy of others that leaves out what rails need, and GPUs that are handed out in parts."""

import pytest
from unit.plan.clusters import a_cluster, a_node, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.plan.plan import plan

CATALOG = load_catalog()
WHOLE = {"nvidia.com/gpu": 8}
FOR_MACHINES = {"enabled": True, "defaultWorkload": "vm-passthrough"}
LABEL = "nvidia.com/gpu.workload.config"


def planned(spec=None, *, allocatable=None, labels=None, driver=""):
    node = a_node(0, hardware(nvidia_driver=driver), allocatable=allocatable or {}, labels=labels or {})
    found = () if spec is None else (an_object(kinds.CLUSTER_POLICY, "theirs", spec=spec),)
    return plan((an_intent(),), a_cluster((node,), found), CATALOG)


def codes(made):
    return {refusal.code for node in made.nodes for refusal in node.refused}


@pytest.mark.parametrize(
    ("allocatable", "refused"),
    [
        ({}, False),
        (WHOLE, False),
        ({"nvidia.com/gpu": 32}, True),
        ({"nvidia.com/gpu": 0, "nvidia.com/gpu.shared": 32}, True),
        ({"nvidia.com/gpu": 7, "nvidia.com/mig-1g.10gb": 7}, True),
        ({"nvidia.com/gpu": 8, "nvidia.com/mig-1g.10gb": 0}, False),
        ({"nvidia.com/gpu": 7}, False),
    ],
)
def test_gpus_in_parts_keep_a_node_out(allocatable, refused):
    assert ("gpus-divided" in codes(planned({}, allocatable=allocatable))) == refused


@pytest.mark.parametrize(
    ("section", "there", "refused"),
    [
        ("driver", {}, True),
        ("driver", {"driver": "580.95.05"}, False),
        ("devicePlugin", {}, True),
        ("devicePlugin", {"allocatable": WHOLE}, False),
    ],
)
def test_what_the_policy_leaves_out_must_be_there_otherwise(section, there, refused):
    assert ("gpu-policy-switched-off" in codes(planned({section: {"enabled": False}}, **there))) == refused
    assert "gpu-policy-switched-off" not in codes(planned({section: {"enabled": True}}, **there))


@pytest.mark.parametrize(("enabled", "warned"), [(False, True), (True, False)])
def test_a_toolkit_that_nobody_brings_is_told(enabled, warned):
    made = planned({"toolkit": {"enabled": enabled}})
    assert ("gpu-toolkit-switched-off" in {item.code for item in made.warnings}) == warned


@pytest.mark.parametrize(
    ("sandbox", "labels", "refused"),
    [
        (FOR_MACHINES, {}, True),
        (FOR_MACHINES, {LABEL: "container"}, False),
        ({"enabled": True}, {LABEL: "vm-vgpu"}, True),
        ({"enabled": True}, {}, False),
        ({"enabled": False}, {LABEL: "vm-vgpu"}, False),
    ],
)
def test_gpus_of_virtual_machines_get_no_driver_for_containers(sandbox, labels, refused):
    assert ("gpus-for-virtual-machines" in codes(planned({"sandboxWorkloads": sandbox}, labels=labels))) == refused
