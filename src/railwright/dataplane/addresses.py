"""The addresses that a netdev has in this namespace, asked of the C library."""

import ctypes
import ipaddress
import socket
from ctypes import POINTER, Structure, c_char_p, c_uint, c_void_p

from railwright.core.ids import NetDevice

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class _Entry(Structure):
    """struct ifaddrs."""


_Entry._fields_ = [
    ("next", POINTER(_Entry)),
    ("name", c_char_p),
    ("flags", c_uint),
    ("address", c_void_p),
    ("netmask", c_void_p),
    ("broadcast", c_void_p),
    ("data", c_void_p),
]


def addresses_of(netdev: NetDevice) -> tuple[Address, ...]:
    """Give IPv4 addresses first; empty when there are none or no such netdev."""
    library = ctypes.CDLL(None, use_errno=True)
    first = POINTER(_Entry)()
    if library.getifaddrs(ctypes.byref(first)) != 0:
        return ()
    found: list[Address] = []
    try:
        entry = first
        while entry:
            here = entry.contents
            if here.name == netdev.encode() and here.address:
                address = _address(here.address)
                if address is not None:
                    found.append(address)
            entry = here.next
    finally:
        library.freeifaddrs(first)
    return tuple(sorted(found, key=lambda address: address.version))


def _address(pointer: int) -> Address | None:
    family = int.from_bytes(ctypes.string_at(pointer, 2), "little")
    if family == socket.AF_INET:
        return ipaddress.IPv4Address(ctypes.string_at(pointer + 4, 4))
    if family == socket.AF_INET6:
        return ipaddress.IPv6Address(ctypes.string_at(pointer + 8, 16))
    return None
