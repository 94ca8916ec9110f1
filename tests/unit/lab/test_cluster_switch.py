"""The switch between virtual nodes: who gets which frame, whole, and who stops when a receiver is behind."""

import asyncio
import struct

import pytest

from railwright.lab.cluster.switch import Port, Segment

BROADCAST = b"\xff" * 6
A, B, C = (bytes([2, 0, 0, 0, 0, number]) for number in (1, 2, 3))


class Wire(asyncio.Transport):
    """The side of QEMU, as far as a port uses it."""

    def __init__(self) -> None:
        super().__init__()
        self.got = b""
        self.listens = True

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        assert high

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.got += data

    def pause_reading(self) -> None:
        self.listens = False

    def resume_reading(self) -> None:
        self.listens = True


def connected(segment: Segment) -> tuple[Port, Wire]:
    port, wire = Port(segment), Wire()
    port.connection_made(wire)
    return port, wire


def packet(receiver: bytes, sender: bytes, payload: bytes = b"hello") -> bytes:
    frame = receiver + sender + payload
    return struct.pack("!I", len(frame)) + frame


def test_a_frame_for_everybody_goes_to_everybody_else() -> None:
    segment = Segment()
    (first, at_first), (_, at_second), (_, at_third) = (connected(segment) for _ in range(3))
    first.data_received(packet(BROADCAST, A))
    assert at_first.got == b""
    assert at_second.got == at_third.got == packet(BROADCAST, A)


def test_a_frame_for_an_address_seen_before_goes_there_alone() -> None:
    segment = Segment()
    (first, at_first), (second, _), (_, at_third) = (connected(segment) for _ in range(3))
    first.data_received(packet(BROADCAST, A))
    at_third.got = b""
    second.data_received(packet(A, B))
    assert at_first.got == packet(A, B)
    assert at_third.got == b""


def test_a_frame_for_an_unknown_address_goes_to_everybody_else() -> None:
    segment = Segment()
    (first, _), (_, at_second), (_, at_third) = (connected(segment) for _ in range(3))
    first.data_received(packet(C, A))
    assert at_second.got == at_third.got == packet(C, A)


@pytest.mark.parametrize("cut", [1, 4, 5, 20])
def test_a_frame_that_comes_in_parts_is_passed_on_whole(cut: int) -> None:
    segment = Segment()
    (first, _), (_, at_second) = (connected(segment) for _ in range(2))
    data = packet(BROADCAST, A) + packet(BROADCAST, A, b"again")
    first.data_received(data[:cut])
    assert len(at_second.got) in {0, len(packet(BROADCAST, A))}
    first.data_received(data[cut:])
    assert at_second.got == data


def test_senders_stop_while_a_receiver_is_behind_and_go_on_when_none_is() -> None:
    segment = Segment()
    (_, at_first), (second, _), (third, _) = (connected(segment) for _ in range(3))
    second.pause_writing()
    third.pause_writing()
    assert not at_first.listens
    second.resume_writing()
    assert not at_first.listens
    third.resume_writing()
    assert at_first.listens


def test_a_receiver_that_leaves_holds_nobody_up() -> None:
    segment = Segment()
    (first, at_first), (second, _), (_, at_third) = (connected(segment) for _ in range(3))
    second.data_received(packet(BROADCAST, B))
    at_first.got = at_third.got = b""
    second.pause_writing()
    second.connection_lost(None)
    assert at_first.listens
    first.data_received(packet(B, A))
    assert at_third.got == packet(B, A)
