"""Moves: what is installed and becomes another version, on which nodes, and what keeps it off them until their turn."""

from dataclasses import dataclass

from railwright.core.ids import NodeName, StageName
from railwright.core.risk import Risk
from railwright.plan.stage_names import OPERATORS_INSTALLED


@dataclass(frozen=True)
class Move:
    """
    Something installed that becomes another version, or another form of it.

    Attributes:
        what: "DOCA driver", "GPU driver", or the package of an operator.
        object: where the version is written, as people read it.
        seen: what is there now; several versions are all named.
        wanted: what it becomes.
        nodes: on which it has still to happen; empty for an operator.
        skip_label: node label that keeps this driver as it is until the node's turn; "" where nothing does.
        at_once: most nodes that one batch takes.
        together: whether it happens to all its nodes with the first write, whatever their turn.
        how: what happens to a node in its turn.
        risk: the worst of it.
        stage: in which it happens.
    """

    what: str
    object: str
    seen: str
    wanted: str
    nodes: tuple[NodeName, ...] = ()
    skip_label: str = ""
    at_once: int = 1
    together: bool = False
    how: str = ""
    risk: Risk = Risk.DRIVER_RELOAD
    stage: StageName = OPERATORS_INSTALLED

    @property
    def text(self) -> str:
        """The same for people, but for the nodes."""
        return f"{self.what} {self.seen} -> {self.wanted}"
