"""
From a network device down to the NIC ports that carry its traffic: over bonds, teams, VLANs, bridges, Open vSwitch.

Pure. Which of its bridges a port of Open vSwitch belongs to can't be told from sysfs, so every port counts for each.
"""

from collections.abc import Mapping

from railwright.core.ids import NetDevice
from railwright.facts.model import NetDeviceFacts

OVS_DATAPATH = NetDevice("ovs-system")
"""The kernel datapath of Open vSwitch: master of every device that is a port of any of its bridges."""
_OPENVSWITCH = "openvswitch"
LOOPBACK_ARP_TYPE = 772
_POD_ENDS = frozenset({"veth", "geneve", "vxlan", "tun", "dummy", _OPENVSWITCH})
"""Kinds of bridge port that are no way out of the node: ends in pods, and tunnels, whose packets are routed again."""

Netdevs = Mapping[NetDevice, NetDeviceFacts]
Path = tuple[NetDevice, ...]


def openvswitch_ports(netdevs: Netdevs) -> tuple[NetDevice, ...]:
    """Name every device that is a port of any bridge of Open vSwitch."""
    lowers = netdevs[OVS_DATAPATH].lowers if OVS_DATAPATH in netdevs else ()
    masters = (name for name, netdev in netdevs.items() if netdev.master == OVS_DATAPATH)
    return tuple(sorted({*lowers, *masters}))


def ends_below(start: NetDevice, netdevs: Netdevs) -> tuple[list[Path], list[Path]]:
    """
    Walk down from a device.

    Returns:
        Paths that end at hardware, and paths that end nowhere known. Pods' ends (veth) below Open vSwitch or a bridge
        lead nowhere and are left out as long as the bridge has a port.
    """
    ends: list[Path] = []
    lost: list[Path] = []
    open_paths: list[Path] = [(start,)]
    while open_paths:
        path = open_paths.pop()
        netdev = netdevs.get(path[-1])
        if netdev is None:
            lost.append(path)
        elif netdev.pci is not None or netdev.arp_type == LOOPBACK_ARP_TYPE:
            ends.append(path)
        else:
            below = [name for name in _below(netdev, netdevs) if name not in path]
            open_paths.extend((*path, name) for name in reversed(below))
            if not below and _is_hardware(netdev):
                ends.append(path)
            elif not below:
                lost.append(path)
    beside_a_port = {path[:-1] for path in ends}
    return ends, [path for path in lost if not _is_pod_end(path, netdevs, beside_a_port)]


def _below(netdev: NetDeviceFacts, netdevs: Netdevs) -> tuple[NetDevice, ...]:
    """Name what a device lies on: its lowers, what it is master of, and for Open vSwitch every port of the datapath."""
    ports = sorted(name for name, other in netdevs.items() if other.master == netdev.name)
    found = dict.fromkeys((*netdev.lowers, *ports))
    if netdev.kind == _OPENVSWITCH or netdev.name == OVS_DATAPATH:
        found |= dict.fromkeys(openvswitch_ports(netdevs))
    found.pop(netdev.name, None)
    return tuple(found)


def _is_hardware(netdev: NetDeviceFacts) -> bool:
    """Hardware that is on no PCI bus (USB, a platform device) has no kind; everything virtual has one."""
    return not netdev.kind


def _is_pod_end(path: Path, netdevs: Netdevs, beside_a_port: set[Path]) -> bool:
    netdev = netdevs.get(path[-1])
    return (
        len(path) > 1
        and netdev is not None
        and netdev.kind in _POD_ENDS
        and any(port[: len(path) - 1] == path[:-1] for port in beside_a_port)
    )
