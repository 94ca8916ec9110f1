"""
Which RDMA device, port and GID a half uses: found by its own netdev, never by a fixed index.

Read from /sys/class/infiniband, with netlink's word for which netdev is really of this namespace; on InfiniBand an IPoIB
device names its port itself.
"""

import ipaddress
from dataclasses import dataclass
from pathlib import Path

from railwright.core.ids import NetDevice, RdmaDevice
from railwright.dataplane.addresses import Address, addresses_of
from railwright.dataplane.ipoib import NETDEVS, netdevs_with
from railwright.dataplane.model import RailEnd
from railwright.dataplane.netlink import netdev_by_port
from railwright.dataplane.partition import PartitionKey, find_key, read_keys
from railwright.dataplane.port import Gid, Port
from railwright.dataplane.problems import HalfFailed

INFINIBAND = Path("/sys/class/infiniband")
ROCE_V2 = "RoCE v2"
INFINIBAND_LAYER = "InfiniBand"
_NO_GID = "0000:0000:0000:0000:0000:0000:0000:0000"
_EMPTY_STRETCH, _MOST_GIDS = 16, 1024
_MTU_BYTES = (256, 512, 1024, 2048, 4096)


@dataclass(frozen=True)
class Found:
    """
    One port, and what to use on it.

    Attributes:
        gid: None on InfiniBand, unless a fixed index is asked for.
        key: None on Ethernet.
    """

    port: Port
    gid: Gid | None
    netdev: NetDevice
    key: PartitionKey | None = None


def find_rail(
    wanted: RailEnd, partition: int | None = None, *, folder: Path = INFINIBAND, netdevs: Path = NETDEVS
) -> Found:
    """
    Find what the request means.

    Args:
        partition: number of the InfiniBand partition that is wanted.

    Raises:
        HalfFailed: "no-device", "no-gid", "no-pkey", "pkeys-unread", "port-down"; the message lists what is there.
    """
    port = _port(wanted, folder, netdevs)
    netdev = wanted.netdev or (port.netdevs[0] if port.netdevs else NetDevice(""))
    if "ACTIVE" not in port.state:
        raise HalfFailed("port-down", f"port {port.port} of {port.device} is {port.state}, {port.physical_state}")
    key = find_key(port, netdev, partition, netdevs)
    if key is not None and wanted.gid_index is None:
        return Found(port, None, netdev, key)
    return Found(port, _gid(wanted, port, netdev), netdev, key)


def _port(wanted: RailEnd, folder: Path, netdevs: Path) -> Port:
    named = netdev_by_port()
    near = [key for key, netdev in named.items() if netdev == wanted.netdev and wanted.netdev]
    for device, number in [(wanted.device, wanted.port)] if wanted.device else near:
        place = folder / device / "ports" / str(number)
        if place.is_dir():
            return _read_port(device, place, named, netdevs)
    there = read_ports(folder, netdevs)
    if wanted.device:
        raise HalfFailed("no-device", f"no port {wanted.port} of RDMA device {wanted.device} here; {_listed(there)}")
    for port in there:
        if wanted.netdev in port.netdevs:
            return port
    # A macvlan child of a shared device: the port's netdev is the parent, in another namespace, but the GID is ours.
    ours = set(addresses_of(wanted.netdev))
    for port in there:
        if any(gid.netdev == wanted.netdev and address_of(gid) in ours for gid in port.gids):
            return port
    raise HalfFailed("no-device", f"no RDMA device has the netdev {wanted.netdev or '(none named)'}; {_listed(there)}")


def _gid(wanted: RailEnd, port: Port, netdev: NetDevice) -> Gid:
    if wanted.gid_index is not None:
        for gid in port.gids:
            if gid.index == wanted.gid_index:
                return gid
        raise HalfFailed("no-gid", f"GID index {wanted.gid_index} of {port.device} is empty; {_gids_listed(port)}")
    ours = addresses_of(netdev)
    for address in ours:
        if isinstance(address, ipaddress.IPv6Address) and address.is_link_local:
            continue
        for gid in port.gids:
            if gid.type == ROCE_V2 and address_of(gid) == address:
                return gid
    names = ", ".join(map(str, ours)) or "no address"
    raise HalfFailed("no-gid", f"no RoCE v2 GID of {port.device} belongs to {netdev} ({names}); {_gids_listed(port)}")


def address_of(gid: Gid) -> Address:
    """Give the address that a GID was made of; IPv4 ones are mapped into IPv6 on the wire."""
    address = ipaddress.IPv6Address(gid.gid)
    return address.ipv4_mapped or address


def read_ports(folder: Path = INFINIBAND, netdevs: Path = NETDEVS) -> tuple[Port, ...]:
    """Read every port that this place can see; empty when there is no RDMA here."""
    named = netdev_by_port()
    devices = sorted(folder.iterdir()) if folder.is_dir() else []
    return tuple(
        _read_port(RdmaDevice(device.name), port, named, netdevs)
        for device in devices
        for port in sorted((device / "ports").iterdir(), key=lambda each: int(each.name))
    )


def _read_port(device: RdmaDevice, port: Path, named: dict[tuple[RdmaDevice, int], NetDevice], netdevs: Path) -> Port:
    number = int(port.name)
    link_layer, gids = _read(port / "link_layer"), _read_gids(port)
    is_infiniband = link_layer == INFINIBAND_LAYER
    netdev = named.get((device, number))
    return Port(
        device=device,
        port=number,
        state=_read(port / "state"),
        physical_state=_read(port / "phys_state"),
        link_layer=link_layer,
        rate=_read(port / "rate"),
        lid=_read(port / "lid"),
        active_mtu_bytes=None,
        netdevs=(netdev,) if netdev else netdevs_with(gids, netdevs) if is_infiniband else (),
        gids=gids,
        pkeys=read_keys(port) if is_infiniband else (),
    )


def _read_gids(port: Path) -> tuple[Gid, ...]:
    """Read the GID table up to a long stretch without any: soft-RoCE has 1,024 entries, of which two are used."""
    found: list[Gid] = []
    empty = 0
    for index in range(_MOST_GIDS):
        text = _read(port / "gids" / str(index))
        empty = empty + 1 if text in {"", _NO_GID} else 0
        if empty == 0:
            attributes = port / "gid_attrs"
            kind, netdev = _read(attributes / "types" / str(index)), _read(attributes / "ndevs" / str(index))
            found.append(Gid(index, text, kind, NetDevice(netdev)))
        elif empty > _EMPTY_STRETCH:
            break
    return tuple(found)


def mtu_bytes(verbs_mtu: int) -> int:
    """Turn enum ibv_mtu (1 to 5) into bytes."""
    return _MTU_BYTES[verbs_mtu - 1]


def verbs_mtu(size_bytes: int) -> int:
    """Turn bytes into the largest enum ibv_mtu that is not above it. Raises HalfFailed below 256."""
    fitting = [index + 1 for index, mtu in enumerate(_MTU_BYTES) if mtu <= size_bytes]
    if not fitting:
        raise HalfFailed("broken-request", f"path MTU {size_bytes} is below 256")
    return fitting[-1]


def _read(file: Path) -> str:
    """Read one sysfs file; "" for an entry that is empty, which the kernel answers with an error."""
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def _listed(ports: tuple[Port, ...]) -> str:
    names = (f"{port.device}/{port.port} ({', '.join(port.netdevs) or 'no netdev of ours'})" for port in ports)
    return "here are: " + (", ".join(names) or "none")


def _gids_listed(port: Port) -> str:
    return "its table: " + (", ".join(f"{gid.index} {gid.gid} {gid.type} {gid.netdev}" for gid in port.gids) or "empty")
