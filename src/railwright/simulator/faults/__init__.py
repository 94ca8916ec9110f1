"""Faults: what is broken in a world; `FAULTS` lists them. Each acts on the world, never on a field that a rule reads."""

from railwright.simulator.faults.table import FAULTS

__all__ = ["FAULTS"]
