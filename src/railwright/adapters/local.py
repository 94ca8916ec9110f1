"""The Node port on this machine: the script runs in a shell here, whatever the node is called."""

from railwright.adapters.programs import say
from railwright.core.ids import NodeName
from railwright.ports.node import NodeAnswer


class LocalNode:
    """Reads this machine."""

    def __init__(self, shell: str = "sh") -> None:
        """Use this shell, which must be POSIX."""
        self._shell = shell

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:  # noqa: ARG002 - one machine
        """Run the script here."""
        said = await say((self._shell, "-s"), script, timeout_s=timeout_s)
        return NodeAnswer(said.text, "" if said.problem else "local", said.problem)
