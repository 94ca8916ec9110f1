"""Commands over a websocket, against a server that speaks the protocol on loopback."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
import wsproto
from wsproto.events import AcceptConnection, BytesMessage, CloseConnection, RejectConnection, RejectData, Request

from railwright.adapters.cluster import LiveCluster
from railwright.adapters.execution import exit_code_of
from railwright.adapters.kubeconfig import Login
from railwright.adapters.transport import Transport
from railwright.core.errors import ClusterError, ClusterUnreachable, NotFound

SUCCESS = {"status": "Success"}
EXIT_3 = {
    "status": "Failure",
    "reason": "NonZeroExitCode",
    "details": {"causes": [{"reason": "ExitCode", "message": "3"}]},
}


class Kubelet:
    """Answers one exec: echoes stdin to stdout, then ends as it was told."""

    def __init__(self, protocol: str = "v5.channel.k8s.io", end: object = SUCCESS, *, does: str = "end") -> None:
        self.protocol, self.end, self.does = protocol, end, does
        self.target = ""
        self.stdin = b""
        self.stdin_closed = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire = wsproto.WSConnection(wsproto.ConnectionType.SERVER)
        try:
            while data := await reader.read(65536):
                wire.receive_data(data)
                for event in wire.events():
                    writer.write(self.answer(wire, event))
                    await writer.drain()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    def answer(self, wire: wsproto.WSConnection, event: object) -> bytes:
        if isinstance(event, Request):
            self.target = event.target
            if self.does == "refuse":
                body = json.dumps({"kind": "Status", "message": "pods x not found", "details": {"name": "x"}}).encode()
                headers = [(b"content-length", str(len(body)).encode())]
                refusal = wire.send(RejectConnection(404, headers, has_body=True))
                return refusal + wire.send(RejectData(body))
            accepted = wire.send(AcceptConnection(subprotocol=self.protocol))
            if self.does == "close":
                return accepted + wire.send(CloseConnection(1011, "kubelet is gone"))
            return accepted + (b"" if "stdin=true" in self.target else self.finish(wire))
        if isinstance(event, BytesMessage):
            if event.data[0] == 0:
                self.stdin += bytes(event.data[1:])
            self.stdin_closed = self.stdin_closed or bytes(event.data) == b"\xff\x00"
            if self.stdin_closed or (self.protocol.startswith("v4") and b"exit" in self.stdin):
                return self.finish(wire)
        if isinstance(event, CloseConnection):
            return wire.send(event.response())
        return b""

    def finish(self, wire: wsproto.WSConnection) -> bytes:
        if self.does == "hang":
            return b""
        messages = [b"\x01" + self.stdin, b"\x02oops", b"\x03" + json.dumps(self.end).encode()]
        return b"".join(wire.send(BytesMessage(message)) for message in messages)


@asynccontextmanager
async def cluster_with(kubelet: Kubelet) -> AsyncIterator[LiveCluster]:
    server = await asyncio.start_server(kubelet.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    cluster = LiveCluster("test", Transport(Login(name="test", server=f"http://127.0.0.1:{port}", token="t")))
    async with server:
        yield cluster
        await cluster.close()


@pytest.mark.parametrize("protocol", ["v5.channel.k8s.io", "v4.channel.k8s.io"])
async def test_stdin_goes_in_and_both_streams_and_the_exit_code_come_out(protocol: str) -> None:
    kubelet = Kubelet(protocol, EXIT_3)
    async with cluster_with(kubelet) as cluster:
        said = await cluster.exec("ns", "pod", "main", ["sh", "-s"], stdin="echo a\nexit 3\n", timeout_s=2)
    assert (said.stdout, said.stderr, said.exit_code) == ("echo a\nexit 3\n", "oops", 3)
    assert kubelet.stdin_closed == protocol.startswith("v5")
    assert "/api/v1/namespaces/ns/pods/pod/exec?command=sh&command=-s&container=main" in kubelet.target


async def test_a_command_without_stdin_ends_with_zero() -> None:
    async with cluster_with(Kubelet()) as cluster:
        assert (await cluster.exec("ns", "pod", "main", ["true"], timeout_s=2)).exit_code == 0


async def test_a_node_that_is_slow_to_begin_has_as_long_as_the_command() -> None:
    """The answer to the opening comes from the node: no limit of ours on one answer may end it before."""
    seen: list[httpx2.Request] = []

    def refuse(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(404, json={"kind": "Status", "message": "pods x not found"})

    login = Login(name="test", server="http://127.0.0.1:1", token="t")
    cluster = LiveCluster("test", Transport(login, transport=httpx2.MockTransport(refuse)))
    with pytest.raises(ClusterError):
        await cluster.exec("ns", "pod", "main", ["true"], timeout_s=300)
    assert [request.extensions["timeout"]["read"] for request in seen] == [None]


async def test_a_command_that_hangs_ends_at_its_limit() -> None:
    async with cluster_with(Kubelet(does="hang")) as cluster:
        with pytest.raises(ClusterUnreachable, match="no end within"):
            await cluster.exec("ns", "pod", "main", ["sleep"], timeout_s=0.2)


async def test_a_pod_that_is_not_there_is_not_found() -> None:
    async with cluster_with(Kubelet(does="refuse")) as cluster:
        with pytest.raises(NotFound):
            await cluster.exec("ns", "x", "main", ["true"], timeout_s=2)


async def test_a_session_that_is_closed_early_says_why() -> None:
    async with cluster_with(Kubelet(does="close")) as cluster:
        with pytest.raises(ClusterUnreachable, match="kubelet is gone"):
            await cluster.exec("ns", "pod", "main", ["true"], timeout_s=2)


async def test_a_server_that_is_not_there_is_unreachable() -> None:
    cluster = LiveCluster("test", Transport(Login(name="test", server="http://127.0.0.1:9", token="t")))
    with pytest.raises(ClusterUnreachable, match="refuses connections"):
        await cluster.exec("ns", "pod", "main", ["true"], timeout_s=2)


def test_a_command_that_could_not_start_is_no_exit_code() -> None:
    with pytest.raises(ClusterError, match="container not found"):
        exit_code_of({"status": "Failure", "reason": "InternalError", "message": "container not found"})


async def test_a_command_that_prints_without_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("railwright.adapters.execution.MOST_BYTES", 10)
    async with cluster_with(Kubelet()) as cluster:
        with pytest.raises(ClusterError, match="printed more than"):
            await cluster.exec("ns", "pod", "main", ["sh", "-s"], stdin="echo aaaaaaaaaaaa\n", timeout_s=2)
