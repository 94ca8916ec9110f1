"""
GPUs and NIC ports, put together from the PCI tree, the network devices and the RDMA devices.

Pure. A port is a PCI function of class network, with or without netdev and RDMA device (a port in use by a pod has
neither in the host's view).
"""

from collections.abc import Iterable

from railwright.core.ids import NetDevice, PciAddress
from railwright.facts.model import Gpu, LinkLayer, NetDeviceFacts, NicPort
from railwright.facts.sources.infiniband import RdmaPort
from railwright.facts.sources.net import LinkFacts, Links
from railwright.facts.sources.pci import PciDevice

_NVIDIA = "10de"
_DISPLAY = ("0300", "0302")
"""VGA and 3D controller: data-centre GPUs are the latter. Source: PCI Code and ID Assignment 1.16, class 03h."""
_NETWORK = "02"
_ARP_LAYER = {1: LinkLayer.ETHERNET, 32: LinkLayer.INFINIBAND}
"""ARPHRD_ETHER, ARPHRD_INFINIBAND. Source: Linux include/uapi/linux/if_arp.h."""


def gpus_of(devices: Iterable[PciDevice]) -> tuple[Gpu, ...]:
    """NVIDIA GPUs, physical functions only, by PCI address."""
    return tuple(
        Gpu(
            pci=device.address,
            device_id=device.device,
            pci_path=device.path,
            root=device.root,
            numa=device.numa,
            driver=device.driver,
        )
        for device in devices
        if device.vendor == _NVIDIA and device.pci_class[:4] in _DISPLAY and device.parent is None
    )


def ports_of(devices: tuple[PciDevice, ...], links: Links, rdma_ports: tuple[RdmaPort, ...]) -> tuple[NicPort, ...]:
    """NIC ports by PCI address; an RDMA device with several ports gives one entry a port."""
    netdev_by_pci = _netdev_by_pci(links)
    ports: list[NicPort] = []
    for device in devices:
        if not device.pci_class.startswith(_NETWORK):
            continue
        netdev = netdev_by_pci.get(device.address)
        link = links.links[netdev.name] if netdev else None
        own: list[RdmaPort | None] = [port for port in rdma_ports if port.pci == device.address]
        ports.extend(_port(device, netdev, link, rdma) for rdma in (own or [None]))
    return tuple(ports)


def _netdev_by_pci(links: Links) -> dict[PciAddress, NetDeviceFacts]:
    """
    Choose the netdev of each PCI function.

    In switchdev mode the representors of the virtual functions hang off the same function, and so does an IPoIB child:
    the port's own netdev is the one that is no representor, lies on nothing, and has the shortest name.
    """
    chosen: dict[PciAddress, NetDeviceFacts] = {}
    for netdev in links.netdevs:
        if netdev.pci is None:
            continue
        best = chosen.get(netdev.pci)
        if best is None or _oddness(netdev, links) < _oddness(best, links):
            chosen[netdev.pci] = netdev
    return chosen


def _oddness(netdev: NetDeviceFacts, links: Links) -> tuple[bool, bool, int, NetDevice]:
    is_representor = links.links[netdev.name].port_name.startswith("pf")
    return is_representor, bool(netdev.lowers), len(netdev.name), netdev.name


def _port(device: PciDevice, netdev: NetDeviceFacts | None, link: LinkFacts | None, rdma: RdmaPort | None) -> NicPort:
    layer = rdma.link_layer if rdma else LinkLayer.UNKNOWN
    if layer is LinkLayer.UNKNOWN and netdev is not None:
        layer = _ARP_LAYER.get(netdev.arp_type, LinkLayer.UNKNOWN)
    return NicPort(
        pci=device.address,
        vendor_id=device.vendor,
        device_id=device.device,
        pci_path=device.path,
        root=device.root,
        numa=device.numa,
        driver=device.driver,
        netdev=netdev.name if netdev else None,
        rdma=rdma.device if rdma else None,
        rdma_port=rdma.port if rdma else 1,
        link_layer=layer,
        state=rdma.state if rdma else "",
        carrier=link.carrier if link else None,
        rate_gbps=_rate_gbps(rdma, link),
        mtu_bytes=netdev.mtu_bytes if netdev else None,
        address=netdev.address if netdev else "",
        node_guid=rdma.node_guid if rdma else "",
        lid=rdma.lid if rdma else None,
        sm_lid=rdma.sm_lid if rdma else None,
        gids=rdma.gids if rdma else (),
        sriov_total_vfs=device.sriov_total_vfs,
        sriov_vfs=device.sriov_vfs,
        parent=device.parent,
        ip_addresses=netdev.ip_addresses if netdev else (),
        firmware=rdma.firmware if rdma else "",
        psid=rdma.board_id if rdma else "",
        link_speed_gts=device.link_speed_gts,
        link_width_lanes=device.link_width_lanes,
        max_link_speed_gts=device.max_link_speed_gts,
        max_link_width_lanes=device.max_link_width_lanes,
    )


def _rate_gbps(rdma: RdmaPort | None, link: LinkFacts | None) -> float | None:
    """Rate of the link: the RDMA device's word, else the netdev's, which is in Mbit/s."""
    if rdma is not None and rdma.rate_gbps:
        return rdma.rate_gbps
    return link.speed_mbps / 1000 if link is not None and link.speed_mbps else None
