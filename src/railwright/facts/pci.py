"""
How far apart two PCI devices are, from their places in the PCI tree alone.

The words are nvidia-smi's (`nvidia-smi topo -m`, legend; NVML's nvmlGpuTopologyLevel_t says the same in levels):
PIX at most one PCIe switch between, PXB several without the host bridge, PHB the host bridge, NODE several host
bridges of one NUMA node, SYS across NUMA nodes. Source: NVML API reference, nvmlGpuTopologyLevel_t; nvidia-smi(1).

Seen from Linux, a switch is two bridges in a path: its upstream port, and one downstream port a device. Two devices
behind one switch share everything down to the upstream port and then part, each below a downstream port of its own.
So at most one bridge that is not shared on each side is one switch; more are several.
"""

from dataclasses import dataclass
from typing import Protocol

from railwright.core.ids import PciAddress
from railwright.facts.model import Distance

_BRIDGES_OF_ONE_SWITCH = 1


class InTree(Protocol):
    """Anything that has a place in the PCI tree: a GPU, a NIC port."""

    @property
    def pci_path(self) -> tuple[PciAddress, ...]:
        """Bridges from the root port down, the device itself last."""

    @property
    def root(self) -> str:
        """The host bridge."""

    @property
    def numa(self) -> int | None:
        """NUMA node; None when the kernel names none."""


@dataclass(frozen=True)
class Parting:
    """Where two paths part: how many steps they share, and how many bridges follow on each side."""

    shared: int
    first_bridges: int
    second_bridges: int


def parting(first: InTree, second: InTree) -> Parting:
    """Compare two paths below the same host bridge."""
    shared = 0
    for one, other in zip(first.pci_path[:-1], second.pci_path[:-1], strict=False):
        if one != other:
            break
        shared += 1
    return Parting(shared, len(first.pci_path) - 1 - shared, len(second.pci_path) - 1 - shared)


def distance(gpu: InTree, port: InTree) -> Distance:
    """
    Say how far a GPU and a NIC port are apart.

    A virtual function lies where its physical function lies. Without NUMA nodes for both, two devices on different
    host bridges count as SYS: nearer would be a guess.
    """
    if gpu.root != port.root:
        same_node = gpu.numa is not None and gpu.numa == port.numa
        return Distance.NODE if same_node else Distance.SYS
    way = parting(gpu, port)
    if not way.shared:
        return Distance.PHB
    if max(way.first_bridges, way.second_bridges) <= _BRIDGES_OF_ONE_SWITCH:
        return Distance.PIX
    return Distance.PXB
