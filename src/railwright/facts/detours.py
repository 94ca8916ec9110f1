"""
What sends traffic between a GPU and its NIC the long way inside a server: redirection by bridges, translation.

Pure. Neither is meant in virtual machines, nor on Grace, whose GPUs and NICs rely on translation.
Source: Linux drivers/pci/p2pdma.c, calc_map_type_and_dist (v6.12); Documentation/admin-guide/kernel-parameters.txt,
iommu (v6.12); NVIDIA NCCL docs 2.30, troubleshooting, PCI access control services (2026-11).
"""

from railwright.core.ids import PciAddress
from railwright.facts.model import Gpu, NicPort, NodeHardware
from railwright.facts.node_model import AcsState
from railwright.facts.pci import parting

_TRANSLATING = frozenset({"DMA", "DMA-FQ", "mixed"})


def bridges_between(gpu: Gpu, port: NicPort) -> tuple[PciAddress, ...]:
    """Name the bridges below the common one on both sides; none when the paths have no bridge in common."""
    if gpu.root != port.root:
        return ()
    way = parting(gpu, port)
    if not way.shared:
        return ()
    return (*gpu.pci_path[way.shared : -1], *port.pci_path[way.shared : -1])


def redirects(acs: AcsState) -> bool:
    """Whether a bridge sends what goes from device to device up to the root complex."""
    return acs.request_redirect or acs.completion_redirect


def is_spared(acs: AcsState, port: NicPort) -> bool:
    """Whether a port's translated requests pass a bridge that redirects the others (ATS)."""
    return acs.direct_translated and port.config is not None and port.config.ats_enabled is True


def redirecting_bridges(gpu: Gpu, port: NicPort, hardware: NodeHardware) -> tuple[PciAddress, ...]:
    """Name the bridges between a GPU and a port that redirect; those that could not be read are not among them."""
    if hardware.processor.under_hypervisor:
        return ()
    found = []
    for pci in bridges_between(gpu, port):
        bridge = hardware.bridge(pci)
        acs = bridge.config.acs if bridge is not None and bridge.config is not None else None
        if acs is not None and redirects(acs) and not is_spared(acs, port):
            found.append(pci)
    return tuple(found)


def is_bare_x86(hardware: NodeHardware) -> bool:
    """Whether passthrough is what the machine wants."""
    return hardware.architecture == "x86_64" and not hardware.processor.under_hypervisor


def is_translated(hardware: NodeHardware) -> bool:
    """Whether the IOMMU translates what GPUs and NICs of a bare x86 machine exchange."""
    return is_bare_x86(hardware) and bool(hardware.iommu.present) and hardware.iommu.default_type in _TRANSLATING
