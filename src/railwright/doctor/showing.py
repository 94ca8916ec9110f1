"""Evidence and commands of nodes: one line a thing, capped, so that a thousand nodes stay readable."""

import json
from collections.abc import Iterable, Sequence

from railwright.core.ids import NodeName
from railwright.core.kinds import MACHINE_CONFIG
from railwright.doctor.model import Evidence
from railwright.facts.model import PoolFacts

MAX_EVIDENCE = 1024
"""Entries of one finding that are kept; the rest is counted."""
_MOST_COMMANDS = 4
_AND_MORE = "and more"


def on_node(node: NodeName, field: str, value: object) -> Evidence:
    """Say what was seen inside a node."""
    return Evidence(f"node {node}", field, str(value), node)


def capped(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Keep the first entries and say how many more there are; `counted` takes that apart again."""
    items = tuple(evidence)
    if len(items) <= MAX_EVIDENCE:
        return items
    return (*items[:MAX_EVIDENCE], Evidence(_AND_MORE, "entries", str(len(items) - MAX_EVIDENCE)))


def counted(evidence: Iterable[Evidence]) -> tuple[tuple[Evidence, ...], int]:
    """Give the entries that were kept, and how many there were."""
    kept = tuple(evidence)
    entries = tuple(item for item in kept if item.object != _AND_MORE)
    return entries, len(entries) + sum(int(item.value) for item in kept if item.object == _AND_MORE)


def one_a_node(commands: Sequence[tuple[NodeName, str]]) -> tuple[str, ...]:
    """Spell commands of nodes, each once: the first few whole, and of the others the names."""
    found: dict[str, NodeName] = {}
    for node, command in commands:
        found.setdefault(command, node)
    rest = tuple(found.values())[_MOST_COMMANDS:]
    shown = tuple(found)[:_MOST_COMMANDS]
    if not rest:
        return shown
    names = ", ".join(rest[:_MOST_COMMANDS]) + (", ..." if len(rest) > _MOST_COMMANDS else "")
    return (*shown, f"# the same on {len(rest)} more, with what was seen there: {names}")


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
