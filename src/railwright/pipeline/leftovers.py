"""What can't be put back: settings in hardware, and what operators wrote that nobody takes away. Pure."""

from collections.abc import Collection, Iterable, Mapping

from railwright.apply.model import Ledger, LedgerEntry
from railwright.core import kinds
from railwright.core.ids import NodeName, PciAddress
from railwright.core.marks import is_ours
from railwright.core.objects import Kind, dig
from railwright.facts.model import Snapshot

_OPERATOR_LABELS: Mapping[Kind, tuple[str, ...]] = {
    kinds.CLUSTER_POLICY: ("nvidia.com/",),
    kinds.NIC_CLUSTER_POLICY: ("network.nvidia.com/", "nvidia.com/ofed-driver"),
    kinds.SRIOV_OPERATOR_CONFIG: ("sriovnetwork.openshift.io/",),
    kinds.NODE_FEATURE_DISCOVERY: ("feature.node.kubernetes.io/",),
}
"""
Prefixes of node labels that outlive their operator's object.

Measured: Network Operator 26.4.1 and GPU Operator 26.7.0 controllers against kube-apiserver 1.36.3, 2026-11.
"""

_ROLL_OUTS: Mapping[Kind, str] = {
    kinds.CLUSTER_POLICY: "nvidia.com/gpu-driver-upgrade-state",
    kinds.NIC_CLUSTER_POLICY: "nvidia.com/ofed-driver-upgrade-state",
}
_NOTED = ("noted", "yes")
_MOST_BYTES = 256 * 1024


def cannot_be_restored(entries: Collection[LedgerEntry], ledger: Ledger, snapshot: Snapshot) -> tuple[str, ...]:
    """Name what stays, a line each, with its value of before where the ledger has it."""
    kinds_made = {entry.ref.kind for entry in entries if entry.created}
    before = {key: value for note in ledger.fabrics.values() for key, value in note.before}
    return (
        *_firmware(kinds_made, before, snapshot),
        *_labels(kinds_made, before, _taken_off(entries), snapshot),
        *_cordons(kinds_made, snapshot),
    )


def unknown_to_ledger(ledger: Ledger, snapshot: Snapshot) -> tuple[str, ...]:
    """Name objects that say we made them and that no ledger speaks of: it may have been lost, so they stay."""
    refs = [
        ref
        for ref, obj in snapshot.cluster.objects.items()
        if is_ours(obj) and ref not in ledger.entries and not dig(obj, "metadata", "deletionTimestamp")
    ]
    return tuple(
        f"{ref} stays: its label says that railwright made it, and the ledger does not know it. Files of `render` that"
        " somebody else applied look like this, and so does what is left when a ledger was deleted"
        for ref in sorted(refs)
    )


def values_before(snapshot: Snapshot) -> tuple[tuple[str, str], ...]:
    """
    Note what may not come back: ports that have VFs, and labels of the kind that operators set, by node.

    Returns:
        Empty when it would be too much for the ledger: then nothing is known of before.
    """
    prefixes = tuple(prefix for group in _OPERATOR_LABELS.values() for prefix in group)
    values = [_NOTED]
    for node in snapshot.nodes:
        ports = node.hardware.ports if node.hardware else ()
        values += [(_vfs_key(node.name, port.pci), str(port.sriov_vfs)) for port in ports if port.sriov_vfs]
        values += [(f"{node.name} {key}", value) for key, value in node.labels.items() if key.startswith(prefixes)]
    size_bytes = sum(len(key) + len(value) for key, value in values)
    return tuple(sorted(values)) if size_bytes <= _MOST_BYTES else ()


def had_vfs_before(ledger: Ledger, node: NodeName, pci: PciAddress) -> bool | None:
    """Whether a port had VFs when the first fabric was applied; None where nothing was noted then."""
    noted = {key for note in ledger.fabrics.values() for key, _ in note.before}
    return _vfs_key(node, pci) in noted if _NOTED[0] in noted else None


def _vfs_key(node: NodeName, pci: PciAddress) -> str:
    return f"{node} {pci} VFs"


def _was(before: dict[str, str], key: str, absent: str) -> str:
    return before.get(key, absent if _NOTED[0] in before else "not noted")


def _firmware(kinds_made: set[Kind], before: dict[str, str], snapshot: Snapshot) -> list[str]:
    if kinds.SRIOV_NETWORK_NODE_POLICY not in kinds_made:
        return []
    return [
        f"firmware of {port.pci} on {node.name}: SRIOV_EN and NUM_OF_VFS stay"
        f" ({port.sriov_vfs} VFs now, before: {_was(before, _vfs_key(node.name, port.pci), '0')})"
        for node in snapshot.nodes
        for port in (node.hardware.ports if node.hardware else ())
        if port.parent is None and port.sriov_vfs
    ]


def _cordons(kinds_made: set[Kind], snapshot: Snapshot) -> list[str]:
    """
    Name nodes that a driver's roll-out has cordoned: it ends with its policy, and nobody gives them back.

    Measured: GPU Operator 26.7.0 controllers against kube-apiserver 1.36.3, 2026-11 (policy deleted during a roll-out).
    """
    states = (
        (node, label, node.labels.get(label, ""))
        for kind, label in _ROLL_OUTS.items()
        if kind in kinds_made
        for node in snapshot.nodes
        if not node.schedulable
    )
    return [
        f"{node.name} is cordoned by a driver's roll-out that ends with its policy ({label}={state}):"
        f" oc adm uncordon {node.name}"
        for node, label, state in states
        if state not in {"", "upgrade-required", "upgrade-done"}
    ]


def _taken_off(entries: Iterable[LedgerEntry]) -> frozenset[tuple[str, str]]:
    """Give the labels of nodes that are ours, and go, by node."""
    nodes = (entry for entry in entries if entry.ref.kind == kinds.NODE)
    return frozenset((entry.ref.name, item.path[-1]) for entry in nodes for item in entry.fields)


def _labels(
    kinds_made: set[Kind], before: dict[str, str], gone: frozenset[tuple[str, str]], snapshot: Snapshot
) -> list[str]:
    prefixes = tuple(prefix for kind, group in _OPERATOR_LABELS.items() if kind in kinds_made for prefix in group)
    if not prefixes:
        return []
    lines = []
    for node in snapshot.nodes:
        changed = [
            f"{key}={value} (before: {_was(before, f'{node.name} {key}', 'absent')})"
            for key, value in sorted(node.labels.items())
            if key.startswith(prefixes) and before.get(f"{node.name} {key}") != value and (node.name, key) not in gone
        ]
        if changed:
            lines.append(f"labels that operators set on {node.name}: {', '.join(changed)}")
    return lines
