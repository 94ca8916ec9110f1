"""Kinds of railwright.standins."""
