"""How many nodes and rails a lab may have."""

from railwright import api

_MOST_NODES = 64
_MOST_RAILS = 8
"""More than that, one emulated processor comes to no end with."""


def check_counts(nodes: int | None, rails: int | None) -> None:
    """Refuse numbers with which nothing can be done; None is the default's. Raises UsageError."""
    for name, value, fewest, most in (("--nodes", nodes, 2, _MOST_NODES), ("--rails", rails, 1, _MOST_RAILS)):
        if value is not None and not fewest <= value <= most:
            message = f"{name} {value} is too {'few' if value < fewest else 'many'}"
            raise api.UsageError(message, hint=f"{name} {fewest} to {most}")
