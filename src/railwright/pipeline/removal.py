"""Remove what the plan no longer wants in the order of undoing, and wait until all of it is gone."""

from collections.abc import Mapping

from railwright.apply.means import Means
from railwright.apply.model import FabricNote, LedgerEntry
from railwright.catalog.model import Catalog
from railwright.core.errors import IntentError, StageError
from railwright.core.ids import StageName
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict
from railwright.intent.model import Method
from railwright.intent.parse import parse_intents
from railwright.pipeline.before_us import before_us, with_kept_choices
from railwright.pipeline.model import Prepared, Undone
from railwright.pipeline.prepare import earlier_intents
from railwright.pipeline.roll_back import rolled_back
from railwright.pipeline.undo_order import LAST_VF_STEP, undo_steps
from railwright.pipeline.undoing import Undoing
from railwright.pipeline.vfs_let_go import ports_of, takes_vfs, vfs_are_back
from railwright.plan.model import FabricPlan
from railwright.plan.plan import plan
from railwright.ports.world import World

UNWANTED = StageName("no-longer-wanted")


async def remove(
    pending: Mapping[Ref, LedgerEntry], prepared: Prepared, catalog: Catalog, world: World, means: Means
) -> tuple[Undone, ...]:
    """
    Remove objects of earlier applies; what an interrupted removal left in motion is waited for as well.

    Whoever calls it writes the fabrics' new documents down only afterwards: until then those of before say whether the
    SR-IOV operator still has to be waited for, and on which ports.

    Returns:
        What became of each object.

    Raises:
        StageError: something does not go, or a pool does not come back.
    """
    undoing = Undoing(world, means, UNWANTED, prepared.plan.shares, dry_run=False, pending=dict(pending))
    waits_for_vfs = leaves_sriov(prepared) or takes_vfs(pending.values())
    for step in undo_steps():
        went = await undoing.step(step)
        if went and step == LAST_VF_STEP and waits_for_vfs:
            went = await vfs_are_back(undoing, ports_of(prepared.ledger, _fabrics_before(prepared, catalog)))
        if not went:
            failed = _first_failed(undoing.objects)
            raise StageError(
                f"{failed.ref} is no longer wanted and does not go: {failed.reason}",
                hint="run the same command again once it is gone",
            )
    rolled = await rolled_back(undoing.objects, prepared, means, UNWANTED, dry_run=False)
    if any(item.verdict is Verdict.FAIL for item in rolled):
        failed = _first_failed(rolled)
        raise StageError(
            f"{failed.ref} does not come back without what is no longer wanted: {failed.reason}",
            hint="run the same command again once its nodes are updated",
        )
    return (*undoing.objects, *rolled)


def leaves_sriov(prepared: Prepared) -> bool:
    """Whether the SR-IOV operator made VFs for a fabric, by its document of before, that wants none of them now."""
    stay = {intent.name for intent in prepared.intents if intent.method is Method.SRIOV}
    return any(name not in stay and _may_be_sriov(note) for name, note in prepared.ledger.fabrics.items())


def _may_be_sriov(note: FabricNote) -> bool:
    try:
        return any(intent.method is Method.SRIOV for intent in parse_intents(note.document, str(note.name)))
    except IntentError:
        # Of a document that another version wrote nothing is known: the operator is asked, to be sure.
        return True


def _fabrics_before(prepared: Prepared, catalog: Catalog) -> tuple[FabricPlan, ...]:
    """Plan what was applied before: on its rails' ports VFs are ours, on those of a new plan perhaps not."""
    ledger = prepared.ledger
    try:
        intents = earlier_intents(ledger)
    except IntentError:
        return prepared.plan.fabrics
    return plan(with_kept_choices(intents, ledger), before_us(prepared.snapshot, ledger), catalog).fabrics


def _first_failed(objects: list[Undone] | tuple[Undone, ...]) -> Undone:
    return next(item for item in objects if item.verdict is Verdict.FAIL)
