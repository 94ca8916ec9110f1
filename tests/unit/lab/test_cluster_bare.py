"""A bare virtual cluster: what it begins with, who is played on it, what drivers and GPUs are there."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from railwright.core.kinds import CLUSTER_VERSION, DAEMON_SET, DEPLOYMENT, NODE
from railwright.core.objects import KubeObject, Ref, dig, ref_of
from railwright.lab.cluster.guest.port_addresses import by_address
from railwright.lab.cluster.images import PAUSE, SRIOV_DEVICE_PLUGIN, TOOLS
from railwright.lab.cluster.openshift import OS_RELEASE, devices_of, platform_objects
from railwright.lab.cluster.operands import OPERATORS_NODE, runnable
from railwright.lab.cluster.plugins import CONTROLLER_REVISION, GPU_RESOURCE, react_gpus, react_revisions
from railwright.lab.cluster.shape import Shape
from railwright.lab.cluster.shim import MODULES, makefile
from railwright.lab.cluster.stand_ins import beginning, played
from railwright.standins.kinds.daemonsets import REVISION_LABEL, REVISION_MARK
from railwright.standins.kinds.nfd import PREFIX, labels_from_hardware
from railwright.standins.model import Objects, Write
from railwright.standins.workloads import daemon_set, deployment

NOW = datetime(2026, 11, 30, tzinfo=UTC)
OWNER: KubeObject = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "x", "uid": "1"}}


def a_node(name: str = "node-1", **capacity: str) -> KubeObject:
    os_image = OS_RELEASE.rpartition('PRETTY_NAME="')[2].strip().strip('"')
    info = {"osImage": os_image, "kernelVersion": "7.3.4+deb13-amd64"}
    status = {"capacity": capacity, "allocatable": dict(capacity), "nodeInfo": info}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def a_daemon_set(name: str, *containers: str) -> KubeObject:
    made = daemon_set(
        name, "n", OWNER, containers=[(each, "nvcr.io/nvidia/x:1") for each in containers], node_selector={}
    )
    return {**made, "metadata": {**made["metadata"], "uid": f"uid-{name}"}}


def a_pod(owner: KubeObject, *, ready: bool) -> KubeObject:
    reference = {"kind": "DaemonSet", "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "n", "ownerReferences": [reference]},
        "spec": {"nodeName": "node-1"},
        "status": {"conditions": [{"type": "Ready", "status": str(ready)}]},
    }


def world(*objects: KubeObject, shape: Shape = Shape(bare=True)) -> Objects:  # noqa: B008 - frozen
    return Objects({ref_of(obj): obj for obj in objects}, devices_of(shape))


def pod_spec(name: str, *containers: str) -> dict[str, Any]:
    body = a_daemon_set(name, *containers)
    answer: dict[str, Any] = runnable(Write("create", ref_of(body), body)).body["spec"]["template"]["spec"]
    return answer


def test_a_bare_cluster_is_an_openshift_without_operators_and_the_other_one_is_not() -> None:
    bare, by_hand = (beginning(Shape(bare=each)) for each in (True, False))
    assert {ref_of(obj).kind for obj in bare} >= {NODE, CLUSTER_VERSION, DAEMON_SET}
    assert DEPLOYMENT not in {ref_of(obj).kind for obj in bare}
    assert [ref_of(obj).name for obj in by_hand if ref_of(obj).kind == DEPLOYMENT] == [
        "nvidia-network-operator-controller-manager"
    ]
    assert CLUSTER_VERSION not in {ref_of(obj).kind for obj in by_hand}


def test_nobody_plays_what_is_there() -> None:
    names = {name for name, _ in played(Shape(bare=True))}
    assert names >= {"catalog-operator", "nfd", "network-operator", "gpu-operator", "sriov-network-operator"}
    assert not names & {"kubelet", "daemon-set-controller", "deployment-controller", "multus"}


def test_the_daemon_that_nodes_are_looked_at_through_has_their_root() -> None:
    daemon = next(obj for obj in platform_objects() if ref_of(obj).kind == DAEMON_SET)
    pod = daemon["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert (container["name"], container["image"]) == ("machine-config-daemon", TOOLS)
    assert container["securityContext"] == {"privileged": True}
    assert [mount["mountPath"] for mount in container["volumeMounts"]] == ["/rootfs"]
    assert (pod["hostPID"], pod["hostNetwork"]) == (True, True)


@pytest.mark.parametrize(("container", "driver"), [("mofed-container", "doca"), ("nvidia-driver-ctr", "nvidia")])
def test_a_driver_pod_loads_its_stand_in_on_the_node_and_has_time_to_take_it_away(container: str, driver: str) -> None:
    pod = pod_spec("any", container, "openshift-driver-toolkit-ctr")
    ours, toolkit = pod["containers"]
    assert ours["command"] == ["chroot", "/host", "/usr/lib/railwright/driver", driver]
    assert ours["startupProbe"]["exec"]["command"][-1] == "is-loaded"
    assert (toolkit["name"], toolkit["image"]) == ("openshift-driver-toolkit-ctr", PAUSE)
    assert (pod["hostPID"], pod["terminationGracePeriodSeconds"]) == (True, 30)


@pytest.mark.parametrize(
    ("container", "settings", "arguments"),
    [
        ("kube-sriovdp", "network-operator-sriovdp-config", ["--resource-prefix=nvidia.com"]),
        (
            "sriov-device-plugin",
            "device-plugin-config",
            ["--resource-prefix=openshift.io", "--config-file=/etc/pcidp/$(NODE_NAME)"],
        ),
    ],
)
def test_the_sriov_device_plugin_is_real_and_reads_what_its_operator_wrote(
    container: str, settings: str, arguments: list[str]
) -> None:
    pod = pod_spec("any", container)
    (plugin,) = pod["containers"]
    assert (plugin["image"], plugin["args"]) == (SRIOV_DEVICE_PLUGIN, arguments)
    assert [volume["configMap"] for volume in pod["volumes"] if "configMap" in volume] == [{"name": settings}]
    assert {"name": "settings", "mountPath": "/etc/pcidp"} in plugin["volumeMounts"]


def test_ports_that_a_pool_names_are_said_by_address_before_the_plugin_reads_them(tmp_path: Path) -> None:
    pod = pod_spec("any", "kube-sriovdp")
    (before,) = pod["initContainers"]
    mounts = {mount["name"]: mount["mountPath"] for mount in before["volumeMounts"]}
    assert before["command"][-2:] == [f"{mounts['given']}/config.json", f"{mounts['settings']}/config.json"]
    for name, address in (("rail0", "0000:01:00.0"), ("rail1", "0000:03:00.0")):
        (tmp_path / "devices" / address).mkdir(parents=True)
        (tmp_path / "net" / name).mkdir(parents=True)
        (tmp_path / "net" / name / "device").symlink_to(tmp_path / "devices" / address)
    pools = [{"selectors": {"pfNames": names, "isRdma": True}} for names in (["rail0"], ["rail1#0-3"], ["gone"])]
    said = by_address({"resourceList": [*pools, {"selectors": {"vendors": ["15b3"]}}]}, tmp_path / "net")
    assert [pool["selectors"] for pool in said["resourceList"]] == [
        {"pciAddresses": ["0000:01:00.0"], "isRdma": True},
        {"pfNames": ["rail1#0-3"], "isRdma": True},
        {"pfNames": ["gone"], "isRdma": True},
        {"vendors": ["15b3"]},
    ]


def test_monitoring_wants_no_node() -> None:
    assert pod_spec("nvidia-dcgm", "nvidia-dcgm-ctr")["nodeSelector"] == {"railwright.dev/stand-in": "wants-no-node"}


def test_an_operators_own_pod_is_on_the_made_up_node() -> None:
    body = deployment("gpu-operator", "n", OWNER, "nvcr.io/nvidia/gpu-operator")
    pod = runnable(Write("create", ref_of(body), body)).body["spec"]["template"]["spec"]
    assert (pod["nodeName"], pod["containers"][0]["image"]) == (OPERATORS_NODE, PAUSE)


@pytest.mark.parametrize(
    ("ready", "capacity", "offered"),
    [(True, {}, "2"), (True, {GPU_RESOURCE: "2"}, None), (False, {}, None), (False, {GPU_RESOURCE: "2"}, "0")],
    ids=["plugged", "offered-already", "never-plugged", "unplugged"],
)
def test_gpus_are_offered_while_their_plugin_is_ready(
    ready: bool, capacity: dict[str, str], offered: str | None
) -> None:
    plugin = a_daemon_set("nvidia-device-plugin-daemonset", "nvidia-device-plugin")
    writes = react_gpus(world(a_node(**capacity), plugin, a_pod(plugin, ready=ready)), NOW)
    assert [dig(write.body, "status", "capacity", GPU_RESOURCE) for write in writes] == ([offered] if offered else [])


def test_a_daemon_set_is_marked_with_the_newest_revision_of_its_controller() -> None:
    item = a_daemon_set("mofed", "mofed-container")
    reference = {"kind": "DaemonSet", "name": "mofed", "uid": "uid-mofed"}

    def revision(number: int) -> KubeObject:
        labels = {REVISION_LABEL: f"hash-{number}"}
        metadata = {"name": f"r{number}", "namespace": "n", "labels": labels, "ownerReferences": [reference]}
        return {
            "apiVersion": CONTROLLER_REVISION.api_version,
            "kind": CONTROLLER_REVISION.kind,
            "metadata": metadata,
            "revision": number,
        }

    (write,) = react_revisions(world(item, revision(10), revision(9)), NOW)
    assert write.ref == Ref(DAEMON_SET, "n", "mofed")
    assert write.body["metadata"]["annotations"] == {REVISION_MARK: "hash-10"}


def test_labels_of_a_virtual_node_are_ones_that_the_api_server_takes() -> None:
    labels = labels_from_hardware(world(), a_node())
    assert labels[f"{PREFIX}kernel-version.full"] == "7.3.4_deb13-amd64"
    assert labels[f"{PREFIX}system-os_release.OSTREE_VERSION"] == "9.6.20251106-0"
    assert {f"{PREFIX}pci-15b3.present", f"{PREFIX}pci-10de.present"} <= set(labels)


def test_stand_ins_of_drivers_say_a_version_where_the_real_ones_do() -> None:
    by_place = {module.place: makefile(module) for module in MODULES}
    assert by_place["drivers/in-box/mlx5_core.ko"] == "obj-m := mlx5_core.o\nccflags-y := \n"
    assert '-DSTANDS_FOR_VERSION=\\"26.04-0\\"' in by_place["drivers/doca/mlx5_core.ko"]
    assert '-DSHOWS_VERSION_IN_PROC=\\"580.95.05\\"' in by_place["drivers/nvidia/nvidia.ko"]
