"""The Node port of a simulated world: any read-only script is answered with the node's record."""

from dataclasses import dataclass

from railwright.core.ids import NodeName
from railwright.core.kinds import NODE
from railwright.core.objects import dig
from railwright.ports.node import NodeAnswer
from railwright.simulator.clock import turn
from railwright.simulator.engine import Engine
from railwright.simulator.record import node_record
from railwright.standins.view import condition, find


@dataclass(frozen=True)
class SimNode:
    """The inside of simulated nodes."""

    engine: Engine

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
        """Print a node's record; a node that is down or cannot be entered says why."""
        await turn()
        if "railwright" not in script:
            return NodeAnswer("", "", "the simulator was not taught this script")
        machine = next((item for item in self.engine.machines if item.name == node), None)
        live = find(self.engine.seen(), NODE, node)
        if machine is None or live is None:
            return NodeAnswer("", "", f"there is no node {node}")
        if not machine.readable:
            return NodeAnswer("", "", f"exec into machine-config-daemon on {node}: no answer in {timeout_s:.0f} s")
        if condition(live, "Ready").get("status") == "False":
            return NodeAnswer("", "", f"{node} is not ready: {condition(live, 'Ready').get('reason', '')}")
        via = dig(live, "metadata", "annotations", "simulator.railwright.dev/via", default="simulated")
        seen = self.engine.seen()
        objects = self.engine.store.objects
        # The machine is kept with its text, so that its id stays its own.
        _, text = objects.remembered(("record", id(machine)), lambda: (machine, node_record(machine, seen)))
        return NodeAnswer(text, str(via))
