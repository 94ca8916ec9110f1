"""Nodes speak to the API server without TLS: what they say and what it answers arrive whole, and an end is passed on."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from railwright.adapters.clock import RealClock
from railwright.lab.cluster import relay
from railwright.lab.controlplane.processes import free_ports

MANY_BYTES = b"x" * (1 << 20)


@asynccontextmanager
async def a_relay(to: int, certificate: Path) -> AsyncIterator[int]:
    (port,) = free_ports(1)
    serving = asyncio.create_task(relay.serve(port, to, certificate))
    try:
        yield port
    finally:
        serving.cancel()


@asynccontextmanager
async def an_api_server(certificate: Path) -> AsyncIterator[int]:
    """Answer one line with who asked, and as many bytes as a list has; it trusts that certificate and no other."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.load_verify_locations(f"{certificate}.public")
    context.verify_mode = ssl.CERT_REQUIRED

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        asked = dict(pair for (pair,) in writer.get_extra_info("peercert")["subject"])
        writer.write(line + asked["organizationName"].encode() + MANY_BYTES)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def connected(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    while True:
        try:
            return await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            await RealClock().sleep(0)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("relay") / "nodes.pem"
    relay.make_certificate(file)
    return file


def test_only_its_owner_reads_the_key(certificate: Path) -> None:
    assert certificate.stat().st_mode & 0o777 == 0o600


async def test_a_request_without_tls_is_an_admins_over_tls_and_answered_whole(certificate: Path) -> None:
    async with an_api_server(certificate) as api, a_relay(api, certificate) as port:
        reader, writer = await connected(port)
        writer.write(b"GET /readyz\n")
        assert await reader.read(-1) == b"GET /readyz\nsystem:masters" + MANY_BYTES
        writer.close()


async def test_who_asks_while_the_api_server_is_away_is_told_at_once(certificate: Path) -> None:
    (nobody,) = free_ports(1)
    async with a_relay(nobody, certificate) as port:
        reader, writer = await connected(port)
        assert await reader.read(-1) == b""
        writer.close()
