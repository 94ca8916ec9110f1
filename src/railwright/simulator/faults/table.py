"""The faults, each once: name, one line, where it matters, and what it does to a world that has not begun."""

from collections.abc import Callable
from dataclasses import dataclass

from railwright.simulator.worlds.model import Draft


@dataclass(frozen=True)
class Fault:
    """One entry of the table."""

    name: str
    about: str
    matters: str
    """Worlds, methods and stage in which it shows."""
    act: Callable[[Draft], Draft]


FAULTS: tuple[Fault, ...] = ()
