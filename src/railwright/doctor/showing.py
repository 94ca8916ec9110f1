"""Evidence of nodes: one line a thing, capped, so that a thousand nodes stay readable."""

import json
from collections.abc import Iterable

from railwright.core.ids import NodeName
from railwright.core.kinds import MACHINE_CONFIG
from railwright.doctor.model import Evidence
from railwright.facts.model import PoolFacts

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


def set_kernel_arguments(pools: Iterable[PoolFacts], node: NodeName, name: str, *arguments: str) -> str:
    """Spell the command that gives a node's pool kernel arguments; where there are no pools, the node itself."""
    pool = next((pool.name for pool in pools if node in pool.nodes), "")
    if not pool:
        return on_host(node, f'grubby --update-kernel=ALL --args="{" ".join(arguments)}"')
    config = {
        "apiVersion": MACHINE_CONFIG.api_version,
        "kind": MACHINE_CONFIG.kind,
        "metadata": {"name": f"99-{pool}-{name}", "labels": {f"{MACHINE_CONFIG.group}/role": pool}},
        "spec": {"kernelArguments": list(arguments)},
    }
    return f"oc apply -f - <<< {_quoted(json.dumps(config))}"


def _quoted(command: str) -> str:
    return "'" + command.replace("'", "'\\''") + "'"
