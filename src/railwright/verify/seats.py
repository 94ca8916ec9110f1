"""
What facts say of one seat: the rates that bound it, what speaks for a direct path there, what against, what is unread.

Pure. What could not be read is named, and never taken for the better of two answers.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from railwright.core.ids import NodeName, card_of
from railwright.facts.model import Gpu, LinkLayer, NicPort, NodeHardware
from railwright.facts.pci import parting
from railwright.intent.model import GpuMemory
from railwright.plan.model import Rail, RailPort
from railwright.verify.floors import pcie_payload_gbps
from railwright.verify.model import Seat

_NVIDIA = "10de"
_PEERMEM = "nvidia_peermem"
_MODULES = "modules"


@dataclass(frozen=True)
class _Found:
    """What was found: for a direct path, against it, and what could not be read."""

    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def seat_of(rail: Rail, port: RailPort, hardware: NodeHardware | None, memory: GpuMemory | None) -> Seat:
    """Make the seat of a rail on a node; without `hardware` nearly nothing is known of it."""
    nic = next((item for item in hardware.ports if item.pci == port.pci), None) if hardware else None
    gpu = next((item for item in hardware.gpus if item.pci == port.gpu), None) if hardware else None
    found = _found(port, hardware, nic, gpu, memory)
    return Seat(
        node=port.node,
        rail=rail.name,
        pci=port.pci,
        netdev=port.netdev,
        rdma=port.rdma,
        gpu=port.gpu,
        distance=port.distance.value if port.distance else "",
        rate_gbps=port.rate_gbps,
        pcie_gbps=_pcie_gbps(hardware, nic),
        numa=nic.numa if nic else None,
        switch=_shared_bridge(nic, gpu),
        capability=found.good,
        obstacles=found.bad,
        unread=found.unread,
        peermem=_has_module(hardware, _PEERMEM),
        nic_id=f"{nic.vendor_id}:{nic.device_id}" if nic else "",
        gpu_id=f"{_NVIDIA}:{gpu.device_id}" if gpu else "",
        pkeys=nic.pkeys if nic and nic.link_layer is LinkLayer.INFINIBAND else (),
        ipoib_partition=_ipoib_partition(hardware, port),
    )


def shared_links(seats: tuple[Seat, ...]) -> tuple[Seat, ...]:
    """Give each rail its part of its card's PCIe link: rails on one card share it, and all rails run at once."""
    cards: dict[tuple[NodeName, str], int] = {}
    for seat in seats:
        if seat.pci is not None:
            card = (seat.node, card_of(seat.pci))
            cards[card] = cards.get(card, 0) + 1
    return tuple(
        seat
        if seat.pci is None or seat.pcie_gbps is None
        else replace(seat, pcie_gbps=round(seat.pcie_gbps / cards[seat.node, card_of(seat.pci)], 2))
        for seat in seats
    )


def _pcie_gbps(hardware: NodeHardware | None, nic: NicPort | None) -> float | None:
    """Say what the NIC's PCIe link carries when it runs as it can: a link that trained badly lowers no floor."""
    if hardware is None or nic is None:
        return None
    above = hardware.bridge(nic.pci_path[-2]) if len(nic.pci_path) > 1 else None
    speeds = (nic.max_link_speed_gts or nic.link_speed_gts, above.max_link_speed_gts if above else None)
    widths = (nic.max_link_width_lanes or nic.link_width_lanes, above.max_link_width_lanes if above else None)
    speed = min((item for item in speeds if item), default=None)
    width = min((item for item in widths if item), default=None)
    return pcie_payload_gbps(speed, width)


def _ipoib_partition(hardware: NodeHardware | None, port: RailPort) -> int | None:
    """Give the number of the partition that the port's IPoIB device is in."""
    devices = hardware.netdevs if hardware and port.netdev else ()
    key = next((item.pkey for item in devices if item.name == port.netdev), None)
    return None if key is None else key & 0x7FFF


def _shared_bridge(nic: NicPort | None, gpu: Gpu | None) -> str:
    """Give the nearest bridge above both; "" when there is none."""
    if nic is None or gpu is None or nic.root != gpu.root:
        return ""
    shared = parting(gpu, nic).shared
    return gpu.pci_path[shared - 1] if shared else ""


def _has_module(hardware: NodeHardware | None, module: str) -> bool | None:
    """Whether a kernel module is loaded; None where the list of modules was not read, or not whole."""
    if hardware is None:
        return None
    if module in hardware.modules:
        return True
    # A node with RDMA has modules: a list without any was not read.
    is_whole = bool(hardware.modules) and not any(item.what == _MODULES for item in hardware.unseen)
    return False if is_whole else None


def _found(
    port: RailPort, hardware: NodeHardware | None, nic: NicPort | None, gpu: Gpu | None, memory: GpuMemory | None
) -> _Found:
    """Look at everything between GPU and NIC; without a GPU nothing is asked of the way to one."""
    if hardware is None:
        return _Found(unread=("the node's inside",))
    parts = [_links(nic, gpu), _Found(unread=() if nic else (f"NIC {port.pci}",))]
    if port.gpu is not None:
        parts += [_driver(hardware, memory), _Found(unread=() if gpu else (f"GPU {port.gpu}",))]
    if nic is not None and gpu is not None:
        parts.append(_acs(hardware, nic, gpu))
    return _Found(
        tuple(text for part in parts for text in part.good),
        tuple(text for part in parts for text in part.bad),
        tuple(text for part in parts for text in part.unread),
    )


def _driver(hardware: NodeHardware, memory: GpuMemory | None) -> _Found:
    """Say whether the GPU's driver can give its memory to a NIC in the way that is wanted."""
    driver = hardware.nvidia_driver
    good = (f"GPU driver: {driver}",) if driver else ()
    unread = () if driver else ("which GPU driver is loaded",)
    if memory is GpuMemory.PEERMEM:
        loaded = _has_module(hardware, _PEERMEM)
        if loaded is None:
            return _Found(good, (), (*unread, f"whether {_PEERMEM} is loaded"))
        said = (f"{_PEERMEM} is {'loaded' if loaded else 'not loaded'}",)
        return _Found((*good, *said), (), unread) if loaded else _Found(good, said, unread)
    bad = ("the proprietary GPU module exports no dma-buf",) if driver.startswith("proprietary") else ()
    return _Found(good, bad, unread)


def _acs(hardware: NodeHardware, nic: NicPort, gpu: Gpu) -> _Found:
    """
    Name the bridges at which ACS redirects what goes between the two: where their paths part, below a shared bridge.

    Translated requests pass a redirecting bridge that lets them, if the NIC sends such.

    Source: Linux drivers/pci/p2pdma.c, calc_map_type_and_dist (ACS matters on the way below the common bridge);
    include/uapi/linux/pci_regs.h, PCI_ACS_DT and PCI_ATS_CTRL_ENABLE.
    """
    way = parting(gpu, nic)
    if gpu.root != nic.root or not way.shared:
        return _Found()
    sends_translated = nic.config is not None and nic.config.ats_enabled is True
    redirecting, unread = [], []
    for pci in (*gpu.pci_path[way.shared : -1], *nic.pci_path[way.shared : -1]):
        bridge = hardware.bridge(pci)
        config = bridge.config if bridge else None
        if config is None or not config.extended_read:
            unread.append(str(pci))
        elif config.acs is not None and config.acs.request_redirect:
            passes = config.acs.direct_translated and sends_translated
            redirecting += [] if passes else [str(pci)]
    text = "ACS sends requests between GPU and NIC up to the root complex at "
    return _Found(
        bad=(text + ", ".join(redirecting),) if redirecting else (),
        unread=(f"ACS at {', '.join(unread)}",) if unread else (),
    )


def _links(nic: NicPort | None, gpu: Gpu | None) -> _Found:
    devices: Iterable[tuple[str, NicPort | Gpu | None]] = (("NIC", nic), ("GPU", gpu))
    found = [_badly_trained(what, device) for what, device in devices if device is not None]
    return _Found(bad=tuple(text for text in found if text))


def _badly_trained(what: str, device: NicPort | Gpu) -> str:
    """Say that a PCIe link runs slower or narrower than its device can; "" when it does not, or is not known."""
    now = (device.link_speed_gts, device.link_width_lanes)
    best = (device.max_link_speed_gts, device.max_link_width_lanes)
    if None in now or None in best or now == best:
        return ""
    return f"the {what}'s PCIe link runs at {now[0]:g} GT/s x{now[1]}, and could at {best[0]:g} GT/s x{best[1]}"
