"""How a plan reads: as data for scripts, as text for the person who has to say yes."""

from collections.abc import Iterable, Mapping
from typing import Any

from railwright.changes.itemized import items_of
from railwright.changes.model import MISSING, Action, Change, Changes, FieldChange
from railwright.core.objects import Ref
from railwright.core.redaction import redact
from railwright.core.risk import Risk
from railwright.manifests.model import Manifests
from railwright.plan.model import Plan, Rail, Refusal, StagePlan
from railwright.report.model import Document
from railwright.report.plain import plain, reference
from railwright.report.tables import count, duration, one_line, table

_LONG_VALUE = 100


def plan_document(plan: Plan, manifests: Manifests, changes: Changes | None) -> Document:
    """
    Show a plan.

    Args:
        plan: what was decided.
        manifests: its objects.
        changes: against the live cluster; None when there is none to compare with.
    """
    payload = {
        "fabrics": [
            {"name": f.name, "method": f.method.value, "fabric": f.fabric.value, "environment": plain(f.environment)}
            for f in plan.fabrics
        ],
        "stages": [_stage(stage, plan, manifests, changes) for stage in plan.stages],
        "rails": [_rail(rail) for rail in plan.rails],
        "nodes": [
            {
                "name": node.node,
                "selected": node.selected,
                "admitted": list(node.admitted),
                "refused": [plain(refusal) for refusal in node.refused],
                "why": node.reason,
                "pool": node.pool or None,
            }
            for node in plan.nodes
        ],
        "other_ports": plain(plan.other_ports),
        "batches": plain(plan.batches),
        "moves": [
            {
                "what": move.what,
                "object": move.object,
                "seen": move.seen,
                "wanted": move.wanted,
                "nodes": list(move.nodes),
                "stage": move.stage,
                "risk": move.risk.value,
                "held_by": move.skip_label or None,
                "how": move.how,
            }
            for move in plan.moves
        ],
        "reaches": plain(plan.reaches),
        "decisions": plain(plan.decisions),
        "warnings": plain(plan.warnings),
        "refusals": plain(plan.refusals),
        "totals": _totals(plan, changes),
    }
    exit_code = 7 if plan.is_refused else 0
    return Document(
        "plan/v1alpha1", plan.basis.cluster, plan.basis.simulated, payload, _text(plan, manifests, changes), exit_code
    )


def _stage(stage: StagePlan, plan: Plan, manifests: Manifests, changes: Changes | None) -> dict[str, Any]:
    return {
        "name": stage.name,
        "applies": stage.applies,
        "skip_reason": stage.skip_reason or None,
        "objects": [
            reference(ref) | {"change": action, "fields": fields}
            for ref, action, fields in _objects(stage, manifests, changes)
        ],
        "gate": stage.gate,
        "risk": stage.risk_ahead.value,
        "expected_s": stage.expected_ahead_s,
        "limit_s": stage.limit_s,
        "undo": stage.undo,
        "runs": len(plan.batches) if stage.per_batch else 1,
    }


def _objects(
    stage: StagePlan, manifests: Manifests, changes: Changes | None
) -> list[tuple[Ref, str, list[dict[str, Any]]]]:
    if changes is None:
        return [(item.ref, Action.CREATE.value, []) for item in manifests.of_stage(stage.name)]
    return [
        (change.ref, change.action.value, [_field(field) for field in items_of(change)])
        for change in changes.of_stage(stage.name)
    ]


def _field(field: FieldChange) -> dict[str, Any]:
    return {
        "path": ".".join(field.path),
        "old": redact(plain(field.old)),
        "new": redact(plain(field.new)),
        "owner": field.owner or None,
        "conflict": field.conflicts,
    }


def _rail(rail: Rail) -> dict[str, Any]:
    return {
        "name": rail.name,
        "fabric": rail.fabric,
        "resource": rail.resource,
        "network": rail.network,
        "subnets": list(rail.subnets),
        "nodes": [
            {
                "node": port.node,
                "nic_pci": port.pci,
                "netdev": port.netdev,
                "rdma": port.rdma,
                "gpu_pci": port.gpu,
                "distance": port.distance.value if port.distance else None,
                "rate_gbps": port.rate_gbps,
                "reason": port.reason,
            }
            for port in rail.ports
        ],
    }


def _totals(plan: Plan, changes: Changes | None) -> dict[str, Any]:
    stages = [stage for stage in plan.stages if stage.applies and _has_work(stage, changes)]
    return {
        "expected_s": sum(stage.expected_ahead_s * (len(plan.batches) if stage.per_batch else 1) for stage in stages),
        "reboots": sum(len(plan.admitted) for stage in stages if stage.risk_ahead is Risk.REBOOT),
        "drains": sum(len(move.nodes) for move in plan.moves if move.risk is Risk.DRAIN),
        "driver_reloads": sum(len(plan.admitted) for stage in stages if stage.risk_ahead is Risk.DRIVER_RELOAD),
        "nodes": len(plan.admitted),
        "changes": {action.value: n for action in Action if (n := _count(changes, action))},
    }


def _has_work(stage: StagePlan, changes: Changes | None) -> bool:
    if changes is None:
        return True
    return _is_owed(stage) or any(change.writes for change in changes.of_stage(stage.name))


def _is_owed(stage: StagePlan) -> bool:
    """Whether nodes still have to go through a stage, though nothing of it is written."""
    return stage.ahead is None and stage.risk is not Risk.NONE


def _may_hurt(stage: StagePlan, changes: Changes | None) -> bool:
    """Whether a stage writes anything; one without objects of its own follows from the others."""
    if changes is None:
        return True
    mine = changes.of_stage(stage.name)
    return _is_owed(stage) or any(change.writes for change in mine or tuple(item for _, item in changes.items))


def _count(changes: Changes | None, action: Action) -> int:
    return sum(change.action is action for _, change in changes.items) if changes else 0


# --- text ------------------------------------------------------------------------------------------------------------


def _text(plan: Plan, manifests: Manifests, changes: Changes | None) -> str:
    if plan.is_refused:
        parts = [_heading(plan), _nodes_text(plan), _rails_text(plan), _warnings_text(plan)]
        parts.append(_refusals("This plan is refused, and nothing of it will be carried out:", plan.refusals))
        return "\n\n".join(part for part in parts if part)
    parts = [
        _heading(plan),
        _nodes_text(plan),
        _rails_text(plan),
        _decisions_text(plan),
        _moves_text(plan),
        _stages_text(plan, manifests, changes),
        _fields_text(changes),
        _reaches_text(plan),
        _warnings_text(plan),
        _summary(plan, changes),
    ]
    return "\n\n".join(part for part in parts if part)


def _warnings_text(plan: Plan) -> str:
    return _lines("warnings", (one_line(str(item)) for item in plan.warnings))


def _heading(plan: Plan) -> str:
    basis = plan.basis
    version = (
        f"OpenShift {basis.openshift_version}" if basis.openshift_version else f"Kubernetes {basis.kubernetes_version}"
    )
    fabrics = ", ".join(f"{f.name} ({f.method.value}, {f.fabric.value})" for f in plan.fabrics)
    return f"plan for {fabrics}\non {basis.cluster}: {version}, {basis.topology.value} control plane"


def _refusals(title: str, refusals: Iterable[Refusal]) -> str:
    lines = []
    for refusal in refusals:
        lines.append(f"  {refusal.code}  {refusal.where}".rstrip())
        lines.append(f"    {one_line(refusal.message)}")
        # What the message quotes already is not said twice.
        seen = "" if refusal.seen in refusal.message else refusal.seen
        if refusal.expected or seen:
            lines.append(f"    expected  {one_line(refusal.expected)}")
        if seen:
            lines.append(f"    seen      {one_line(seen)}")
        if refusal.hint:
            lines.append(f"    next      {refusal.hint}")
    return "\n".join([title, *lines]) if lines else ""


def _nodes_text(plan: Plan) -> str:
    rows = [
        (node.node, "admitted" if node.admitted else "refused" if node.refused else "untouched", node.reason)
        for node in plan.nodes
        if node.selected
    ]
    untouched = [node.node for node in plan.nodes if not node.selected]
    text = "nodes\n" + table(("node", "", "why"), rows) if rows else "nodes\n  none"
    if untouched:
        text += f"\n  {count(len(untouched), 'node')} not selected, untouched: {_some(untouched)}"
    refused = [refusal for node in plan.nodes for refusal in node.refused]
    return text + ("\n" + _refusals("refused nodes", refused) if refused else "")


def _rails_text(plan: Plan) -> str:
    rows = [
        (
            rail.name,
            port.node,
            port.pci,
            port.netdev,
            port.rdma or "-",
            port.gpu or "-",
            port.distance.value if port.distance else "-",
            f"{port.rate_gbps:g}" if port.rate_gbps else "-",
        )
        for rail in plan.rails
        for port in rail.ports[:3]
    ]
    if not rows:
        return ""
    hidden = sum(max(0, len(rail.ports) - 3) for rail in plan.rails)
    text = "rails\n" + table(("rail", "node", "NIC", "netdev", "RDMA", "GPU", "distance", "Gb/s"), rows)
    return text + (f"\n  ... and {hidden} more (all in -o json)" if hidden else "")


def _decisions_text(plan: Plan) -> str:
    alone = f"{plan.fabrics[0].name}: " if len(plan.fabrics) == 1 else ""
    rows = [(item.key.removeprefix(alone), _value(item.value), item.origin) for item in plan.decisions]
    title = "values in force (why: railwright explain KEY, or -o json)\n"
    return title + table(("key", "value", "from"), rows) if rows else ""


def _stages_text(plan: Plan, manifests: Manifests, changes: Changes | None) -> str:
    rows = []
    for stage in plan.stages:
        if not stage.applies:
            rows.append((stage.name, "-", "", "", f"skipped: {stage.skip_reason}"))
            continue
        actions: dict[str, int] = {}
        for _, action, _ in _objects(stage, manifests, changes):
            actions[action] = actions.get(action, 0) + 1
        does = ", ".join(f"{number} {action}" for action, number in actions.items()) or "nothing to write"
        runs = len(plan.batches) if stage.per_batch else 1
        time = duration(stage.expected_ahead_s) + (f" x {runs}" if runs > 1 else "")
        idle = not _may_hurt(stage, changes)
        risk = max(
            (stage.risk_ahead, *(move.risk for move in plan.moves if move.stage == stage.name)), key=lambda r: r.rank
        )
        rows.append((stage.name, "-" if idle else risk.value, "-" if idle else time, does, stage.gate))
    return "stages\n" + table(("stage", "risk", "expected", "objects", "gate"), rows)


def _moves_text(plan: Plan) -> str:
    """Show what is installed and becomes another version, and in which order the nodes go."""
    lines = []
    for move in plan.moves:
        turns = [", ".join(node for node in batch.nodes if node in move.nodes) for batch in plan.batches]
        order = [", ".join(move.nodes)] if move.together else [turn for turn in turns if turn]
        where = f"\n      {len(order)} turns: {_some(order, 4)}" if len(order) > 1 else f"\n      {''.join(order)}"
        lines.append(f"{move.text}  ({move.object})" + (where if move.nodes else "") + f"\n      {move.how}")
        if move.skip_label:
            lines[-1] += f"; until its turn a node keeps what it has ({move.skip_label}=true)"
    return _lines("moves: what is installed and becomes another version", lines)


def _fields_text(changes: Changes | None) -> str:
    """Show each differing field with its owner; nodes that get the same labels share one line."""
    if changes is None:
        return ""
    lines: list[str] = []
    alike: dict[tuple[str, ...], list[str]] = {}
    for _, change in changes.items:
        if change.node is not None:
            alike.setdefault(tuple(_field_lines(change)), []).append(change.node)
        elif change.fields:
            lines.append(f"  {change.action.value} {change.ref}")
            lines.extend(f"    {line}" for line in _field_lines(change))
    for fields, nodes in alike.items():
        if fields:
            lines.append(f"  label {count(len(nodes), 'node')}: {_some(nodes)}")
            lines.extend(f"    {line}" for line in fields)
    return "\n".join(["fields that change", *lines]) if lines else ""


def _field_lines(change: Change) -> Iterable[str]:
    for field in items_of(change):
        owner = f"  (owner: {field.owner})" if field.owner else ""
        yield f"{'.'.join(field.path)}: {_value(field.old)} -> {_value(field.new)}{owner}"


def _value(value: Any) -> str:
    if value is MISSING:
        return "(absent)"
    text = str(redact(plain(value))).replace("\n", " ")
    return text if len(text) <= _LONG_VALUE else text[:_LONG_VALUE] + "..."


def _reaches_text(plan: Plan) -> str:
    return _lines(
        "what no selector holds back, and the nodes it reaches",
        (
            f"{reach.what}: {_some(reach.nodes)}" + (f"\n      {reach.mitigation}" if reach.mitigation else "")
            for reach in plan.reaches
        ),
    )


def _summary(plan: Plan, changes: Changes | None) -> str:
    totals: Mapping[str, Any] = _totals(plan, changes)
    what = ", ".join(f"{number} {action}" for action, number in totals["changes"].items())
    harm = ", ".join(
        count(totals[key], noun)
        for key, noun in (("reboots", "reboot"), ("drains", "drain"), ("driver_reloads", "driver reload"))
        if totals[key]
    )
    return (
        f"in all: about {duration(totals['expected_s'])}, {harm or 'no reboot, drain or driver reload'}, "
        f"{count(totals['nodes'], 'node')}" + (f"; objects: {what}" if what else "")
    )


def _lines(title: str, lines: Iterable[str]) -> str:
    found = [f"  {line}" for line in lines]
    return "\n".join([title, *found]) if found else ""


def _some(names: Iterable[str], most: int = 6) -> str:
    listed = list(names)
    text = ", ".join(listed[:most])
    return text if len(listed) <= most else f"{text} and {len(listed) - most} more"
