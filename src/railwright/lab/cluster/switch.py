"""
An Ethernet switch for virtual nodes, as a program of its own: `python -m ...switch SOCKET...`, one segment a socket.

QEMU's stream netdevs connect to a segment's socket, and send frames with four bytes of length before each. A segment
learns which address is behind which connection. A sender is stopped while a receiver is behind, so that nothing is
lost here; no privileges are needed.
"""

import asyncio
import struct
import sys
from functools import partial
from pathlib import Path

_LENGTH = struct.Struct("!I")
_ADDRESS_BYTES = 6
_BEHIND_BYTES = 1 << 20


class Segment:
    """One network: its ports, and which address was seen behind which."""

    def __init__(self) -> None:
        """Begin with no port."""
        self.ports: set[Port] = set()
        self._port_by_address: dict[bytes, Port] = {}

    def pass_on(self, sender: "Port", frame: bytes, packet: bytes) -> None:
        """
        Send a frame where its receiver is, or everywhere else.

        Args:
            frame: without its length; `packet` with it.
        """
        receiver, source = frame[:_ADDRESS_BYTES], frame[_ADDRESS_BYTES : 2 * _ADDRESS_BYTES]
        self._port_by_address[source] = sender
        known = None if receiver[0] & 1 else self._port_by_address.get(receiver)
        for port in (known,) if known is not None else tuple(self.ports):
            if port is not sender:
                port.send(packet)

    def stop(self, stopped: bool) -> None:
        """Stop every sender while a receiver is behind, or let all go on."""
        for port in self.ports:
            port.read(not stopped and not any(each.is_behind for each in self.ports))

    def leave(self, port: "Port") -> None:
        """Forget a port and what is behind it."""
        self.ports.discard(port)
        self._port_by_address = {address: each for address, each in self._port_by_address.items() if each is not port}
        self.stop(stopped=False)


class Port(asyncio.Protocol):
    """One connection of a segment."""

    def __init__(self, segment: Segment) -> None:
        """Join the segment once connected."""
        self.is_behind = False
        self._segment = segment
        self._left = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Join."""
        if isinstance(transport, asyncio.Transport):
            transport.set_write_buffer_limits(high=_BEHIND_BYTES)
            self._transport = transport
            self._segment.ports.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave."""
        del exc
        self._transport = None
        self._segment.leave(self)

    def data_received(self, data: bytes) -> None:
        """Pass on every frame that is whole."""
        data = self._left + data
        start = 0
        while len(data) - start >= _LENGTH.size:
            end = start + _LENGTH.size + _LENGTH.unpack_from(data, start)[0]
            if end > len(data):
                break
            packet = data[start:end]
            self._segment.pass_on(self, packet[_LENGTH.size :], packet)
            start = end
        self._left = data[start:]

    def pause_writing(self) -> None:
        """Our receiver is behind."""
        self.is_behind = True
        self._segment.stop(stopped=True)

    def resume_writing(self) -> None:
        """Our receiver has caught up."""
        self.is_behind = False
        self._segment.stop(stopped=False)

    def send(self, packet: bytes) -> None:
        """Send a frame with its length."""
        if self._transport is not None:
            self._transport.write(packet)

    def read(self, on: bool) -> None:
        """Listen to our sender, or not for now."""
        if self._transport is None:
            return
        if on:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()


async def serve(sockets: list[Path]) -> None:
    """Serve one segment a socket until cancelled."""
    loop = asyncio.get_running_loop()
    async with asyncio.TaskGroup() as group:
        for path in sockets:
            server = await loop.create_unix_server(partial(Port, Segment()), str(path))
            group.create_task(server.serve_forever())


if __name__ == "__main__":
    asyncio.run(serve([Path(name) for name in sys.argv[1:]]))
