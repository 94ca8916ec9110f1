"""Open a live cluster as a World."""

import os
from pathlib import Path

from railwright.adapters.clock import RealClock
from railwright.adapters.cluster import LiveCluster
from railwright.adapters.debug_pod import DebugPods
from railwright.adapters.kubeconfig import read_login
from railwright.adapters.nodes import ExecNodes
from railwright.adapters.ssh import SshNodes
from railwright.adapters.transport import Transport
from railwright.ports.access import DEFAULT_ACCESS, NodeAccess
from railwright.ports.node import Node
from railwright.ports.world import World


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
    return World(cluster, node, RealClock(), cluster.close)
