"""Kinds of railwright.readiness."""
