"""Evidence of nodes: one line a thing, capped, so that a thousand nodes stay readable."""

from collections.abc import Iterable

from railwright.core.ids import NodeName
from railwright.doctor.model import Evidence

MAX_EVIDENCE = 48
"""Entries of one finding; the rest is counted."""


def on_node(node: NodeName, field: str, value: object) -> Evidence:
    """Say what was seen inside a node."""
    return Evidence(f"node {node}", field, str(value), node)


def capped(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Keep the first entries and say how many more there are."""
    items = tuple(evidence)
    if len(items) <= MAX_EVIDENCE:
        return items
    return (*items[:MAX_EVIDENCE], Evidence("and more", "entries", str(len(items) - MAX_EVIDENCE)))


def on_host(node: NodeName, command: str) -> str:
    """Spell a command to be run on a node, as OpenShift does it."""
    return f"oc debug node/{node} -- chroot /host sh -c {_quoted(command)}"


def _quoted(command: str) -> str:
    return "'" + command.replace("'", "'\\''") + "'"
