"""What the plan expects of nodes, pods, networks and pools; and what has to be read for it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from railwright.core import kinds
from railwright.core.ids import NetDevice, NodeName, PciAddress, RailName, RdmaDevice
from railwright.core.objects import KubeObject, Ref, ref_of
from railwright.facts.model import ContainerRuntime, Gid, LinkLayer, NicPort, NodeHardware, Unseen
from railwright.facts.node_model import VirtualFunction
from railwright.intent.model import Fabric
from railwright.plan.model import (
    Allocatable,
    DriverLoaded,
    Expectation,
    MemoryLockable,
    NadPresent,
    NodeLabel,
    PodsReady,
    PoolUpdated,
    RailUp,
    VfsManaged,
)
from railwright.readiness.judge import judge_expectation, selections_for
from railwright.readiness.model import Companions, Judgement

NOW = datetime(2026, 11, 30, tzinfo=UTC)
NODE = NodeName("worker-0")
PCI = PciAddress("0000:37:00.0")


def answer(expectation: Expectation, *objects: KubeObject, **more: Any) -> tuple[str, str]:
    companions = Companions({ref_of(obj): obj for obj in objects}, **more)
    judgement: Judgement = judge_expectation(expectation, companions, NOW)
    return judgement.readiness.value, judgement.reason


def a_node(allocatable: dict[str, Any] | None = None, labels: dict[str, str] | None = None) -> dict[str, Any]:
    metadata = {"name": NODE, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": allocatable or {}}}


RESOURCE = "rdma/rail0"


@pytest.mark.parametrize(
    ("seen", "at_least", "readiness", "words"),
    [
        ({}, False, "progressing", "no device plugin has registered it"),
        ({RESOURCE: "0"}, False, "progressing", "0 of 8"),
        ({RESOURCE: "0"}, True, "progressing", "0 of 8"),
        ({RESOURCE: "2"}, False, "progressing", "2 of 8"),
        ({RESOURCE: "8"}, False, "ready", "8"),
        ({RESOURCE: 8}, False, "ready", "8"),
        ({RESOURCE: "9"}, False, "failed", "something else selects the same devices"),
        ({RESOURCE: "9"}, True, "ready", "9"),
        ({RESOURCE: "many"}, False, "unknown", "no count"),
    ],
)
def test_allocatable_must_be_what_is_planned(seen: dict[str, Any], at_least: bool, readiness: str, words: str) -> None:
    found = answer(Allocatable(NODE, RESOURCE, 8, at_least=at_least), a_node(seen))
    assert found[0] == readiness
    assert words in found[1]


def test_more_gpus_than_there_are_is_said_to_be_what_it_is() -> None:
    readiness, reason = answer(Allocatable(NODE, "nvidia.com/gpu", 8), a_node({"nvidia.com/gpu": "32"}))
    assert (readiness, "time-slicing" in reason) == ("failed", True)


def test_a_node_that_is_gone_is_unknown() -> None:
    assert answer(Allocatable(NODE, RESOURCE, 8))[0] == "unknown"
    assert answer(NodeLabel(NODE, "a", None))[0] == "unknown"


WAIT = "network.nvidia.com/operator.mofed.wait"


@pytest.mark.parametrize(
    ("labels", "value", "readiness"),
    [
        ({}, "false", "progressing"),
        ({WAIT: "true"}, "false", "progressing"),
        ({WAIT: "false"}, "false", "ready"),
        ({WAIT: "true"}, None, "ready"),
    ],
)
def test_a_label_must_have_its_value(labels: dict[str, str], value: str | None, readiness: str) -> None:
    assert answer(NodeLabel(NODE, WAIT, value), a_node(labels=labels))[0] == readiness


def a_pod(
    *, ready: bool = True, waiting: str = "", containers: tuple[str, ...] = ("mofed-container",), **metadata: Any
) -> dict[str, Any]:
    state: dict[str, Any] = {"waiting": {"reason": waiting}} if waiting else {"running": {}}
    statuses = [
        {"name": name, "ready": ready, "image": "doca:x", "restartCount": 0, "state": state} for name in containers
    ]
    condition = {"type": "Ready", "status": "True" if ready else "False"}
    owner = {"kind": "DaemonSet", "name": "mofed-rhel9.6-75cdcb5967-ds"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "mofed-rhel9.6-75cdcb5967-ds-a", "namespace": "n", "ownerReferences": [owner], **metadata},
        "spec": {"nodeName": NODE, "containers": [{"name": name} for name in containers]},
        "status": {"phase": "Running", "conditions": [condition], "containerStatuses": statuses},
    }


def a_daemon_set() -> dict[str, Any]:
    metadata = {"name": "mofed-rhel9.6-75cdcb5967-ds", "namespace": "n"}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata}


MOFED = PodsReady(NODE, "n", "mofed-", ("mofed-container",))


@pytest.mark.parametrize(
    ("pods", "readiness", "words"),
    [
        ([], "progressing", "there is no pod yet"),
        ([a_pod()], "ready", "ready"),
        ([a_pod(ready=False)], "progressing", "not ready: mofed-container"),
        ([a_pod(ready=False, waiting="ImagePullBackOff")], "failed", "ImagePullBackOff, image doca:x"),
        ([a_pod(ready=False, waiting="ErrImagePull")], "progressing", "ErrImagePull"),
        ([a_pod(containers=("other",))], "progressing", "not ready: mofed-container"),
        ([a_pod(deletionTimestamp="2026-11-30T00:00:00Z")], "progressing", "not ready"),
    ],
)
def test_the_pod_of_a_daemon_set_must_be_ready_on_its_node(pods: list[Any], readiness: str, words: str) -> None:
    found = answer(MOFED, a_daemon_set(), *pods)
    assert found[0] == readiness
    assert words in found[1]


def test_pods_of_other_nodes_do_not_count() -> None:
    pod = a_pod()
    pod["spec"]["nodeName"] = "worker-1"
    assert answer(MOFED, a_daemon_set(), pod)[0] == "progressing"


def a_nad(config: str, resource: str = "") -> dict[str, Any]:
    notes = {"k8s.v1.cni.cncf.io/resourceName": resource} if resource else {}
    metadata = {"name": "rail0", "namespace": "training", "annotations": notes}
    return {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": metadata,
        "spec": {"config": config},
    }


@pytest.mark.parametrize(
    ("nads", "readiness"),
    [
        ([], "progressing"),
        ([a_nad('{"type": "sriov"}', "openshift.io/rail0")], "ready"),
        ([a_nad('{"plugins": [{"type": "sriov"}, {"type": "rdma"}]}', "openshift.io/rail0")], "ready"),
        ([a_nad('{"type": "macvlan"}', "openshift.io/rail0")], "failed"),
        ([a_nad('{"type": "sriov"}', "openshift.io/other")], "failed"),
        ([a_nad('{"type": "sriov"')], "failed"),
    ],
)
def test_a_network_must_be_readable_of_its_type_and_name_its_resource(nads: list[Any], readiness: str) -> None:
    assert answer(NadPresent("training", "rail0", "sriov", "openshift.io/rail0"), *nads)[0] == readiness


def test_a_kind_that_is_not_served_is_unknown() -> None:
    unserved = frozenset({kinds.NETWORK_ATTACHMENT_DEFINITION, kinds.MACHINE_CONFIG_POOL})
    assert answer(NadPresent("n", "x", "sriov", ""), unserved=unserved)[0] == "unknown"
    assert answer(PoolUpdated("worker", "mc"), unserved=unserved)[0] == "unknown"


def a_pool(spec: tuple[str, ...], status: tuple[str, ...], *, degraded: bool = False) -> dict[str, Any]:
    conditions = [
        {"type": "Updated", "status": "True"},
        {"type": "Degraded", "status": str(degraded), "message": "boom"},
    ]
    counts = dict.fromkeys(("machineCount", "updatedMachineCount", "readyMachineCount"), 2)
    return {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfigPool",
        "metadata": {"name": "worker"},
        "spec": {"configuration": {"source": [{"name": name} for name in spec]}},
        "status": {"conditions": conditions, "configuration": {"source": [{"name": n} for n in status]}, **counts},
    }


@pytest.mark.parametrize(
    ("pools", "readiness", "words"),
    [
        ([], "unknown", "is not there"),
        ([a_pool(("00",), ("00",))], "progressing", "is not rendered for pool worker"),
        ([a_pool(("00", "mc"), ("00",))], "progressing", "is not on the nodes of pool worker"),
        ([a_pool(("00", "mc"), ("00", "mc"))], "ready", "all 2 nodes updated"),
        ([a_pool(("00", "mc"), ("00", "mc"), degraded=True)], "failed", "boom"),
    ],
)
def test_a_pool_counts_only_with_our_machine_config_in_it(pools: list[Any], readiness: str, words: str) -> None:
    found = answer(PoolUpdated("worker", "mc"), *pools)
    assert found[0] == readiness
    assert words in found[1]


def test_of_several_that_must_go_the_same_one_is_named_in_every_run() -> None:
    names = tuple(f"mc-{letter}" for letter in "hgfedcba")
    found = answer(PoolUpdated("worker", "", without=names), a_pool(names, names))
    assert found == ("progressing", "MachineConfig mc-a is still in what pool worker has")


@pytest.mark.parametrize(
    ("finalizers", "sources", "readiness", "words"),
    [
        ([], ("00",), "progressing", "no MachineConfig was made of it"),
        (["99-worker-generated-kubelet"], ("00",), "progressing", "is not rendered for pool worker"),
        (["99-worker-generated-kubelet"], ("00", "99-worker-generated-kubelet"), "ready", "all 2 nodes updated"),
    ],
)
def test_a_kubelet_config_counts_once_what_was_made_of_it_is_on_the_nodes(finalizers, sources, readiness, words):
    metadata = {"name": "railwright-worker", "finalizers": finalizers}
    config = {"apiVersion": kinds.KUBELET_CONFIG.api_version, "kind": "KubeletConfig", "metadata": metadata}
    found = answer(PoolUpdated("worker", "", "railwright-worker"), config, a_pool(sources, sources))
    assert found[0] == readiness
    assert words in found[1]


# --- inside the node ---------------------------------------------------------


def a_port(**more: Any) -> NicPort:
    port = NicPort(
        pci=PCI,
        vendor_id="15b3",
        device_id="1021",
        pci_path=(PCI,),
        root="pci0000:16",
        numa=0,
        driver="mlx5_core",
        netdev=NetDevice("ens8f0np0"),
        rdma=RdmaDevice("mlx5_0"),
        link_layer=LinkLayer.ETHERNET,
        state="ACTIVE",
        carrier=True,
        rate_gbps=400.0,
        mtu_bytes=9000,
        address="b8:ce:f6:00:00:01",
        node_guid="b8ce:f603:0000:0001",
        lid=None,
        sm_lid=None,
        gids=(Gid(3, "::ffff:c0a8:0201", "RoCE v2", NetDevice("ens8f0np0")),),
    )
    return replace(port, **more)


def hardware(*ports: NicPort, **more: Any) -> NodeHardware:
    record = NodeHardware(
        netns_is_host=True,
        gpus=(),
        ports=ports,
        netdevs=(),
        carried=(),
        uplinks_known=True,
        uplinks_problem="",
        modules={"mlx5_core": 1},
        kernel_arguments="",
        kernel_version="5.14.0",
        architecture="x86_64",
        page_size_bytes=4096,
        os_release={},
        rdma_netns_mode="shared",
        lockdown="none",
        secure_boot=False,
        memlock_limit="unlimited",
        nvidia_driver="open 580.95.05",
        mlx5_driver="26.04-1.1.0",
    )
    return replace(record, **more)


DOCA_3_4 = {"mlx5": "doca", "mlx5_version": "doca3.4.1-26.04-1.1.0.0-1"}
VFS = VfsManaged(NODE, RailName("rail0"), PCI)
ROCE = RailUp(NODE, RailName("rail0"), PCI, Fabric.ROCE)
IB = RailUp(NODE, RailName("rail0"), PCI, Fabric.INFINIBAND)
IB_PORT = {"link_layer": LinkLayer.INFINIBAND, "gids": (), "lid": 5, "sm_lid": 1}


@pytest.mark.parametrize(
    ("rail", "port", "readiness", "words"),
    [
        (ROCE, {}, "ready", "RoCE v2 GID"),
        (ROCE, {"rdma": None}, "progressing", "no RDMA device"),
        (ROCE, {"link_layer": LinkLayer.INFINIBAND}, "failed", "its link is infiniband"),
        (ROCE, {"state": "DOWN"}, "progressing", "mlx5_0 is DOWN"),
        (ROCE, {"carrier": False}, "progressing", "no carrier"),
        (ROCE, {"carrier": None}, "unknown", "does not say whether there is a carrier"),
        (ROCE, {"gids": ()}, "progressing", "no RoCE v2 GID"),
        (IB, IB_PORT, "ready", "LID 5"),
        (IB, {**IB_PORT, "sm_lid": 0}, "progressing", "no subnet manager"),
        (IB, {**IB_PORT, "lid": None}, "unknown", "could not be read"),
        (IB, {}, "failed", "infiniband is wanted"),
    ],
)
def test_a_rail_is_up_when_its_fabric_can_use_it(rail: RailUp, port: Any, readiness: str, words: str) -> None:
    found = answer(rail, hardware={NODE: hardware(a_port(**port))})
    assert found[0] == readiness
    assert words in found[1]


VF_PCI = PciAddress("0000:37:00.1")
SEEN_VF = {"link_state": "auto", "port_guid": "b8:ce:f6:00:00:00:01:01"}


@pytest.mark.parametrize(
    ("function", "seen", "readiness", "words"),
    [
        ({"state": "ACTIVE", "lid": 7}, SEEN_VF, "ready", "none waits for a LID"),
        ({"state": "DOWN", "lid": 0xFFFF}, SEEN_VF, "progressing", "mlx5_0v0 is DOWN with LID 65535"),
        ({"state": "INIT", "lid": 0xFFFF}, {"link_state": ""}, "progressing", "virt_enabled 2"),
        ({"state": "DOWN", "lid": 0xFFFF}, {**SEEN_VF, "link_state": "disable"}, "ready", ""),
        ({"state": "DOWN", "lid": 0xFFFF}, {**SEEN_VF, "link_state": ""}, "ready", ""),
        ({"state": "DOWN", "lid": 0xFFFF}, {**SEEN_VF, "port_guid": "00:00:00:00:00:00:00:00"}, "ready", ""),
        ({"state": "DOWN", "lid": 0xFFFF, "phys_state": "Polling"}, SEEN_VF, "ready", ""),
        ({"state": "DOWN", "lid": None}, SEEN_VF, "ready", ""),
        ({"state": "", "lid": 0xFFFF, "rdma": None}, SEEN_VF, "ready", ""),
    ],
)
def test_vfs_that_wait_for_a_lid_are_waited_for(function: Any, seen: Any, readiness: str, words: str) -> None:
    rail = a_port(**IB_PORT, vfs=(VirtualFunction(0, VF_PCI, **seen),))
    made = {"pci": VF_PCI, "parent": PCI, "rdma": RdmaDevice("mlx5_0v0"), "phys_state": "LinkUp", **function}
    found = answer(VFS, hardware={NODE: hardware(rail, a_port(**{**IB_PORT, **made}))})
    assert found[0] == readiness
    assert words in found[1]


def test_vfs_below_a_port_that_is_not_active_are_waited_for_with_it() -> None:
    found = answer(VFS, hardware={NODE: hardware(a_port(**{**IB_PORT, "state": "INIT"}))})
    assert (found[0], "their port is not ACTIVE" in found[1]) == ("progressing", True)


def test_a_port_that_is_too_narrow_for_pods_is_waited_for() -> None:
    wide = replace(ROCE, mtu_bytes=9000)
    found = answer(wide, hardware={NODE: hardware(a_port(mtu_bytes=1500))})
    assert (found[0], "its MTU is 1500, 9000 is wanted" in found[1]) == ("progressing", True)
    assert answer(wide, hardware={NODE: hardware(a_port(mtu_bytes=9000))})[0] == "ready"


def test_a_rail_without_its_port_has_failed() -> None:
    assert answer(ROCE, hardware={NODE: hardware()})[0] == "failed"


def test_gids_that_could_not_be_read_are_unknown_and_not_absent() -> None:
    record = hardware(a_port(gids=()), unseen=(Unseen("gids of mlx5_0", "permission denied"),))
    assert answer(ROCE, hardware={NODE: record}) == (
        "unknown",
        "rail rail0 on node worker-0 (0000:37:00.0): its GIDs could not be read: permission denied",
    )


def test_a_node_that_was_not_read_is_unknown_with_the_reason() -> None:
    for expectation in (ROCE, DriverLoaded(NODE, mlx5="doca"), MemoryLockable(NODE), VFS):
        found = answer(expectation, hardware_problems={NODE: "no pod to run the script in"})
        assert found == ("unknown", "the inside of node worker-0 is not known: no pod to run the script in")


@pytest.mark.parametrize(
    ("wanted", "record", "readiness", "words"),
    [
        (
            {"mlx5": "doca", "gpu": "open", "peermem": False, "absent": ("irdma",)},
            {},
            "ready",
            "drivers that are wanted",
        ),
        ({"mlx5": "doca"}, {"mlx5_driver": ""}, "progressing", "DOCA driver is not loaded"),
        (DOCA_3_4, {}, "ready", ""),
        (
            DOCA_3_4,
            {"mlx5_driver": "26.01-1.0.0"},
            "progressing",
            "mlx5_core is 26.01-1.0.0, doca3.4.1-26.04-1.1.0.0-1",
        ),
        (DOCA_3_4, {"mlx5_driver": "26.04-1.1.0.0"}, "ready", ""),
        (DOCA_3_4, {"mlx5_driver": "a form that is not known"}, "ready", ""),
        ({"mlx5": "doca", "mlx5_version": "sha256:0123"}, {}, "ready", ""),
        ({"gpu": "open", "gpu_version": "580.95.05"}, {}, "ready", ""),
        ({"gpu": "open", "gpu_version": "580"}, {}, "ready", ""),
        ({"gpu": "open", "gpu_version": "58"}, {}, "progressing", "the GPU driver is open 580.95.05, 58 is wanted"),
        ({"gpu": "open", "gpu_version": "570.195.03"}, {}, "progressing", "is open 580.95.05, 570.195.03 is wanted"),
        ({"gpu": "open", "gpu_version": "sha256:0123"}, {}, "ready", ""),
        ({"mlx5": "in-box"}, {}, "progressing", "the kernel's own is wanted"),
        ({"mlx5": "in-box"}, {"mlx5_driver": ""}, "ready", ""),
        ({"mlx5": "in-box"}, {"mlx5_driver": "", "modules": {}}, "progressing", "mlx5_core is not loaded"),
        ({"gpu": "open"}, {"nvidia_driver": "proprietary 580.95.05"}, "progressing", "is proprietary 580.95.05, open"),
        ({"gpu": "open"}, {"nvidia_driver": ""}, "progressing", "is not loaded, open"),
        ({"peermem": True}, {}, "progressing", "nvidia_peermem is not loaded"),
        ({"peermem": False}, {"modules": {"nvidia_peermem": 0}}, "progressing", "still loaded"),
        ({"absent": ("irdma",)}, {"modules": {"irdma": 0}}, "progressing", "irdma still loaded"),
    ],
)
def test_the_drivers_that_are_wanted_must_run(wanted: Any, record: Any, readiness: str, words: str) -> None:
    found = answer(DriverLoaded(NODE, **wanted), hardware={NODE: hardware(**record)})
    assert found[0] == readiness
    assert words in found[1]


# --- what has to be read -----------------------------------------------------


def test_selections_name_each_companion_once_and_drop_what_a_wider_one_holds() -> None:
    refs = (
        Ref(kinds.SUBSCRIPTION, "openshift-nfd", "nfd"),
        Ref(kinds.CLUSTER_SERVICE_VERSION, "openshift-nfd", "nfd.v4.22.0"),
        Ref(kinds.MACVLAN_NETWORK, "", "rail0"),
        Ref(kinds.CONFIG_MAP, "n", "x"),
    )
    found = selections_for(refs, (NadPresent("training", "rail0", "macvlan", ""), MOFED, ROCE))
    assert found == tuple(sorted(set(found)))
    assert (kinds.NETWORK_ATTACHMENT_DEFINITION, "", "") in found
    assert (kinds.NETWORK_ATTACHMENT_DEFINITION, "training", "") not in found
    assert (kinds.POD, "openshift-nfd", "") in found
    assert (kinds.POD, "n", "") in found


@pytest.mark.parametrize(
    ("expectation", "kind"),
    [
        (Allocatable(NODE, RESOURCE, 8), kinds.NODE),
        (NodeLabel(NODE, "a", None), kinds.NODE),
        (PoolUpdated("worker", "mc"), kinds.MACHINE_CONFIG_POOL),
        (MOFED, kinds.DAEMON_SET),
    ],
)
def test_every_expectation_names_what_it_is_judged_with(expectation: Expectation, kind: Any) -> None:
    assert kind in {item[0] for item in selections_for((), (expectation,))}


def test_the_inside_of_nodes_is_no_selection() -> None:
    assert selections_for((), (ROCE, DriverLoaded(NODE), MemoryLockable(NODE))) == ()


@pytest.mark.parametrize(
    ("limit", "runtime", "readiness", "words"),
    [
        ("unlimited", "", "ready", "all its memory"),
        ("8192", "unlimited", "ready", "all its memory"),
        ("unlimited", "64", "progressing", "64 KiB (limits of crio)"),
        ("8192", "", "progressing", "8192 KiB"),
        (None, "", "unknown", "could not be read"),
    ],
)
def test_a_new_container_must_be_able_to_lock_its_memory(
    limit: str | None, runtime: str, readiness: str, words: str
) -> None:
    record = hardware(memlock_limit=limit, runtime=ContainerRuntime(memlock=runtime, memlock_origin="limits of crio"))
    found = answer(MemoryLockable(NODE), hardware={NODE: record})
    assert found[0] == readiness
    assert words in found[1]
