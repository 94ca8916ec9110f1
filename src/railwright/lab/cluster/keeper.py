"""
The process that holds a virtual cluster: `python -m ...lab.cluster.keeper FOLDER NODES RAILS PLATFORM [DEFINITIONS]`.

It starts the switch, the control plane and the machines, and they end with it, however it ends. What it is doing stands
in FOLDER/progress, a line of JSON an event; FOLDER/kubeconfig is there once the cluster is up.
"""

import asyncio
import contextlib
import json
import os
import secrets
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from railwright.core.errors import RailwrightError
from railwright.core.marks import VIRTUAL_CLUSTER
from railwright.lab.cluster.disk import Disk, ensure_disk
from railwright.lab.cluster.join import join_all
from railwright.lab.cluster.machine import command, first_file_system
from railwright.lab.cluster.programs import ensure_all
from railwright.lab.cluster.relay import make_certificate
from railwright.lab.cluster.shape import Shape, node_name, segments
from railwright.lab.cluster.stand_ins import NOT_SERVED, playing
from railwright.lab.cluster.vfs import making_vfs
from railwright.lab.controlplane.definitions import install_definitions
from railwright.lab.controlplane.plane import Plane, running_plane
from railwright.lab.controlplane.pods import running_scheduler
from railwright.lab.controlplane.processes import Started, free_ports, must_run, start, stop
from railwright.lab.rdma.newer_emulator import emulator_with_igb
from railwright.lab.rdma.tools import Emulator, emulator
from railwright.ports.progress import Event, Note, Progress

PROGRESS, KUBECONFIG = "progress", "kubeconfig"
CONTEXT = VIRTUAL_CLUSTER
BARE, BY_HAND = "bare", "by-hand"
"""Platforms: OpenShift without operators, for `apply`; or the Network Operator there already, to try things by hand."""
_FLAGS = {
    "kube-apiserver": ("--kubelet-preferred-address-types=ExternalIP,InternalIP",),
    "kube-controller-manager": ("--node-monitor-grace-period=120s",),
}
"""Kubelets answer at loopback addresses of this machine; emulated ones are late with their leases when it is busy."""
_GUEST_SEES_US = "10.0.2.2"
_NODES = "nodes.pem"
"""As whom nodes speak to the API server."""
_WATCH_STEP_S = 2.0
_SOCKET_STEPS, _SOCKET_STEP_S = 200, 0.05


@dataclass(frozen=True)
class Told:
    """A Progress that writes notes into a file for whoever waits."""

    file: Path

    def emit(self, event: Event) -> None:
        """Write a line."""
        if isinstance(event, Note):
            self.say("note", event.text)

    def say(self, kind: str, text: str) -> None:
        """Write one event: note, up, or failed."""
        with self.file.open("a") as out:
            out.write(json.dumps({"kind": kind, "text": text}) + "\n")


async def keep(folder: Path, shape: Shape, definitions: Path | None) -> None:
    """Run a cluster until cancelled, with published definitions or with small ones of our own."""
    told = Told(folder / PROGRESS)
    ended: list[str] = []
    try:
        programs = await ensure_all(told)
        disk = await ensure_disk(programs, told)
        qemu = emulator()
        if not qemu.has_igb:
            qemu = await emulator_with_igb(told)
        told.emit(Note("starting the control plane"))
        await asyncio.to_thread(make_certificate, folder / _NODES)
        async with (
            _control_plane(programs, folder) as plane,
            _machines(folder, shape, qemu, disk, plane, told) as machines,
        ):
            client = plane.client()
            try:
                await install_definitions(client, definitions, NOT_SERVED)
                async with (
                    playing(programs["kwok"].parent, plane, client, shape) as actors,
                    making_vfs(actors, client, folder),
                ):
                    await join_all(client, shape, lambda: _all_run(machines))
                    _write_kubeconfig(folder / KUBECONFIG, plane)
                    told.say("up", "")
                    while True:
                        _all_run((*machines, *plane.processes))
                        await asyncio.sleep(_WATCH_STEP_S)
            finally:
                await client.close()
    except RailwrightError as error:
        ended.append(error.message + (f" ({error.hint})" if error.hint else ""))
    except asyncio.CancelledError:
        ended.append("it was taken down")
    finally:
        told.say("failed", "".join(ended) or "the keeper broke; its log has the reason")


@asynccontextmanager
async def _control_plane(programs: dict[str, Path], folder: Path) -> AsyncIterator[Plane]:
    built, scheduler = programs["kube-apiserver"].parent, programs["kube-scheduler"].parent
    flags = {**_FLAGS, "kube-apiserver": (*_FLAGS["kube-apiserver"], f"--client-ca-file={folder / _NODES}.public")}
    async with running_plane(built, ("*",), flags=flags) as plane, running_scheduler(scheduler, plane):
        yield plane


@asynccontextmanager
async def _machines(
    folder: Path, shape: Shape, qemu: Emulator, disk: Disk, plane: Plane, progress: Progress
) -> AsyncIterator[tuple[Started, ...]]:
    """Run the switch and the nodes for the length of a block."""
    sockets = segments(shape, folder)
    (port,) = free_ports(1)
    api_port = plane.server.rpartition(":")[2]
    started = [
        await start("switch", [sys.executable, "-m", _SWITCH, *map(str, sockets)], folder),
        await start("relay", [sys.executable, "-m", _RELAY, str(port), api_port, str(folder / _NODES)], folder),
    ]
    try:
        await _wait_for_sockets(sockets, started[0])
        progress.emit(Note(f"booting {shape.nodes} nodes (emulated; about a minute on a quiet machine)"))
        for number in shape.numbers():
            node = folder / node_name(number)
            node.mkdir()
            initrd = first_file_system(
                disk, shape, number, json.dumps(_kubeconfig(plane, f"http://{_GUEST_SEES_US}:{port}"))
            )
            (node / "initrd").write_bytes(initrd)
            started.append(await start(node_name(number), command(qemu, disk, shape, number, folder), folder))
        yield tuple(started)
    finally:
        await stop(started)


_SWITCH, _RELAY = "railwright.lab.cluster.switch", "railwright.lab.cluster.relay"


async def _wait_for_sockets(sockets: tuple[Path, ...], switch: Started) -> None:
    for _ in range(_SOCKET_STEPS):
        if all(socket.exists() for socket in sockets):
            return
        must_run(switch)
        await asyncio.sleep(_SOCKET_STEP_S)


def _all_run(started: tuple[Started, ...]) -> None:
    for each in started:
        must_run(each)


def _kubeconfig(plane: Plane, server: str) -> dict[str, object]:
    trust = {"insecure-skip-tls-verify": True} if server.startswith("https:") else {}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": CONTEXT,
        "clusters": [{"name": CONTEXT, "cluster": {"server": server, **trust}}],
        "users": [{"name": f"{CONTEXT}-admin", "user": {"token": plane.token}}],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": f"{CONTEXT}-admin"}}],
    }


def _write_kubeconfig(file: Path, plane: Plane) -> None:
    file.touch(mode=0o600)
    file.write_text(json.dumps(_kubeconfig(plane, plane.server), indent=2) + "\n")


async def _until_told(folder: Path, shape: Shape, definitions: Path | None) -> None:
    keeping = asyncio.ensure_future(keep(folder, shape, definitions))
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, keeping.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await keeping


def main(folder: Path, nodes: int, rails: int, platform: str, definitions: Path | None = None) -> None:
    """Keep a cluster; temporary files are the folder's, so that whoever removes it leaves nothing."""
    tempfile.tempdir = str(folder / "tmp")
    (folder / "tmp").mkdir(exist_ok=True)
    (folder / "process").write_text(str(os.getpid()))
    # Each cluster of this machine has loopback addresses of its own; those of Services begin at 64.
    shape = Shape(nodes, rails, 2 + secrets.randbelow(60), bare=platform == BARE)
    asyncio.run(_until_told(folder, shape, definitions))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], *map(Path, sys.argv[5:]))
