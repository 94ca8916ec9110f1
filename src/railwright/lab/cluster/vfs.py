"""
The part of the SR-IOV operator's config daemon that touches nodes: virtual functions of their emulated NICs.

What a node state says is a stand-in's (standins); the functions are real, made by the NIC's own driver, and there before
the stand-in says so.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from railwright.core.errors import RailwrightError
from railwright.core.kinds import DAEMON_SET, SRIOV_NETWORK_NODE_STATE
from railwright.core.objects import dig
from railwright.lab.cluster.shape import MTU_BYTES
from railwright.lab.controlplane.actors import Actors
from railwright.lab.rdma.machine import CONTROL, connected
from railwright.standins.kinds.sriov_config_daemon import DAEMON, nodes_with_daemon
from railwright.standins.model import Objects
from railwright.standins.view import find, name_of, of_kind

_LOOK_EVERY_S = 1.0
_LIMIT_S = 120.0


@dataclass(frozen=True)
class Wanted:
    """Virtual functions of one port."""

    pci: str
    count: int
    mtu_bytes: int

    @property
    def command(self) -> str:
        """What makes them on the node."""
        return f"/usr/lib/railwright/vfs {self.pci} {self.count} {self.mtu_bytes}"


def wanted_vfs(world: Objects) -> dict[str, tuple[Wanted, ...]]:
    """Read what node states ask for, of nodes on which the daemon runs; node -> ports, by address."""
    found: dict[str, tuple[Wanted, ...]] = {}
    for state in of_kind(world, SRIOV_NETWORK_NODE_STATE):
        daemon = find(world, DAEMON_SET, DAEMON, state["metadata"]["namespace"])
        if daemon is None or name_of(state) not in nodes_with_daemon(world, daemon):
            continue
        interfaces = dig(state, "spec", "interfaces", default=None) or ()
        found[name_of(state)] = tuple(
            Wanted(str(each["pciAddress"]), int(each["numVfs"]), int(each.get("mtu") or MTU_BYTES))
            for each in sorted(interfaces, key=lambda each: str(each["pciAddress"]))
        )
    return found


@asynccontextmanager
async def making_vfs(actors: Actors, folder: Path) -> AsyncIterator[None]:
    """Make virtual functions for the length of a block; `folder` holds a folder a node, with the way into it."""
    task = asyncio.create_task(VfMaker(folder).follow(actors))
    try:
        yield
    finally:
        task.cancel()
        ends = await asyncio.gather(task, return_exceptions=True)
    for end in ends:
        if isinstance(end, Exception):
            raise end


@dataclass
class VfMaker:
    """Makes virtual functions on nodes, and remembers which ports have some: they go when nobody asks any more."""

    folder: Path
    there: dict[str, tuple[Wanted, ...]] = field(default_factory=dict)

    async def follow(self, actors: Actors) -> None:
        """Look again and again what is asked for, until cancelled."""
        while True:
            for node, wanted in wanted_vfs(actors.seen()).items():
                await self.bring(node, wanted)
            await asyncio.sleep(_LOOK_EVERY_S)

    async def bring(self, node: str, wanted: tuple[Wanted, ...]) -> None:
        """Make a node's functions as they are wanted; a node that does not answer, or cannot, is asked again."""
        before = self.there.get(node, ())
        if wanted == before:
            return
        asked = {each.pci for each in wanted}
        gone = tuple(Wanted(each.pci, 0, each.mtu_bytes) for each in before if each.pci not in asked)
        try:
            link = await connected(self.folder / node / CONTROL)
        except RailwrightError:
            return
        try:
            done = [await link.shell(each.command, timeout_s=_LIMIT_S) for each in (*gone, *wanted)]
            if all(each.exit_code == 0 for each in done):
                self.there[node] = wanted
        except RailwrightError:
            return
        finally:
            await link.close()
