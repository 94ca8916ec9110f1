"""Refusals as an error for people."""

from collections.abc import Iterable

from railwright.core.errors import Refused
from railwright.plan.model import NodePlan, Refusal
from railwright.report.tables import one_line

_MOST_NODES = 8
"""Nodes whose refusals are spelled out; a cluster of hundreds is refused for a few reasons, not for hundreds."""


def refused(refusals: Iterable[Refusal], nodes: Iterable[NodePlan] = (), first: Iterable[object] = ()) -> Refused:
    """
    Make one error of all refusals: each says what, where, expected, seen and the way out.

    Args:
        refusals: of the whole plan.
        nodes: of these the refused ones are named below, since they may be why the plan is refused.
        first: what a person should know before all of them, one line each.
    """
    lines = [*map(str, first), *map(_line, refusals)]
    bad = [node for node in nodes if node.refused]
    lines += [_line(item) for node in bad[:_MOST_NODES] for item in node.refused]
    if len(bad) > _MOST_NODES:
        lines.append(f"and {len(bad) - _MOST_NODES} more nodes")
    return Refused("\n".join(lines), hint="railwright plan shows everything that was decided, and why")


def _line(item: Refusal) -> str:
    where = f" [{item.where}]" if item.where and item.node is None else ""
    sides = [f"expected {item.expected}"] if item.expected else []
    if item.seen and item.seen not in item.message:
        sides.append(f"seen {one_line(item.seen)}")
    way_out = f"\n    way out: {_flat(item.hint)}" if item.hint else ""
    return f"{_flat(f'{item.code}: {item.message}{where}{_in_brackets(sides)}')}{way_out}"


def _flat(text: str) -> str:
    """Write on one line what may hold words of the cluster's, so that they are no line of ours."""
    return " ".join(text.splitlines())


def _in_brackets(parts: list[str]) -> str:
    return f" ({', '.join(parts)})" if parts else ""


def not_confirmed(what: str, done: tuple[str, ...]) -> Refused:
    """Say that nobody said yes, and what was done until then."""
    before = f"; done before: {', '.join(done)}" if done else "; nothing was done"
    return Refused(f"not confirmed: {what}{before}", hint="confirm at the terminal, or pass --yes")
