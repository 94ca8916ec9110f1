"""What a world is before it runs: machines, objects in the order in which they came, kinds, troubles."""

from dataclasses import dataclass

from railwright.core.objects import KubeObject
from railwright.ports.cluster import ServedKind
from railwright.simulator.hardware import Machine


@dataclass(frozen=True)
class Phase:
    """Objects that one field manager brought in, and how long the world then went on."""

    manager: str
    objects: tuple[KubeObject, ...]
    then_s: float = 60.0


@dataclass(frozen=True)
class Draft:
    """
    A world that has not begun.

    Attributes:
        troubles: what is broken in how the world behaves, by name; read by stand-ins and ports.
        silent: stand-ins that do not run.
    """

    machines: tuple[Machine, ...]
    phases: tuple[Phase, ...]
    kinds: tuple[ServedKind, ...]
    kubernetes_version: str = "v1.33.5"
    troubles: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
