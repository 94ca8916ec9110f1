"""
Moves: what is installed and becomes another version, on the nodes that have it. Pure.

A move is its own order of events: a label holds the drivers of all nodes where they are, the policy (or the operator's
Subscription) is written, and then one batch after the other is let go, the canaries first, each with its gate. A run that
was killed finds the labels, and goes on with the nodes that still carry them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from railwright.apply.model import Ledger
from railwright.changes.model import MISSING, Action, Change
from railwright.core import kinds
from railwright.core.ids import NodeName
from railwright.core.objects import Kind, KubeObject, Ref, dig
from railwright.core.risk import Risk
from railwright.facts.model import Snapshot
from railwright.pipeline.reloads import DRIVERS, Driver, Reload
from railwright.plan.model import GPU_DRIVER_READY, NIC_DRIVER_READY, Batch, Move, Plan, PlanWarning

_DONE = frozenset({"", "upgrade-done"})
_SUBSCRIPTION_FIELDS = frozenset({("spec", "channel"), ("spec", "startingCSV")})
_DRAINS = "its pods are drained, the driver is replaced, and it is given back"
_TAKES_GPUS = "pods with GPUs are taken off it, the driver is replaced, and it is given back"
_BY_HAND = (
    "nothing replaces its driver pod by itself (upgradePolicy.autoUpgrade is off): delete the pod while apply waits"
)


def moves_of(
    changes: Iterable[Change], reloads: tuple[Reload, ...], plan: Plan, snapshot: Snapshot, ledger: Ledger
) -> tuple[Move, ...]:
    """
    Find what moves.

    Args:
        reloads: drivers that these changes load anew.
        plan: whose nodes are waited for; on others the operators go on as they like.
    """
    changed = {change.ref: change for change in changes}
    operators = tuple(move for change in changed.values() for move in _of_operator(change))
    moving = {item.what for item in operators}
    ours = frozenset(node.node for node in plan.nodes if node.admitted or node.was_admitted)
    found: list[Move] = []
    for kind, driver in DRIVERS.items():
        policy = next(iter(snapshot.cluster.of_kind(kind)), None)
        wanted = next((change.desired for ref, change in changed.items() if ref.kind == kind), None)
        starts = driver.package in moving or any(item.kind == kind for item in reloads)
        nodes = _to_move(driver, ours, snapshot, ledger, starts=starts)
        if nodes and policy is not None:
            found.append(_of_driver(driver, kind, nodes, _Rules(wanted, policy, driver), snapshot))
    return (*operators, *found)


class _Rules:
    """What a policy says of its driver: what we are about to write, and else what is there."""

    def __init__(self, wanted: KubeObject | None, live: KubeObject, driver: Driver) -> None:
        """Take both."""
        self._sides, self._driver = (wanted, live), driver

    def value(self, *path: str, default: Any) -> Any:
        """Read a field of the driver's section."""
        values = (dig(side, *self._driver.section, *path) for side in self._sides)
        return next((value for value in values if value is not None), default)

    @property
    def version(self) -> str:
        """The wanted version, in words where the operator chooses."""
        return str(self.value("version", default="")) or "what its operator brings"


def _of_operator(change: Change) -> Iterator[Move]:
    if change.ref.kind != kinds.SUBSCRIPTION or change.action is Action.CREATE:
        return
    fields = {item.path: item for item in change.fields if item.path in _SUBSCRIPTION_FIELDS}
    if not fields:
        return
    spec = dig(change.desired, "spec", default={})
    old = {
        key: str(fields[path].old if path in fields and fields[path].old is not MISSING else spec.get(key, ""))
        for key in ("channel", "startingCSV")
        for path in (("spec", key),)
    }
    yield Move(
        what=str(spec.get("name", change.ref.name)),
        object=str(change.ref),
        seen=f"{old['startingCSV']} (channel {old['channel']})",
        wanted=f"{spec.get('startingCSV', '')} (channel {spec.get('channel', '')})",
        how="its controllers restart; what they run on nodes may be replaced",
    )


def _to_move(
    driver: Driver, ours: frozenset[NodeName], snapshot: Snapshot, ledger: Ledger, *, starts: bool
) -> tuple[NodeName, ...]:
    """Name nodes that have still to move: all that have the driver when it starts, else those that wait or are at it."""
    state = driver.skip_label.replace(".skip", "-state")
    return tuple(
        node.name
        for node in sorted(snapshot.nodes, key=lambda item: item.name)
        if node.name in ours
        and not _held_by_others(node.name, node.labels.get(driver.skip_label, ""), driver, ledger)
        and (
            (starts and driver.runs_on(node))
            or driver.skip_label in node.labels
            or (node.labels.get(state, "") not in _DONE)
        )
    )


def _held_by_others(node: NodeName, value: str, driver: Driver, ledger: Ledger) -> bool:
    """Whether somebody else keeps a node's driver as it is: theirs to decide on."""
    entry = ledger.entries.get(Ref(kinds.NODE, "", node))
    fields = entry.fields if entry is not None else ()
    ours = any(item.path[-1] == driver.skip_label and item.ours == "true" for item in fields)
    return value == "true" and not ours


def _of_driver(driver: Driver, kind: Kind, nodes: tuple[NodeName, ...], rules: _Rules, snapshot: Snapshot) -> Move:
    here = (node.hardware for node in snapshot.nodes if node.name in nodes and node.hardware is not None)
    seen = sorted({driver.version(hardware) for hardware in here} - {""})
    automatic = rules.value("upgradePolicy", "autoUpgrade", default=False) is True
    drains = rules.value("upgradePolicy", "drain", "enable", default=False) is True
    return Move(
        what=driver.name,
        object=f"{kind.kind} spec.{'.'.join(driver.section[1:])}",
        seen=", ".join(seen) or "not loaded",
        wanted=rules.version,
        nodes=nodes,
        skip_label=driver.skip_label if automatic else "",
        at_once=max(1, int(rules.value("upgradePolicy", "maxParallelUpgrades", default=1))),
        how=(_DRAINS if drains else _TAKES_GPUS) if automatic else _BY_HAND,
        risk=Risk.DRAIN if automatic else Risk.DRIVER_RELOAD,
        stage=NIC_DRIVER_READY if kind == kinds.NIC_CLUSTER_POLICY else GPU_DRIVER_READY,
    )


def with_moves(plan: Plan, moves: tuple[Move, ...], snapshot: Snapshot, ledger: Ledger) -> Plan:
    """Give the plan with its moves: batches no larger than they allow, and nodes that others hold back named."""
    sizes = [move.at_once for move in moves if move.nodes]
    batches = _cut(plan.batches, min(sizes)) if sizes else plan.batches
    warnings = tuple(_held_warnings(plan, snapshot, ledger))
    return replace(plan, moves=moves, batches=batches, warnings=(*plan.warnings, *warnings))


def _held_warnings(plan: Plan, snapshot: Snapshot, ledger: Ledger) -> Iterator[PlanWarning]:
    admitted = set(plan.admitted)
    for driver in DRIVERS.values():
        for node in snapshot.nodes:
            value = node.labels.get(driver.skip_label, "")
            if node.name in admitted and _held_by_others(node.name, value, driver, ledger):
                yield PlanWarning(
                    "driver-held-by-others",
                    f"{node.name} carries {driver.skip_label}=true, which somebody set: its {driver.name} stays as it is",
                    node.name,
                )


def _cut(batches: tuple[Batch, ...], size: int) -> tuple[Batch, ...]:
    """Cut the batches after the canaries into smaller ones."""
    if not batches:
        return ()
    rest = [node for batch in batches[1:] for node in batch.nodes]
    parts = (tuple(rest[start : start + size]) for start in range(0, len(rest), size))
    return (batches[0], *(Batch(f"batch-{number}", part) for number, part in enumerate(parts, 2)))
