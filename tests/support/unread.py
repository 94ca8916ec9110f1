"""Snapshots whose node records lack sections, as the script leaves what it could not read."""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cache

from support.doctoring import snapshot_of

from railwright.core.ids import NodeName
from railwright.core.node_record import HEADER
from railwright.facts.announced import announced_by
from railwright.facts.model import NodeFacts, Snapshot
from railwright.facts.node_record import parse_node_record
from railwright.facts.uplinks import Surroundings


def emptied(record: str, sections: Collection[str]) -> str:
    """A record without what some sections say, and with the reason among its problems."""
    kept: list[str] = []
    name = ""
    for line in record.splitlines():
        if line.startswith(HEADER):
            name = line.removeprefix(HEADER)
            kept.append(line)
            if name == "problems":
                kept += [f"{section}\tpermission denied" for section in sorted(sections)]
        elif name not in sections:
            kept.append(line)
    return "\n".join([*kept, ""])


def gpu_nodes(world: str) -> tuple[NodeName, ...]:
    """Nodes with GPUs."""
    return tuple(node.name for node in snapshot_of(world).nodes if node.hardware is not None and node.hardware.gpus)


@cache
def read_again(world: str) -> Snapshot:
    """A world whose nodes with GPUs are read from their records, by what the nodes know of themselves."""
    return rewritten(world, lambda record: record, gpu_nodes(world))


def without_sections(world: str, sections: Collection[str], nodes: Collection[NodeName] = ()) -> Snapshot:
    """The same where some sections could not be read: of these nodes, of all with GPUs when none is named."""
    return rewritten(world, lambda record: emptied(record, sections), nodes or gpu_nodes(world))


def rewritten(world: str, change: Callable[[str], str], nodes: Collection[NodeName]) -> Snapshot:
    """The same with other records of some nodes."""
    snapshot = snapshot_of(world)
    every = gpu_nodes(world)

    def parsed(node: NodeFacts) -> NodeFacts:
        if node.name not in every:
            return node
        raw = snapshot.raw_nodes[node.name]
        around = Surroundings(node.addresses, (), announced_by(node.annotations))
        return replace(node, hardware=parse_node_record(change(raw) if node.name in nodes else raw, around))

    return replace(snapshot, nodes=tuple(parsed(node) for node in snapshot.nodes))
