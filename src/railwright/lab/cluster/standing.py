"""A virtual cluster that stays up between commands: started, found, looked at and ended by whoever comes later."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from railwright.core.errors import ClusterUnreachable, UsageError
from railwright.core.kinds import NODE
from railwright.core.objects import dig
from railwright.lab.cluster.keeper import BARE, BY_HAND, CONTEXT, KUBECONFIG, PROGRESS
from railwright.lab.cluster.shape import MOST_NODES, MOST_RAILS, Shape, node_name
from railwright.lab.controlplane.client import PlaneClient
from railwright.lab.rdma.machine import CONTROL, ShellResult, connected
from railwright.lab.rdma.recipe import cache_root
from railwright.lab.rdma.tools import why_no_machine
from railwright.ports.progress import Note, Progress

UP = "railwright lab cluster up"
KEEPER = "railwright.lab.cluster.keeper"
_LOG, _PROCESS = "keeper.log", "process"
_STEP_S = 0.1
_DOWN_LIMIT_S = 30.0
_SHELL_LIMIT_S = 120.0


@dataclass(frozen=True)
class Standing:
    """The cluster that is up, or on its way: its folder, and the process that keeps it."""

    folder: Path
    process: int

    @property
    def is_ready(self) -> bool:
        """Whether it has come up."""
        return (self.folder / KUBECONFIG).exists()

    def nodes(self) -> tuple[str, ...]:
        """Name its nodes."""
        return tuple(sorted(path.name for path in self.folder.glob("node-*") if path.is_dir()))


def place() -> Path:
    """Name the folder of the one cluster that a person has up."""
    return cache_root(os.environ, Path.home()).parent / "cluster" / "up"


def check_wish(shape: Shape, definitions: Path | None) -> None:
    """Refuse what nodes and rails have no addresses for, and a folder that is not there. Raises UsageError."""
    if definitions is not None and not definitions.is_dir():
        raise UsageError(f"{definitions} is no folder", hint="leave --definitions out for small definitions of our own")
    for name, value, most in (("--nodes", shape.nodes, MOST_NODES), ("--rails", shape.rails, MOST_RAILS)):
        if value > most:
            raise UsageError(f"{name} {value} is too many for a virtual cluster", hint=f"{name} {most} or fewer")


def standing() -> Standing | None:
    """Find the cluster; None when there is none, or whoever kept it has ended."""
    folder = place()
    with contextlib.suppress(OSError, ValueError):
        process = int((folder / _PROCESS).read_text())
        if str(folder).encode() in Path(f"/proc/{process}/cmdline").read_bytes():
            return Standing(folder, process)
    return None


async def up(shape: Shape, progress: Progress, definitions: Path | None = None) -> str:
    """
    Start a cluster and leave it up.

    Args:
        definitions: a folder of published CustomResourceDefinitions; None for small ones of our own.

    Returns:
        What to tell the person: how to use it and how to end it.

    Raises:
        UsageError: one is up already, or something is missing here.
        ClusterUnreachable: it did not come up; the message says why.
    """
    if standing() is not None:
        raise UsageError("a virtual cluster is up already", hint="railwright lab cluster down")
    check_wish(shape, definitions)
    missing = why_no_machine(build_needed=True)
    if missing:
        raise UsageError("the virtual cluster cannot run here", hint=missing)
    folder = place()
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    keeper = await _start_keeper(folder, shape, definitions)
    try:
        await _follow(folder, keeper, progress)
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            keeper.terminate()
        await keeper.wait()
        raise
    return (
        f"the virtual cluster is up: {shape.nodes} nodes with {shape.rails} rails each\n"
        f"  use  export KUBECONFIG={folder / KUBECONFIG}   (context {CONTEXT})\n"
        f"  try  railwright lab cluster shell {node_name(1)} 'rdma link'\n"
        "  end  railwright lab cluster down\n"
    )


async def _start_keeper(folder: Path, shape: Shape, definitions: Path | None) -> asyncio.subprocess.Process:
    with (folder / _LOG).open("wb") as log:
        return await asyncio.create_subprocess_exec(
            *_keeper_command(folder, shape, definitions),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _keeper_command(folder: Path, shape: Shape, definitions: Path | None) -> list[str]:
    named = [] if definitions is None else [str(definitions.resolve())]
    platform = BARE if shape.bare else BY_HAND
    return [sys.executable, "-m", KEEPER, str(folder), str(shape.nodes), str(shape.rails), platform, *named]


async def _follow(folder: Path, keeper: asyncio.subprocess.Process, progress: Progress) -> None:
    """Pass the keeper's notes on until the cluster is up. Raises ClusterUnreachable when it will not be."""
    seen = 0
    while True:
        has_ended = keeper.returncode is not None
        for event in _events(folder)[seen:]:
            seen += 1
            match event["kind"]:
                case "note":
                    progress.emit(Note(event["text"]))
                case "up":
                    return
                case _:
                    raise ClusterUnreachable(f"the virtual cluster did not come up: {event['text']}")
        if has_ended:
            words = (folder / _LOG).read_text(errors="replace").strip().splitlines()[-1:]
            raise ClusterUnreachable(f"the virtual cluster did not come up: {''.join(words) or 'its keeper ended'}")
        await asyncio.sleep(_STEP_S)


def _events(folder: Path) -> list[dict[str, str]]:
    file = folder / PROGRESS
    text = file.read_text() if file.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


async def down() -> str:
    """
    End the cluster, and remove its folder.

    Returns:
        What to tell the person.
    """
    found = standing()
    if found is None:
        await asyncio.to_thread(shutil.rmtree, place(), ignore_errors=True)
        return "no virtual cluster is up\n"
    await _end(found.process)
    await asyncio.to_thread(shutil.rmtree, found.folder, ignore_errors=True)
    return "the virtual cluster is down\n"


async def _end(process: int) -> None:
    """End the keeper, and everything with it: what it started does not outlive it."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGTERM)
        for _ in range(int(_DOWN_LIMIT_S / _STEP_S)):
            if standing() is None:
                return
            await asyncio.sleep(_STEP_S)
        os.kill(process, signal.SIGKILL)


def found_ready() -> Standing:
    """Find the cluster that is up. Raises UsageError when none is, or it is still on its way."""
    found = standing()
    if found is None:
        raise UsageError("no virtual cluster is up", hint=UP)
    if not found.is_ready:
        raise UsageError("the virtual cluster is still coming up", hint="railwright lab cluster status")
    return found


async def run_in(node: str, text: str) -> ShellResult:
    """
    Run shell text as root on a node.

    Raises:
        UsageError: no such node. ClusterUnreachable: it does not answer.
    """
    found = standing()
    if found is None:
        raise UsageError("no virtual cluster is up", hint=UP)
    if node not in found.nodes():
        raise UsageError(f"there is no node {node!r}", hint=f"one of: {', '.join(found.nodes()) or 'none yet'}")
    link = await connected(found.folder / node / CONTROL)
    try:
        return await link.shell(text, timeout_s=_SHELL_LIMIT_S)
    finally:
        await link.close()


async def status() -> str:
    """Say what is up, and how it goes."""
    found = standing()
    if found is None:
        return f"no virtual cluster is up (start one with: {UP})\n"
    if not found.is_ready:
        notes = [event["text"] for event in _events(found.folder) if event["kind"] == "note"]
        return f"a virtual cluster is coming up: {notes[-1] if notes else 'it has just begun'}\n"
    async with _client(found) as client:
        nodes, _ = await client.list(NODE)
    lines = [f"context {CONTEXT} in {found.folder / KUBECONFIG}"]
    for node in nodes:
        if node["metadata"]["name"] not in found.nodes():
            continue
        conditions: list[dict[str, str]] = dig(node, "status", "conditions", default=[])
        ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
        allocatable: dict[str, str] = dig(node, "status", "allocatable", default={})
        rails = ", ".join(f"{key} {value}" for key, value in sorted(allocatable.items()) if "/" in key)
        lines.append(
            f"{node['metadata']['name']}  {'Ready' if ready else 'NotReady'}  {rails or 'no device resources'}"
        )
    return "\n".join(lines) + "\n"


@asynccontextmanager
async def _client(found: Standing) -> AsyncIterator[PlaneClient]:
    config = json.loads((found.folder / KUBECONFIG).read_text())
    client = PlaneClient(config["clusters"][0]["cluster"]["server"], config["users"][0]["user"]["token"])
    try:
        yield client
    finally:
        await client.close()


def kubeconfig() -> str:
    """Give the kubeconfig's path. Raises UsageError when no cluster is up."""
    return f"{found_ready().folder / KUBECONFIG}\n"
