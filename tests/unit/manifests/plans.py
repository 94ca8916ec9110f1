"""Plans built by hand: two nodes, two GPUs and two rails each, for each of the six configurations."""

from dataclasses import replace

from railwright.core.ids import FabricName, GroupName, NetDevice, NodeName, PciAddress, RailName, RdmaDevice
from railwright.core.risk import Risk
from railwright.facts.model import Distance, Platform, Topology
from railwright.intent.model import Fabric, Intent, Method
from railwright.plan import model as m

CONFIGURATIONS = tuple((method, fabric) for method in Method for fabric in Fabric)
NAMESPACE = "training"
FABRIC = FabricName("east-west")
NODES = (NodeName("worker-1"), NodeName("worker-2"))
LABELS = {m.fabric_label(FABRIC): m.ADMITTED}

_RISKS = {
    m.NODES_PREPARED: Risk.REBOOT,
    m.NIC_DRIVER_READY: Risk.DRIVER_RELOAD,
    m.VFS_READY: Risk.REBOOT,
    m.GPU_DRIVER_READY: Risk.DRIVER_RELOAD,
}
_STAGES = (
    m.NODES_PREPARED,
    m.OPERATORS_INSTALLED,
    m.HARDWARE_LABELLED,
    m.NIC_DRIVER_READY,
    m.VFS_READY,
    m.GPU_DRIVER_READY,
    m.DEVICES_ALLOCATABLE,
    m.NETWORKS_ATTACHED,
    m.VERIFIED,
)
_KIND = {
    (Method.SHARED, Fabric.ROCE): "MacvlanNetwork",
    (Method.SHARED, Fabric.INFINIBAND): "IPoIBNetwork",
    (Method.HOST_DEVICE, Fabric.ROCE): "HostDeviceNetwork",
    (Method.HOST_DEVICE, Fabric.INFINIBAND): "HostDeviceNetwork",
    (Method.SRIOV, Fabric.ROCE): "SriovNetwork",
    (Method.SRIOV, Fabric.INFINIBAND): "SriovIBNetwork",
}
_PREFIX = {Method.SHARED: "rdma", Method.HOST_DEVICE: "nvidia.com", Method.SRIOV: "openshift.io"}


def netdev(fabric: Fabric, index: int) -> NetDevice:
    return NetDevice(f"ens{index + 1}f0np0" if fabric is Fabric.ROCE else f"ibs{index + 1}f0")


def resource(index: int) -> str:
    return f"east_west_rail{index}"


def a_rail(method: Method, fabric: Fabric, index: int) -> m.Rail:
    ports = tuple(
        m.RailPort(
            node=node,
            pci=PciAddress(f"0000:{0x1A + 0x10 * index:02x}:00.0"),
            netdev=netdev(fabric, index),
            rdma=RdmaDevice(f"mlx5_{index}"),
            gpu=PciAddress(f"0000:{0x1B + 0x10 * index:02x}:00.0"),
            distance=Distance.PIX,
            rate_gbps=400.0,
            reason="nearest to its GPU (PIX)",
        )
        for node in NODES
    )
    full = f"{_PREFIX[method]}/{resource(index)}"
    return m.Rail(
        RailName(f"rail{index}"), FABRIC, index, ports, full, f"east-west-rail{index}", (f"192.168.{index}.0/24",)
    )


def stages(gpus: int = 2) -> tuple[m.StagePlan, ...]:
    offered = tuple(m.Allocatable(node, "nvidia.com/gpu", gpus) for node in NODES)
    return tuple(
        m.StagePlan(
            name=name,
            gate="all of it is ready",
            risk=_RISKS.get(name, Risk.NONE),
            expected_s=60,
            limit_s=900,
            hold_s=5,
            undo="railwright clean",
            per_batch=False,
            applies=True,
            skip_reason="",
            expectations=offered if name == m.DEVICES_ALLOCATABLE else (),
        )
        for name in _STAGES
    )


def operators() -> tuple[m.OperatorShare, ...]:
    rows = (
        ("nfd", "openshift-nfd", "stable", "nfd.v4.20.0-202510211040", "redhat-operators"),
        (
            "sriov-network-operator",
            "openshift-sriov-network-operator",
            "stable",
            "sriov-network-operator.v4.20.0-202510211040",
            "redhat-operators",
        ),
        (
            "nvidia-network-operator",
            "nvidia-network-operator",
            "v26.4",
            "nvidia-network-operator.v26.4.1",
            "certified-operators",
        ),
        (
            "gpu-operator-certified",
            "nvidia-gpu-operator",
            "v26.7",
            "gpu-operator-certified.v26.7.0",
            "certified-operators",
        ),
    )
    return tuple(
        m.OperatorShare(
            package=package,
            namespace=namespace,
            operator_group=namespace,
            target_namespaces=(namespace,),
            subscription=package,
            channel=channel,
            csv=csv,
            catalog=catalog,
            catalog_namespace="openshift-marketplace",
            approval="Manual",
            adopted=False,
            deployments=(package,),
            namespace_annotations={"workload.openshift.io/allowed": "management"} if "sriov" in package else {},
        )
        for package, namespace, channel, csv, catalog in rows
    )


def driver() -> m.DriverShare:
    return m.DriverShare(
        repository="nvcr.io/nvidia/mellanox",
        image="doca-driver",
        version="doca3.4.1-26.04-1.1.0.0-1",
        environment={"UNLOAD_STORAGE_MODULES": "true", "RESTORE_DRIVER_ON_POD_TERMINATION": "true"},
        auto_upgrade=True,
        max_parallel=1,
        drain_timeout_s=300,
    )


def nic_policy(method: Method, fabric: Fabric) -> m.NicPolicyShare:
    link = "ether" if fabric is Fabric.ROCE else "infiniband"
    shared = tuple(
        m.DevicePool(resource(i), "", {"ifNames": [netdev(fabric, i)], "linkTypes": [link]}, FABRIC, 63)
        for i in range(2)
    )
    host = tuple(
        m.DevicePool(
            resource(i),
            "nvidia.com",
            {"vendors": ["15b3"], "pfNames": [netdev(fabric, i)], "linkTypes": [link], "isRdma": True},
            FABRIC,
        )
        for i in range(2)
    )
    return m.NicPolicyShare(
        fabrics=(FABRIC,),
        driver=driver(),
        shared_pools=shared if method is Method.SHARED else (),
        host_pools=host if method is Method.HOST_DEVICE else (),
        ipoib=(method, fabric) == (Method.SHARED, Fabric.INFINIBAND),
        nv_ipam=True,
        ib_kubernetes=None,
        component_repository="nvcr.io/nvidia/mellanox",
        component_version="network-operator-v26.4.1",
        node_labels=((m.fabric_label(FABRIC), m.ADMITTED),),
        tolerations=(),
        adopted=False,
    )


def gpu_policy() -> m.GpuPolicyShare:
    return m.GpuPolicyShare(
        name="gpu-cluster-policy",
        kernel_module_type="open",
        peermem=False,
        use_host_mofed=False,
        gdrcopy=True,
        gds=False,
        driver_version="",
        auto_upgrade=True,
        max_parallel=1,
        drain_timeout_s=300,
        tolerations=(),
        registry="",
        pull_secrets=(),
        adopted=False,
    )


def a_network(method: Method, fabric: Fabric, index: int) -> m.NetworkShare:
    sriov = method is Method.SRIOV
    settings: dict[str, object] = {"link_state": "auto"} if sriov else {}
    if sriov and fabric is Fabric.ROCE:
        settings |= {"vlan": 0, "trust": "on"}
    return m.NetworkShare(
        kind=_KIND[method, fabric],
        name=f"east-west-rail{index}",
        namespace="openshift-sriov-network-operator" if sriov else "",
        target_namespace=NAMESPACE,
        nad=f"east-west-rail{index}",
        rail=RailName(f"rail{index}"),
        fabric=FABRIC,
        master=netdev(fabric, index) if method is Method.SHARED else "",
        resource="" if method is Method.SHARED else resource(index),
        mtu_bytes=9000 if (method, fabric) == (Method.SHARED, Fabric.ROCE) else None,
        ipam={"type": "nv-ipam", "poolName": f"east-west-rail{index}"},
        settings=settings,
    )


def vf_shares(fabric: Fabric) -> tuple[m.Share, ...]:
    where = "openshift-sriov-network-operator"
    pool = m.SriovPoolShare("east-west", where, LABELS, 1, "", FABRIC)
    policies = tuple(
        m.SriovPolicyShare(
            name=f"east-west-rail{i}",
            namespace=where,
            resource=resource(i),
            node_labels=LABELS,
            pf_names=(netdev(fabric, i),),
            root_devices=(),
            vendor="15b3",
            vfs=8,
            mtu_bytes=9000 if fabric is Fabric.ROCE else None,
            link_type="eth" if fabric is Fabric.ROCE else "ib",
            priority=90,
            fabric=FABRIC,
        )
        for i in range(2)
    )
    return (pool, *policies)


def common_shares() -> tuple[m.Share, ...]:
    memlock = m.MachineFile(
        "/etc/crio/crio.conf.d/99-railwright", 0o644, '[crio.runtime]\ndefault_ulimits = ["memlock=-1:-1"]\n'
    )
    pools = tuple(
        m.IpPoolShare(
            name=f"east-west-rail{i}",
            namespace="nvidia-network-operator",
            subnet=f"192.168.{i}.0/24",
            per_node_block=16,
            gateway="",
            exclude=((f"192.168.{i}.0", f"192.168.{i}.0"),),
            routes=(),
            node_labels=LABELS,
            fabric=FABRIC,
        )
        for i in range(2)
    )
    admissions = tuple(m.NodeLabelShare(node, LABELS, FABRIC) for node in NODES)
    return (
        *operators(),
        m.MachineShare(
            "99-worker-railwright",
            "worker",
            ("module_blacklist=irdma",),
            (memlock,),
            ("irdma holds ib_core", "memory registration needs memlock"),
            (FABRIC,),
        ),
        m.NfdShare("nfd-instance", "openshift-nfd", ("02", "03", "12"), ("vendor",), "", adopted=False),
        m.SriovConfigShare(
            "openshift-sriov-network-operator",
            {"network.nvidia.com/operator.mofed.wait": "false", **LABELS},
            injector=True,
            webhook=True,
            adopted=False,
        ),
        gpu_policy(),
        *pools,
        m.AccessShare(NAMESPACE, True, "railwright", "railwright-rdma", (FABRIC,)),  # noqa: FBT003 - names its field
        *admissions,
    )


def environment(fabric: Fabric) -> tuple[m.Decision, ...]:
    hca = m.Decision("NCCL_IB_HCA", "=mlx5_0,mlx5_1", "hardware", "only the rails, not the management port")
    gid = m.Decision("NCCL_IB_GID_INDEX", "3", "default", "RoCE v2 over IPv4")
    return (hca, gid) if fabric is Fabric.ROCE else (hca,)


def a_plan(method: Method = Method.SHARED, fabric: Fabric = Fabric.ROCE, **basis: object) -> m.Plan:
    rails = tuple(a_rail(method, fabric, i) for i in range(2))
    intent = Intent(FABRIC, method, fabric, workload_namespaces=(NAMESPACE,))
    group = m.Group(GroupName("g1"), FABRIC, NODES, "2 x GPU 2335, 2 x 15b3:1021")
    fabric_plan = m.FabricPlan(FABRIC, intent, method, fabric, rails, (group,), environment(fabric))
    shares: tuple[m.Share, ...] = (
        *common_shares(),
        nic_policy(method, fabric),
        *(a_network(method, fabric, i) for i in range(2)),
        *(vf_shares(fabric) if method is Method.SRIOV else ()),
    )
    whole = m.Basis(
        cluster="test",
        simulated=False,
        platform=Platform.OPENSHIFT,
        topology=next(iter(Topology)),
        openshift_version="4.20.4",
        kubernetes_version="1.33.5",
        facts_known=True,
    )
    return m.Plan(
        basis=replace(whole, **basis),
        fabrics=(fabric_plan,),
        stages=stages(),
        shares=shares,
        nodes=tuple(
            m.NodePlan(node, (FABRIC,), (), selected=True, reason="asked for", pool="worker") for node in NODES
        ),
        batches=(m.Batch("canary", NODES),),
        other_ports=(),
        reaches=(),
        decisions=(),
        warnings=(),
        refusals=(),
    )
