"""What clean says and asks before it touches anything: the whole of it first, then each stage that may hurt."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from railwright.apply.model import LedgerEntry
from railwright.changes.model import Action
from railwright.core import kinds
from railwright.core.ids import NodeName, StageName
from railwright.core.objects import Ref
from railwright.core.risk import Risk
from railwright.pipeline.model import Prepared, Undone
from railwright.pipeline.refusals import not_confirmed
from railwright.pipeline.runs import pods_on
from railwright.plan.model import StagePlan
from railwright.ports.approval import Approval, Question
from railwright.report.tables import count, duration

_WRITES = frozenset({"delete", "restore", "update"})
"""Actions that progress shows, object by object."""


@dataclass(frozen=True)
class Undo:
    """
    Everything that is going to be undone.

    Attributes:
        entries: of the ledger.
        objects: what becomes of each object, as a dry run found it.
        before: the state with everything that the ledger knows.
        rest: plan of the fabrics that stay; None when none does.
        notes: what goes along, as the dry run found it.
    """

    entries: tuple[LedgerEntry, ...]
    objects: tuple[Undone, ...]
    before: Prepared
    rest: Prepared | None
    notes: tuple[str, ...] = ()

    @property
    def nodes(self) -> tuple[NodeName, ...]:
        """Nodes that are, or may be, in a fabric."""
        return tuple(node.node for node in self.before.plan.nodes if node.was_admitted or node.admitted)


def ask(undo: Undo, approval: Approval) -> None:
    """
    Ask once for each stage whose undoing may hurt, the last stage first; the first question shows everything.

    Raises:
        Refused: the answer is no.
    """
    for question in questions(undo):
        if not approval.approve(question):
            raise not_confirmed(question.what, ())


def questions(undo: Undo) -> tuple[Question, ...]:
    """Give the questions, in the order in which they are asked: a dry run shows them and asks none."""
    stages = _risky(undo)
    whole = _whole(undo, stages)
    pods = pods_on(undo.nodes, undo.before)
    return tuple(
        Question(
            risk=stage.risk,
            what=f"undo of stage {stage.name}: {stage.undo} ({count(len(refs), 'object')})",
            nodes=undo.nodes,
            expected_s=stage.expected_s,
            details=(*(whole if number == 0 else ()), *pods),
            again=tuple(_line(item) for item in undo.objects if item.action in _WRITES) if number == 0 else (),
        )
        for number, (stage, refs) in enumerate(stages.items())
    )


def _risky(undo: Undo) -> Mapping[StagePlan, list[Ref]]:
    """Find the stages whose undoing may hurt, the last one first, with the objects of each."""
    found: dict[StagePlan, list[Ref]] = {}
    for stage in reversed(undo.before.plan.stages):
        refs = [item.ref for item in undo.entries if item.stage == stage.name and item.ref.kind != kinds.INSTALL_PLAN]
        refs += _rewritten(undo.rest, stage.name)
        if stage.risk is not Risk.NONE and refs:
            found[stage] = refs
    return found


def _rewritten(rest: Prepared | None, stage: StageName) -> list[Ref]:
    """Name the objects of a stage that change for the fabrics that stay."""
    changes = rest.changes.of_stage(stage) if rest else ()
    return [change.ref for change in changes if change.action is Action.UPDATE and change.fields]


def _whole(undo: Undo, stages: Iterable[StagePlan]) -> tuple[str, ...]:
    """Spell everything that is about to happen: how much, how risky, how long, and every object."""
    stages = tuple(stages)
    done: dict[str, int] = {}
    for item in undo.objects:
        done[item.action] = done.get(item.action, 0) + 1
    summary = ", ".join(f"{number} {action}" for action, number in done.items())
    worst = max((stage.risk for stage in stages), key=lambda risk: risk.rank, default=Risk.NONE)
    total_s = sum(stage.expected_s for stage in stages)
    lines = [
        f"the whole of it: {summary}; {count(len(stages), 'step')} with a risk, the worst: {worst.value}; about {duration(total_s)}"
    ]
    lines += [f"  {stage.name}: {stage.risk.value}, about {duration(stage.expected_s)}" for stage in stages]
    lines += [_line(item) for item in undo.objects]
    return (*lines, *undo.notes)


def _line(item: Undone) -> str:
    return f"  {item.action} {item.ref}" + (f": {item.reason}" if item.reason else "")
