"""What the pipeline gives: records of whole commands."""

from dataclasses import dataclass

from railwright.apply.model import Ledger, ObjectState, StageRecord
from railwright.changes.model import Changes, FieldChange
from railwright.core.errors import first_exit_code
from railwright.core.ids import FabricName, NodeName, StageName
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict
from railwright.doctor.model import Finding
from railwright.facts.model import Snapshot
from railwright.intent.model import Intent
from railwright.manifests.model import Manifests
from railwright.plan.model import Plan, PlanWarning, Refusal
from railwright.plan.turns import Turn
from railwright.ports.approval import Question

_EXIT_CODES = {Verdict.FAIL: 4, Verdict.PROGRESSING: 4, Verdict.UNKNOWN: 6}


def exit_code_of(verdicts: tuple[Verdict, ...], *others: int) -> int:
    """Join verdicts of stages and other exit codes into one; PASS and SKIP change nothing."""
    return first_exit_code({*(_EXIT_CODES.get(verdict, 0) for verdict in verdicts), *others})


@dataclass(frozen=True)
class Prepared:
    """
    Everything decided and compared, at one moment.

    Attributes:
        intents: what was planned: the given ones, and those of other fabrics that the ledger knows.
        problems: what could not be read, one line each; the plan was made without it.
        turn: how far the batches have come in `manifests` and `changes`; None: they are those of the whole plan.
    """

    intents: tuple[Intent, ...]
    snapshot: Snapshot
    plan: Plan
    manifests: Manifests
    changes: Changes
    ledger: Ledger
    problems: tuple[str, ...] = ()
    turn: Turn | None = None


@dataclass(frozen=True)
class ApplyRecord:
    """
    How an apply went.

    Attributes:
        stages: one record a run of a stage, in order.
        refusals: why it stopped, when the cluster changed so that the plan is refused now.
        refused_nodes: nodes that are left out, and why.
        notes: what a person should know besides.
        interrupted: the person stopped it; what was done is in the ledger.
        findings: what the doctor says of the stage that failed, causes first.
        wanted_by: the file of the wanted state.
    """

    cluster: str
    simulated: bool
    fabrics: tuple[FabricName, ...]
    stages: tuple[StageRecord, ...]
    dry_run: bool = False
    until: StageName | None = None
    refusals: tuple[Refusal, ...] = ()
    refused_nodes: tuple[Refusal, ...] = ()
    warnings: tuple[PlanWarning, ...] = ()
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    findings: tuple[Finding, ...] = ()
    wanted_by: str = ""

    @property
    def exit_code(self) -> int:
        """As core/errors.py has it."""
        verdicts = tuple(record.verdict for record in self.stages)
        return exit_code_of(verdicts, 130 if self.interrupted else 0, 7 if self.refusals else 0)


@dataclass(frozen=True)
class StageStatus:
    """
    Where one stage stands.

    Attributes:
        since: when it last ended, by the ledger; "" when that is not known.
        drift: fields that no longer hold what the plan wants, and objects that are gone.
    """

    name: StageName
    verdict: Verdict
    reason: str
    waiting_for: str = ""
    since: str = ""
    states: tuple[ObjectState, ...] = ()
    drift: tuple[tuple[Ref, tuple[FieldChange, ...]], ...] = ()


@dataclass(frozen=True)
class StatusRecord:
    """
    Where everything stands.

    Attributes:
        intents: whose status it is: given, or read from the ledger.
        applied: fabrics that the ledger knows, with the time of their last apply.
        not_admitted: nodes that are selected and not admitted, and why.
        wanted_by: the file of the wanted state; "" where it is the ledger.
        changed: where the wanted state is not what was applied, one line a fabric.
    """

    cluster: str
    simulated: bool
    intents: tuple[Intent, ...]
    stages: tuple[StageStatus, ...]
    applied: tuple[tuple[FabricName, str], ...] = ()
    not_admitted: tuple[tuple[NodeName, str], ...] = ()
    refusals: tuple[Refusal, ...] = ()
    warnings: tuple[PlanWarning, ...] = ()
    problems: tuple[str, ...] = ()
    wanted_by: str = ""
    changed: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """As core/errors.py has it; a plan that would be refused today shows, and changes nothing."""
        return exit_code_of(tuple(stage.verdict for stage in self.stages), 6 if self.problems else 0)


@dataclass(frozen=True)
class Undone:
    """
    One object that clean dealt with.

    Attributes:
        action: delete, restore, update, keep; of a pool wait, or forget when it is gone.
        reason: for keep: why it stays.
        left: fields that no longer hold our value, and stay as they are.
    """

    ref: Ref
    action: str
    verdict: Verdict
    reason: str = ""
    left: tuple[FieldChange, ...] = ()


@dataclass(frozen=True)
class CleanRecord:
    """
    How a clean went.

    Attributes:
        objects: one line an object, in the order in which it was undone.
        cannot_be_restored: what stays in hardware or was set by operators, with its value of before where known.
        notes: what a person should know besides.
        ahead: what a real run would ask before it began, with its risk, nodes and time; of a dry run alone.
    """

    cluster: str
    simulated: bool
    fabrics: tuple[FabricName, ...]
    objects: tuple[Undone, ...]
    cannot_be_restored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    dry_run: bool = False
    interrupted: bool = False
    ahead: tuple[Question, ...] = ()

    @property
    def exit_code(self) -> int:
        """As core/errors.py has it."""
        return exit_code_of(tuple(item.verdict for item in self.objects), 130 if self.interrupted else 0)
