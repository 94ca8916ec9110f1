"""Snapshots of simulated worlds for the doctor's tests, and small changes of what is in nodes."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from railwright import api
from railwright.catalog.load import load_catalog
from railwright.core.ids import NodeName, RuleId
from railwright.doctor.diagnose import diagnose
from railwright.doctor.model import Diagnosis
from railwright.facts.model import NicPort, NodeHardware, Scope, Snapshot

CATALOG = load_catalog()


@cache
def snapshot_of(world: str) -> Snapshot:
    """Everything that can be read of a simulated world; read once a run."""

    async def read() -> Snapshot:
        async with await api.open_cluster(f"sim:{world}") as opened:
            return await api.discover(opened, Scope(events=True, logs=True))

    return asyncio.run(read())


def asked(snapshot: Snapshot, rule: str) -> Diagnosis:
    """What one rule says of a snapshot."""
    return diagnose(snapshot, CATALOG, None, only=[RuleId(rule)])


def inside(snapshot: Snapshot, change: Callable[[NodeHardware], NodeHardware], node: str = "") -> Snapshot:
    """Change what is inside nodes with GPUs; of one node when it is named."""
    nodes = tuple(
        replace(item, hardware=change(item.hardware))
        if item.hardware is not None and item.hardware.gpus and node in {"", item.name}
        else item
        for item in snapshot.nodes
    )
    return replace(snapshot, nodes=nodes)


def ports(snapshot: Snapshot, change: Callable[[NicPort], NicPort], node: str = "") -> Snapshot:
    """Change the ConnectX ports of nodes with GPUs."""

    def changed(hardware: NodeHardware) -> NodeHardware:
        found = tuple(change(port) if port.vendor_id == "15b3" else port for port in hardware.ports)
        return replace(hardware, ports=found)

    return inside(snapshot, changed, node)


def without_inside(snapshot: Snapshot, node: str) -> Snapshot:
    """Let nobody into one node."""
    nodes = tuple(
        replace(item, hardware=None, hardware_problem="no pod to enter by") if item.name == NodeName(node) else item
        for item in snapshot.nodes
    )
    return replace(snapshot, nodes=nodes)
