"""Which nodes a fabric is about: asked for by name or label, else workers with a GPU and a ConnectX port."""

from collections.abc import Iterable
from dataclasses import dataclass

from railwright.core.ids import FabricName, NodeName
from railwright.facts.model import NicPort, NodeFacts, NodeHardware, Snapshot, Topology
from railwright.intent.model import Intent, NodeSelection
from railwright.plan.model import ADMITTED, fabric_label
from railwright.plan.notes import Notes

CONNECTX_VENDOR = "15b3"


@dataclass(frozen=True)
class Selected:
    """One node that a fabric asks for, and why; `hardware` was read."""

    node: NodeFacts
    hardware: NodeHardware
    reason: str


def connectx_ports(hardware: NodeHardware) -> tuple[NicPort, ...]:
    """Physical ConnectX (and BlueField) functions of a node."""
    return tuple(port for port in hardware.ports if port.vendor_id == CONNECTX_VENDOR and port.parent is None)


def select(intent: Intent, snapshot: Snapshot, notes: Notes) -> tuple[tuple[Selected, ...], dict[NodeName, str]]:
    """
    Choose a fabric's nodes.

    Returns:
        The nodes, sorted, and why each other node was left out. A node that was asked for and can't be used is
        refused in `notes`; without a wish, a worker whose inside could not be read is refused too: it may have GPUs.
    """
    selected: list[Selected] = []
    others: dict[NodeName, str] = {}
    explicit = intent.nodes.names is not None or intent.nodes.labels is not None
    _refuse_missing(intent, snapshot, notes)
    for node in sorted(snapshot.nodes, key=lambda item: item.name):
        why_not = "" if explicit else _not_a_worker(node, snapshot.cluster.topology)
        if explicit and not matches(intent.nodes, node):
            why_not = "not asked for"
        if why_not:
            others[node.name] = why_not
            continue
        if not node.ready:
            notes.refuse(
                "node-not-ready",
                f"{node.name} is not Ready, so nothing that is put there could be judged",
                hint=f"oc describe node {node.name}; run railwright plan again when it is Ready",
                node=node.name,
            )
            continue
        hardware = node.hardware
        if hardware is None:
            notes.refuse(
                "node-not-read",
                f"the inside of {node.name} could not be read: {node.hardware_problem}",
                hint="a node that was not looked at is not touched; mend that, or leave the node out with spec.nodes",
                node=node.name,
            )
            continue
        lacks = _lacks(hardware)
        was_admitted = node.labels.get(fabric_label(FabricName(intent.name))) == ADMITTED
        if lacks and not explicit and not was_admitted:
            others[node.name] = lacks
        elif lacks:
            # Forgotten, what an admitted node uses would count as no longer wanted, and be removed from under it.
            before = "was asked for" if explicit else "was admitted before"
            notes.refuse("node-without-hardware", f"{node.name} {before} and has {lacks}", node=node.name)
        else:
            reason = "asked for" if explicit else _has(hardware)
            selected.append(Selected(node, hardware, reason))
    return tuple(selected), others


def matches(selection: NodeSelection, node: NodeFacts) -> bool:
    """Whether a selection by name or label names this node."""
    if selection.names is not None and node.name not in selection.names:
        return False
    return all(node.labels.get(key) == value for key, value in (selection.labels or {}).items())


def _refuse_missing(intent: Intent, snapshot: Snapshot, notes: Notes) -> None:
    known = {node.name for node in snapshot.nodes}
    selections = {"spec.nodes": intent.nodes} | {
        f"spec.groups[{number}].nodes": group.nodes for number, group in enumerate(intent.groups)
    }
    for key, selection in selections.items():
        for name in selection.names or ():
            if name not in known:
                notes.refuse(
                    "node-does-not-exist",
                    f"{key} names {name}, and the cluster has no such node",
                    where=str(intent.place(key) or intent.name),
                    expected=f"one of {', '.join(sorted(known)) or 'none'}",
                    seen=name,
                )


def check_groups(intent: Intent, selected: Iterable[Selected], notes: Notes) -> None:
    """Refuse a node that two groups claim; warn of a group without any node of the fabric."""
    claims: dict[int, list[NodeName]] = {number: [] for number in range(len(intent.groups))}
    for item in selected:
        mine = [number for number, group in enumerate(intent.groups) if matches(group.nodes, item.node)]
        for number in mine:
            claims[number].append(item.node.name)
        if len(mine) > 1:
            listed = " and ".join(f"spec.groups[{number}]" for number in mine)
            notes.refuse(
                "node-in-two-groups",
                f"{item.node.name} fits {listed}",
                where=str(intent.place(f"spec.groups[{mine[1]}].nodes") or intent.name),
                expected="one group",
                seen=listed,
                hint="choose labels that a node of only one group has, or name the nodes",
                node=item.node.name,
            )
    for number, nodes in claims.items():
        if not nodes:
            where = str(intent.place(f"spec.groups[{number}].nodes") or intent.name)
            notes.warn("group-without-nodes", f"spec.groups[{number}] fits no node of {intent.name}", where)


def _not_a_worker(node: NodeFacts, topology: Topology) -> str:
    control_plane_takes_work = topology in {Topology.COMPACT, Topology.SINGLE_NODE}
    if node.is_control_plane and not control_plane_takes_work:
        return "control-plane node"
    return "" if node.is_worker or control_plane_takes_work else "not a worker"


def _lacks(hardware: NodeHardware) -> str:
    missing = [
        *([] if hardware.gpus else ["no NVIDIA GPU"]),
        *([] if connectx_ports(hardware) else ["no ConnectX port"]),
    ]
    return " and ".join(missing)


def _has(hardware: NodeHardware) -> str:
    return f"worker with {len(hardware.gpus)} GPUs and {len(connectx_ports(hardware))} ConnectX ports in its PCI tree"
