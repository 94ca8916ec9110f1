"""Worlds: clusters that are built, not met; `WORLDS` lists them."""

from railwright.simulator.worlds.table import WORLDS

__all__ = ["WORLDS"]
