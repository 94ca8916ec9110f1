"""
GPUs, NIC ports and bridges, put together from the PCI tree, the network devices and the RDMA devices.

Pure. A port is a PCI function of class network, with or without netdev and RDMA device (a port in use by a pod has
neither in the host's view).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from railwright.core.ids import NetDevice, PciAddress, RdmaDevice
from railwright.facts.device_model import Gpu, LinkLayer, NetDeviceFacts, NicPort
from railwright.facts.node_model import DataDirect, PciBridge, PciConfig, QosState, VirtualFunction
from railwright.facts.sources.counters import Counters
from railwright.facts.sources.identity import Card, GpuWords, Identity
from railwright.facts.sources.infiniband import RdmaPort
from railwright.facts.sources.pci import PciDevice
from railwright.facts.sources.virtual_functions import VfTables, VfWords

_NVIDIA, _MELLANOX = "10de", "15b3"
_DISPLAY = ("0300", "0302")
"""VGA and 3D controller: data-centre GPUs are the latter. Source: PCI Code and ID Assignment 1.16, class 03h."""
_NETWORK, _PCI_BRIDGE = "02", "0604"
_DATA_DIRECT = "2100"
"""ConnectX-8 Data Direct. Source: Linux drivers/infiniband/hw/mlx5/data_direct.c, mlx5_data_direct_pci_table."""
_ARP_LAYER = {1: LinkLayer.ETHERNET, 32: LinkLayer.INFINIBAND}
"""ARPHRD_ETHER, ARPHRD_INFINIBAND. Source: Linux include/uapi/linux/if_arp.h."""
_GUID_OF_GID = slice(-19, None)


@dataclass(frozen=True)
class Parts:
    """Everything that devices are put together from."""

    devices: tuple[PciDevice, ...]
    netdevs: tuple[NetDeviceFacts, ...] = ()
    rdma_ports: tuple[RdmaPort, ...] = ()
    configs: Mapping[PciAddress, PciConfig] = field(default_factory=dict)
    virtual: VfTables = field(default_factory=VfTables)
    counters: Counters = field(default_factory=Counters)
    qos: Mapping[NetDevice | RdmaDevice, QosState] = field(default_factory=dict)
    identity: Identity = field(default_factory=Identity)


def gpus_of(parts: Parts) -> tuple[Gpu, ...]:
    """NVIDIA GPUs, physical functions only, by PCI address."""
    return tuple(
        Gpu(
            pci=device.address,
            device_id=device.device,
            pci_path=device.path,
            root=device.root,
            numa=device.numa,
            driver=device.driver,
            config=parts.configs.get(device.address),
            iommu_group=device.iommu_group,
            link_speed_gts=device.link_speed_gts,
            link_width_lanes=device.link_width_lanes,
            max_link_speed_gts=device.max_link_speed_gts,
            max_link_width_lanes=device.max_link_width_lanes,
            bar_bytes=device.bar_bytes,
            model=words.model,
            vbios=words.vbios,
            firmware=words.firmware,
        )
        for device in parts.devices
        if device.vendor == _NVIDIA and device.pci_class[:4] in _DISPLAY and device.parent is None
        for words in (parts.identity.gpus.get(device.address, GpuWords()),)
    )


def data_direct_of(parts: Parts) -> tuple[DataDirect, ...]:
    """Give the Data Direct functions, by PCI address."""
    return tuple(
        DataDirect(
            pci=device.address,
            pci_path=device.path,
            root=device.root,
            numa=device.numa,
            driver=device.driver,
            config=parts.configs.get(device.address),
        )
        for device in parts.devices
        if (device.vendor, device.device) == (_MELLANOX, _DATA_DIRECT)
    )


def bridges_of(parts: Parts) -> tuple[PciBridge, ...]:
    """Bridges above a GPU, a NIC or a Data Direct function, by PCI address."""
    above = {step for device in parts.devices if _matters(device) for step in device.path[:-1]}
    return tuple(
        PciBridge(
            pci=device.address,
            vendor_id=device.vendor,
            device_id=device.device,
            pci_path=device.path,
            root=device.root,
            numa=device.numa,
            driver=device.driver,
            config=parts.configs.get(device.address),
            link_speed_gts=device.link_speed_gts,
            link_width_lanes=device.link_width_lanes,
            max_link_speed_gts=device.max_link_speed_gts,
            max_link_width_lanes=device.max_link_width_lanes,
        )
        for device in parts.devices
        if device.pci_class.startswith(_PCI_BRIDGE) and device.address in above
    )


def _matters(device: PciDevice) -> bool:
    return not device.pci_class.startswith(_PCI_BRIDGE)


def ports_of(parts: Parts) -> tuple[NicPort, ...]:
    """NIC ports by PCI address; an RDMA device with several ports gives one entry a port."""
    netdev_by_pci = _netdev_by_pci(parts.netdevs)
    functions = _functions_by_parent(parts.devices)
    rdma_by_pci: dict[PciAddress, list[RdmaPort | None]] = {}
    for rdma in parts.rdma_ports:
        if rdma.pci is not None:
            rdma_by_pci.setdefault(rdma.pci, []).append(rdma)
    ports: list[NicPort] = []
    for device in parts.devices:
        if device.pci_class.startswith(_NETWORK):
            netdev = netdev_by_pci.get(device.address)
            vfs = _virtual_functions(functions.get(device.address, ()), device, netdev, netdev_by_pci, parts.virtual)
            ports.extend(_port(device, netdev, rdma, vfs, parts) for rdma in rdma_by_pci.get(device.address) or [None])
    return tuple(ports)


def _functions_by_parent(devices: Iterable[PciDevice]) -> dict[PciAddress, list[PciDevice]]:
    """Group virtual functions by their physical one; their order by address is their numbering."""
    found: dict[PciAddress, list[PciDevice]] = {}
    for device in devices:
        if device.parent is not None:
            found.setdefault(device.parent, []).append(device)
    return found


def _netdev_by_pci(netdevs: Iterable[NetDeviceFacts]) -> dict[PciAddress, NetDeviceFacts]:
    """
    Choose the netdev of each PCI function.

    In switchdev mode the representors of the virtual functions hang off the same function, and so does an IPoIB child:
    the port's own netdev is the one that is no representor, lies on nothing, and has the shortest name.
    """
    chosen: dict[PciAddress, NetDeviceFacts] = {}
    for netdev in netdevs:
        if netdev.pci is None:
            continue
        best = chosen.get(netdev.pci)
        if best is None or _oddness(netdev) < _oddness(best):
            chosen[netdev.pci] = netdev
    return chosen


def _oddness(netdev: NetDeviceFacts) -> tuple[bool, bool, int, NetDevice]:
    is_representor = netdev.port_name.startswith("pf")
    return is_representor, bool(netdev.lowers), len(netdev.name), netdev.name


def _virtual_functions(
    functions: Iterable[PciDevice],
    parent: PciDevice,
    netdev: NetDeviceFacts | None,
    netdev_by_pci: Mapping[PciAddress, NetDeviceFacts],
    tables: VfTables,
) -> tuple[VirtualFunction, ...]:
    found: list[VirtualFunction] = []
    for index, function in enumerate(functions):
        said = tables.by_netdev.get((netdev.name, index), VfWords()) if netdev else VfWords()
        shown = tables.by_pci.get((parent.address, index), VfWords())
        own = netdev_by_pci.get(function.address)
        found.append(
            VirtualFunction(
                index=index,
                pci=function.address,
                driver=function.driver,
                netdev=own.name if own else None,
                mac=said.mac or shown.mac,
                link_state=said.link_state or shown.link_state,
                trust=said.trust,
                spoof_check=said.spoof_check,
                vlan=said.vlan,
                node_guid=said.node_guid or shown.node_guid,
                port_guid=said.port_guid or shown.port_guid,
            )
        )
    return tuple(found)


def _port(
    device: PciDevice,
    netdev: NetDeviceFacts | None,
    rdma: RdmaPort | None,
    vfs: tuple[VirtualFunction, ...],
    parts: Parts,
) -> NicPort:
    layer = rdma.link_layer if rdma else LinkLayer.UNKNOWN
    if layer is LinkLayer.UNKNOWN and netdev is not None:
        layer = _ARP_LAYER.get(netdev.arp_type, LinkLayer.UNKNOWN)
    key = (rdma.device, rdma.port) if rdma else (RdmaDevice(""), 0)
    card = parts.identity.cards.get(device.address, Card())
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
        link_layer=layer,
        state=rdma.state if rdma else "",
        carrier=netdev.carrier if netdev else None,
        rate_gbps=_rate_gbps(rdma, netdev),
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
        subsystem_id=device.subsystem_id,
        config=parts.configs.get(device.address),
        iommu_group=device.iommu_group,
        phys_state=rdma.phys_state if rdma else "",
        port_guid=_port_guid(rdma),
        pkeys=rdma.pkeys if rdma else (),
        vfs=vfs,
        eswitch_mode=parts.virtual.eswitch_modes.get(device.address, ""),
        qos=_qos(netdev, rdma, parts.qos),
        counters=parts.counters.port.get(key, {}),
        hw_counters=parts.counters.hw.get(key, {}),
        ethtool=parts.counters.ethtool.get(netdev.name, {}) if netdev else {},
        card_guid=rdma.card_guid if rdma else "",
        card_name=card.name,
        part_number=card.part_number,
        part_revision=card.revision,
    )


def _rate_gbps(rdma: RdmaPort | None, netdev: NetDeviceFacts | None) -> float | None:
    """Rate of the link: the RDMA device's word, else the netdev's, which is in Mbit/s."""
    if rdma is not None and rdma.rate_gbps:
        return rdma.rate_gbps
    return netdev.speed_mbps / 1000 if netdev is not None and netdev.speed_mbps else None


def _port_guid(rdma: RdmaPort | None) -> str:
    """Give the port's GUID: the lower half of its first GID. Source: InfiniBand Architecture 1.4, 4.1.1 (GID format)."""
    if rdma is None or rdma.link_layer is not LinkLayer.INFINIBAND:
        return ""
    return next((gid.gid[_GUID_OF_GID] for gid in rdma.gids if gid.index == 0), "")


def _qos(
    netdev: NetDeviceFacts | None, rdma: RdmaPort | None, known: Mapping[NetDevice | RdmaDevice, QosState]
) -> QosState | None:
    """Join what is said of the netdev with what is said of the RDMA device."""
    of_netdev = known.get(netdev.name) if netdev else None
    of_rdma = known.get(rdma.device) if rdma else None
    if of_netdev is None or of_rdma is None:
        return of_netdev or of_rdma
    return QosState(
        pfc_priorities=of_netdev.pfc_priorities,
        trust=of_netdev.trust,
        dscp_to_priority=of_netdev.dscp_to_priority,
        traffic_class=of_rdma.traffic_class,
        default_roce_tos=of_rdma.default_roce_tos,
    )
