"""Open a live cluster as a World."""

import os
from pathlib import Path

from railwright.adapters.clock import RealClock
from railwright.adapters.cluster import LiveCluster
from railwright.adapters.kubeconfig import read_login
from railwright.adapters.nodes import ExecNodes
from railwright.adapters.transport import Transport
from railwright.ports.world import World


def open_live(context: str | None) -> World:
    """
    Make the ports for one kubeconfig context; nothing is sent yet.

    Args:
        context: its name; None for the current one, or the pod's own service account inside a cluster.

    Raises:
        UsageError: no such context, or a kubeconfig that cannot be used.
    """
    login = read_login(context, os.environ, Path.home())
    cluster = LiveCluster(login.name, Transport(login))
    return World(cluster, ExecNodes(cluster), RealClock(), cluster.close)
