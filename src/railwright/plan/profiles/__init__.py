"""Profiles of railwright.plan."""
