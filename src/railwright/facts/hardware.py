"""The inside of nodes, read in parallel through the Node port, each with its deadline."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from railwright.core.ids import NodeName
from railwright.facts.announced import announced_by
from railwright.facts.model import NodeFacts, Scope
from railwright.facts.node_record import parse_node_record
from railwright.facts.reading import together
from railwright.facts.script import node_script
from railwright.facts.uplinks import Surroundings
from railwright.ports import progress as events
from railwright.ports.node import Node
from railwright.ports.progress import Progress

NOT_ASKED = "not read: only the cluster was asked for"


async def read_hardware(
    nodes: tuple[NodeFacts, ...], node: Node, scope: Scope, progress: Progress, api_servers: tuple[str, ...]
) -> tuple[tuple[NodeFacts, ...], Mapping[NodeName, str]]:
    """
    Read every node given, `scope.parallel_nodes` at once.

    Returns:
        The nodes with their hardware, or with the reason why there is none; and the raw records by node.
    """
    gate = asyncio.Semaphore(max(1, scope.parallel_nodes))
    raw: dict[NodeName, str] = {}
    done = 0

    async def read(facts: NodeFacts) -> NodeFacts:
        nonlocal done
        async with gate:
            answer = await node.read(facts.name, node_script(), timeout_s=scope.node_timeout_s)
        done += 1
        progress.emit(events.Reading("nodes", done, len(nodes)))
        if answer.text:
            raw[facts.name] = answer.text
        if answer.problem or not answer.text:
            return replace(facts, hardware_problem=answer.problem or "it printed nothing", read_via=answer.via)
        around = Surroundings(facts.addresses, api_servers, announced_by(facts.annotations))
        hardware = parse_node_record(answer.text, around)
        return replace(facts, hardware=hardware, hardware_problem="", read_via=answer.via)

    read_nodes = await together(read(facts) for facts in nodes)
    return tuple(read_nodes), {name: raw[name] for name in sorted(raw)}
