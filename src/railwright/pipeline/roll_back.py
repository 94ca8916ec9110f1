"""The last roll-out: pools whose MachineConfig went are Updated again, without it, before clean is done."""

from collections.abc import Iterable

from railwright.apply.gate import Gate
from railwright.apply.means import Means
from railwright.apply.model import StageChanges
from railwright.core import kinds
from railwright.core.ids import StageName
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict
from railwright.pipeline.model import Prepared, Undone
from railwright.plan.machine import pool_of
from railwright.plan.model import NODES_PREPARED, PoolUpdated
from railwright.report.tables import duration

_ACTION = "wait"


def pools_rolling(objects: Iterable[Undone]) -> tuple[PoolUpdated, ...]:
    """
    Name what has to be true of pools once these objects were undone.

    Args:
        objects: what was deleted, or changed for fabrics that stay.
    """
    gone: dict[str, set[str]] = {}
    for item in objects:
        pool = pool_of(item.ref)
        if pool and item.verdict is Verdict.PASS and item.action in {"delete", "update"}:
            names = gone.setdefault(pool, set())
            if item.action == "delete" and item.ref.kind == kinds.MACHINE_CONFIG:
                names.add(item.ref.name)
    return tuple(PoolUpdated(pool, "", without=tuple(sorted(names))) for pool, names in sorted(gone.items()))


async def rolled_back(
    expected: tuple[PoolUpdated, ...], before: Prepared, means: Means, stage: StageName, *, dry_run: bool
) -> tuple[Undone, ...]:
    """Wait until these pools are Updated; a dry run says only that it would, and for how long."""
    if not expected:
        return ()
    timing = before.plan.stage(NODES_PREPARED)
    refs = [Ref(kinds.MACHINE_CONFIG_POOL, "", item.pool) for item in expected]
    words = f"its nodes reboot once more, one after the other, about {duration(timing.expected_s)}"
    if dry_run:
        return tuple(Undone(ref, _ACTION, Verdict.PASS, words) for ref in refs)
    changes = StageChanges(
        stage=stage,
        batch="",
        nodes=(),
        changes=(),
        gated=(),
        expectations=expected,
        approvals=(),
        fabrics=(),
        expected_s=timing.expected_s,
        limit_s=timing.limit_s,
        hold_s=timing.hold_s,
    )
    result = await Gate(changes, means, {}, always_holds=True).wait()
    good = result.verdict is Verdict.PASS
    return tuple(
        Undone(ref, _ACTION, Verdict.PASS if good else Verdict.FAIL, words if good else result.reason) for ref in refs
    )
