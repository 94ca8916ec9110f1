"""The ports of one world, together: a live cluster, a simulated one, or an archive."""

from dataclasses import dataclass

from railwright.ports.clock import Clock
from railwright.ports.cluster import Cluster
from railwright.ports.node import Node


@dataclass(frozen=True)
class World:
    """Everything the pipeline needs of the outside."""

    cluster: Cluster
    node: Node
    clock: Clock
