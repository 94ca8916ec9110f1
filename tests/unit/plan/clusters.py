"""Small clusters as values: workers with eight GPUs and eight ConnectX-7, each pair behind one PCIe switch."""

from dataclasses import replace
from typing import Any

from railwright.core import kinds
from railwright.core.ids import FabricName, NetDevice, NodeName, PciAddress, RdmaDevice
from railwright.core.objects import Kind, KubeObject, ref_of
from railwright.facts.model import (
    Carried,
    ClusterFacts,
    Gpu,
    LinkLayer,
    NicPort,
    NodeFacts,
    NodeHardware,
    PackageChannel,
    PackageFacts,
    Platform,
    PoolFacts,
    Snapshot,
    Topology,
)
from railwright.intent.model import Fabric, Intent, Method

FABRIC = FabricName("east-west")
_PACKAGES = (
    ("nfd", "redhat-operators", "stable", "nfd.v4.20.0-202510211040"),
    ("sriov-network-operator", "redhat-operators", "stable", "sriov-network-operator.v4.20.0-202510211040"),
    ("nvidia-network-operator", "certified-operators", "stable", "nvidia-network-operator.v26.4.1"),
    ("gpu-operator-certified", "certified-operators", "stable", "gpu-operator-certified.v26.7.0"),
)


def a_gpu(number: int) -> Gpu:
    bus = 0x10 + 0x10 * number
    path = (f"0000:{bus:02x}:01.0", f"0000:{bus + 1:02x}:00.0", f"0000:{bus + 2:02x}:00.0", f"0000:{bus + 3:02x}:00.0")
    return Gpu(PciAddress(path[-1]), "2335", tuple(map(PciAddress, path)), f"pci0000:{bus:02x}", number // 4, "")


def a_port(number: int, fabric: Fabric = Fabric.ROCE, **changes: Any) -> NicPort:
    """A port behind the same switch as GPU `number`."""
    bus = 0x10 + 0x10 * number
    path = (f"0000:{bus:02x}:01.0", f"0000:{bus + 1:02x}:00.0", f"0000:{bus + 2:02x}:01.0", f"0000:{bus + 4:02x}:00.0")
    infiniband = fabric is Fabric.INFINIBAND
    port = NicPort(
        pci=PciAddress(path[-1]),
        vendor_id="15b3",
        device_id="1021",
        pci_path=tuple(map(PciAddress, path)),
        root=f"pci0000:{bus:02x}",
        numa=number // 4,
        driver="mlx5_core",
        netdev=NetDevice(f"ibs{number}f0" if infiniband else f"ens{number}f0np0"),
        rdma=RdmaDevice(f"mlx5_{number}"),
        link_layer=LinkLayer.INFINIBAND if infiniband else LinkLayer.ETHERNET,
        state="ACTIVE",
        carrier=True,
        rate_gbps=400.0,
        mtu_bytes=2044 if infiniband else 9000,
        address="",
        node_guid="",
        lid=number + 1 if infiniband else None,
        sm_lid=1 if infiniband else None,
        sriov_total_vfs=16,
    )
    return replace(port, **changes)


def hardware(fabric: Fabric = Fabric.ROCE, count: int = 8, **changes: Any) -> NodeHardware:
    found = NodeHardware(
        netns_is_host=True,
        gpus=tuple(map(a_gpu, range(count))),
        ports=tuple(a_port(number, fabric) for number in range(count)),
        netdevs=(),
        carried=(),
        uplinks_known=True,
        uplinks_problem="",
        modules={"mlx5_core": 0},
        kernel_arguments="",
        kernel_version="5.14.0-570",
        architecture="x86_64",
        page_size_bytes=4096,
        os_release={"ID": "rhel", "VERSION_ID": "9.6"},
        rdma_netns_mode="shared",
        lockdown="none",
        secure_boot=False,
        memlock_limit="unlimited",
        nvidia_driver="",
        mlx5_driver="",
    )
    return replace(found, **changes)


def a_node(number: int, inside: NodeHardware | None, **changes: Any) -> NodeFacts:
    node = NodeFacts(
        name=NodeName(f"worker-{number}"),
        labels={},
        annotations={},
        taints=(),
        allocatable={},
        ready=True,
        schedulable=True,
        is_control_plane=False,
        is_worker=True,
        architecture="amd64",
        kernel_version="5.14.0-570",
        os_image="",
        addresses=(),
        hardware=inside,
        hardware_problem="" if inside else "no pod to look through",
    )
    return replace(node, **changes)


def a_cluster(nodes: tuple[NodeFacts, ...], objects: tuple[KubeObject, ...] = (), **changes: Any) -> Snapshot:
    names = tuple(node.name for node in nodes)
    cluster = ClusterFacts(
        name="test",
        simulated=False,
        platform=Platform.OPENSHIFT,
        openshift_version="4.20.4",
        kubernetes_version="v1.33.0",
        topology=Topology.STANDARD,
        cluster_networks=("10.128.0.0/14",),
        service_networks=("172.30.0.0/16",),
        machine_networks=("10.0.0.0/16",),
        internal_networks=("100.64.0.0/16",),
        network_type="OVNKubernetes",
        proxy=False,
        fips=False,
        served_kinds=(),
        packages=tuple(
            PackageFacts(name, source, "openshift-marketplace", channel, (PackageChannel(channel, csv),))
            for name, source, channel, csv in _PACKAGES
        ),
        packages_problem="",
        pools=(PoolFacts("worker", names, paused=False, updated=True, updating=False, degraded=False, message=""),),
        pods=(),
        objects={ref_of(item): item for item in objects},
    )
    return Snapshot("2026-11-30T00:00:00Z", replace(cluster, **changes), nodes)


def two_nodes(fabric: Fabric = Fabric.ROCE, **changes: Any) -> Snapshot:
    """Two workers alike; `changes` are made to the second's hardware."""
    return a_cluster((a_node(0, hardware(fabric)), a_node(1, hardware(fabric, **changes))))


def an_intent(method: Method = Method.SHARED, fabric: Fabric = Fabric.ROCE, **changes: Any) -> Intent:
    return replace(Intent(FABRIC, method, fabric, workload_namespaces=("training",)), **changes)


def an_object(kind: Kind, name: str, namespace: str = "", **body: Any) -> KubeObject:
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": name} | ({"namespace": namespace} if namespace else {}),
        **body,
    }


def a_subscription(name: str, package: str = "nfd", namespace: str = "openshift-nfd") -> KubeObject:
    return an_object(kinds.SUBSCRIPTION, name, namespace, spec={"name": package, "channel": "stable"})


def carries(number: int, what: str = "default route (IPv4)") -> tuple[Carried, ...]:
    port = a_port(number)
    return (Carried(what, (NetDevice("br-ex"), NetDevice(str(port.netdev))), port.pci),)
