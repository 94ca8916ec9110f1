"""What the parts of a stage work with."""

from dataclasses import dataclass

from railwright.apply.ledger import LedgerStore
from railwright.ports.clock import Clock
from railwright.ports.cluster import Cluster
from railwright.ports.node import Node
from railwright.ports.progress import Progress


@dataclass(frozen=True)
class Means:
    """The ports of a world, the ledger, and the node script."""

    cluster: Cluster
    node: Node
    clock: Clock
    progress: Progress
    ledger: LedgerStore
    script: str
