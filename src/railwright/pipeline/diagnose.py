"""Read, ask the doctor, and mend what can be mended without risk."""

from dataclasses import dataclass, replace

from railwright.apply.ledger import NAMESPACE_REF, LedgerStore
from railwright.apply.model import Ledger, StageChanges, StageRecord
from railwright.apply.needs import change_needs, ledger_needs
from railwright.apply.ours import known_refs, taken_by_ref
from railwright.apply.stage import apply as apply_stage
from railwright.catalog.model import Catalog
from railwright.changes.compare import compare
from railwright.core.errors import PermissionMissing
from railwright.core.ids import NodeName, RuleId, StageName
from railwright.core.risk import Risk
from railwright.core.verdicts import Verdict
from railwright.doctor.commands import Typed, as_typed
from railwright.doctor.diagnose import diagnose
from railwright.doctor.model import Diagnosis, Finding, Kept, Proof, Severity, narrowed
from railwright.facts.discover import discover
from railwright.facts.model import Scope, Snapshot
from railwright.facts.script import node_script
from railwright.intent.model import Intent
from railwright.manifests.model import Manifest
from railwright.pipeline.before_us import before_us, with_kept_choices
from railwright.pipeline.live import read_live
from railwright.pipeline.prepare import earlier_intents, read_ledger
from railwright.pipeline.rights import check_rights
from railwright.plan.model import VERIFIED, Plan, Refusal
from railwright.plan.plan import plan
from railwright.ports.progress import Progress
from railwright.ports.world import World
from railwright.report.doctor import doctor_document
from railwright.report.model import Document
from railwright.report.tables import count

REMEDIES = StageName("doctor-remedies")
_FIX_EXPECTED_S, _FIX_LIMIT_S, _FIX_HOLD_S = 10.0, 60.0, 2.0
"""Nothing is waited for but the writes themselves: a remedy shows in the next diagnosis."""
_PLAINLY = Typed()
_UNWANTED = "judged by no wanted state: none was given, and the ledger keeps none; -f FILE gives one"


@dataclass(frozen=True)
class DoctorRecord:
    """
    What the doctor said of one cluster.

    Attributes:
        taken_at: when the facts were read.
        planned: whether a plan was judged with; without one only what is there is judged.
        wanted: where the wanted state came from; empty for none.
        refusals: why the plan of it must not be carried out; left out where single rules were asked.
        is_blind: the plan is refused for nothing but that no node could be read, which is no finding.
        fixed: keys of the findings whose remedy was applied, and how that ended; None when nothing was to be mended.
        fail_on: findings from this severity on make the exit code 5; None for none.
    """

    cluster: str
    simulated: bool
    taken_at: str
    diagnosis: Diagnosis
    planned: bool = False
    wanted: str = ""
    refusals: tuple[Refusal, ...] = ()
    is_blind: bool = False
    problems: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    fix_record: StageRecord | None = None
    fail_on: Severity | None = Severity.ERROR

    @property
    def exit_code(self) -> int:
        """As core/errors.py has it."""
        if self.fix_record is not None and self.fix_record.verdict is not Verdict.PASS:
            return 4
        if self.refusals and self.fail_on is not None and not self.is_blind:
            return 5
        return exit_code_of(self.diagnosis, self.fail_on) or (6 if self.problems else 0)


def exit_code_of(diagnosis: Diagnosis, fail_on: Severity | None) -> int:
    """Give 5 for a finding that is grave enough, 6 for a rule that could not answer, else 0."""
    if fail_on is not None and any(item.severity.rank >= fail_on.rank for item in diagnosis.findings):
        return 5
    return 6 if diagnosis.unknown else 0


@dataclass(frozen=True)
class Asked:
    """
    What to ask.

    Attributes:
        nodes: keeps findings of these nodes and of the cluster; empty keeps all.
        wanted_from: what the wanted state is called in the answer, such as the name of its file.
        typed: the options with which printed commands of railwright are to be called.
    """

    only: frozenset[RuleId] = frozenset()
    skip: frozenset[RuleId] = frozenset()
    nodes: frozenset[NodeName] = frozenset()
    fix: bool = False
    fail_on: Severity | None = Severity.ERROR
    wanted_from: str = ""
    typed: Typed = _PLAINLY


async def examine(
    world: World, intents: tuple[Intent, ...] | None, catalog: Catalog, progress: Progress, asked: Asked
) -> DoctorRecord:
    """
    Read the cluster and say what is wrong.

    Args:
        intents: what is wanted; None for the fabrics in the ledger, of which there may be none.

    Raises:
        ClusterError: the cluster does not answer, or refuses us; with `fix` also when it refuses a remedy.
    """
    snapshot = await discover(world.cluster, world.node, Scope(events=True, logs=True), progress, world.clock)
    ledger, problem = await read_ledger(world)
    wanted = earlier_intents(ledger) if intents is None else intents
    decided = planned(snapshot, wanted, ledger, catalog)
    kept = Kept(_proofs(ledger), problem)
    whole = diagnose(snapshot, catalog, decided, kept=kept, only=asked.only, skip=asked.skip)
    seen = narrowed(whole, asked.nodes)
    found = replace(seen, findings=as_typed(seen.findings, asked.typed))
    record = DoctorRecord(
        cluster=world.cluster.name,
        simulated=world.cluster.simulated,
        taken_at=snapshot.taken_at,
        diagnosis=found,
        planned=decided is not None,
        wanted=_wanted(wanted, asked.wanted_from if intents is not None else "the ledger"),
        refusals=decided.refusals if decided is not None and not asked.only else (),
        is_blind=decided is not None and _is_blind(decided),
        problems=(*((problem,) if problem else ()), *_hidden(snapshot)),
        fail_on=asked.fail_on,
    )
    return await _mended(world, record, snapshot, ledger, progress) if asked.fix else record


def planned(snapshot: Snapshot, intents: tuple[Intent, ...], ledger: Ledger, catalog: Catalog) -> Plan | None:
    """Plan what is wanted; None when nothing is."""
    if not intents:
        return None
    return plan(with_kept_choices(intents, ledger), before_us(snapshot, ledger), catalog)


def _hidden(snapshot: Snapshot) -> tuple[str, ...]:
    """Say what this login may not read: what a rule would have found there is not known."""
    denied = PermissionMissing.code
    return tuple(
        f"{item.what}: {item.why.removeprefix(f'{denied}: ')}"
        for item in snapshot.cluster.unseen
        if item.why.startswith(denied)
    )


def _is_blind(decided: Plan) -> bool:
    """Whether the plan is refused for nothing but that no node could be read."""
    codes = {item.code for node in decided.nodes if node.selected for item in node.refused}
    return {item.code for item in decided.refusals} == {"no-node-admitted"} and codes == {"node-not-read"}


def _wanted(intents: tuple[Intent, ...], origin: str) -> str:
    """Say by what was judged."""
    names = ", ".join(intent.name for intent in intents)
    return f"{count(len(intents), 'fabric')} of {origin or 'the wanted state'}: {names}" if intents else ""


def _proofs(ledger: Ledger) -> tuple[Proof, ...]:
    """Give how the last verify of each fabric ended."""
    return tuple(
        Proof(name, stage.verdict, stage.reason, stage.ended_at)
        for name, note in sorted(ledger.fabrics.items())
        for stage in note.stages
        if stage.stage == VERIFIED
    )


def is_fixable(finding: Finding) -> bool:
    """Whether `--fix` may act on a finding by itself."""
    return finding.remedy.patch is not None and finding.remedy.risk is Risk.NONE


async def _mended(
    world: World, record: DoctorRecord, snapshot: Snapshot, ledger: Ledger, progress: Progress
) -> DoctorRecord:
    """Apply the remedies that have no risk, in one stage of their own, through the ledger."""
    chosen = [finding for finding in record.diagnosis.findings if is_fixable(finding)]
    patches = {finding.remedy.patch.ref: finding.remedy.patch for finding in chosen if finding.remedy.patch}
    if not patches:
        return record
    items = tuple(Manifest(REMEDIES, patch.body, (), partial=True) for patch in patches.values())
    live = await read_live(world.cluster, world.clock, patches)
    changes = compare(items, live.objects, known_refs(ledger, live.objects), taken=taken_by_ref(ledger))
    stage = StageChanges(
        stage=REMEDIES,
        batch="",
        nodes=(),
        changes=changes.of_stage(REMEDIES),
        gated=(),
        expectations=(),
        approvals=(),
        fabrics=(),
        expected_s=_FIX_EXPECTED_S,
        limit_s=_FIX_LIMIT_S,
        hold_s=_FIX_HOLD_S,
    )
    has_namespace = NAMESPACE_REF in snapshot.cluster.objects
    wanted = tuple(need for change in stage.changes for need in change_needs(change))
    needs = (*ledger_needs(has_namespace=has_namespace), *wanted)
    await check_rights(world, "doctor --fix", needs, hint="leave --fix out, or ask for a role with these rights")
    store = LedgerStore(world.cluster, world.clock)
    await store.open()
    try:
        done = await apply_stage(
            stage, world.cluster, world.node, world.clock, progress, ledger=store, script=node_script()
        )
    finally:
        await store.close()
    return replace(record, fixed=tuple(finding.key for finding in chosen), fix_record=done)


def diagnosis_document(record: DoctorRecord) -> Document:
    """Show what the doctor said of a cluster."""
    outcome = record.fix_record
    return doctor_document(
        record.diagnosis,
        cluster=record.cluster,
        simulated=record.simulated,
        exit_code=record.exit_code,
        taken_at=record.taken_at,
        wanted=record.wanted,
        unwanted=_UNWANTED,
        refusals=record.refusals,
        problems=record.problems,
        fixed=record.fixed,
        fix_outcome=f"{outcome.verdict.value}: {outcome.reason}" if outcome else "",
    )


def text_document(diagnosis: Diagnosis, *, fail_on: Severity | None = Severity.ERROR) -> Document:
    """Show what pasted text tells."""
    return doctor_document(
        diagnosis, cluster="", simulated=False, exit_code=exit_code_of(diagnosis, fail_on), of="in this text"
    )
