"""
The part of the SR-IOV operator's config daemon that touches nodes: virtual functions of their emulated NICs.

What a node state says is a stand-in's (standins); the functions are real, made by the NIC's own driver, and there before
the stand-in says so. As the real daemon does, it then lets the device plugin of the node begin anew, which looks for
functions only when it begins.
Source: sriov-network-operator 1.6.0, pkg/daemon/daemon.go:400 and 543, restartDevicePluginPod.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from railwright.core.errors import RailwrightError
from railwright.core.kinds import DAEMON_SET, POD, SRIOV_NETWORK_NODE_STATE
from railwright.core.objects import Ref, dig, ref_of
from railwright.lab.cluster.shape import MTU_BYTES
from railwright.lab.controlplane.actors import Actors
from railwright.lab.controlplane.client import Answered, PlaneClient
from railwright.lab.rdma.machine import CONTROL, connected
from railwright.standins.kinds.sriov_config_daemon import DAEMON, nodes_with_daemon
from railwright.standins.model import Objects
from railwright.standins.view import find, name_of, of_kind

_LOOK_EVERY_S = 1.0
_LIMIT_S = 120.0
_PLUGIN = "sriov-device-plugin"
"""The operator's DaemonSet of device plugins."""


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


def plugin_pods(world: Objects, node: str) -> tuple[Ref, ...]:
    """Name the device plugin's pods on a node."""
    return tuple(
        ref_of(pod)
        for pod in of_kind(world, POD)
        if dig(pod, "spec", "nodeName", default="") == node
        and any(owner.get("name") == _PLUGIN for owner in dig(pod, "metadata", "ownerReferences", default=()))
    )


@asynccontextmanager
async def making_vfs(actors: Actors, client: PlaneClient, folder: Path) -> AsyncIterator[None]:
    """Make virtual functions for the length of a block; `folder` holds a folder a node, with the way into it."""
    task = asyncio.create_task(VfMaker(folder).follow(actors, client))
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

    async def follow(self, actors: Actors, client: PlaneClient) -> None:
        """Look again and again what is asked for, until cancelled."""
        while True:
            for node, wanted in wanted_vfs(actors.seen()).items():
                if await self.bring(node, wanted):
                    for pod in plugin_pods(actors.seen(), node):
                        # One that is gone already begins anew by itself.
                        with suppress(Answered):
                            await client.delete(pod)
            await asyncio.sleep(_LOOK_EVERY_S)

    async def bring(self, node: str, wanted: tuple[Wanted, ...]) -> bool:
        """
        Make a node's functions as they are wanted; a node that does not answer, or cannot, is asked again.

        Returns:
            Whether they are others than before.
        """
        before = self.there.get(node, ())
        if wanted == before:
            return False
        asked = {each.pci for each in wanted}
        gone = tuple(Wanted(each.pci, 0, each.mtu_bytes) for each in before if each.pci not in asked)
        try:
            link = await connected(self.folder / node / CONTROL)
        except RailwrightError:
            return False
        try:
            done = [await link.shell(each.command, timeout_s=_LIMIT_S) for each in (*gone, *wanted)]
        except RailwrightError:
            return False
        finally:
            await link.close()
        if any(each.exit_code != 0 for each in done):
            return False
        self.there[node] = wanted
        return True
