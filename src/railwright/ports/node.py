"""The inside of nodes: one read-only script, run where it can be run."""

from dataclasses import dataclass
from typing import Protocol

from railwright.core.ids import NodeName


@dataclass(frozen=True)
class NodeAnswer:
    """
    What the node script printed, or why it could not be run.

    Attributes:
        text: the raw record; empty when the node could not be read.
        via: how it was run ("exec openshift-machine-config-operator/machine-config-daemon-x", "local"), or "".
        problem: why there is no text, or why it is no whole record, as some of its files out of an archive: then
            nothing may be concluded from what is not in it. Empty when all is there.
    """

    text: str
    via: str
    problem: str = ""


class Node(Protocol):
    """A way to run the node script on a node."""

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
        """Run a POSIX shell script on the node; never raises for a node that does not answer: `problem` says why."""
