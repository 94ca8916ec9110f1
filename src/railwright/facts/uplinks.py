"""
What the node's own traffic goes through: default routes, its own address, the API server, cluster network, storage.

Pure. Each piece of traffic is followed from the device where it enters down to NIC ports. Whatever can't be followed to
its end makes the uplinks unknown: then any port may carry the node's traffic. More is counted rather than less: a
second default route, the routes of every table that its own packets may come to, every port of Open vSwitch.
"""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from railwright.core.ids import NetDevice, PciAddress, RdmaDevice
from railwright.facts.announced import OVN_TUNNELS, Announced
from railwright.facts.model import Carried, NetDeviceFacts
from railwright.facts.paths import LOOPBACK_ARP_TYPE, OVS_DATAPATH, ends_below, openvswitch_ports
from railwright.facts.record import Record
from railwright.facts.sources.routes import Route, default_routes, routes_to
from railwright.facts.sources.sockets import BGP, Connection
from railwright.facts.sources.storage import RemoteStorage

_NEEDED_SECTIONS = (
    "meta",
    "pci",
    "net",
    "addr",
    "route4",
    "route6",
    "route4_tables",
    "route6_tables",
    "mounts",
    "nvme",
    "iscsi",
    "storage",
    "sockets",
)
_SERVICES = NetDevice("kube-ipvs0")
"""
Holds the addresses of all Services where kube-proxy uses IPVS: a connection from one of them goes to that Service.

Source: Kubernetes documentation, "Virtual IPs and Service Proxies", IPVS proxy mode, checked 2026-11-30.
"""
_DUMMY = "dummy"
_CLUSTER_NETWORK = "cluster network (Open vSwitch)"

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
        announced: what the network plugin says of the node's addresses.
    """

    node_addresses: tuple[str, ...] = ()
    api_servers: tuple[str, ...] = ()
    announced: tuple[Announced, ...] = ()


@dataclass(frozen=True)
class Traffic:
    """
    What a record says of devices, ways and traffic.

    Attributes:
        parent_of: physical function of each virtual one: traffic on a virtual function counts for the physical.
        pci_of_rdma: PCI function of each RDMA device.
        misread: a line of a section that matters here could not be understood.
    """

    netdevs: tuple[NetDeviceFacts, ...]
    routes: tuple[Route, ...]
    storage: tuple[RemoteStorage, ...]
    connections: tuple[Connection, ...]
    parent_of: Mapping[PciAddress, PciAddress]
    pci_of_rdma: Mapping[RdmaDevice, PciAddress]
    netns_is_host: bool | None
    kubelet_seen: bool
    misread: bool


@dataclass
class _Tracer:
    """Collects what is carried, and why something can't be followed."""

    netdevs: Mapping[NetDevice, NetDeviceFacts]
    routes: tuple[Route, ...]
    parent_of: Mapping[PciAddress, PciAddress]
    told_at: tuple[Address, ...] = ()
    """The node's own ends of its BGP sessions."""
    carried: dict[Carried, None] = field(default_factory=dict)
    problems: dict[str, None] = field(default_factory=dict)

    def follow(self, what: str, start: NetDevice) -> None:
        """Follow traffic that enters at a device down to the ports that carry it."""
        ends, lost = ends_below(start, self.netdevs)
        for path in ends:
            self.carry(what, path, self.netdevs[path[-1]].pci)
        for path in lost:
            self.problems[f"{what} goes through {' > '.join(path)}, below which no port was found"] = None

    def carry(self, what: str, path: tuple[NetDevice, ...], pci: PciAddress | None) -> None:
        """Note traffic that ends at a function."""
        self.carried[Carried(what, path, self.parent_of.get(pci, pci) if pci else None)] = None

    def follow_address(self, what: str, address: Address) -> None:
        """Follow traffic to an address, by every route with the longest prefix."""
        if address.is_loopback:
            return
        routes = routes_to(address, self.routes)
        for route in routes:
            self.follow(what, route.netdev)
        if not routes:
            self.problems[f"{what}: no route leads to {address}"] = None

    def follow_own(self, what: str, address: Address) -> None:
        """Follow traffic of an address of the node, found on a device, or else by the route to it."""
        owners = [netdev for netdev in self.netdevs.values() if _owns(netdev, address) and netdev.name != _SERVICES]
        for owner in owners:
            if _is_portless(owner) and not address.is_loopback:
                self.follow_routed(what, owner.name)
            else:
                self.follow(what, owner.name)
        if not owners:
            self.follow_address(what, address)

    def follow_routed(self, what: str, owner: NetDevice) -> None:
        """
        Follow traffic of an address that lies on no port: of a routed host, whose routers are told of it.

        It comes in where they are told, and leaves where they have told the node to send. Without a session of BGP whose
        own end is at a port, nothing says where that is; nor where a route to a router leads through another port: whoever
        set it by hand may have told that router by hand as well, and a session may be there for other addresses.
        """
        told_over = {
            netdev.name
            for address in self.told_at
            for netdev in self.netdevs.values()
            if _owns(netdev, address) and not _is_portless(netdev)
        }
        if not told_over:
            self.problems[f"{what} belongs to {owner}, and which ports its routes use can't be told"] = None
            return
        starts = sorted(told_over | {route.netdev for route in self.routes if route.learned})
        for beside in self._routes_beside(starts):
            self.problems[
                f"{what} belongs to {owner}, and the route to {beside.network} through {beside.netdev} is none of its BGP"
                " sessions': whether it is reached there can't be told"
            ] = None
        for start in starts:
            self.follow(what, start)

    def _routes_beside(self, starts: Iterable[NetDevice]) -> list[Route]:
        """Give the default routes and the routes to routers that lead through another port than these devices do."""
        explained = {path[-1] for start in starts for path in ends_below(start, self.netdevs)[0]}
        beside = []
        for route in self.routes:
            ends, lost = ends_below(route.netdev, self.netdevs)
            is_way = route.to_router or not route.network.prefixlen
            if is_way and (lost or not {path[-1] for path in ends} <= explained):
                beside.append(route)
        return beside


def find_uplinks(record: Record, traffic: Traffic, around: Surroundings) -> Uplinks:
    """Follow all traffic of the node; `record` says which sections are missing."""
    told_at = tuple(end.address for end in traffic.connections if end.service == BGP)
    tracer = _Tracer({netdev.name: netdev for netdev in traffic.netdevs}, traffic.routes, traffic.parent_of, told_at)
    for problem in _untrusted(record, traffic, around):
        tracer.problems[problem] = None
    for version in (4, 6):
        for route in default_routes(traffic.routes, version):
            tracer.follow(f"default route (IPv{version})", route.netdev)
    _follow_node(tracer, around)
    _follow_openvswitch(tracer)
    _follow_cluster_network(tracer, record, around)
    for item in traffic.storage:
        _follow_storage(tracer, item, traffic.pci_of_rdma)
    for end in traffic.connections:
        tracer.follow_own(f"{end.service} (TCP {end.port}) at {end.address}", end.address)
    if not default_routes(traffic.routes, 4) and not default_routes(traffic.routes, 6):
        tracer.problems["no default route was found"] = None
    return Uplinks(tuple(tracer.carried), "; ".join(tracer.problems))


def _untrusted(record: Record, traffic: Traffic, around: Surroundings) -> list[str]:
    """Say why what the record holds may not be everything."""
    problems = []
    if not record.is_complete:
        problems.append("the node's record was cut short")
    if traffic.netns_is_host is None:
        problems.append("it is not known whether the node's own network namespace was read")
    elif not traffic.netns_is_host:
        problems.append("another network namespace than the node's own was read")
    if around.node_addresses and not traffic.kubelet_seen:
        problems.append("no kubelet was seen among the node's processes, so that what it mounted is not known")
    problems.extend(
        f"{section} could not be read ({record.missing(section)})"
        for section in _NEEDED_SECTIONS
        if record.missing(section)
    )
    if traffic.misread:
        problems.append("lines about routes, network devices or storage could not be understood")
    return problems


def _follow_node(tracer: _Tracer, around: Surroundings) -> None:
    """Follow the node's own addresses, and the API server."""
    for text in around.node_addresses:
        address = _address(text)
        if address is not None:
            tracer.follow_own(f"node address {address}", address)
    for text in around.api_servers:
        address = _address(text)
        if address is not None and text not in around.node_addresses:
            tracer.follow_address("API server", address)


def _follow_openvswitch(tracer: _Tracer) -> None:
    for port in openvswitch_ports(tracer.netdevs):
        ends, _ = ends_below(port, tracer.netdevs)
        for path in ends:
            pci = tracer.netdevs[path[-1]].pci
            if pci is not None:
                tracer.carry(_CLUSTER_NETWORK, (OVS_DATAPATH, *path), pci)


def _follow_cluster_network(tracer: _Tracer, record: Record, around: Surroundings) -> None:
    """Follow tunnels, whose packets may start at another address than the node's: that of another NIC."""
    for item in around.announced:
        address = _address(item.address)
        if address is None:
            tracer.problems[f"{item.what}: annotation {item.annotation} can't be read"] = None
        else:
            tracer.follow_own(f"{item.what} at {address}", address)
    for text in (word for line in record.lines("ovs") for word in line.partition("\t")[2].split(",")):
        address = _address(text.strip())
        if address is None:
            tracer.problems[f"the address of Open vSwitch's tunnels can't be read: {text[:80]!r}"] = None
        else:
            tracer.follow_own(f"cluster network (OVN tunnels) at {address}", address)
    known = any(item.annotation == OVN_TUNNELS for item in around.announced)
    if OVS_DATAPATH in tracer.netdevs and record.missing("ovs") and not known:
        tracer.problems[f"where Open vSwitch's tunnels start is not known ({record.missing('ovs')})"] = None
    for netdev in tracer.netdevs.values():
        address = _address(netdev.tunnel_from)
        if netdev.tunnel_over is not None:
            tracer.follow(f"tunnel {netdev.name}", netdev.tunnel_over)
        elif address is not None and not address.is_unspecified:
            tracer.follow_own(f"tunnel {netdev.name}", address)


def _follow_storage(tracer: _Tracer, item: RemoteStorage, pci_of_rdma: Mapping[RdmaDevice, PciAddress]) -> None:
    for server in item.servers:
        tracer.follow_address(item.what, server)
    for address in item.own:
        tracer.follow_own(item.what, address)
    pci = pci_of_rdma.get(item.rdma) if item.rdma else item.pci
    if pci:
        tracer.carry(item.what, _names_of(pci, tracer.netdevs.values()) or (NetDevice(item.rdma or pci),), pci)
    if not item.servers and not item.own and pci is None:
        tracer.problems[f"{item.what}: what carries it can't be told"] = None


def _names_of(pci: PciAddress, netdevs: Iterable[NetDeviceFacts]) -> tuple[NetDevice, ...]:
    return tuple(netdev.name for netdev in netdevs if netdev.pci == pci)[:1]


def _owns(netdev: NetDeviceFacts, address: Address) -> bool:
    return any(ipaddress.ip_interface(own).ip == address for own in netdev.ip_addresses)


def _is_portless(netdev: NetDeviceFacts) -> bool:
    return netdev.arp_type == LOOPBACK_ARP_TYPE or netdev.kind == _DUMMY


def _address(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
