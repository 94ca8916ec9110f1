"""A network namespace of its own: its one way out, and why there is none."""

import asyncio
import os
import shutil
import socket
import sys
from pathlib import Path

import pytest
from support.uncovered import record

from railwright.core.errors import ClusterUnreachable
from railwright.lab.controlplane import netns, olm
from railwright.lab.controlplane.netns import left_behind, network_namespace, why_no_namespace
from railwright.lab.controlplane.processes import free_ports
from railwright.lab.controlplane.programs import Unavailable
from railwright.ports.progress import Silent


def skip_without_namespaces() -> None:
    if why_no_namespace():
        record("OLM's network namespace", why_no_namespace())
        pytest.skip(why_no_namespace())


def test_without_root_or_ip_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert why_no_namespace() == "a network namespace needs root"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert "package iproute2" in why_no_namespace()
    monkeypatch.setattr(shutil, "which", lambda _: "/sbin/ip")
    assert why_no_namespace() == ""


async def test_where_olm_cannot_run_nothing_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(olm, "why_no_namespace", lambda: "a network namespace needs root")
    monkeypatch.setattr(olm, "ensure_programs", lambda *_: pytest.fail("asked for programs"))
    expected = "OLM runs in a network namespace of its own: a network namespace needs root"
    assert await olm.ensure_olm(Silent()) == Unavailable(expected)


async def test_what_ip_says_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(netns.secrets, "token_hex", lambda _: "/no/such/name")
    skip_without_namespaces()
    with pytest.raises(ClusterUnreachable, match=r"ip netns add railwright-lab-\d+-/no/such/name"):
        async with network_namespace(1):
            pass


async def test_a_program_inside_reaches_the_one_server_and_nothing_else() -> None:
    skip_without_namespaces()

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello " + await reader.readline())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with network_namespace(port) as inside:
            script = f"exec 3<>/dev/tcp/127.0.0.1/{port}; echo you >&3; cat <&3"
            process = await asyncio.create_subprocess_exec(
                *inside.command, "bash", "-c", script, stdout=asyncio.subprocess.PIPE
            )
            said, _ = await process.communicate()
            links = await asyncio.create_subprocess_exec(
                *inside.command, "ip", "-brief", "link", stdout=asyncio.subprocess.PIPE
            )
            seen, _ = await links.communicate()
    assert said == b"hello you\n"
    assert [line.split()[0] for line in seen.decode().splitlines()] == ["lo"]


async def test_what_listens_inside_can_be_published_outside() -> None:
    skip_without_namespaces()
    inner, outer = free_ports(2)
    script = (
        "import socket; server = socket.create_server(('127.0.0.1', int(__import__('sys').argv[1]))); "
        "print(flush=True); served, _ = server.accept(); served.sendall(b'inside'); served.close()"
    )
    async with network_namespace(1) as inside:
        process = await asyncio.create_subprocess_exec(
            *inside.command, sys.executable, "-c", script, str(inner), stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        await process.stdout.readline()
        async with inside.published(inner, "127.77.0.1", outer):
            reader, writer = await asyncio.open_connection("127.77.0.1", outer)
            said = await reader.read()
            writer.close()
            await writer.wait_closed()
            again, writer = await asyncio.open_connection("127.77.0.1", outer)
            assert await again.read() == b""
            writer.close()
            await writer.wait_closed()
        await process.wait()
    assert said == b"inside"


async def test_an_address_that_is_taken_is_named() -> None:
    skip_without_namespaces()
    with socket.create_server(("127.77.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with network_namespace(1) as inside:
            with pytest.raises(ClusterUnreachable, match=f"cannot listen at 127.77.0.1:{port}: Address already in use"):
                async with inside.published(1, "127.77.0.1", port):
                    pass


def test_only_namespaces_of_processes_that_ended_are_taken_away(tmp_path: Path) -> None:
    nobody, somebody = "railwright-lab-99999999-ab", f"railwright-lab-{os.getpid()}-cd"
    for name in (nobody, somebody, "railwright-lab-x-ef", "theirs-99999999-ab"):
        (tmp_path / name).touch()
    assert left_behind(tmp_path) == (nobody,)
    assert left_behind(tmp_path / "nowhere") == ()
