"""Attributes of netlink messages, and places without RDMA."""

import struct

import pytest

from railwright.core.ids import NetDevice, RdmaDevice
from railwright.dataplane import netlink
from railwright.dataplane.counters import read_counters
from railwright.dataplane.netlink import _attributes, unit_of


def _attribute(kind: int, data: bytes) -> bytes:
    padded = data + bytes(-len(data) % 4)
    return struct.pack("<HH", 4 + len(data), kind) + padded


def test_attributes_are_read_with_their_padding() -> None:
    data = _attribute(2, b"rxe0\0") + _attribute(0x8000 | 3, (7).to_bytes(4, "little"))
    assert list(_attributes(data)) == [(2, b"rxe0\0"), (3, b"\x07\0\0\0")]


def test_a_broken_length_ends_the_reading() -> None:
    assert list(_attributes(struct.pack("<HH", 0, 5) + b"rest")) == []


def test_counters_of_nested_tables_are_found(monkeypatch: object) -> None:
    value = (5).to_bytes(8, "little")
    entry = _attribute(81, _attribute(82, b"sent_pkts\0") + _attribute(83, value))
    messages = {1: {1: b"\x04\0\0\0", 2: b"rxe0\0"}, 17: {80: entry}}
    asked: list[int] = []

    def ask(command: int, _: dict[int, int], *, dump: bool) -> list[dict[int, bytes]]:
        asked.append(command)
        return [messages[command]]

    monkeypatch.setattr(netlink, "_ask", ask)  # type: ignore[attr-defined]
    counters = netlink.hardware_counters(RdmaDevice("rxe0"), 1)
    assert [(counter.source, counter.name, counter.value) for counter in counters] == [
        ("netlink rxe0/1", "sent_pkts", 5)
    ]
    assert asked == [1, 17]


def test_a_device_that_is_not_here_has_no_counters() -> None:
    assert netlink.hardware_counters(RdmaDevice("no-such"), 1) == ()


def test_a_netdev_has_its_bytes_with_their_unit() -> None:
    counters = {counter.name: counter for counter in read_counters(RdmaDevice("no-such"), 1, NetDevice("lo"))}
    assert (counters["rx_bytes"].unit, counters["rx_bytes"].source) == ("bytes", "netdev lo")


@pytest.mark.parametrize(
    ("name", "unit"),
    [("sent_bytes", "bytes"), ("rx_packets", "packets"), ("port_xmit_data", "4 bytes"), ("completer_retry_err", "")],
)
def test_the_unit_is_named_where_the_name_tells_it(name: str, unit: str) -> None:
    """Who compares with a payload takes no counter without one."""
    assert unit_of(name) == unit
