"""
What the node's own traffic goes through: default routes, its own address, the API server, cluster network, storage.

Pure. Each piece of traffic is followed from the device where it enters down to NIC ports, over bonds, teams, VLANs,
bridges, macvlan parents and Open vSwitch. Whatever can't be followed to its end makes the uplinks unknown: then any
port may carry the node's traffic. More is counted rather than less: a second default route, an equally good route,
every port of Open vSwitch (which of its bridges a port belongs to can't be told from sysfs).
"""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from railwright.core.ids import NetDevice, PciAddress
from railwright.facts.model import Carried, NetDeviceFacts
from railwright.facts.record import Record
from railwright.facts.sources.routes import Route, default_routes, routes_to
from railwright.facts.sources.storage import RemoteStorage

OVS_DATAPATH = NetDevice("ovs-system")
"""The kernel datapath of Open vSwitch: master of every device that is a port of any of its bridges."""
_OPENVSWITCH = "openvswitch"
_LOOPBACK_ARP_TYPE = 772
_NEEDED_SECTIONS = ("meta", "pci", "net", "route4", "route6", "mounts", "nvme", "iscsi")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True)
class Uplinks:
    """What is carried by what; `problem` says why that is not all there is to know, "" when it is."""

    carried: tuple[Carried, ...]
    problem: str


@dataclass(frozen=True)
class Surroundings:
    """
    What the node can't say of itself.

    Attributes:
        node_addresses: the node's own addresses, as Kubernetes knows them (InternalIP).
        api_servers: addresses of the control plane; empty when unknown, then the default route stands for them.
    """

    node_addresses: tuple[str, ...] = ()
    api_servers: tuple[str, ...] = ()


@dataclass
class _Tracer:
    """Collects what is carried, and why something can't be followed."""

    netdevs: Mapping[NetDevice, NetDeviceFacts]
    routes: tuple[Route, ...]
    parent_of: Mapping[PciAddress, PciAddress]
    carried: dict[Carried, None] = field(default_factory=dict)
    problems: dict[str, None] = field(default_factory=dict)

    def follow(self, what: str, start: NetDevice) -> None:
        """Follow traffic that enters at a device down to the ports that carry it."""
        ends, lost = _ends(start, self.netdevs)
        for path in ends:
            pci = self.netdevs[path[-1]].pci
            self.carried[Carried(what, path, self.parent_of.get(pci, pci) if pci else None)] = None
        for path in lost:
            self.problems[f"{what} goes through {' > '.join(path)}, below which no port was found"] = None

    def follow_address(self, what: str, address: Address) -> None:
        """Follow traffic to an address, by every route with the longest prefix."""
        if address.is_loopback:
            return
        routes = routes_to(address, self.routes)
        for route in routes:
            self.follow(what, route.netdev)
        if not routes:
            self.problems[f"{what}: no route leads to {address}"] = None


def find_uplinks(
    record: Record,
    *,
    netdevs: Iterable[NetDeviceFacts],
    routes: tuple[Route, ...],
    storage: tuple[RemoteStorage, ...],
    parent_of: Mapping[PciAddress, PciAddress],
    around: Surroundings,
    netns_is_host: bool | None,
    misread: bool,
) -> Uplinks:
    """
    Follow all traffic of the node.

    Args:
        record: says which sections are missing.
        parent_of: physical function of each virtual one: traffic on a virtual function counts for the physical.
        misread: a line of a section that matters here could not be understood.
    """
    tracer = _Tracer({netdev.name: netdev for netdev in netdevs}, routes, parent_of)
    for problem in _untrusted(record, netns_is_host=netns_is_host, misread=misread):
        tracer.problems[problem] = None
    for version in (4, 6):
        for route in default_routes(routes, version):
            tracer.follow(f"default route (IPv{version})", route.netdev)
    _follow_node(tracer, around)
    _follow_openvswitch(tracer)
    for item in storage:
        if not item.servers:
            tracer.problems[f"{item.what}: which servers it needs can't be told"] = None
        for server in item.servers:
            tracer.follow_address(item.what, server)
    if not default_routes(routes, 4) and not default_routes(routes, 6):
        tracer.problems["no default route was found"] = None
    return Uplinks(tuple(tracer.carried), "; ".join(tracer.problems))


def _untrusted(record: Record, *, netns_is_host: bool | None, misread: bool) -> list[str]:
    """Say why what the record holds may not be everything."""
    problems = []
    if not record.is_complete:
        problems.append("the node's record was cut short")
    if netns_is_host is None:
        problems.append("it is not known whether the node's own network namespace was read")
    elif not netns_is_host:
        problems.append("another network namespace than the node's own was read")
    problems.extend(
        f"{section} could not be read ({record.missing(section)})"
        for section in _NEEDED_SECTIONS
        if record.missing(section)
    )
    if misread:
        problems.append("lines about routes, network devices or storage could not be understood")
    return problems


def _follow_node(tracer: _Tracer, around: Surroundings) -> None:
    """Follow the node's own addresses, found on a device, or else by the route to them; and the API server."""
    for text in around.node_addresses:
        address = _address(text)
        if address is None:
            continue
        owners = [netdev.name for netdev in tracer.netdevs.values() if _owns(netdev, address)]
        for owner in owners:
            tracer.follow(f"node address {address}", owner)
        if not owners:
            tracer.follow_address(f"node address {address}", address)
    for text in around.api_servers:
        address = _address(text)
        if address is not None and text not in around.node_addresses:
            tracer.follow_address("API server", address)


def _follow_openvswitch(tracer: _Tracer) -> None:
    for port in _openvswitch_ports(tracer.netdevs):
        ends, _ = _ends(port, tracer.netdevs)
        for path in ends:
            pci = tracer.netdevs[path[-1]].pci
            if pci is not None:
                carrier = tracer.parent_of.get(pci, pci)
                tracer.carried[Carried("cluster network (Open vSwitch)", (OVS_DATAPATH, *path), carrier)] = None


def _openvswitch_ports(netdevs: Mapping[NetDevice, NetDeviceFacts]) -> tuple[NetDevice, ...]:
    lowers = netdevs[OVS_DATAPATH].lowers if OVS_DATAPATH in netdevs else ()
    masters = (name for name, netdev in netdevs.items() if netdev.master == OVS_DATAPATH)
    return tuple(sorted({*lowers, *masters}))


def _ends(
    start: NetDevice, netdevs: Mapping[NetDevice, NetDeviceFacts]
) -> tuple[list[tuple[NetDevice, ...]], list[tuple[NetDevice, ...]]]:
    """
    Walk down from a device.

    Returns:
        Paths that end at hardware, and paths that end nowhere known. Pods' ends (veth) below Open vSwitch or a bridge
        lead nowhere and are left out as long as the bridge has a port.
    """
    ends: list[tuple[NetDevice, ...]] = []
    lost: list[tuple[NetDevice, ...]] = []
    open_paths: list[tuple[NetDevice, ...]] = [(start,)]
    while open_paths:
        path = open_paths.pop()
        netdev = netdevs.get(path[-1])
        if netdev is None:
            lost.append(path)
        elif netdev.pci is not None or netdev.arp_type == _LOOPBACK_ARP_TYPE:
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


def _below(netdev: NetDeviceFacts, netdevs: Mapping[NetDevice, NetDeviceFacts]) -> tuple[NetDevice, ...]:
    """Name what a device lies on: its lowers, what it is master of, and for Open vSwitch every port of the datapath."""
    ports = sorted(name for name, other in netdevs.items() if other.master == netdev.name)
    found = dict.fromkeys((*netdev.lowers, *ports))
    if netdev.kind == _OPENVSWITCH or netdev.name == OVS_DATAPATH:
        found |= dict.fromkeys(_openvswitch_ports(netdevs))
    found.pop(netdev.name, None)
    return tuple(found)


def _is_hardware(netdev: NetDeviceFacts) -> bool:
    """Hardware that is on no PCI bus (USB, a platform device) has no kind; everything virtual has one."""
    return not netdev.kind


def _is_pod_end(
    path: tuple[NetDevice, ...],
    netdevs: Mapping[NetDevice, NetDeviceFacts],
    beside_a_port: set[tuple[NetDevice, ...]],
) -> bool:
    netdev = netdevs.get(path[-1])
    return (
        len(path) > 1
        and netdev is not None
        and netdev.kind in _POD_ENDS
        and any(port[: len(path) - 1] == path[:-1] for port in beside_a_port)
    )


_POD_ENDS = frozenset({"veth", "geneve", "vxlan", "tun", "dummy", _OPENVSWITCH})
"""Kinds of bridge port that are no way out of the node: ends in pods, and tunnels, whose packets are routed again."""


def _owns(netdev: NetDeviceFacts, address: Address) -> bool:
    return any(ipaddress.ip_interface(own).ip == address for own in netdev.ip_addresses)


def _address(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
