"""A fabric on its way to a plan."""

from dataclasses import dataclass

from railwright.core.ids import NodeName
from railwright.facts.model import NodeHardware
from railwright.plan.model import Group, Rail
from railwright.plan.settings import Settings


@dataclass(frozen=True)
class FabricNodes:
    """One fabric with its rails and groups, and what was read of its admitted nodes."""

    settings: Settings
    rails: tuple[Rail, ...]
    groups: tuple[Group, ...]
    hardware: dict[NodeName, NodeHardware]
