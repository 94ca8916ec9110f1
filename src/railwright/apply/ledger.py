"""
The ledger: everything that railwright did on a cluster, kept on the cluster, written before each effect.

It lives in ConfigMaps of one namespace (the namespace is its own first entry): a head with the lease, shards with a
key an entry, and one ConfigMap a fabric with its document and how its stages ended. Each write names the
resourceVersion that it changes, so two runs at once can't lose each other's entries.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from railwright.apply.lease import HEAD, Lease, ledger_is_gone, running_elsewhere
from railwright.apply.ledger_text import (
    data_to_note,
    entry_key,
    entry_to_text,
    note_to_data,
    stage_key,
    stage_to_text,
    text_to_entry,
)
from railwright.apply.model import FabricNote, Ledger, LedgerEntry, StageNote
from railwright.apply.retry import retried
from railwright.apply.stamps import to_stamp
from railwright.changes.taken import merge_taken
from railwright.core import kinds
from railwright.core.errors import ClusterBusy, NotCollected, NotFound, PermissionMissing, WriteConflict
from railwright.core.ids import FabricName, StageName
from railwright.core.marks import LEDGER_LABEL, LEDGER_NAMESPACE, MANAGED_BY, MANAGED_BY_LABEL, is_ours
from railwright.core.objects import KubeObject, Ref, dig, labels_of, ref_of
from railwright.ports.clock import Clock
from railwright.ports.cluster import Cluster, Selection

NAMESPACE_REF = Ref(kinds.NAMESPACE, "", LEDGER_NAMESPACE)

_TERMINATING_LIMIT_S = 60.0
"""A namespace with a few ConfigMaps goes within seconds; a clean waits for it too, unless it was interrupted."""

_SHARD_SIZE_BYTES = 512 * 1024
"""Half of what etcd takes; an entry that holds a long text of before may come on top."""
_ENTRIES_PER_SHARD = 64
_FIRST_STAGE = StageName("nodes-prepared")


@dataclass(frozen=True)
class _Map:
    """One of our ConfigMaps as last read or written."""

    version: str
    data: Mapping[str, str]


class LedgerStore:
    """The ledger of one cluster; reading changes nothing, the first write makes the namespace and takes the lease."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        """Know nothing yet."""
        self._cluster = cluster
        self._clock = clock
        self._lease = Lease(cluster, clock)
        self._is_open = False
        self._maps: dict[str, _Map] = {}
        self._place: dict[Ref, tuple[str, str]] = {}
        self._entries: dict[Ref, LedgerEntry] = {}
        self._fabrics: dict[FabricName, FabricNote] = {}

    @property
    def ledger(self) -> Ledger:
        """What is known now."""
        return Ledger(fabrics=dict(self._fabrics), entries=dict(self._entries))

    async def load(self) -> Ledger:
        """Read everything; an empty ledger where there is none."""
        found = await retried(self._list, self._clock)
        self._maps, self._place, self._entries, self._fabrics = {}, {}, {}, {}
        for obj in found:
            ref, data = ref_of(obj), dig(obj, "data", default={})
            self._maps[ref.name] = _Map(_version(obj), dict(data))
            kind = labels_of(obj)[LEDGER_LABEL]
            if kind == "fabric" and data:
                note = data_to_note(data, str(ref))
                self._fabrics[note.name] = note
            elif kind == "entries":
                for key, text in data.items():
                    entry = text_to_entry(text, f"{ref} key {key}")
                    self._entries[entry.ref] = entry
                    self._place[entry.ref] = (ref.name, key)
        return self.ledger

    async def _list(self) -> list[KubeObject]:
        selection = Selection(kinds.CONFIG_MAP, namespace=LEDGER_NAMESPACE, labels=LEDGER_LABEL)
        try:
            return [obj async for obj in self._cluster.list(selection)]
        except (PermissionMissing, NotCollected):
            if await self._has_no_place():
                return []
            raise

    async def _has_no_place(self) -> bool:
        """Whether the ledger's namespace is certainly not there: no Role can be in it then, and no ledger either."""
        try:
            return not [obj async for obj in self._cluster.list(Selection(kinds.NAMESPACE, name=LEDGER_NAMESPACE))]
        except (PermissionMissing, NotCollected):
            return False

    async def open(self) -> None:
        """
        Make the ledger's namespace if it is not there, take the lease, and read what the ledger holds then.

        Raises:
            WriteConflict: another run is at work.
        """
        if self._is_open:
            return
        namespace = await self._ensure_namespace()
        await self._lease.take()
        await self.load()
        self._is_open = True
        made_by_us = is_ours(namespace)
        if made_by_us and NAMESPACE_REF not in self._entries:
            uid = str(dig(namespace, "metadata", "uid", default=""))
            await self._put(
                LedgerEntry(NAMESPACE_REF, created=True, uid=uid, fields=(), fabrics=(), order=1, stage=_FIRST_STAGE)
            )

    async def _ensure_namespace(self) -> KubeObject:
        """Give the namespace; one that a clean just deleted is waited out, since nothing can be made in it."""
        until_s = self._clock.monotonic_s() + _TERMINATING_LIMIT_S
        try:
            while True:
                namespace = await retried(lambda: self._cluster.get(NAMESPACE_REF), self._clock)
                if not dig(namespace, "metadata", "deletionTimestamp"):
                    return namespace
                if self._clock.monotonic_s() > until_s:
                    message = f"{NAMESPACE_REF} is being deleted, and still there after {_TERMINATING_LIMIT_S:.0f} s"
                    raise ClusterBusy(message, hint=f"oc get namespace {LEDGER_NAMESPACE} -o yaml says what holds it")
                await self._clock.sleep(1.0)
        except NotFound:
            # The label is the intention: whoever finds it knows that we made the namespace.
            namespace = {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": LEDGER_NAMESPACE, "labels": {MANAGED_BY_LABEL: MANAGED_BY}},
            }
            return await retried(lambda: self._cluster.apply(namespace), self._clock)

    async def is_there(self) -> bool:
        """Whether there is a ledger, or what a clean that was killed left of one."""
        if self._maps:
            return True
        try:
            namespace = await retried(lambda: self._cluster.get(NAMESPACE_REF), self._clock)
        except NotFound:
            return False
        return is_ours(namespace)

    async def close(self) -> None:
        """Give the lease up; what was written stays."""
        self._is_open = False
        await self._lease.release()

    async def renew(self) -> None:
        """Keep the lease through a long wait."""
        await self._lease.renew()

    async def record_intention(self, entry: LedgerEntry, *, replaces: bool = False) -> LedgerEntry:
        """
        Write what is about to be done to an object, before it is done.

        An entry that is there already is added to: what a field held before us is never overwritten by what we put
        there; an object that we made stays ours. Its place in the order stays in any case.

        Args:
            replaces: the entry of before spoke of another object, that is gone.

        Returns:
            The entry as it stands.
        """
        await self.open()
        await self._lease.renew()
        known = self._entries.get(entry.ref)
        if known is None or replaces:
            order = known.order if known else self._next_order()
            merged = replace(entry, order=order, recorded_at=to_stamp(self._clock.now()))
        else:
            merged = replace(
                known,
                fields=merge_taken(known.fields, entry.fields),
                fabrics=_merge_fabrics(known, entry),
                embedded=tuple(dict.fromkeys((*known.embedded, *entry.embedded))),
            )
        if merged != known:
            await self._put(merged)
        return merged

    async def confirm(self, entry: LedgerEntry, uid: str) -> None:
        """Write the identity of the object that was made."""
        confirmed = replace(entry, uid=uid)
        if self._entries.get(entry.ref) != confirmed:
            await self._put(confirmed)

    async def replace_entry(self, entry: LedgerEntry) -> None:
        """Write an entry as it is, when part of it was undone."""
        await self.open()
        await self._put(entry)

    async def forget(self, ref: Ref) -> None:
        """Take out the entry of an object that is gone or as it was before us."""
        await self.open()
        await self._lease.renew()
        if ref in self._place:
            name, key = self._place[ref]
            await self._change(name, "entries", {key: None})
            del self._place[ref]
            del self._entries[ref]

    async def note_fabric(
        self,
        name: FabricName,
        document: str,
        before: tuple[tuple[str, str], ...] = (),
        *,
        subnets: tuple[str, ...] = (),
    ) -> None:
        """
        Keep a fabric's document, so that a later plan can be made with it; what was `before` is kept the first time.

        Args:
            subnets: what was chosen for it, when it asks for none.
        """
        await self.open()
        known = self._fabrics.get(name)
        if known is not None and (known.document, known.subnets) == (document, subnets):
            return
        note = FabricNote(
            name,
            document,
            applied_at=to_stamp(self._clock.now()),
            stages=known.stages if known else (),
            before=known.before if known else before,
            subnets=subnets,
        )
        # A key that the note has no longer is taken out: else it comes back with the next reading.
        gone: dict[str, str | None] = dict.fromkeys(note_to_data(known)) if known else {}
        await self._change(_fabric_map(name), "fabric", {**gone, **note_to_data(note)})
        self._fabrics[name] = note

    async def note_stage(self, fabrics: tuple[FabricName, ...], note: StageNote) -> None:
        """Keep how a stage ended."""
        await self.open()
        for name in fabrics:
            known = self._fabrics.get(name)
            if known is None:
                continue
            others = tuple(item for item in known.stages if item.stage != note.stage)
            await self._change(_fabric_map(name), "fabric", {stage_key(note.stage): stage_to_text(note)})
            self._fabrics[name] = replace(known, stages=(*others, note))

    async def forget_stage(self, stage: StageName) -> None:
        """Take out how a stage ended, of every fabric: what it says holds no longer."""
        await self.open()
        for name, known in tuple(self._fabrics.items()):
            others = tuple(item for item in known.stages if item.stage != stage)
            if others != known.stages:
                await self._change(_fabric_map(name), "fabric", {stage_key(stage): None})
                self._fabrics[name] = replace(known, stages=others)

    async def remove_fabric(self, name: FabricName) -> None:
        """Forget a fabric, once nothing of it is left."""
        await self.open()
        await self._lease.renew()
        await self._delete_map(_fabric_map(name))
        self._fabrics.pop(name, None)

    @property
    def maps(self) -> frozenset[Ref]:
        """The ConfigMaps that hold it, as far as it was read."""
        return frozenset(replace(HEAD, name=name) for name in self._maps)

    async def remove_all(self, *, with_namespace: bool = True) -> bool:
        """
        Remove the ledger itself, if nothing is in it but its own namespace.

        Args:
            with_namespace: False leaves the namespace there, though we made it.

        Returns:
            Whether the namespace is being deleted as well: only when we made it.
        """
        own = self._entries.get(NAMESPACE_REF)
        if self._fabrics or set(self._entries) - {NAMESPACE_REF}:
            return False
        # What another run wrote since it took over is not known here, and would go with the namespace.
        await self._lease.renew()
        for name in [name for name in self._maps if name != HEAD.name]:
            await self._delete_map(name)
        await self._delete_map(HEAD.name)
        self._entries, self._place, self._is_open = {}, {}, False
        if own is None or not with_namespace:
            return False
        try:
            await retried(lambda: self._cluster.delete(NAMESPACE_REF, uid=own.uid), self._clock)
        except (NotFound, WriteConflict):
            return False
        return True

    # --- ConfigMaps ---------------------------------------------------------------------------------------------------

    def _next_order(self) -> int:
        return max((entry.order for entry in self._entries.values()), default=0) + 1

    async def _put(self, entry: LedgerEntry) -> None:
        text = entry_to_text(entry)
        name, key = self._place.get(entry.ref) or (
            self._shard_for(entry.order, len(text.encode())),
            entry_key(entry.ref, entry.order),
        )
        await self._change(name, "entries", {key: text})
        self._place[entry.ref] = (name, key)
        self._entries[entry.ref] = entry

    def _shard_for(self, order: int, size_bytes: int) -> str:
        """Choose the shard of an order, or the first one after it with room."""
        number = order // _ENTRIES_PER_SHARD
        while True:
            name = f"railwright-ledger-{number:04d}"
            held = self._maps.get(name)
            used_bytes = sum(len(text.encode()) for text in held.data.values()) if held else 0
            if not used_bytes or used_bytes + size_bytes <= _SHARD_SIZE_BYTES:
                return name
            number += 1

    async def _change(self, name: str, kind: str, changes: Mapping[str, str | None]) -> None:
        """
        Change keys of one ConfigMap, on exactly the version that we know.

        Raises:
            WriteConflict: somebody else wrote to it.
            ClusterError: somebody deleted it.
        """
        known = self._maps.get(name) or await self._make_map(name, kind)
        ref = Ref(kinds.CONFIG_MAP, LEDGER_NAMESPACE, name)
        wanted = {key: text for key, text in {**known.data, **changes}.items() if text is not None}
        patch = {"metadata": {"resourceVersion": known.version}, "data": dict(changes)}
        try:
            written = await retried(lambda: self._cluster.patch(ref, patch), self._clock)
        except WriteConflict:
            written = await self._after_conflict(ref, known, wanted, changes)
        except NotFound as error:
            raise ledger_is_gone(ref) from error
        self._maps[name] = _Map(_version(written), wanted)

    async def _after_conflict(
        self, ref: Ref, known: _Map, wanted: Mapping[str, str], changes: Mapping[str, str | None]
    ) -> KubeObject:
        """Tell our own write whose answer was lost, and a touched label, from another run's write."""
        seen = await retried(lambda: self._cluster.get(ref), self._clock)
        data = dig(seen, "data", default={})
        if data == wanted:
            return seen
        if data != known.data:
            raise running_elsewhere("unknown")
        patch = {"metadata": {"resourceVersion": _version(seen)}, "data": dict(changes)}
        return await retried(lambda: self._cluster.patch(ref, patch), self._clock)

    async def _make_map(self, name: str, kind: str) -> _Map:
        """Make a ConfigMap without data: the data comes with a guarded write, so that no other run's is lost."""
        made = await retried(
            lambda: self._cluster.apply(
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "metadata": {"namespace": LEDGER_NAMESPACE, "name": name, "labels": {LEDGER_LABEL: kind}},
                }
            ),
            self._clock,
        )
        if dig(made, "data", default={}):
            raise running_elsewhere("unknown")
        return _Map(_version(made), {})

    async def _delete_map(self, name: str) -> None:
        with suppress(NotFound):
            await retried(lambda: self._cluster.delete(Ref(kinds.CONFIG_MAP, LEDGER_NAMESPACE, name)), self._clock)
        self._maps.pop(name, None)


def has_moved(seen: Ledger, now: Ledger) -> bool:
    """Whether another run wrote to the ledger since it was seen; its own namespace is no matter."""
    without = ({ref: entry for ref, entry in item.entries.items() if ref != NAMESPACE_REF} for item in (seen, now))
    entries_seen, entries_now = without
    return entries_seen != entries_now or dict(seen.fabrics) != dict(now.fabrics)


def _merge_fabrics(known: LedgerEntry, entry: LedgerEntry) -> tuple[FabricName, ...]:
    """Empty means every fabric, and stays so."""
    if not known.fabrics or not entry.fabrics:
        return ()
    return tuple(dict.fromkeys((*known.fabrics, *entry.fabrics)))


def _fabric_map(name: FabricName) -> str:
    return f"railwright-fabric-{name}"


def _version(obj: KubeObject) -> str:
    return str(obj["metadata"]["resourceVersion"])
