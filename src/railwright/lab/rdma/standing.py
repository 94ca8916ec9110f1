"""A lab that stays up between commands: for people who want to play in it."""

import asyncio
import contextlib
import os
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

from railwright.core.errors import ClusterUnreachable, UsageError
from railwright.lab.rdma import recipe
from railwright.lab.rdma.faults import check_fault
from railwright.lab.rdma.kept import wake_or_boot
from railwright.lab.rdma.lab import announce, furnish, machine_parts
from railwright.lab.rdma.machine import CONTROL, Link, ShellResult, connected
from railwright.lab.rdma.topology import Shape, pods
from railwright.ports.progress import Progress

_UP = "railwright lab up"
_DOWN_STEPS, _DOWN_STEP_S = 100, 0.05


@dataclass(frozen=True)
class Standing:
    """One lab that is up: its folder, and the process of its machine."""

    folder: Path
    process: int


def standing() -> Standing | None:
    """Find the lab that is up; None when there is none, or its machine has ended."""
    folder = recipe.cache_root(os.environ, Path.home()) / "up"
    with contextlib.suppress(OSError, ValueError):
        process = int((folder / "process").read_text())
        started = Path(f"/proc/{process}/cmdline").read_bytes()
        if str(folder).encode() in started:
            return Standing(folder, process)
    return None


async def up(shape: Shape, progress: Progress, fault: str = "") -> str:
    """
    Boot a lab and leave it up.

    Returns:
        What to tell the person: where it is and what to try.

    Raises:
        UsageError: one is up already, something is missing here, or the fault does not fit.
    """
    check_fault(fault, shape)
    if standing() is not None:
        raise UsageError("a lab is up already", hint="railwright lab down")
    folder = recipe.cache_root(os.environ, Path.home()) / "up"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    parts = await machine_parts(shape, progress)
    announce(parts, progress)
    process, link = await wake_or_boot(parts, folder, outlives_us=True)
    try:
        await furnish(link, shape, "up", fault)
        await link.close()
        (folder / "process").write_text(str(process.pid))
    except BaseException:
        process.kill()
        await process.wait()
        raise
    names = ", ".join(pod.namespace for pod in pods(shape))
    return (
        f"the lab is up: Linux {parts.image.kernel_version}, {shape.method}, pods {names}\n"
        "  try  railwright lab shell 'ip netns exec rw-pod-1 rdma link'\n"
        "  end  railwright lab down\n"
    )


async def down() -> str:
    """End the lab that is up; what to tell the person."""
    found = standing()
    if found is None:
        return "no lab is up\n"
    with contextlib.suppress(ProcessLookupError):
        os.kill(found.process, signal.SIGKILL)
    for _ in range(_DOWN_STEPS):
        if standing() is None:
            break
        await asyncio.sleep(_DOWN_STEP_S)
    shutil.rmtree(found.folder, ignore_errors=True)
    return "the lab is down\n"


async def run_in(text: str) -> ShellResult:
    """
    Run shell text as root in the lab that is up.

    Raises:
        UsageError: none is up. ClusterUnreachable: it does not answer.
    """
    found = standing()
    if found is None:
        raise UsageError("no lab is up", hint=_UP)
    link: Link = await connected(found.folder / CONTROL)
    try:
        return await link.shell(text)
    finally:
        await link.close()


async def status() -> str:
    """Say what is up."""
    if standing() is None:
        return f"no lab is up (start one with: {_UP})\n"
    try:
        said = await run_in(
            "uname -sr; for pod in $(ip netns list | cut -d' ' -f1 | sort); do echo; echo \"$pod\"; "
            "ip -n $pod -br addr; ip netns exec $pod rdma link | grep netdev; done"
        )
    except ClusterUnreachable as error:
        return f"a lab is up, and does not answer: {error.message}\n"
    return said.out
