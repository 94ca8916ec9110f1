"""Worlds of railwright.simulator."""
