"""Bring a subnet up, read it with real tools, end it; bounded at every step."""

import asyncio
import os
import secrets
import signal
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from railwright.core.errors import ClusterUnreachable
from railwright.dataplane.bounded import end_with_parent
from railwright.lab.fabric.programs import Programs, find_programs
from railwright.lab.fabric.topology import fat_tree, host_name
from railwright.ports.progress import Progress

UP_LIMIT_S = 30.0
"""Measured: 0.2 s for 64 HCAs, 1.3 s for 1,024 (2026-11-30); a busy machine takes longer."""
_TOOL_LIMIT_S = 20.0
_STEP_S = 0.05
_CONFIGURATION = "force_log_flush TRUE\nsweep_interval 1\n"
NOT_RUN = (
    "no bytes move: ibsim carries management datagrams only, so no verbs, no perftest, no IPoIB",
    "whole-table queries to the subnet administrator give their first record only (ibsim has no RMPP)",
    "one device, ibsim0, a host; no VFs, no GUIDs given out by sriov",
)


@dataclass(frozen=True)
class Read:
    """
    What the tools said.

    Attributes:
        ibstat, pkeys: of `ibstat` and `smpquery pkeys`, by host.
        whole: of the subnet, by what was run: "ibnetdiscover".
    """

    ibstat: dict[str, str]
    pkeys: dict[str, str]
    whole: dict[str, str]

    @property
    def texts(self) -> dict[str, str]:
        """All of it, by a name for people."""
        ports = {f"ibstat on {host}": text for host, text in self.ibstat.items()}
        keys = {f"partition keys of {host}": text for host, text in self.pkeys.items()}
        return {**ports, **keys, **self.whole}


class Subnet:
    """A subnet that is up."""

    def __init__(self, programs: Programs, folder: Path, socket_name: str, hosts: int) -> None:
        """Reach it by its socket's name."""
        self._programs, self._folder, self._socket_name = programs, folder, socket_name
        self.hosts = tuple(host_name(number) for number in range(1, hosts + 1))

    async def tool(self, host: str, *command: str) -> str:
        """
        Run a diagnostic tool as on one host; what it printed.

        Raises:
            ClusterUnreachable: it was not done in time.
        """
        process = await asyncio.create_subprocess_exec(
            self._programs.path(command[0]),
            *command[1:],
            env=_environment(self._programs.settings, self._folder, self._socket_name, host),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(_TOOL_LIMIT_S):
                out, _ = await process.communicate()
        except TimeoutError:
            raise ClusterUnreachable(f"{command[0]} on {host} was not done after {_TOOL_LIMIT_S:.0f} s") from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return out.decode(errors="replace")

    async def read(self) -> Read:
        """Read every host's port and keys, and the subnet from the first."""
        ibstat = {host: await self.tool(host, "ibstat") for host in self.hosts}
        pkeys = {host: await self.tool(host, "smpquery", "-D", "pkeys", "0", "1") for host in self.hosts}
        commands = (("ibnetdiscover",), ("sminfo",), ("ibhosts",), ("saquery", "--src-to-dst", "1:2"))
        whole = {" ".join(command): await self.tool(self.hosts[0], *command) for command in commands}
        return Read(ibstat, pkeys, whole)


@asynccontextmanager
async def subnet(progress: Progress, *, hosts: int = 8, partitions: str = "") -> AsyncIterator[Subnet]:
    """
    Bring a subnet up for the length of a block.

    Args:
        partitions: OpenSM's partition file; "" for its default, one partition with everybody in it.

    Raises:
        UsageError: programs are missing. ClusterUnreachable: OpenSM does not bring it up in time.
    """
    programs = await find_programs(progress)
    name = f"railwright-{secrets.token_hex(4)}"
    async with AsyncExitStack() as cleanup:
        folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="rw-fabric-")))
        files = {"net.topo": fat_tree(hosts), "osm.conf": _CONFIGURATION, "partitions.conf": partitions or _EVERYBODY}
        await asyncio.to_thread(_write, folder, files)
        simulator = [programs.path("ibsim"), "-s", "-n", str(folder / "net.topo")]
        await _started(cleanup, simulator, _environment(programs.libraries, folder, name), folder / "ibsim.log")
        up = Subnet(programs, folder, name, hosts)
        await _until_answering(up)
        manager = [programs.path("opensm"), "-F", str(folder / "osm.conf"), "-f", str(folder / "osm.log")]
        manager += ["-P", str(folder / "partitions.conf")]
        settings = _environment(programs.settings, folder, name, up.hosts[0])
        await _started(cleanup, manager, settings, folder / "opensm.log")
        await _until_up(folder / "osm.log")
        yield up


_EVERYBODY = "Default=0x7fff, ipoib : ALL=full;\n"


PARTITION = "0x8001"
"""The partition that hosts of the lab are to be in, beside the default one."""


def partitions(hosts: int, left_out: int = 0) -> str:
    """Write a partition of every host; `left_out` stays a limited member of the default partition only."""
    members = ", ".join(f"{_port_guid(number)}=full" for number in range(1, hosts + 1) if number != left_out)
    return f"Default=0x7fff : ALL=limited, SELF=full;\nrails=0x0001 : {members};\n"


def _port_guid(number: int) -> str:
    """Give the GUID that ibsim hands out: node and port of each HCA in the order of the file, from 0x100000."""
    return f"{0x100001 + 2 * (number - 1):#018x}"


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text)


def _environment(settings: Mapping[str, str], folder: Path, socket_name: str, host: str = "") -> dict[str, str]:
    own = {"OSM_TMP_DIR": str(folder), "OSM_CACHE_DIR": str(folder), "IBSIM_SOCKNAME": socket_name}
    return {**os.environ, **settings, **own, **({"SIM_HOST": host} if host else {})}


async def _started(cleanup: AsyncExitStack, command: Sequence[str], settings: dict[str, str], log: Path) -> None:
    with await asyncio.to_thread(log.open, "wb") as out:
        process = await asyncio.create_subprocess_exec(
            *command,
            env=settings,
            cwd=log.parent,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            preexec_fn=end_with_parent,
        )

    async def end() -> None:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()

    cleanup.push_async_callback(end)


def _text_of(log: Path) -> str:
    return log.read_text(errors="replace") if log.exists() else ""


async def _until_answering(up: Subnet) -> None:
    deadline = asyncio.get_running_loop().time() + UP_LIMIT_S
    while asyncio.get_running_loop().time() < deadline:
        if "Port GUID" in await up.tool(up.hosts[0], "ibstat"):
            return
        await asyncio.sleep(_STEP_S)
    raise ClusterUnreachable(f"ibsim does not answer after {UP_LIMIT_S:.0f} s")


async def _until_up(log: Path) -> None:
    deadline = asyncio.get_running_loop().time() + UP_LIMIT_S
    while asyncio.get_running_loop().time() < deadline:
        if "SUBNET UP" in await asyncio.to_thread(_text_of, log):
            return
        await asyncio.sleep(_STEP_S)
    raise ClusterUnreachable(f"OpenSM has not brought the subnet up after {UP_LIMIT_S:.0f} s")
