"""Open a live cluster as a World."""

import math
import os
from dataclasses import dataclass
from pathlib import Path

from railwright.adapters.clock import RealClock
from railwright.adapters.cluster import LiveCluster
from railwright.adapters.debug_pod import DebugPods
from railwright.adapters.kubeconfig import read_login
from railwright.adapters.nodes import ExecNodes
from railwright.adapters.ssh import SshNodes
from railwright.adapters.transport import Transport
from railwright.core.errors import UsageError
from railwright.core.ids import NodeName
from railwright.ports.access import DEFAULT_ACCESS, NodeAccess
from railwright.ports.node import Node, NodeAnswer
from railwright.ports.world import World

LEAST_NODE_TIMEOUT_S = "RAILWRIGHT_NODE_TIMEOUT_S"
"""Environment variable: what reading a node may take at least, in seconds, whatever command reads it."""


def open_live(context: str | None, access: NodeAccess = DEFAULT_ACCESS) -> World:
    """
    Make the ports for one kubeconfig context; nothing is sent yet.

    Args:
        context: its name; None for the current one, or the pod's own service account inside a cluster.
        access: how the inside of its nodes may be reached.

    Raises:
        UsageError: no such context, or a kubeconfig that cannot be used.
    """
    login = read_login(context, os.environ, Path.home())
    cluster = LiveCluster(login.name, Transport(login))
    node: Node = SshNodes(cluster, access) if access.via == "ssh" else ExecNodes(cluster)
    if access.allow_debug_pod:
        node = DebugPods(cluster, node, access.debug_image)
    least_s = os.environ.get(LEAST_NODE_TIMEOUT_S)
    if least_s:
        node = Patient(node, _seconds(least_s))
    return World(cluster, node, RealClock(), cluster.close)


@dataclass(frozen=True)
class Patient:
    """Gives every reading of a node so long at least: machines that are emulated take minutes for what takes seconds."""

    inner: Node
    least_s: float

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
        """Run the script on the node."""
        return await self.inner.read(node, script, timeout_s=max(timeout_s, self.least_s))


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        message = f"{LEAST_NODE_TIMEOUT_S}={text}: expected a number of seconds above 0"
        raise UsageError(message, hint="leave it unset for 30 seconds")
    return seconds
