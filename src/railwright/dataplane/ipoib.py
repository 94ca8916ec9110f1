"""
Which netdevs of this place are IPoIB devices of a port, and in which partition each of them is.

Neither netlink nor a GID names them: a port's netdev is a matter of Ethernet, and GIDs of InfiniBand are of no IP address.
But the hardware address of an IPoIB device, of 20 octets, ends with the GUID of its port; a child has that of its parent.

Source: RFC 4391, 9.1.1 (link-layer address: queue pair number, then port GID); Linux
drivers/infiniband/ulp/ipoib/ipoib_main.c, ipoib_parent_init, ipoib_child_init and pkey_show.
"""

import ipaddress
from pathlib import Path

from railwright.core.ids import NetDevice
from railwright.dataplane.port import Gid

NETDEVS = Path("/sys/class/net")
_ADDRESS_OCTETS, _GUID_AT = 20, 12
_NUMBER = 0x7FFF


def netdevs_with(gids: tuple[Gid, ...], folder: Path = NETDEVS) -> tuple[NetDevice, ...]:
    """Name the IPoIB devices of the port that has these GIDs, sorted; empty when there are none here."""
    own = {guid for gid in gids if any(guid := ipaddress.IPv6Address(gid.gid).packed[-8:])}
    return tuple(sorted(netdev for netdev in _here(folder) if port_guid_of(netdev, folder) in own))


def port_guid_of(netdev: NetDevice, folder: Path = NETDEVS) -> bytes | None:
    """
    Read the GUID of the port that an IPoIB device belongs to.

    Not the whole GID: its other half is the subnet's prefix, which a subnet manager may change.

    Returns:
        Eight octets; None for every other device, and for none.
    """
    try:
        address = bytes.fromhex((folder / netdev / "address").read_text().strip().replace(":", ""))
    except (OSError, ValueError):
        return None
    return address[_GUID_AT:] if len(address) == _ADDRESS_OCTETS else None


def partition_of(netdev: NetDevice, folder: Path = NETDEVS) -> int | None:
    """Read the number of an IPoIB device's partition; None for every other device, and for none."""
    try:
        return int((folder / netdev / "pkey").read_text(), 16) & _NUMBER if netdev else None
    except (OSError, ValueError):
        return None


def partitions(folder: Path = NETDEVS) -> dict[str, int]:
    """Give the number of the partition of each IPoIB device that is here."""
    found = {netdev: partition_of(netdev, folder) for netdev in _here(folder)}
    return {netdev: number for netdev, number in sorted(found.items()) if number is not None}


def _here(folder: Path) -> list[NetDevice]:
    return [NetDevice(each.name) for each in folder.iterdir()] if folder.is_dir() else []
