"""The lab, whole: a machine or this host, nodes and pods of one method, endpoints in them, perhaps something broken."""

import asyncio
import contextlib
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import railwright
from railwright.core.errors import UsageError
from railwright.lab.rdma import tools
from railwright.lab.rdma.build import built_image, ensure_image
from railwright.lab.rdma.endpoints import PodEndpoint
from railwright.lab.rdma.faults import FAULTS, check_fault, no_fault
from railwright.lab.rdma.kept import running, state_file
from railwright.lab.rdma.machine import Link, MachineParts
from railwright.lab.rdma.newer_emulator import emulator_with_igb
from railwright.lab.rdma.own_code import own_file_system
from railwright.lab.rdma.topology import (
    Shape,
    build_script,
    carrier_script,
    emulator_arguments,
    pods,
    remove_script,
)
from railwright.ports.progress import Note, Progress

_BUILD_LIMIT_S = 120.0


@dataclass(frozen=True)
class Lab:
    """
    A lab that runs.

    Attributes:
        where: "a virtual machine with Linux 7.3.4..." or "this host, Linux ...".
        fault: what was broken on purpose, or "".
    """

    shape: Shape
    link: Link
    endpoints: tuple[PodEndpoint, ...]
    where: str
    fault: str = ""


@asynccontextmanager
async def lab(shape: Shape, progress: Progress, fault: str = "") -> AsyncIterator[Lab]:
    """
    Bring a lab up for the length of a block.

    Raises:
        UsageError: something is missing here (the message has the install command), or the fault does not fit.
        ClusterUnreachable: the machine does not start, or the kernel refuses.
    """
    check_fault(fault, shape)
    async with _agent(shape, progress) as (link, where):
        try:
            yield await furnish(link, shape, where, fault)
        finally:
            if where.startswith("this host"):
                await dismantle(link, fault, shape)


async def dismantle(link: Link, fault: str, shape: Shape) -> None:
    """Take nodes and pods away, and mend what a fault has broken beside them. Raises ClusterUnreachable."""
    await link.shell(remove_script(), timeout_s=_BUILD_LIMIT_S)
    undo = FAULTS[fault].breaking(shape).undo if fault else ""
    if undo:
        await link.must(undo)


async def furnish(link: Link, shape: Shape, where: str, fault: str = "") -> Lab:
    """Build nodes and pods over a machine that answers, break what is to be broken, and give the endpoints."""
    breaking = FAULTS[fault].breaking(shape) if fault else no_fault()
    if breaking.first:
        await link.must(breaking.first)
    await link.must(build_script(shape), timeout_s=_BUILD_LIMIT_S)
    await link.must(carrier_script(shape))
    if breaking.then:
        await link.must(breaking.then)
    endpoints = tuple(PodEndpoint(link, pod, breaking.spoiling.get(pod.number)) for pod in pods(shape))
    return Lab(shape, link, endpoints, where, fault)


@asynccontextmanager
async def _agent(shape: Shape, progress: Progress) -> AsyncIterator[tuple[Link, str]]:
    if tools.has_own_soft_roce() and shape.method != "sriov":
        async with _on_this_host() as link:
            kernel = (await link.greeting(tools.HOST_LIMIT_S))["kernel"]
            yield link, f"this host, Linux {kernel}"
        return
    parts = await machine_parts(shape, progress)
    announce(parts, progress)
    with tempfile.TemporaryDirectory(prefix="rw-lab-") as folder:
        async with running(parts, Path(folder)) as link:
            yield link, f"a virtual machine with Linux {parts.image.kernel_version}"


def announce(parts: MachineParts, progress: Progress) -> None:
    """Say what is started, and whether that takes a second or ten."""
    doing = "waking" if state_file(parts).is_file() else "booting"
    progress.emit(Note(f"{doing} the lab's machine (Linux {parts.image.kernel_version}, emulated)"))


async def machine_parts(shape: Shape, progress: Progress) -> MachineParts:
    """
    Find or build them.

    Raises:
        UsageError: something is missing on this host; the hint has the command that installs it.
    """
    missing = tools.why_no_machine(build_needed=built_image() is None)
    if missing:
        raise UsageError("the lab cannot run here", hint=missing)
    image = await ensure_image(progress)
    emulator = tools.emulator()
    if shape.method == "sriov" and not emulator.has_igb:
        emulator = await emulator_with_igb(progress)
    own_code = await asyncio.to_thread(own_file_system, Path(railwright.__file__).parent)
    return MachineParts(emulator, image, own_code, emulator_arguments(shape))


@asynccontextmanager
async def _on_this_host() -> AsyncIterator[Link]:
    """Run the agent here, as root, over its standard input and output."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "railwright.lab.rdma.guest.agent"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    if process.stdin is None or process.stdout is None:
        raise UsageError("the agent has no standard input")
    link = Link(process.stdout, process.stdin)
    try:
        yield link
    finally:
        await link.close()
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
