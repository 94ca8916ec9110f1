"""Our reading of a node against what NVIDIA's own tools say of it: every difference is named, none is judged. Pure."""

from dataclasses import dataclass

from railwright.core.errors import UsageError
from railwright.core.ids import PciAddress
from railwright.facts.model import Distance, NodeHardware, Snapshot
from railwright.facts.pci import distance
from railwright.facts.sources.nccl_topology import NcclDevice, NcclTopology, parse_nccl_topology
from railwright.facts.sources.nvidia_smi_topo import TopoMatrix, parse_topo_matrix

_SAME_SOCKET = frozenset({Distance.PHB, Distance.NODE})


@dataclass(frozen=True)
class Difference:
    """Something that another tool sees otherwise: what, what we read, what the tool says."""

    what: str
    ours: str
    theirs: str


def cross_check(hardware: NodeHardware, topo: str, nccl_topo: str) -> tuple[Difference, ...]:
    """Compare with what other tools printed; "" for one that was not asked. A text that holds nothing is a difference."""
    found: list[Difference] = []
    if topo:
        matrix = parse_topo_matrix(topo)
        unread = Difference("nvidia-smi topo -m", "GPUs and NICs", "no table in its output")
        found += compare_matrix(hardware, matrix) if matrix.gpus else [unread]
    if nccl_topo:
        topology = parse_nccl_topology(nccl_topo)
        unread = Difference("NCCL topology", "GPUs and NICs", "no GPU in its file")
        found += compare_nccl(hardware, topology) if topology.gpus else [unread]
    return tuple(found)


def cross_check_one(snapshot: Snapshot, topo: str, nccl_topo: str) -> tuple[Difference, ...]:
    """
    Compare the only node whose inside was read.

    Raises:
        UsageError: there are several, or none.
    """
    if not topo and not nccl_topo:
        return ()
    read = [node.hardware for node in snapshot.nodes if node.hardware is not None]
    if len(read) != 1:
        message = f"what other tools say is of one node, and the inside of {len(read)} was read"
        raise UsageError(message, hint="name it: --node NODE")
    return cross_check(read[0], topo, nccl_topo)


def compare_matrix(hardware: NodeHardware, matrix: TopoMatrix) -> tuple[Difference, ...]:
    """
    Compare with `nvidia-smi topo -m`.

    Its GPU numbers are taken to follow PCI addresses, as they were seen to; a table of another order shows as
    differences.
    """
    found: list[Difference] = []
    if matrix.gpus != len(hardware.gpus):
        found.append(Difference("number of GPUs", str(len(hardware.gpus)), str(matrix.gpus)))
    ports = {str(port.rdma): port for port in hardware.ports if port.rdma is not None}
    for (number, name), theirs in sorted(matrix.distances.items()):
        if number >= len(hardware.gpus):
            continue
        gpu, port = hardware.gpus[number], ports.get(name)
        if port is None:
            found.append(Difference(f"NIC {name}", "not there", "there"))
            continue
        ours = distance(gpu, port)
        if ours.value != theirs:
            found.append(Difference(f"GPU {gpu.pci} to {name} ({port.pci})", ours.value, theirs))
    listed = {name for _, name in matrix.distances}
    found += [Difference(f"NIC {name}", "there", "not listed") for name in sorted(set(ports) - listed) if listed]
    return tuple(dict.fromkeys(found))


def compare_nccl(hardware: NodeHardware, topology: NcclTopology) -> tuple[Difference, ...]:
    """Compare with NCCL's picture; it knows no difference between PHB and NODE, and shows only what one job may use."""
    found: list[Difference] = []
    gpus = {gpu.pci: gpu for gpu in hardware.gpus}
    ports = {port.pci: port for port in hardware.ports}
    found += [Difference(f"GPU {item.pci}", "not there", "there") for item in topology.gpus if item.pci not in gpus]
    found += [
        Difference(f"NIC {item.name} ({item.pci})", "not there", "there")
        for item in topology.nets
        if item.pci not in ports
    ]
    for gpu in topology.gpus:
        for net in topology.nets:
            if gpu.pci not in gpus or net.pci not in ports:
                continue
            ours, theirs = distance(gpus[gpu.pci], ports[net.pci]), _nccl_distance(gpu, net)
            if ours != theirs and not {ours, theirs} <= _SAME_SOCKET:
                found.append(Difference(f"GPU {gpu.pci} to {net.name} ({net.pci})", ours.value, theirs.value))
    found += [
        Difference(f"GPUDirect RDMA with {item.name} ({item.pci})", "not known", "NCCL will not use it")
        for item in topology.nets
        if item.has_gdr is False
    ]
    return tuple(found)


def _nccl_distance(gpu: NcclDevice, net: NcclDevice) -> Distance:
    """Name NCCL's path: one switch, several, the host of one NUMA node, or farther."""
    shared: list[PciAddress] = []
    for one, other in zip(gpu.above, net.above, strict=False):
        if one != other:
            break
        shared.append(one)
    if shared:
        return Distance.PIX if len(shared) == len(gpu.above) == len(net.above) else Distance.PXB
    return Distance.PHB if gpu.cpu is not None and gpu.cpu == net.cpu else Distance.SYS
