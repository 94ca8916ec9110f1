"""Counters of one rail, from every place that has some; each says where it was read and in what unit."""

import array
import contextlib
import fcntl
import socket
import struct
from pathlib import Path

from railwright.core.ids import NetDevice, RdmaDevice
from railwright.dataplane.model import Counter
from railwright.dataplane.netlink import hardware_counters, unit_of
from railwright.dataplane.rail import INFINIBAND

_NET = Path("/sys/class/net")
_SIOCETHTOOL = 0x8946
_GET_STRINGS, _GET_STATISTICS, _GET_SET_SIZES = 0x1B, 0x1D, 0x37
_STATISTICS_SET = 1
_NAME_BYTES = 32


def read_counters(device: RdmaDevice, port: int, netdev: NetDevice) -> tuple[Counter, ...]:
    """Read all; a place that has none, or may not be read here, adds none."""
    folder = INFINIBAND / device / "ports" / str(port)
    found = [
        *_folder(folder / "counters", f"sysfs counters {device}/{port}"),
        *_folder(folder / "hw_counters", f"sysfs hw_counters {device}/{port}"),
        *hardware_counters(device, port),
    ]
    if netdev:
        found += _folder(_NET / netdev / "statistics", f"netdev {netdev}")
        found += _ethtool(netdev)
    return tuple(found)


def _folder(folder: Path, source: str) -> list[Counter]:
    found = []
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        with contextlib.suppress(OSError, ValueError):
            found.append(Counter(source, file.name, int(file.read_text()), unit_of(file.name)))
    return found


def _ethtool(netdev: NetDevice) -> list[Counter]:
    """
    Read what `ethtool -S` shows, without the program.

    Source: Linux include/uapi/linux/ethtool.h: ethtool_sset_info, ethtool_gstrings, ethtool_stats.
    """
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as talk:
        sizes = _call(talk, netdev, struct.pack("<IIQI", _GET_SET_SIZES, 0, 1 << _STATISTICS_SET, 0))
        (count,) = struct.unpack_from("<I", sizes, 16)
        if not 0 < count < 1 << 16:
            return []
        names = _call(
            talk, netdev, struct.pack("<III", _GET_STRINGS, _STATISTICS_SET, count) + bytes(count * _NAME_BYTES)
        )
        values = _call(talk, netdev, struct.pack("<II", _GET_STATISTICS, count) + bytes(count * 8))
        return [
            Counter(f"ethtool {netdev}", name, value, unit_of(name))
            for index, value in enumerate(struct.unpack_from(f"<{count}Q", values, 8))
            if (name := names[12 + index * _NAME_BYTES :][:_NAME_BYTES].split(b"\0")[0].decode(errors="replace"))
        ]
    return []


def _call(talk: socket.socket, netdev: NetDevice, command: bytes) -> bytes:
    buffer = array.array("B", command)
    fcntl.ioctl(talk, _SIOCETHTOOL, struct.pack("16sP", netdev.encode()[:15], buffer.buffer_info()[0]))
    return buffer.tobytes()
