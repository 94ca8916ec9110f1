"""Remove what apply made and put back what it changed; what others made or still use stays."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace

from railwright.apply.lease import RunningElsewhere
from railwright.apply.ledger import NAMESPACE_REF, LedgerStore, has_moved
from railwright.apply.means import Means
from railwright.apply.model import Ledger, LedgerEntry, StageChanges
from railwright.apply.writer import Writer
from railwright.catalog.model import Catalog
from railwright.changes.model import Action
from railwright.core import kinds
from railwright.core.errors import ClusterError, Interrupted, ObjectRefused, Refused, UsageError, WriteConflict
from railwright.core.ids import FabricName, StageName
from railwright.core.verdicts import Verdict
from railwright.facts.script import node_script
from railwright.intent.model import Intent, Method
from railwright.pipeline.clean_questions import Undo, ask, questions
from railwright.pipeline.leftovers import cannot_be_restored, unknown_to_ledger
from railwright.pipeline.model import CleanRecord, Prepared, Undone
from railwright.pipeline.moves import held_by_us
from railwright.pipeline.needs import Extent, undoing_needs
from railwright.pipeline.prepare import prepare_from, prepare_ledger_whole
from railwright.pipeline.refusals import refused
from railwright.pipeline.rights import check_rights
from railwright.pipeline.roll_back import forgotten, is_rolling_entry, rolled_back, rolling_entry
from railwright.pipeline.still_used import why_kept
from railwright.pipeline.undo_order import DRIVER_KINDS, LAST_NETWORK_STEP, LAST_VF_STEP, undo_steps
from railwright.pipeline.undoing import Undoing
from railwright.pipeline.vfs_let_go import OurPorts, ports_of, takes_vfs, vfs_are_back
from railwright.ports.approval import Approval, Question
from railwright.ports.progress import Progress, Silent
from railwright.ports.world import World

CLEAN = StageName("clean")


@dataclass
class _Job:
    """One clean on its way, or its rehearsal; `before` is the state with everything that the ledger knows."""

    store: LedgerStore
    names: tuple[FabricName, ...]
    before: Prepared
    undoing: Undoing
    rest: Prepared | None = None
    """Plan of the fabrics that stay; None when none does."""

    @property
    def dry_run(self) -> bool:
        """Whether the server only checks."""
        return self.undoing.dry_run

    @property
    def undoes_sriov(self) -> bool:
        """Whether a fabric goes for which the SR-IOV operator made VFs; its intent goes last of all."""
        return any(intent.method is Method.SRIOV and intent.name in self.names for intent in self.before.intents)

    @property
    def ports(self) -> OurPorts:
        """Where VFs of what goes may be."""
        fabrics = self.before.plan.fabrics
        return ports_of(self.before.ledger, (fabric for fabric in fabrics if fabric.name in self.names))


async def clean(
    world: World,
    fabrics: tuple[FabricName, ...] | None,
    catalog: Catalog,
    progress: Progress,
    approval: Approval,
    *,
    dry_run: bool = False,
) -> CleanRecord:
    """
    Undo fabrics by the ledger, in the reverse order; killed and run again it goes on.

    Args:
        fabrics: which; None for all. Removing one of several is the plan without it, compared with the ledger.

    Raises:
        Refused: a node would be cut off, a risk was not confirmed, or the plan of what stays is refused.
        UsageError: a name that the ledger does not know.
        PermissionMissing: this login lacks rights; each is named, and nothing was written.
        WriteConflict: another railwright is, or was meanwhile, writing to this cluster.
        ClusterError: the cluster does not answer, or refuses us.
    """
    store = LedgerStore(world.cluster, world.clock)
    ledger = await store.load()
    names = _names(ledger, fabrics)
    before = await prepare_ledger_whole(world, ledger, catalog, progress)
    staying = tuple(intent for intent in before.intents if intent.name not in names)
    _check_no_move(staying, before)
    rest = await prepare_from(world, before.snapshot, staying, ledger, catalog) if staying else None
    if rest is not None and rest.plan.is_refused:
        raise refused(rest.plan.refusals)
    entries = _entries_to_undo(ledger, rest)
    means = Means(world.cluster, world.node, world.clock, progress, store, node_script())
    pending = {entry.ref: entry for entry in entries}
    _check_uplinks(entries, before)
    if ledger.entries and not dry_run:
        await check_rights(world, "clean", undoing_needs(Extent(before, whole=not staying)))
    quiet = means if dry_run else replace(means, progress=Silent())
    rehearsal = Undoing(world, quiet, CLEAN, before.plan.shares, dry_run=True, pending=dict(pending))
    undoing = rehearsal if dry_run else Undoing(world, means, CLEAN, before.plan.shares, dry_run=False, pending=pending)
    interrupted = False
    ahead: tuple[Question, ...] = ()
    try:
        await _carry_out(_Job(store, names, before, rehearsal, rest))
        undo = Undo(entries, tuple(rehearsal.objects), before, rest, tuple(rehearsal.notes))
        if dry_run:
            ahead = questions(undo)
        else:
            ask(undo, approval)
            await _carry_out(_Job(store, names, before, undoing, rest))
    except (asyncio.CancelledError, Interrupted):
        interrupted = True
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
    finally:
        with suppress(ClusterError):
            await store.close()
    return CleanRecord(
        cluster=world.cluster.name,
        simulated=world.cluster.simulated,
        fabrics=names,
        objects=tuple(undoing.objects),
        cannot_be_restored=cannot_be_restored(entries, ledger, before.snapshot),
        notes=(*undoing.notes, *unknown_to_ledger(ledger, before.snapshot)),
        dry_run=dry_run,
        interrupted=interrupted,
        ahead=ahead,
    )


def _names(ledger: Ledger, fabrics: tuple[FabricName, ...] | None) -> tuple[FabricName, ...]:
    """Choose the fabrics. Raises UsageError for one that the ledger does not know, unless it knows none at all."""
    if fabrics is None:
        return tuple(sorted(ledger.fabrics))
    unknown = [name for name in fabrics if name not in ledger.fabrics]
    if unknown and ledger.fabrics:
        known = ", ".join(sorted(ledger.fabrics))
        raise UsageError(f"no fabric {', '.join(unknown)} was applied here", hint=f"applied: {known}")
    return tuple(name for name in fabrics if name in ledger.fabrics)


def _check_no_move(staying: tuple[Intent, ...], before: Prepared) -> None:
    """
    Refuse to remove some fabrics while a move holds drivers: what is written for the others would let them all go.

    Raises:
        Refused: naming what is held.
    """
    held = held_by_us(before.snapshot, before.ledger)
    if staying and held:
        raise Refused(
            f"drivers are on their way to another version, and held until their nodes' turn: {', '.join(held)}",
            hint="end that first: railwright apply, with the new version or the old one; or clean every fabric",
        )


def _entries_to_undo(ledger: Ledger, rest: Prepared | None) -> tuple[LedgerEntry, ...]:
    """Everything that no fabric that stays wants; the ledger's own namespace goes last, by itself."""
    wanted = {item.ref for item in rest.manifests.items} if rest else set()
    kept_operators = rest is not None
    return tuple(
        entry
        for ref, entry in ledger.entries.items()
        if ref not in wanted
        and ref != NAMESPACE_REF
        and not is_rolling_entry(entry)
        and not (kept_operators and ref.kind in {kinds.INSTALL_PLAN, kinds.CLUSTER_SERVICE_VERSION})
    )


def _check_uplinks(entries: tuple[LedgerEntry, ...], before: Prepared) -> None:
    """
    Refuse to take a driver or VFs from a node whose own traffic goes through them by now, or may, for all we can see.

    A node that is not Ready does not hold clean up: it may be the driver that cut it off.

    Raises:
        Refused: naming nodes and paths.
    """
    if not any(entry.ref.kind in DRIVER_KINDS for entry in entries):
        return
    cut = [
        refusal
        for node in before.plan.nodes
        if node.was_admitted or node.admitted
        for refusal in node.refused
        if "uplink" in refusal.code or refusal.code == "node-not-read"
    ]
    if cut:
        raise refused(cut)


async def _carry_out(job: _Job) -> None:
    if not await job.store.is_there():
        return
    if not job.dry_run:
        await job.store.open()
        if has_moved(job.before.ledger, job.store.ledger):
            raise WriteConflict(
                "another railwright changed this cluster since clean looked at it; nothing was undone",
                hint="run the same command again: it looks again, and shows what it is going to do",
            )
    # Asked before the first step, which takes policies out of what is pending; whatever the ledger still has of them.
    waits_for_vfs = not job.dry_run and (job.undoes_sriov or takes_vfs(job.undoing.pending.values()))
    for step_name in undo_steps():
        if not await job.undoing.step(step_name):
            return
        if step_name == LAST_VF_STEP and waits_for_vfs and not await vfs_are_back(job.undoing, job.ports):
            return
        if step_name == LAST_NETWORK_STEP and job.rest is not None and not await _write_rest(job, job.rest):
            return
    undoing = job.undoing
    rolled = await rolled_back(undoing.objects, job.before, undoing.means, CLEAN, dry_run=job.dry_run)
    undoing.objects += rolled
    undoing.notes += forgotten(rolled)
    if all(item.verdict is Verdict.PASS for item in rolled):
        await _remove_ledger(job)


async def _remove_ledger(job: _Job) -> None:
    """Forget the fabrics, and when nothing is left the ledger itself with its namespace."""
    whole = not set(job.store.ledger.fabrics) - set(job.names)
    left = [item for item in job.undoing.objects if item.action == "keep" or item.verdict is Verdict.FAIL]
    ours = NAMESPACE_REF in job.store.ledger.entries
    held = await _held_in_ours(job) if whole and ours else ""
    if job.dry_run:
        gone = whole and ours and not left and not held
    else:
        for name in job.names:
            await job.store.remove_fabric(name)
        gone = whole and await job.store.remove_all(with_namespace=not held)
    if held and not left:
        job.undoing.objects.append(Undone(NAMESPACE_REF, "keep", Verdict.SKIP, held))
    if gone:
        job.undoing.objects.append(Undone(NAMESPACE_REF, "delete", Verdict.PASS, "the ledger"))


async def _held_in_ours(job: _Job) -> str:
    """Say what others put into the ledger's namespace."""
    entry = job.store.ledger.entries[NAMESPACE_REF]
    return await why_kept(entry, job.undoing.world, job.store.maps)


async def _write_rest(job: _Job, rest: Prepared) -> bool:
    """Write what the fabrics that stay want of shared objects now: without the entries of the removed ones."""
    known = job.store.ledger.entries
    stage = StageChanges(
        stage=CLEAN,
        batch="",
        nodes=(),
        changes=(),
        gated=(),
        expectations=(),
        approvals=(),
        fabrics=tuple(fabric.name for fabric in rest.plan.fabrics),
        expected_s=0.0,
        limit_s=0.0,
        hold_s=0.0,
        dry_run=job.dry_run,
        owners={item.ref: item.fabrics for item in rest.manifests.items},
    )
    writer = Writer(stage, job.undoing.means)
    for _, change in rest.changes.items:
        if change.ref not in known or change.action in {Action.UNCHANGED, Action.CREATE}:
            continue
        rolling = rolling_entry(change.ref, CLEAN)
        if rolling is not None and not job.dry_run:
            await job.store.record_intention(rolling)
        try:
            written = await writer.write(change)
        except RunningElsewhere:
            raise
        except (WriteConflict, ObjectRefused) as error:
            job.undoing.objects.append(Undone(change.ref, "update", Verdict.FAIL, error.message))
            return False
        if written.write is not None:
            job.undoing.objects.append(Undone(change.ref, "update", Verdict.PASS, "shared with fabrics that stay"))
    return True
