"""What apply takes, keeps and gives."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from railwright.changes.model import Action, Change, TakenField
from railwright.core.ids import FabricName, NodeName, StageName
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict
from railwright.plan.model import Expectation


@dataclass(frozen=True)
class CsvApproval:
    """InstallPlans in `namespace` that install exactly `csvs` (a subset of them) are approved, no others."""

    namespace: str
    csvs: tuple[str, ...]


@dataclass(frozen=True)
class StageChanges:
    """Everything apply needs for one run of one stage."""

    stage: StageName
    batch: str
    nodes: tuple[NodeName, ...]
    changes: tuple[Change, ...]
    gated: tuple[Ref, ...]
    """Objects that the gate judges, changed or not."""
    expectations: tuple[Expectation, ...]
    approvals: tuple[CsvApproval, ...]
    fabrics: tuple[FabricName, ...]
    expected_s: float
    limit_s: float
    hold_s: float
    dry_run: bool = False
    take_over: bool = False
    """Consent to overwrite fields of other owners, given for this run."""
    owners: Mapping[Ref, tuple[FabricName, ...]] = field(default_factory=dict)
    """For whom each object is; one that is missing here belongs to every fabric."""


@dataclass(frozen=True)
class LedgerEntry:
    """One object that we made (`created`) or took fields of."""

    ref: Ref
    created: bool
    uid: str
    """Of the object that we made; "" until its first write is confirmed."""
    fields: tuple[TakenField, ...]
    fabrics: tuple[FabricName, ...]
    """Empty: shared by every fabric."""
    order: int
    stage: StageName
    embedded: tuple[tuple[str, str], ...] = ()
    recorded_at: str = ""
    """When the intention was written, RFC 3339: an object that is older was not made by us."""


@dataclass(frozen=True)
class StageNote:
    """What the ledger keeps of a stage that ended: for `status`, and for `verified`."""

    stage: StageName
    verdict: Verdict
    reason: str
    ended_at: str


@dataclass(frozen=True)
class FabricNote:
    """One fabric that was applied: its document, so that a later plan can be made with it."""

    name: FabricName
    document: str
    applied_at: str
    stages: tuple[StageNote, ...] = ()
    before: tuple[tuple[str, str], ...] = ()
    """What may not come back (VFs, labels that operators set), as it was before the first apply; empty: not noted."""
    subnets: tuple[str, ...] = ()
    """What was chosen when none were asked for: kept, whatever other fabrics come and go."""


@dataclass(frozen=True)
class Ledger:
    """All that railwright knows it did on this cluster."""

    fabrics: Mapping[FabricName, FabricNote] = field(default_factory=dict)
    entries: Mapping[Ref, LedgerEntry] = field(default_factory=dict)


@dataclass(frozen=True)
class Write:
    """One write that was done."""

    ref: Ref
    action: Action
    at: datetime


@dataclass(frozen=True)
class ObjectState:
    """One object or expectation at the end of a gate, or now."""

    what: str
    readiness: str
    reason: str
    waiting_for: str


@dataclass(frozen=True)
class StageRecord:
    """How a stage ended; a failed gate is a value, not an exception."""

    stage: StageName
    batch: str
    verdict: Verdict
    reason: str
    waiting_for: str
    started_at: str
    ended_at: str
    elapsed_s: float
    expected_s: float
    writes: tuple[Write, ...] = ()
    states: tuple[ObjectState, ...] = ()
