"""
What only netlink tells inside a pod: which RDMA device has a netdev of this very namespace, its counters, the mode.

In a network namespace other than the first, sysfs shows no counters of a shared device, and the name that it gives for
a GID's netdev may be the name of another pod's: `net1` is `net1` everywhere. The kernel names a port's netdev over
netlink only to the namespace that the netdev is in.

Source: Linux include/uapi/rdma/rdma_netlink.h; the numbers were printed by a C program that includes it.
"""

import contextlib
import socket
import struct
from collections.abc import Iterator

from railwright.core.ids import NetDevice, RdmaDevice
from railwright.dataplane.model import Counter

_NETLINK_RDMA = 20
_CLIENT_NLDEV = 5 << 10
_GET_DEVICES, _GET_PORTS, _GET_SYSTEM, _GET_STATISTICS = 1, 5, 6, 17
_DEVICE_INDEX, _DEVICE_NAME, _PORT, _NETDEV, _NETNS_MODE = 1, 2, 3, 51, 66
_COUNTERS, _COUNTER, _COUNTER_NAME, _COUNTER_VALUE = 80, 81, 82, 83
_REQUEST, _DUMP, _ACKNOWLEDGE = 1, 0x300, 4
_ERROR, _DONE = 2, 3
_LIMIT_S = 2.0


def netdev_by_port() -> dict[tuple[RdmaDevice, int], NetDevice]:
    """Give the netdev of each port of each device, where it is in this namespace; empty where netlink says nothing."""
    return {
        (RdmaDevice(name), port): NetDevice(netdev)
        for index, name in _devices().items()
        for message in _ask(_GET_PORTS, {_DEVICE_INDEX: index}, dump=True)
        if (port := _number(message.get(_PORT))) and (netdev := _text(message.get(_NETDEV)))
    }


def netns_mode() -> str:
    """Say "shared" or "exclusive"; "" where the kernel does not tell."""
    for message in _ask(_GET_SYSTEM, {}, dump=False):
        mode = message.get(_NETNS_MODE)
        if mode:
            return "shared" if mode[0] else "exclusive"
    return ""


def hardware_counters(device: RdmaDevice, port: int) -> tuple[Counter, ...]:
    """Read what the driver counts; empty where it counts nothing."""
    index = next((index for index, name in _devices().items() if name == device), None)
    if index is None:
        return ()
    return tuple(
        Counter(f"netlink {device}/{port}", name, _number(fields.get(_COUNTER_VALUE)), unit_of(name))
        for message in _ask(_GET_STATISTICS, {_DEVICE_INDEX: index, _PORT: port}, dump=False)
        for kind, entry in _attributes(message.get(_COUNTERS, b""))
        if kind == _COUNTER
        for fields in [dict(_attributes(entry))]
        for name in [_text(fields.get(_COUNTER_NAME))]
    )


def unit_of(name: str) -> str:
    """
    Name the unit of a counter; "" where its name does not tell.

    Source: InfiniBand Architecture 1.2.1 volume 1, 16.1.3.5 (PortXmitData counts octets divided by 4).
    """
    if name in {"port_xmit_data", "port_rcv_data"}:
        return "4 bytes"
    return next((unit for unit in ("bytes", "packets") if name.endswith(unit)), "")


def _devices() -> dict[int, str]:
    return {
        _number(message.get(_DEVICE_INDEX)): _text(message.get(_DEVICE_NAME))
        for message in _ask(_GET_DEVICES, {}, dump=True)
    }


def _ask(command: int, numbers: dict[int, int], *, dump: bool) -> Iterator[dict[int, bytes]]:
    """Ask the kernel; ends in silence where it refuses, because every caller has "not told" as an answer."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_RDMA) as talk:
        talk.settimeout(_LIMIT_S)
        body = b"".join(struct.pack("<HHI", 8, kind, value) for kind, value in numbers.items())
        flags = _REQUEST | (_DUMP if dump else _ACKNOWLEDGE)
        talk.send(struct.pack("<IHHII", 16 + len(body), _CLIENT_NLDEV | command, flags, 1, 0) + body)
        while True:
            data = talk.recv(1 << 20)
            while len(data) >= 16:
                size, kind = struct.unpack_from("<IH", data)
                if kind in {_ERROR, _DONE}:
                    return
                yield dict(_attributes(data[16:size]))
                data = data[(size + 3) & ~3 :]


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= 4:
        size, kind = struct.unpack_from("<HH", data)
        if size < 4:
            return
        yield kind & 0x3FFF, data[4:size]
        data = data[(size + 3) & ~3 :]


def _number(data: bytes | None) -> int:
    return int.from_bytes(data or b"", "little")


def _text(data: bytes | None) -> str:
    return (data or b"").rstrip(b"\0").decode(errors="replace")
