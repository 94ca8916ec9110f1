"""Commands in containers whose stream breaks: at bytes that a seed chose, or with an end that says nothing."""

import asyncio
import json
import random
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import wsproto
from wsproto.events import AcceptConnection, BytesMessage, Request, TextMessage

from railwright.adapters.cluster import LiveCluster
from railwright.adapters.kubeconfig import Login
from railwright.adapters.transport import Transport
from railwright.core.errors import ClusterError, ClusterUnreachable

OUTPUT = [BytesMessage(b"\x01" + b"Mlnx" * 200), BytesMessage(b"\x02oops")]
SUCCESS = BytesMessage(b"\x03" + json.dumps({"status": "Success"}).encode())
SEED = 20261130
CUTS = 12
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with no time: closing sends RST, as a node that dies or a load balancer does."""


class Breaking:
    """Answers one exec with these messages; of what follows the handshake only `kept` bytes arrive."""

    def __init__(self, messages: list[BytesMessage | TextMessage], kept: int | None, *, resets: bool = False) -> None:
        self.messages, self.kept, self.resets = messages, kept, resets

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire = wsproto.WSConnection(wsproto.ConnectionType.SERVER)
        wire.receive_data(await reader.readuntil(b"\r\n\r\n"))
        assert any(isinstance(event, Request) for event in wire.events())
        writer.write(wire.send(AcceptConnection(subprotocol="v5.channel.k8s.io")))
        writer.write(b"".join(wire.send(message) for message in self.messages)[: self.kept])
        await writer.drain()
        if self.resets:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        writer.close()


def length(messages: list[BytesMessage | TextMessage]) -> int:
    wire = wsproto.WSConnection(wsproto.ConnectionType.SERVER)
    wire.receive_data(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n")
    wire.receive_data(b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eDE2Ynl0ZXNsb25na2V5IQ==\r\n\r\n")
    list(wire.events())
    wire.send(AcceptConnection())
    return len(b"".join(wire.send(message) for message in messages))


@asynccontextmanager
async def cluster_behind(kubelet: Breaking) -> AsyncIterator[LiveCluster]:
    async with await asyncio.start_server(kubelet.serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        cluster = LiveCluster("test", Transport(Login(name="test", server=f"http://127.0.0.1:{port}", token="t")))
        try:
            yield cluster
        finally:
            await cluster.close()


@pytest.mark.parametrize("resets", [False, True], ids=["ends", "resets"])
@pytest.mark.parametrize("number", range(CUTS))
async def test_a_stream_that_breaks_before_its_end_is_never_taken_for_an_answer(number: int, resets: bool) -> None:
    messages = [*OUTPUT, SUCCESS]
    kept = random.Random(f"{SEED}/{number}").randrange(length(messages))
    async with cluster_behind(Breaking(messages, kept, resets=resets)) as cluster:
        with pytest.raises(ClusterUnreachable) as broken:
            await cluster.exec("ns", "pod", "main", ["true"], timeout_s=5)
    assert "pod" in broken.value.message


ENDS = {
    "no JSON": BytesMessage(b"\x03{"),
    "a list": BytesMessage(b"\x03[1]"),
    "nothing": BytesMessage(b"\x03"),
    "a number for details": BytesMessage(
        b'\x03{"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": 7}}'
    ),
    "no exit code": BytesMessage(b'\x03{"status": "Failure", "reason": "NonZeroExitCode", "details": {}}'),
    "text": TextMessage("hello"),
}


@pytest.mark.parametrize("end", ENDS)
async def test_an_end_that_says_nothing_is_an_error_with_words(end: str) -> None:
    async with cluster_behind(Breaking([*OUTPUT, ENDS[end]], None)) as cluster:
        with pytest.raises(ClusterError) as broken:
            await cluster.exec("ns", "pod", "main", ["true"], timeout_s=5)
    assert broken.value.message
