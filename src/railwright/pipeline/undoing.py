"""Undo ledger entries step by step: what others still need stays, what was deleted is waited for."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from railwright.apply.means import Means
from railwright.apply.model import LedgerEntry
from railwright.apply.undo import undo_step
from railwright.changes.model import TakenField
from railwright.core import kinds
from railwright.core.ids import StageName
from railwright.core.objects import KubeObject, Ref, dig
from railwright.core.verdicts import Verdict
from railwright.pipeline.live import read_live
from railwright.pipeline.model import Undone
from railwright.pipeline.roll_back import rolling_entry
from railwright.pipeline.still_used import users_of_pools, why_kept
from railwright.pipeline.undo_order import LAST_VF_STEP, nads_of, steps_of
from railwright.plan.model import Share
from railwright.ports.world import World


@dataclass
class Undoing:
    """
    Entries on their way out.

    Attributes:
        stage: how it is called in events.
        shares: of the plan that the entries were made by: they name the NADs that operators made.
        pending: what is still to be undone; a subscription adds the CSV that it installed.
        objects: what became of each entry, in order.
        vfs_awaited: entries that went, and stay in the ledger until the VFs that they asked for are gone: a run that is
            stopped in between waits for them again.
    """

    world: World
    means: Means
    stage: StageName
    shares: tuple[Share, ...]
    dry_run: bool
    pending: dict[Ref, LedgerEntry]
    objects: list[Undone] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    deleted: set[Ref] = field(default_factory=set)
    vfs_awaited: list[Ref] = field(default_factory=list)

    async def step(self, name: str) -> bool:
        """
        Undo what is pending of one step.

        Returns:
            Whether all of it went, so that the next one may follow.
        """
        step = next(item for item in steps_of(self.pending.values()) if item.name == name)
        if not step.entries:
            return True
        refs = [entry.ref for entry in step.entries]
        live = (await read_live(self.world.cluster, self.world.clock, refs)).objects
        kept = await self._without_kept(step.entries)
        going = tuple([await self._without_pools_of_others(entry) for entry in kept])
        for entry in going:
            await self._look_at(entry, live.get(entry.ref))
        nads = nads_of(replace(step, entries=going), live, self.shares)
        asks_for_vfs = name == LAST_VF_STEP
        results = await undo_step(
            going,
            self.means,
            self.stage,
            limit_s=step.limit_s,
            also_gone=nads,
            stays={
                entry.ref: replace(whole, fields=_nv_ipam_fields(whole))
                for entry, whole in zip(going, kept, strict=True)
                if entry != whole
            },
            forget=not asks_for_vfs,
            dry_run=self.dry_run,
        )
        if asks_for_vfs and not self.dry_run:
            self.vfs_awaited += [item.ref for item in results if item.verdict is not Verdict.FAIL]
        self.objects += [Undone(item.ref, item.action, item.verdict, item.reason, item.left) for item in results]
        self.deleted |= {item.ref for item in results if item.action == "delete"} | set(nads)
        for entry in going:
            self.pending.pop(entry.ref, None)
        return all(item.verdict is not Verdict.FAIL for item in results)

    async def vfs_are_gone(self) -> None:
        """Forget what asked for VFs: they are gone."""
        while self.vfs_awaited:
            await self.means.ledger.forget(self.vfs_awaited[0])
            del self.vfs_awaited[0]

    async def _without_kept(self, entries: Iterable[LedgerEntry]) -> tuple[LedgerEntry, ...]:
        """Leave out what others need, and say so."""
        going = []
        leaving = frozenset(self.pending) | self.deleted
        for entry in entries:
            reason = await why_kept(entry, self.world, leaving)
            if reason:
                self.objects.append(Undone(entry.ref, "keep", Verdict.SKIP, reason))
                self.pending.pop(entry.ref)
            else:
                going.append(entry)
        return tuple(going)

    async def _without_pools_of_others(self, entry: LedgerEntry) -> LedgerEntry:
        """Leave nv-ipam in somebody's policy while pools of others need it: they would be deleted with it."""
        fields = _nv_ipam_fields(entry)
        if entry.created or not fields:
            return entry
        reason = await users_of_pools(self.world, frozenset(self.pending) | self.deleted)
        if not reason:
            return entry
        self.notes.append(f"{entry.ref} keeps nvIpam, which we added: {reason}; run clean again once they are gone")
        return replace(entry, fields=tuple(item for item in entry.fields if item not in fields))

    async def _look_at(self, entry: LedgerEntry, obj: KubeObject | None) -> None:
        """Do what has to be done before an object goes."""
        if obj is None or not entry.created:
            return
        rolling = rolling_entry(entry.ref, self.stage)
        if rolling is not None and not self.dry_run:
            await self.means.ledger.record_intention(rolling)
        if entry.ref.kind == kinds.SUBSCRIPTION:
            # While OLM installs, the CSV is there already and only currentCSV names it.
            for csv in sorted({str(dig(obj, "status", key, default="")) for key in ("installedCSV", "currentCSV")}):
                await self._note_csv(entry, csv)
        if entry.ref.kind == kinds.NIC_CLUSTER_POLICY and dig(obj, "spec", "nvIpam"):
            self.notes.append(
                f"{entry.ref} brought nv-ipam: its IPPool and CIDRPool definitions go with it, and every pool there is"
            )

    async def _note_csv(self, entry: LedgerEntry, csv: str) -> None:
        """Put the CSV that a subscription of ours installed into the ledger, before the subscription is gone."""
        ref = Ref(kinds.CLUSTER_SERVICE_VERSION, entry.ref.namespace, csv)
        live = (await read_live(self.world.cluster, self.world.clock, [ref])).objects.get(ref) if csv else None
        if live is None:
            return
        uid = str(live["metadata"]["uid"])
        order = max((item.order for item in self.pending.values()), default=0) + 1
        made = LedgerEntry(ref, created=True, uid=uid, fields=(), fabrics=entry.fabrics, order=order, stage=entry.stage)
        self.pending[ref] = made if self.dry_run else await self.means.ledger.record_intention(made)


def _nv_ipam_fields(entry: LedgerEntry) -> tuple[TakenField, ...]:
    """Pick the fields of nv-ipam that we added to a NicClusterPolicy."""
    if entry.ref.kind != kinds.NIC_CLUSTER_POLICY:
        return ()
    return tuple(item for item in entry.fields if item.path[:2] == ("spec", "nvIpam"))
