"""Remove what the plan no longer wants in the order of undoing, and wait until all of it is gone."""

from collections.abc import Mapping

from railwright.apply.means import Means
from railwright.apply.model import LedgerEntry
from railwright.core.errors import StageError
from railwright.core.ids import StageName
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict
from railwright.pipeline.model import Prepared, Undone
from railwright.pipeline.roll_back import rolled_back
from railwright.pipeline.undo_order import LAST_VF_STEP, undo_steps
from railwright.pipeline.undoing import Undoing
from railwright.pipeline.vfs_let_go import ports_of, takes_vfs, vfs_are_back
from railwright.ports.world import World

UNWANTED = StageName("no-longer-wanted")


async def remove(
    pending: Mapping[Ref, LedgerEntry], prepared: Prepared, world: World, means: Means
) -> tuple[Undone, ...]:
    """
    Remove objects of earlier applies; pools that an interrupted removal left rolling are waited for as well.

    Returns:
        What became of each object.

    Raises:
        StageError: something does not go, or a pool does not come back.
    """
    undoing = Undoing(world, means, UNWANTED, prepared.plan.shares, dry_run=False, pending=dict(pending))
    waits_for_vfs = takes_vfs(pending.values())
    for step in undo_steps():
        went = await undoing.step(step)
        if went and step == LAST_VF_STEP and waits_for_vfs:
            went = await vfs_are_back(undoing, ports_of(prepared.ledger))
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


def _first_failed(objects: list[Undone] | tuple[Undone, ...]) -> Undone:
    return next(item for item in objects if item.verdict is Verdict.FAIL)
