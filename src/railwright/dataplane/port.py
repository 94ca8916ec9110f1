"""A port of an RDMA device with its tables, as the place that has it sees them: part of what a half answers."""

from dataclasses import dataclass

from railwright.core.ids import NetDevice, RdmaDevice


@dataclass(frozen=True)
class Gid:
    """One entry of a port's GID table."""

    index: int
    gid: str
    type: str
    netdev: NetDevice


@dataclass(frozen=True)
class Port:
    """
    One port of an RDMA device, as this place sees it; texts as the kernel writes them ("4: ACTIVE").

    Attributes:
        netdevs: that are of this place: the port's own, or on InfiniBand its IPoIB devices.
        pkeys: an InfiniBand port's partition keys by index, 0 where one is empty.
    """

    device: RdmaDevice
    port: int
    state: str
    physical_state: str
    link_layer: str
    rate: str
    lid: str
    active_mtu_bytes: int | None
    netdevs: tuple[NetDevice, ...]
    gids: tuple[Gid, ...]
    pkeys: tuple[int, ...] = ()
