"""
InstallPlans: approve exactly what was planned, nothing else.

With approval Manual, OLM makes an InstallPlan and waits. One that installs only planned CSVs is approved; one that
brings anything else along stays, and is named, because it would install what nobody decided on.

An InstallPlan without a phase does not wait yet: OLM is about to write its first status, and a write of ours in
between makes it give that one up and make another, for ever.
Measured: OLM 0.46.0, 2026-11-30, tests/bed/test_olm.py; the InstallPlan then keeps an empty phase, the Subscription
never gets an installPlanRef.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from railwright.apply.means import Means
from railwright.apply.model import CsvApproval, LedgerEntry, StageChanges, Write
from railwright.apply.retry import retried
from railwright.changes.model import Action, TakenField
from railwright.core import kinds
from railwright.core.errors import NotFound, WriteConflict
from railwright.core.objects import KubeObject, Ref, dig, ref_of
from railwright.ports.cluster import Selection
from railwright.ports.progress import Wrote

_APPROVED = ("spec", "approved")
_WAITS = "RequiresApproval"


@dataclass(frozen=True)
class Waiting:
    """InstallPlans that wait for an approval: those that we may give, and those that only a person can."""

    planned: tuple[KubeObject, ...]
    beyond: tuple[str, ...]
    """One line each: what they would install beyond the plan."""


def selections(approvals: tuple[CsvApproval, ...]) -> tuple[Selection, ...]:
    """What has to be watched to see InstallPlans come."""
    return tuple(Selection(kinds.INSTALL_PLAN, approval.namespace) for approval in approvals)


def waiting_plans(approvals: tuple[CsvApproval, ...], objects: Mapping[Ref, KubeObject]) -> Waiting:
    """Sort the InstallPlans that wait in the namespaces of planned operators."""
    planned: list[KubeObject] = []
    beyond: list[str] = []
    for approval in approvals:
        for ref in sorted(ref for ref in objects if ref.kind == kinds.INSTALL_PLAN):
            obj = objects[ref]
            names = set(dig(obj, "spec", "clusterServiceVersionNames", default=[]))
            if ref.namespace != approval.namespace or not names or not _waits(obj):
                continue
            others = names - set(approval.csvs)
            if not others:
                planned.append(obj)
            elif names & set(approval.csvs):
                beyond.append(f"{ref} would also install {', '.join(sorted(others))}, which is not planned")
    return Waiting(tuple(planned), tuple(beyond))


def _waits(plan: KubeObject) -> bool:
    return bool(dig(plan, "status", "phase") == _WAITS) and not dig(plan, *_APPROVED)


async def approve(plan: KubeObject, stage: StageChanges, means: Means) -> Write | None:
    """
    Approve one InstallPlan, unless it changed or went away meanwhile.

    Returns:
        The write; None when the InstallPlan has to be looked at again.
    """
    ref = ref_of(plan)
    entry = LedgerEntry(
        ref=ref,
        created=False,
        uid=str(plan["metadata"]["uid"]),
        fields=(TakenField(_APPROVED, previous=False, ours=True),),
        fabrics=(),
        order=0,
        stage=stage.stage,
    )
    await means.ledger.record_intention(entry)
    patch = {"metadata": {"resourceVersion": plan["metadata"]["resourceVersion"]}, "spec": {"approved": True}}
    try:
        await retried(lambda: means.cluster.patch(ref, patch), means.clock)
    except (WriteConflict, NotFound):
        return None
    means.progress.emit(Wrote(stage.stage, ref, "approve"))
    return Write(ref, Action.UPDATE, means.clock.now())
