"""Where GPUs and NICs sit: rails whose two ends are far apart, and machines that do not show it."""

from collections.abc import Iterable, Iterator

from railwright.core.ids import NodeName, RuleId
from railwright.doctor.model import Condition, Evidence, Finding, Layer, Remedy, Rule, RuleInfo, Severity, conclude
from railwright.doctor.needs import INSIDE, reads_rails
from railwright.doctor.rails import RailHere, nearest_gpu
from railwright.doctor.seen import Seen
from railwright.doctor.showing import capped, on_node
from railwright.doctor.subjects import RAILS
from railwright.facts.model import Distance, NodeHardware

RAIL_FAR_FROM_GPU = RuleInfo(
    name=RuleId("rail-far-from-gpu"),
    title="A rail's NIC and its GPU meet only at a CPU",
    layer=Layer.HARDWARE,
    severity=Severity.WARNING,
    text="GPUDirect is fast below a common PCIe switch. Where GPU and NIC are on different root ports, host bridges or sockets, traffic "
    "crosses the CPU, and NCCL does not use GPUDirect at all beyond PXB unless told to. A node whose rails are paired worse than the "
    "same rails of other nodes has a card in the wrong slot. Grace, where GPU and NIC always meet at the CPU, is left out. In a "
    "virtual machine the tree that is seen is the hypervisor's invention.",
    source="NVIDIA NCCL docs 2.30, NCCL_NET_GDR_LEVEL; NVML API reference, nvmlGpuTopologyLevel_t (2026-11)",
    needs=(
        INSIDE,
        reads_rails(relies_on=("meta", "cpu")),
    ),
    covers=("B127", "B143"),
    leads_to=(Condition.RDMA_SLOW, Condition.NOT_DIRECT),
    subject=RAILS,
)


def judge_distance(seen: Seen) -> Iterator[Finding]:
    """Name rails that lie beyond a switch's reach from their GPU."""
    far: list[tuple[NodeName, RailHere]] = []
    virtual: list[tuple[NodeName, RailHere]] = []
    for name, rails in seen.rails.items():
        hardware = seen.inside[name]
        if hardware.architecture != "x86_64":
            continue
        beyond = [rail for rail in rails if rail.distance is not None and rail.distance.rank > Distance.PXB.rank]
        target = virtual if hardware.processor.under_hypervisor else far
        target += ((name, rail) for rail in beyond or _misplaced(name, rails, hardware))
    if far:
        yield conclude(
            RAIL_FAR_FROM_GPU,
            "No PCIe switch joins these NICs with their GPUs.",
            evidence=capped(_distances(far)),
            remedy=Remedy(
                "Put each NIC into a slot below a GPU's switch, where the server has them; else let NCCL use GPUDirect across the CPU "
                "(NCCL_NET_GDR_LEVEL=PHB or SYS) after measuring that it helps, and give pods NIC and GPU of one socket (topology "
                "manager, one resource a rail).",
                ("nvidia-smi topo -m",),
            ),
            nodes=(name for name, _ in far),
        )
    if virtual:
        yield conclude(
            RAIL_FAR_FROM_GPU,
            "In this virtual machine the PCI tree does not show what is near to what, so libraries pair GPUs and NICs at random.",
            evidence=capped(_distances(virtual)),
            remedy=Remedy(
                "Give NCCL the provider's topology file (NCCL_TOPO_FILE), and each worker its own NIC (UCX_NET_DEVICES); check data "
                "once with one device, since striping over devices with relaxed ordering was seen to corrupt it in such machines.",
            ),
            nodes=(name for name, _ in virtual),
            severity=Severity.INFO,
        )


def _misplaced(name: NodeName, rails: tuple[RailHere, ...], hardware: NodeHardware) -> Iterator[RailHere]:
    """NICs like the rails', beside no GPU, on a node where just as many GPUs have no NIC."""
    used = {rail.port.pci for rail in rails}
    busy = {item.pci for item in hardware.carried}
    like = {rail.port.device_id for rail in rails}
    spare = [
        port
        for port in hardware.ports
        if port.device_id in like and port.parent is None and port.pci not in used | busy and port.rdma is not None
    ]
    if not spare or len(rails) + len(spare) != len(hardware.gpus):
        return
    for port in spare:
        apart, gpu = nearest_gpu(hardware, port) or (None, None)
        yield RailHere(name, len(rails), "spare NIC", port, gpu, apart)


def _distances(rails: Iterable[tuple[NodeName, RailHere]]) -> Iterator[Evidence]:
    for name, rail in rails:
        gpu = rail.gpu.pci if rail.gpu else "any GPU"
        yield on_node(name, f"{rail.name} {rail.where} to GPU {gpu}", rail.distance)


RULES = (Rule(RAIL_FAR_FROM_GPU, judge_distance),)
