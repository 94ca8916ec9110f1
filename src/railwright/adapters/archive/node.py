"""The Node port over an archive: the raw records that are in it."""

from dataclasses import dataclass

from railwright.adapters.archive.holdings import Holdings
from railwright.core.errors import RailwrightError
from railwright.core.ids import NodeName
from railwright.ports.node import NodeAnswer


@dataclass(frozen=True)
class ArchiveNode:
    """The inside of nodes, as it was when they were collected."""

    holdings: Holdings

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
        """Give what was collected; the script of today cannot be run any more."""
        del script, timeout_s
        read = self.holdings.nodes.get(node)
        if read is None:
            return NodeAnswer("", "", f"not-collected: {self.holdings.node_problem}")
        try:
            return read()
        except RailwrightError as error:
            return NodeAnswer("", "", error.message)
