"""Refuse worlds that cannot be: what faults and builders put together is checked before it begins."""

from collections import Counter
from collections.abc import Iterable

from railwright.core.errors import UsageError
from railwright.core.ids import parse_pci_address
from railwright.simulator.hardware import LINK_SPEEDS_GTS, PCI_SIZES_BYTES, Machine
from railwright.simulator.worlds.model import Draft


def check(draft: Draft) -> None:
    """Raise UsageError that lists everything impossible in a world."""
    found = [problem for machine in draft.machines for problem in _machine(machine)]
    found += [f"node {name} is there twice" for name in _twice(machine.name for machine in draft.machines)]
    if found:
        raise UsageError("this world cannot be: " + "; ".join(found))


def _machine(machine: Machine) -> list[str]:
    where = machine.name
    devices = [(item.pci, item.path) for item in machine.gpus] + [(item.pci, item.path) for item in machine.nics]
    addresses = [pci for pci, _ in devices]
    names = [item.netdev for item in machine.nics] + [item.name for item in machine.virtuals]
    found = [f"{where}: PCI address {item} is there twice" for item in _twice(addresses)]
    found += [f"{where}: network device {item} is there twice" for item in _twice(names)]
    found += [
        f"{where}: RDMA device {item} is there twice" for item in _twice(nic.rdma for nic in machine.nics if nic.rdma)
    ]
    found += [
        f"{where}: path {path} does not end at {pci}"
        for pci, path in devices
        if parse_pci_address(pci) != pci or not path.endswith(f"/{pci}")
    ]
    for nic in machine.nics:
        if nic.master and nic.master not in names:
            found.append(f"{where}: {nic.netdev} has master {nic.master}, which is not there")
        if nic.sm_lid and not nic.carrier and nic.lid:
            found.append(f"{where}: {nic.netdev} has a LID without carrier")
        if nic.physfn and nic.physfn not in addresses:
            found.append(f"{where}: {nic.netdev} is a virtual function of {nic.physfn}, which is not there")
        if len(nic.netdev) > 15:
            found.append(f"{where}: network device name {nic.netdev} is longer than 15 characters")
    for item in machine.virtuals:
        found += [
            f"{where}: {item.name} lies on {lower}, which is not there" for lower in item.lowers if lower not in names
        ]
    infiniband = {nic.netdev for nic in machine.nics if nic.is_ib}
    found += [
        f"{where}: {item.name} ({item.kind}) cannot lie on InfiniBand port {lower}"
        for item in machine.virtuals
        for lower in item.lowers
        if lower in infiniband
    ]
    found += _registers(machine)
    found += [
        f"{where}: the default route goes through {device}, which is not there"
        for device in (machine.default_route, machine.default_route6)
        if device and device not in names
    ]
    return found


def _registers(machine: Machine) -> list[str]:
    """Check links, payloads and bridges."""
    bridges = {path.rpartition("/")[2] for path in machine.bridge_paths}
    found = [f"{machine.name}: there is no bridge {pci}" for pci, _ in machine.bridges if pci not in bridges]
    every = [(item.pci, item.registers) for item in machine.cards] + list(machine.bridges)
    for pci, registers in every:
        where = f"{machine.name}: {pci}"
        if registers.link_width_lanes > registers.max_link_width_lanes:
            found.append(f"{where} has more lanes than it can have")
        if registers.link_speed_gts > registers.max_link_speed_gts:
            found.append(f"{where} is faster than it can be")
        if {registers.link_speed_gts, registers.max_link_speed_gts} - set(LINK_SPEEDS_GTS):
            found.append(f"{where} has a link speed that PCI Express does not know")
        if registers.max_payload_bytes > registers.max_payload_supported_bytes:
            found.append(f"{where} has a larger payload than it can have")
        if registers.acs_control & ~registers.acs_capability:
            found.append(f"{where} has ACS bits on that it does not have")
        sizes = (registers.max_payload_bytes, registers.max_payload_supported_bytes, registers.max_read_request_bytes)
        if any(size not in PCI_SIZES_BYTES for size in sizes):
            found.append(f"{where} has a payload or request size that PCI Express does not know")
    return found


def _twice(values: Iterable[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1]
