"""What must be true of nodes, pools and networks once a plan is carried out, node by node."""

from collections.abc import Iterable
from dataclasses import dataclass

from railwright.core.ids import NodeName
from railwright.facts.model import Platform
from railwright.intent.model import GpuMemory, Method, NicDriver
from railwright.plan import model as m
from railwright.plan.draft import FabricNodes
from railwright.plan.profiles import host_device, shared, sriov

GPU_RESOURCE = "nvidia.com/gpu"
_NFD = "feature.node.kubernetes.io/"
RESOURCE_PREFIXES = {
    Method.SHARED: shared.RESOURCE_PREFIX,
    Method.HOST_DEVICE: host_device.RESOURCE_PREFIX,
    Method.SRIOV: sriov.RESOURCE_PREFIX,
}
_CNI_TYPES = {
    "MacvlanNetwork": "macvlan",
    "IPoIBNetwork": "ipoib",
    "HostDeviceNetwork": "host-device",
    "SriovNetwork": "sriov",
    "SriovIBNetwork": "ib-sriov",
    "NetworkAttachmentDefinition": "ib-sriov",
}


@dataclass(frozen=True)
class Expected:
    """Everything that the gates of one plan are made from."""

    platform: Platform
    fabrics: tuple[FabricNodes, ...]
    shares: tuple[m.Share, ...]
    nic_namespace: str
    sriov_namespace: str
    pool_nodes: int
    """Nodes of the largest pool that is rolled out, one node at a time."""
    batch_nodes: int
    """Nodes of the largest batch."""
    lockable: tuple[NodeName, ...] = ()
    """Nodes whose containers get the right to lock all their memory."""

    @property
    def has_olm(self) -> bool:
        """Whether operators are installed through OLM."""
        return self.platform is Platform.OPENSHIFT

    @property
    def operators_there(self) -> str:
        """Why no operator has to be waited for; empty where OLM says how each is, those of others included."""
        return "" if self.has_olm else "plain Kubernetes: the operators are there already"

    @property
    def prepares_nodes(self) -> bool:
        """Whether nodes need anything of their own system."""
        return any(share.stage == m.NODES_PREPARED for share in self.shares)

    @property
    def reboots(self) -> bool:
        """Whether that reboots them."""
        return any(isinstance(share, m.MachineShare | m.KubeletShare) for share in self.shares)

    @property
    def loads_doca(self) -> bool:
        """Whether the DOCA driver is brought by this plan."""
        return any(isinstance(share, m.NicPolicyShare) and share.driver is not None for share in self.shares)

    @property
    def nic_driver_version(self) -> str:
        """Version of the DOCA driver that is written out; "" where others chose it."""
        drivers = (share.driver for share in self.shares if isinstance(share, m.NicPolicyShare))
        return next((driver.version for driver in drivers if driver is not None), "")

    @property
    def gpu_driver_version(self) -> str:
        """Version of the GPU's driver that is written out; "" where others or its operator choose it."""
        shares = (share for share in self.shares if isinstance(share, m.GpuPolicyShare))
        return next((share.driver_version for share in shares if not share.adopted), "")

    @property
    def makes_vfs(self) -> bool:
        """Whether virtual functions are made."""
        return any(isinstance(share, m.SriovPolicyShare) for share in self.shares)

    @property
    def has_networks(self) -> bool:
        """Whether pods get networks."""
        return any(isinstance(share, m.NetworkShare) for share in self.shares)

    def pools_updated(self) -> Iterable[m.Expectation]:
        """Each pool that gets a MachineConfig or a KubeletConfig has rolled it out."""
        for share in self.shares:
            if isinstance(share, m.MachineShare):
                yield m.PoolUpdated(share.pool, share.name)
            elif isinstance(share, m.KubeletShare):
                yield m.PoolUpdated(share.pool, "", share.name)
        for node in self.lockable:
            yield m.MemoryLockable(node)

    def labelled(self) -> Iterable[m.Expectation]:
        """Labels that the operators select nodes by."""
        names = ["pci-15b3.present", "pci-10de.present"]
        if self.has_olm:
            names.append("system-os_release.OSTREE_VERSION")
        for node in self._nodes():
            for name in names:
                yield m.NodeLabel(node, _NFD + name, "true" if name.endswith("present") else None)

    def nic_drivers(self) -> Iterable[m.Expectation]:
        """The driver is loaded, and the rails are up again."""
        for fabric in self.fabrics:
            doca = fabric.settings.nic_driver is NicDriver.DOCA
            waits_for_daemon = self.makes_vfs and fabric.settings.intent.method is Method.SRIOV
            ports = _ports_by_node(fabric)
            for node in sorted(fabric.hardware):
                if doca:
                    yield m.PodsReady(node, self.nic_namespace, "mofed-", ("mofed-container",))
                    yield m.NodeLabel(node, "network.nvidia.com/operator.mofed.wait", "false")
                if waits_for_daemon:
                    yield m.PodsReady(node, self.sriov_namespace, "sriov-network-config-daemon", ())
                absent = ("irdma",) if doca else ()
                yield m.DriverLoaded(
                    node,
                    mlx5="doca" if doca else "in-box",
                    mlx5_version=self.nic_driver_version if doca else "",
                    absent=absent,
                )
                for rail, port in ports.get(node, ()):
                    yield m.RailUp(node, rail.name, port.pci, fabric.settings.intent.fabric, _least_mtu(fabric))

    def vfs(self) -> Iterable[m.Expectation]:
        """Where VFs need a subnet manager, it cares for them."""
        for fabric in self.fabrics:
            if fabric.settings.intent.method is Method.SRIOV and fabric.settings.is_infiniband:
                for node, ports in sorted(_ports_by_node(fabric).items()):
                    for rail, port in ports:
                        yield m.VfsManaged(node, rail.name, port.pci)

    def gpu_drivers(self) -> Iterable[m.Expectation]:
        """The GPU driver is loaded; peermem too where it was chosen."""
        for fabric in self.fabrics:
            peermem = True if fabric.settings.memory is GpuMemory.PEERMEM else None
            for node in sorted(fabric.hardware):
                yield m.DriverLoaded(
                    node, gpu=fabric.settings.gpu_driver.value, gpu_version=self.gpu_driver_version, peermem=peermem
                )

    def allocatable(self) -> Iterable[m.Expectation]:
        """Exactly the planned number of each resource, on each admitted node."""
        for fabric in self.fabrics:
            ports = _ports_by_node(fabric)
            count = fabric.settings.pods_on_a_port()
            for node, hardware in sorted(fabric.hardware.items()):
                for rail, _ in ports.get(node, ()):
                    yield m.Allocatable(node, rail.resource, count)
                yield m.Allocatable(node, GPU_RESOURCE, len(hardware.gpus))

    def nads(self) -> Iterable[m.Expectation]:
        """Each network's NAD."""
        for share in self.shares:
            if isinstance(share, m.NetworkShare):
                resource = self._annotated(share)
                yield m.NadPresent(share.target_namespace, share.nad, _CNI_TYPES[share.kind], resource)

    def _annotated(self, share: m.NetworkShare) -> str:
        """Resource that the NAD is annotated with: none for macvlan and IPoIB."""
        rails = (rail for fabric in self.fabrics for rail in fabric.rails)
        rail = next((rail for rail in rails if rail.fabric == share.fabric and rail.name == share.rail), None)
        return rail.resource if rail is not None and share.resource else ""

    def _nodes(self) -> list[NodeName]:
        return sorted({node for fabric in self.fabrics for node in fabric.hardware})


def _least_mtu(fabric: FabricNodes) -> int | None:
    """MTU that ports must have for pods' interfaces; with SR-IOV the operator sets it later, with the VFs."""
    settings = fabric.settings
    return None if settings.is_infiniband or settings.intent.method is Method.SRIOV else settings.mtu_bytes


def _ports_by_node(fabric: FabricNodes) -> dict[NodeName, list[tuple[m.Rail, m.RailPort]]]:
    found: dict[NodeName, list[tuple[m.Rail, m.RailPort]]] = {}
    for rail in fabric.rails:
        for port in rail.ports:
            found.setdefault(port.node, []).append((rail, port))
    return found
