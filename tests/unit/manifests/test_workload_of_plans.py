"""A workload fits the plan that it comes of: its networks, devices, addresses, taints; images are those of its nodes."""

import json
from dataclasses import replace

import pytest
from unit.plan.clusters import a_cluster, a_node, a_port, an_intent, an_object, hardware, two_nodes

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.facts.model import Platform
from railwright.intent.model import DriverIntent, Fabric, Ipam, Method, NetworkIntent, RailSelector
from railwright.manifests.images import images
from railwright.manifests.render import render
from railwright.manifests.workload import workload
from railwright.plan.model import NetworkShare
from railwright.plan.plan import plan

CATALOG = load_catalog()
NETWORKS = "k8s.v1.cni.cncf.io/networks"
TAINT = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def planned(method=Method.SHARED, fabric=Fabric.ROCE, snapshot=None, **wish):
    return plan((an_intent(method, fabric, **wish),), snapshot or two_nodes(fabric), CATALOG)


def pods(made, namespace="training", **options):
    objects = workload(made, made.fabrics[0].name, namespace=namespace, **options).objects
    return [item for item in objects if item["kind"] == "Pod"]


def environment(pod):
    return {item["name"]: item["value"] for item in pod["spec"]["containers"][0]["env"]}


@pytest.mark.parametrize("method", list(Method))
@pytest.mark.parametrize("fabric", list(Fabric))
@pytest.mark.parametrize("namespaces", [("training",), ("training", "serving")])
def test_a_pod_asks_for_networks_and_resources_that_the_plan_makes(method, fabric, namespaces):
    made = planned(method, fabric, workload_namespaces=namespaces)
    for namespace in namespaces:
        (pod,) = pods(made, namespace)
        nads = {s.nad for s in made.shares if isinstance(s, NetworkShare) and s.target_namespace == namespace}
        assert set(pod["metadata"]["annotations"][NETWORKS].split(",")) == nads
        limits = set(pod["spec"]["containers"][0]["resources"]["limits"])
        assert limits == {"nvidia.com/gpu", *(rail.resource for rail in made.rails)}


def test_a_pod_puts_up_with_the_taints_that_drivers_do():
    (pod,) = pods(planned(tolerations=(TAINT,)))
    assert pod["spec"]["tolerations"] == [TAINT]


def test_a_pod_with_some_rails_names_only_their_devices():
    made = planned()
    assert environment(pods(made)[0])["NCCL_IB_HCA"].count("mlx5_") == 8
    assert environment(pods(made, gpus=2)[0])["NCCL_IB_HCA"] == "=mlx5_0,mlx5_1"
    assert environment(pods(made, gpus=2)[0])["UCX_NET_DEVICES"] == "mlx5_0:1,mlx5_1:1"


def test_static_addresses_are_each_pods_own():
    network = NetworkIntent(("10.9.0.0/16", "fd00:9::/48"), ipam=Ipam.STATIC)
    found = [json.loads(pod["metadata"]["annotations"][NETWORKS])[1] for pod in pods(planned(network=network))]
    assert found == [
        {"name": "east-west-rail1", "cni-args": {"ips": ["10.9.32.2/19", "fd00:9:0:2000::2/51"]}},
        {"name": "east-west-rail1", "cni-args": {"ips": ["10.9.32.3/19", "fd00:9:0:2000::3/51"]}},
    ]


@pytest.mark.parametrize(
    ("architecture", "path", "expected"),
    [("x86_64", ("0000:90:01.0", "0000:91:00.0"), "SYS"), ("aarch64", ("0000:90:01.0", "0000:91:00.0"), None)],
)
def test_nccl_is_told_where_a_rail_is_farther_than_it_goes_by_itself(architecture, path, expected):
    far = a_port(0, pci_path=path, root="pci0000:90")
    inside = replace(hardware(count=1), ports=(far,), architecture=architecture)
    made = planned(
        snapshot=a_cluster((a_node(0, inside), a_node(1, inside))), rails=(RailSelector("rail0", netdev="ens0f0np0"),)
    )
    assert not made.refusals
    assert environment(pods(made)[0]).get("NCCL_NET_GDR_LEVEL") == expected
    assert "NCCL_NET_GDR_LEVEL" not in environment(pods(planned())[0])


def test_driver_images_are_those_of_nodes_that_get_the_driver():
    master = a_node(9, hardware(count=0), architecture="amd64", is_worker=False, is_control_plane=True)
    workers = tuple(a_node(number, hardware(), architecture="arm64") for number in range(2))
    made = planned(snapshot=a_cluster((*workers, master)))
    drivers = [item.reference for item in images(made, CATALOG).items if "/doca-driver:" in item.reference]
    assert [reference.rpartition("-")[2] for reference in drivers] == ["arm64"]


def gpu_policy(made):
    return next(item.obj["spec"] for item in render(made).items if item.ref.kind == kinds.CLUSTER_POLICY)


def test_a_mirror_takes_the_place_of_the_registry_in_both_policies():
    made = planned(image_registry="mirror.example.com", driver=DriverIntent(gds=True))
    policy = gpu_policy(made)
    assert policy["driver"]["repository"] == "mirror.example.com/nvidia"
    assert policy["driver"]["version"] == "595.91.07"
    assert policy["gds"]["repository"] == "mirror.example.com/nvidia/cloud-native"
    assert policy["gds"]["version"] == "2.29.4"


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        ({"image_registry": "mirror.example.com"}, "gpu-driver-not-mirrored"),
        ({"driver": DriverIntent(gds=True)}, "gds-version-unknown"),
    ],
)
def test_what_is_not_known_of_a_version_is_said(wish, code):
    group = an_object(
        kinds.OPERATOR_GROUP, "g", "nvidia-gpu-operator", spec={"targetNamespaces": ["nvidia-gpu-operator"]}
    )
    theirs = an_object(
        kinds.SUBSCRIPTION,
        "gpu",
        "nvidia-gpu-operator",
        spec={"name": "gpu-operator-certified", "channel": "v25.3"},
        status={"installedCSV": "gpu-operator-certified.v25.3.4"},
    )
    made = planned(snapshot=a_cluster((a_node(0, hardware()),), (group, theirs)), **wish)
    assert code in {item.code for item in made.warnings}


def test_plain_kubernetes_has_neither_crio_nor_the_drivers_toolkit():
    assert gpu_policy(planned())["operator"] == {"defaultRuntime": "crio", "use_ocp_driver_toolkit": True}
    snapshot = a_cluster((a_node(0, hardware()),), platform=Platform.KUBERNETES, pools=())
    assert gpu_policy(planned(snapshot=snapshot))["operator"] == {"defaultRuntime": "containerd"}
