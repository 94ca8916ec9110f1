"""
Moves: what is installed and becomes another version, on the nodes that have it. Pure.

A move is its own order of events: a label holds the drivers of all nodes where they are, the policy (or the operator's
Subscription) is written, and then one batch after the other is let go, the canaries first, each with its gate. A run that
was killed finds the labels, and goes on with the nodes that still carry them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from railwright.apply.model import Ledger
from railwright.changes.model import MISSING, Action, Change
from railwright.core import kinds
from railwright.core.ids import NodeName, StageName
from railwright.core.objects import Kind, KubeObject, Ref, dig
from railwright.core.risk import Risk
from railwright.facts.model import Snapshot
from railwright.pipeline.model import Prepared
from railwright.pipeline.reloads import DRIVERS, Driver, Form, Reload, ours
from railwright.plan.model import (
    GPU_DRIVER_READY,
    NIC_DRIVER_READY,
    Batch,
    DriverLoaded,
    Expectation,
    Move,
    Plan,
    PlanWarning,
)
from railwright.plan.turns import GPU_DRIVER_SKIP, NIC_DRIVER_SKIP

_DONE = frozenset({"", "upgrade-done"})
_SUBSCRIPTION_FIELDS = frozenset({("spec", "channel"), ("spec", "startingCSV")})
_DRAINS = "its pods are drained, the driver is replaced, and it is given back"
_TAKES_GPUS = "pods with GPUs are taken off it, the driver is replaced, and it is given back"
_COMES = "its pods come to all these nodes with one write, and no label holds the first pod of a node"
_GOES = "its pods go from all these nodes with one write, and no label holds them"
_NONE = "none of its operator"
_STAGES = {kinds.NIC_CLUSTER_POLICY: NIC_DRIVER_READY, kinds.CLUSTER_POLICY: GPU_DRIVER_READY}
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
    found: list[Move] = []
    for kind, driver in DRIVERS.items():
        policy = next(iter(snapshot.cluster.of_kind(kind)), None)
        wanted = next((change.desired for ref, change in changed.items() if ref.kind == kind), None)
        reload = next((item for item in reloads if item.kind == kind), None)
        if policy is None:
            continue
        rules = _Rules(wanted, policy, driver)
        if reload is not None and reload.form is not Form.ANEW:
            found.append(_together(driver, reload, rules, snapshot))
            continue
        starts = driver.package in moving or reload is not None
        nodes = _to_move(driver, ours(plan), snapshot, ledger, starts=starts)
        if nodes:
            found.append(_of_driver(driver, kind, nodes, rules, snapshot))
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
    driver: Driver, in_fabrics: frozenset[NodeName], snapshot: Snapshot, ledger: Ledger, *, starts: bool
) -> tuple[NodeName, ...]:
    """Name nodes that have still to move: all that have the driver when it starts, else those that wait or are at it."""
    return tuple(
        node.name
        for node in sorted(snapshot.nodes, key=lambda item: item.name)
        if node.name in in_fabrics
        and not _held_by_others(node.name, node.labels.get(driver.skip_label, ""), driver, ledger)
        and (
            (starts and driver.may_run_on(node, in_fabrics))
            or node.labels.get(driver.skip_label) == "true"
            or node.labels.get(driver.state_label, "") not in _DONE
        )
    )


def _held_by_others(node: NodeName, value: str, driver: Driver, ledger: Ledger) -> bool:
    """Whether somebody else keeps a node's driver as it is: theirs to decide on."""
    return value == "true" and not _is_held_by_us(node, driver, ledger)


def _is_held_by_us(node: NodeName, driver: Driver, ledger: Ledger) -> bool:
    entry = ledger.entries.get(Ref(kinds.NODE, "", node))
    fields = entry.fields if entry is not None else ()
    return any(item.path[-1] == driver.skip_label and item.ours == "true" for item in fields)


def held_by_us(snapshot: Snapshot, ledger: Ledger) -> tuple[str, ...]:
    """Name what a move that has not ended holds: "DOCA driver of worker-1"."""
    return tuple(
        f"{driver.name} of {node.name}"
        for driver in DRIVERS.values()
        for node in sorted(snapshot.nodes, key=lambda item: item.name)
        if node.labels.get(driver.skip_label) == "true" and _is_held_by_us(node.name, driver, ledger)
    )


def under_way(prepared: Prepared, stage: StageName) -> str:
    """Say which nodes of a move that has begun keep the old driver, or are at it; empty when there are none."""
    labels = {node.name: node.labels for node in prepared.snapshot.nodes}
    lines = []
    for move in prepared.plan.moves:
        if move.stage != stage or not move.skip_label:
            continue
        state = move.skip_label.replace(".skip", "-state")
        begun = [
            node
            for node in move.nodes
            if labels[node].get(move.skip_label) == "true" or labels[node].get(state, "") not in _DONE
        ]
        if begun:
            keeps = "keeps its" if len(begun) == 1 else "keep their"
            lines.append(f"{', '.join(begun)} {keeps} old {move.what} until apply goes on: {move.text}")
    return "; ".join(lines)


def _of_driver(driver: Driver, kind: Kind, nodes: tuple[NodeName, ...], rules: _Rules, snapshot: Snapshot) -> Move:
    seen = _seen(driver, nodes, snapshot)
    automatic = rules.value("upgradePolicy", "autoUpgrade", default=False) is True
    drains = rules.value("upgradePolicy", "drain", "enable", default=False) is True
    return Move(
        what=driver.name,
        object=f"{kind.kind} spec.{'.'.join(driver.section[1:])}",
        seen=seen or "not loaded",
        wanted=f"{rules.version}, loaded anew" if _is_same(seen, rules.version) else rules.version,
        nodes=nodes,
        skip_label=driver.skip_label if automatic else "",
        at_once=max(1, int(rules.value("upgradePolicy", "maxParallelUpgrades", default=1))),
        how=(_DRAINS if drains else _TAKES_GPUS) if automatic else _BY_HAND,
        risk=Risk.DRAIN if automatic else Risk.DRIVER_RELOAD,
        stage=_STAGES[kind],
    )


def _together(driver: Driver, reload: Reload, rules: _Rules, snapshot: Snapshot) -> Move:
    """Describe a driver that comes to all its nodes with one write, or goes from them."""
    comes = reload.form is Form.COMES
    seen = _seen(driver, reload.nodes, snapshot)
    return Move(
        what=driver.name,
        object=f"{reload.kind.kind} spec.{'.'.join(driver.section[1:])}",
        seen=seen or (_NONE if comes else "not loaded"),
        wanted=rules.version if comes else _NONE,
        nodes=reload.nodes,
        at_once=len(reload.nodes),
        together=True,
        how=_COMES if comes else _GOES,
        stage=_STAGES[reload.kind],
    )


def _is_same(seen: str, wanted: str) -> bool:
    """Whether a loaded version is the wanted one as far as it tells: "26.04-1.1.0" of "doca3.4.1-26.04-1.1.0.0-1"."""
    return bool(seen) and (seen in wanted or seen.endswith(f" {wanted}"))


def _seen(driver: Driver, nodes: tuple[NodeName, ...], snapshot: Snapshot) -> str:
    here = (node.hardware for node in snapshot.nodes if node.name in nodes and node.hardware is not None)
    return ", ".join(sorted({driver.version(hardware) for hardware in here} - {""}))


def with_moves(plan: Plan, moves: tuple[Move, ...], snapshot: Snapshot, ledger: Ledger) -> Plan:
    """Give the plan with its moves: batches as they need them, and nodes named that do not get their turn."""
    on_nodes = tuple(move for move in moves if move.nodes)
    batches = _in_turns(plan, on_nodes) if on_nodes else plan.batches
    warnings = (*_held_warnings(plan, snapshot, ledger), *_turnless_warnings(plan, moves))
    kept = {driver.skip_label: _kept_by_others(driver, snapshot, ledger) for driver in DRIVERS.values()}
    stages = tuple(replace(stage, expectations=without_versions(stage.expectations, kept)) for stage in plan.stages)
    return replace(plan, moves=moves, batches=batches, stages=stages, warnings=(*plan.warnings, *warnings))


def held_now(snapshot: Snapshot) -> Mapping[str, frozenset[NodeName]]:
    """Name the nodes that each label holds, whoever set it."""
    labels = (driver.skip_label for driver in DRIVERS.values())
    return {
        label: frozenset(node.name for node in snapshot.nodes if node.labels.get(label) == "true") for label in labels
    }


def without_versions(
    expectations: tuple[Expectation, ...], kept: Mapping[str, Collection[NodeName]]
) -> tuple[Expectation, ...]:
    """Expect no version of a driver on nodes whose driver is kept as it is: names by the label that does it."""

    def one(item: Expectation) -> Expectation:
        if not isinstance(item, DriverLoaded):
            return item
        return replace(
            item,
            mlx5_version="" if item.node in kept[NIC_DRIVER_SKIP] else item.mlx5_version,
            gpu_version="" if item.node in kept[GPU_DRIVER_SKIP] else item.gpu_version,
        )

    return tuple(one(item) for item in expectations)


def _kept_by_others(driver: Driver, snapshot: Snapshot, ledger: Ledger) -> frozenset[NodeName]:
    nodes = ((node.name, node.labels.get(driver.skip_label, "")) for node in snapshot.nodes)
    return frozenset(name for name, value in nodes if _held_by_others(name, value, driver, ledger))


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


def _turnless_warnings(plan: Plan, moves: tuple[Move, ...]) -> Iterator[PlanWarning]:
    """Name nodes that a move holds and that no batch has: nothing would let them go."""
    admitted = set(plan.admitted)
    for move in moves:
        for node in plan.nodes if move.skip_label else ():
            if node.node in move.nodes and node.node not in admitted:
                yield PlanWarning(
                    "driver-held-without-turn",
                    f"{node.node} keeps its {move.what} ({move.skip_label}=true), and no batch has it: {node.reason}. Mend"
                    f" that, or put it back into spec.nodes, and apply; or let it go: oc label node {node.node}"
                    f" {move.skip_label}-",
                    node.node,
                )


def _in_turns(plan: Plan, moves: tuple[Move, ...]) -> tuple[Batch, ...]:
    """Cut the batches to what the moves allow: first the canaries, then those that prove a move in their place."""
    if not plan.batches:
        return ()
    size = min(move.at_once for move in moves)
    canaries, rest = plan.batches[0].nodes, [node for batch in plan.batches[1:] for node in batch.nodes]
    one_by_one = _canaries_one_by_one(plan, moves)
    seconds = _second_canaries(plan, moves)
    first = tuple(node for node in canaries if node not in one_by_one[size:])
    queues = (
        one_by_one[size:],
        [node for node in rest if node in seconds],
        [node for node in rest if node not in seconds],
    )
    later = [tuple(nodes[start : start + size]) for nodes in queues for start in range(0, len(nodes), size)]
    parts = [first, *later]
    return tuple(Batch("canary" if number == 1 else f"batch-{number}", part) for number, part in enumerate(parts, 1))


def _canaries_one_by_one(plan: Plan, moves: tuple[Move, ...]) -> list[NodeName]:
    """Name the canaries that wait for their turn; one not admitted yet is all that a new fabric's gates have to go by."""
    moving = {node for move in moves for node in move.nodes}
    was_admitted = {node.node for node in plan.nodes if node.was_admitted}
    return [node for node in plan.batches[0].nodes if node in moving & was_admitted]


def _second_canaries(plan: Plan, moves: tuple[Move, ...]) -> frozenset[NodeName]:
    """Name the first node that moves of each group whose canary does not: one that stays as it is proves nothing."""
    groups = [group for fabric in plan.fabrics for group in fabric.groups]
    found = set()
    for move in moves:
        for group in groups:
            movers = [node for node in group.nodes if node in move.nodes]
            if movers and not set(movers) & set(plan.batches[0].nodes):
                found.add(movers[0])
    return frozenset(found)
