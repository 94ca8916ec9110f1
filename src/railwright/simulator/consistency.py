"""Refuse worlds that cannot be: what faults and builders put together is checked before it begins."""

from collections import Counter
from collections.abc import Iterable

from railwright.core.errors import UsageError
from railwright.core.ids import parse_pci_address
from railwright.simulator.hardware import Machine
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
    if machine.default_route not in names:
        found.append(f"{where}: the default route goes through {machine.default_route}, which is not there")
    return found


def _twice(values: Iterable[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1]
