"""
Which entry of an InfiniBand port's partition key table the bytes are to travel with.

The table is that of the device that this place has: in a pod with a VF the VF's own, and not its PF's. Ethernet has no
partitions.

Source: InfiniBand Architecture Specification volume 1, 10.9 (the table, a key's 15 bits, membership in the sixteenth);
Linux v6.12 Documentation/ABI/stable/sysfs-class-infiniband (ports/N/pkeys/INDEX).
"""

from dataclasses import dataclass
from pathlib import Path

from railwright.core.ids import NetDevice
from railwright.dataplane.ipoib import NETDEVS, partition_of
from railwright.dataplane.port import Port
from railwright.dataplane.problems import HalfFailed

_NUMBER, _FULL = 0x7FFF, 0x8000


@dataclass(frozen=True)
class PartitionKey:
    """One entry of a table."""

    index: int
    value: int

    @property
    def number(self) -> int:
        """The partition, without the membership."""
        return self.value & _NUMBER

    @property
    def is_full(self) -> bool:
        """Whether it reaches limited members too."""
        return bool(self.value & _FULL)

    def __str__(self) -> str:
        """Write as `Used` has it."""
        return f"0x{self.value:04x}"


def find_key(port: Port, netdev: NetDevice, wanted: int | None, folder: Path = NETDEVS) -> PartitionKey | None:
    """
    Find the key of the partition that is meant: the wanted one, else that of the pod's own IPoIB device.

    Where neither says it is the first key with full membership, as UCX has it, else the first at all.

    Args:
        wanted: number of the partition.

    Returns:
        None on Ethernet.

    Raises:
        HalfFailed: "no-pkey": the port is not in the partition, or in none; "pkeys-unread": the table cannot be read.
    """
    if port.link_layer != "InfiniBand":
        return None
    name = f"port {port.port} of {port.device}"
    if not port.pkeys:
        raise HalfFailed(
            "pkeys-unread", f"the partition keys of {name} cannot be read: nobody knows whom it may talk to"
        )
    keys = [PartitionKey(index, value) for index, value in enumerate(port.pkeys) if value & _NUMBER]
    if not keys:
        raise HalfFailed(
            "no-pkey", f"{name} is in no partition: its table holds no valid key, and it can talk to nobody"
        )
    own = partition_of(netdev, folder)
    number = wanted if wanted is not None else own
    # Sorting is stable: of equals the first index stays in front.
    fitting = sorted((key for key in keys if number in {None, key.number}), key=lambda key: not key.is_full)
    if not fitting:
        asked = "the partition that is wanted" if wanted is not None else f"that of {netdev}"
        table = ", ".join(f"{key.index} {key}" for key in keys)
        raise HalfFailed("no-pkey", f"{name} is not in partition 0x{number:04x}, {asked}; its table: {table}")
    return fitting[0]


def read_keys(folder: Path) -> tuple[int, ...]:
    """
    Read a port's table.

    Args:
        folder: the port's, in /sys/class/infiniband.

    Returns:
        Keys by index up to the last that is set, 0 for an entry that is empty, (0,) when all are; () where there is no
        table, or an entry of it cannot be read.
    """
    table: dict[int, int] = {}
    place = folder / "pkeys"
    for entry in place.iterdir() if place.is_dir() else ():
        try:
            table[int(entry.name)] = int(entry.read_text(), 16)
        except (OSError, ValueError):
            return ()
    last = max((index for index, key in table.items() if key), default=0 if table else -1)
    return tuple(table.get(index, 0) for index in range(last + 1))
