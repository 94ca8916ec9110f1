"""Faults of railwright.simulator."""
