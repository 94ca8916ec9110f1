"""Nodes on which RDMA works and takes the long way: nothing is refused, and nothing here is ours to change."""

from railwright.facts.detours import is_translated, redirecting_bridges
from railwright.plan.draft import FabricNodes
from railwright.plan.notes import Notes

_SHOWN = 4


def check_detours(fabric: FabricNodes, notes: Notes) -> None:
    """Warn of redirection between the GPU and the port of a rail, and of translation, once a node."""
    for node, hardware in sorted(fabric.hardware.items()):
        gpus = {gpu.pci: gpu for gpu in hardware.gpus}
        ports = {port.pci: port for port in hardware.ports}
        pairs = [
            (gpus[rail.gpu], ports[rail.pci])
            for item in fabric.rails
            if (rail := item.port_on(node)) is not None and rail.gpu in gpus and rail.pci in ports
        ]
        bridges = sorted({pci for gpu, port in pairs for pci in redirecting_bridges(gpu, port, hardware)})
        if bridges:
            named = ", ".join(bridges[:_SHOWN]) + (
                f" and {len(bridges) - _SHOWN} more" if len(bridges) > _SHOWN else ""
            )
            notes.warn(
                "acs-redirects",
                f"bridges of {node} send traffic between GPU and NIC up to the root complex (Access Control Services): {named};"
                " railwright doctor has the kernel arguments that switch it off",
                node,
            )
        if is_translated(hardware):
            notes.warn(
                "iommu-translates",
                f"the IOMMU of {node} translates what GPU and NIC exchange, so it is slow or fails; iommu=pt among the kernel"
                " arguments ends that (railwright doctor has the command)",
                node,
            )
