"""
The one writer: one Change -> one object on the cluster, with the ledger written before and confirmed after.

A write goes to exactly the object that was compared: it carries the resourceVersion of the whole live object whose
old values went into the ledger. What moved meanwhile is read and compared again; what belongs to someone else is
left alone unless the person said otherwise.
"""

from dataclasses import dataclass, replace

from railwright.apply.lease import RunningElsewhere
from railwright.apply.means import Means
from railwright.apply.model import LedgerEntry, StageChanges, Write
from railwright.apply.ours import known_refs, speaks_of, taken_by_ref
from railwright.apply.retry import retried
from railwright.changes.compare import compare
from railwright.changes.model import Action, Change, FieldChange, FieldPath
from railwright.changes.taken import taken_fields
from railwright.changes.tree import merge_patch, put, thaw
from railwright.core import kinds
from railwright.core.errors import KindNotServed, NotFound, ObjectRefused, WriteConflict
from railwright.core.objects import KubeObject, Ref, dig, ref_of
from railwright.manifests.model import Manifest
from railwright.ports.cluster import Selection
from railwright.ports.progress import Note, Wrote
from railwright.readiness.model import Receipt

_LIST_FROM = 5
"""So many nodes are looked at as a list."""
_ATTEMPTS = 3
"""An object that moves faster than it can be read and written three times is being fought over."""


_NOT_YET_WORDS = ("no supported NIC is selected by the nicSelector", "no matched node is selected by the nodeSelector")
"""
The SR-IOV webhook's no while its daemon has not reported a node's NICs yet, and when they are really not there.
Measured: webhook of SR-IOV network operator 1.6.0 against kube-apiserver 1.36.3, 2026-11: one text for all of these.
"""


class _NotYet(ObjectRefused):
    """Refused, but perhaps only because an operator has not looked yet: asked again for a while."""


@dataclass(frozen=True)
class Written:
    """What became of one change; `write` is None when the object was as wanted already."""

    write: Write | None = None
    receipt: Receipt | None = None


class Writer:
    """Writes the changes of one stage."""

    def __init__(self, stage: StageChanges, means: Means) -> None:
        """Take everything that the writes have in common."""
        self._stage = stage
        self._cluster = means.cluster
        self._clock = means.clock
        self._progress = means.progress
        self._ledger = means.ledger
        self._as_compared: dict[Ref, KubeObject] = {}

    async def look_at_nodes(self) -> None:
        """
        Read all nodes at once, so that those that are as they were compared, and as wanted, are not read one by one.

        Batches come again to every node of the batches before: of a thousand nodes, some thousand reads an apply.
        """
        unchanged = {
            change.ref: change.live_version
            for change in self._stage.changes
            if change.ref.kind == kinds.NODE and change.action is Action.UNCHANGED and not change.given_back
        }
        if len(unchanged) < _LIST_FROM or self._stage.dry_run:
            return

        async def read() -> dict[Ref, KubeObject]:
            found = {ref_of(obj): obj async for obj in self._cluster.list(Selection(kinds.NODE, brief=True))}
            return {ref: obj for ref, obj in found.items() if _version(obj) == unchanged.get(ref)}

        self._as_compared = await retried(read, self._clock)

    async def write(self, change: Change) -> Written:
        """
        Carry one change out.

        Raises:
            WriteConflict: another owner's field, or an object that does not hold still.
            ObjectRefused: the server or a webhook says no.
            NotFound: an object that others made, and that we only change, is gone.
            RunningElsewhere: another run took the ledger meanwhile.
        """
        check_node_change(change)
        if self._stage.dry_run:
            return await self._try(change)
        for attempt in range(1, _ATTEMPTS + 1):
            live = self._as_compared.pop(change.ref, None) or await self._read(change.ref)
            current = self._compared_again(change, live)
            try:
                if current.given_back and live is not None:
                    live = await self._give_back(current, live)
                    current = self._compared_again(current, live)
                written = await self._write_once(current, live)
                return self._with_receipt(written, live) if attempt > 1 else written
            except WriteConflict as error:
                if isinstance(error, RunningElsewhere) or owned_by_others(error) or attempt == _ATTEMPTS:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _with_receipt(self, written: Written, live: KubeObject | None) -> Written:
        """
        Give a receipt for an object that is as wanted only after a conflict.

        The conflict may have been with our own write, whose answer was lost: what a status says may be older than it.
        """
        if written.receipt is not None or live is None:
            return written
        generation = int(dig(live, "metadata", "generation", default=0))
        return Written(receipt=Receipt(_version(live), generation, self._clock.now(), changed=True))

    async def _give_back(self, change: Change, live: KubeObject) -> KubeObject:
        """Put the value of before into fields that we want no more; then they are not ours, and the write leaves them."""
        target, wanted = thaw(live), {item.path: item.new for item in change.fields}
        for path in change.given_back:
            put(target, path, wanted[path])
        patch = merge_patch(live, target)
        patch["metadata"] = {**patch.get("metadata", {}), "resourceVersion": _version(live)}
        written = await retried(lambda: self._cluster.patch(change.ref, patch), self._clock)
        self._progress.emit(Wrote(self._stage.stage, change.ref, "restore"))
        entry = self._ledger.ledger.entries.get(change.ref)
        if entry is not None:
            left = tuple(item for item in entry.fields if item.path not in change.given_back)
            await self._ledger.replace_entry(replace(entry, fields=left))
        return written

    async def _read(self, ref: Ref) -> KubeObject | None:
        try:
            return await retried(lambda: self._cluster.get(ref), self._clock)
        except (NotFound, KindNotServed):
            return None

    def _compared_again(self, change: Change, live: KubeObject | None) -> Change:
        """Give the change as it is against the object of this moment."""
        if (_version(live) if live else "") == change.live_version:
            return change
        if live is None and change.action is Action.ADOPT:
            raise NotFound(f"{change.ref} is gone: it was there when the plan was made, and is not ours to make")
        manifest = Manifest(
            self._stage.stage,
            change.desired,
            self._stage.fabrics,
            node=change.node,
            embedded=change.embedded,
            partial=change.node is not None,
        )
        ledger = self._ledger.ledger
        there = {change.ref: live} if live else {}
        items = compare((manifest,), there, known_refs(ledger, there), taken=taken_by_ref(ledger)).items
        current = items[0][1]
        new_paths = {item.path for item in current.fields} - {item.path for item in change.fields}
        if change.embedded and change.live_version and new_paths:
            # Entries of others came or went inside a string that we merged: only a new plan knows whose they are.
            raise WriteConflict(
                f"{change.ref} changed since it was compared: {', '.join(sorted('.'.join(path) for path in new_paths))}",
                hint="run the same command again: it compares again",
                context={_spelled(path): "somebody, meanwhile" for path in sorted(new_paths)},
            )
        return current

    async def _write_once(self, change: Change, live: KubeObject | None) -> Written:
        entry = self._ledger.ledger.entries.get(change.ref)
        if entry is not None and (live is None or not speaks_of(entry, live)):
            entry = None
        if change.action is Action.UNCHANGED or (change.action is Action.ADOPT and not change.fields):
            if live is not None and entry is not None and not entry.uid:
                await self._ledger.confirm(entry, _uid(live))
            return Written()
        if change.conflicts and not self._stage.take_over:
            raise foreign_fields(change.ref, change.conflicts)
        intention = await self._ledger.record_intention(self._intention(change, live, entry), replaces=entry is None)
        obj = dict(change.desired)
        if live is not None:
            obj["metadata"] = {**obj["metadata"], "resourceVersion": _version(live)}
        force = self._may_force(change)
        written = await retried(lambda: self._send(obj, take_over=force), self._clock, also=(KindNotServed, _NotYet))
        await self._ledger.confirm(intention, _uid(written))
        return self._done(change, live, written)

    def _may_force(self, change: Change) -> bool:
        """
        Decide whether the server may be told to overrule other owners.

        With consent; and for strings of several owners' entries, which the server sees as one field of somebody else:
        when no entry conflicts, we only add ours to theirs, guarded by the version that was merged.
        """
        return self._stage.take_over or bool(change.embedded and change.live_version and not change.conflicts)

    async def _send(self, obj: KubeObject, *, take_over: bool) -> KubeObject:
        try:
            return await self._cluster.apply(obj, take_over=take_over)
        except ObjectRefused as error:
            if any(words in error.message for words in _NOT_YET_WORDS):
                raise _NotYet(error.message, hint=error.hint, context=error.context) from error
            raise

    def _intention(self, change: Change, live: KubeObject | None, entry: LedgerEntry | None) -> LedgerEntry:
        fields = taken_fields(change, live)
        if live is not None and entry is not None and entry.created:
            # All of it is ours, but for what others may add beside our entries in its shared strings.
            strings = {tuple(dotted.split(".")) for dotted, _ in change.embedded}
            fields = tuple(item for item in fields if item.path in strings or item.path[:-1] in strings)
        return LedgerEntry(
            ref=change.ref,
            created=live is None,
            uid=_uid(live) if live else "",
            fields=fields,
            fabrics=self._stage.owners.get(change.ref, ()),
            order=0,
            stage=self._stage.stage,
            embedded=change.embedded,
        )

    def _done(self, change: Change, live: KubeObject | None, written: KubeObject) -> Written:
        now = self._clock.now()
        receipt = Receipt(
            resource_version=_version(written),
            generation=int(dig(written, "metadata", "generation", default=0)),
            written_at=now,
            changed=live is None or _version(live) != _version(written),
        )
        action = Action.CREATE if live is None else change.action
        self._progress.emit(Wrote(self._stage.stage, change.ref, action.value))
        return Written(Write(change.ref, action, now), receipt)

    async def _try(self, change: Change) -> Written:
        """Let the server check a write without storing it; what it can't check yet is said."""
        if change.action is Action.UNCHANGED or (change.action is Action.ADOPT and not change.fields):
            return Written()
        if change.conflicts and not self._stage.take_over:
            raise foreign_fields(change.ref, change.conflicts)
        try:
            force = self._may_force(change)
            await retried(lambda: self._cluster.apply(change.desired, take_over=force, dry_run=True), self._clock)
        except KindNotServed:
            self._progress.emit(
                Note(f"{change.ref}: not checked by the server, which does not serve {change.ref.kind} yet")
            )
        except NotFound:
            self._progress.emit(Note(f"{change.ref}: not checked by the server: its namespace is not there yet"))
        self._progress.emit(Wrote(self._stage.stage, change.ref, change.action.value, dry_run=True))
        return Written(Write(change.ref, change.action, self._clock.now()))


def check_node_change(change: Change) -> None:
    """
    Make sure that of a Node only labels are ever written.

    Raises:
        ObjectRefused: anything else of a node would be changed (a bug of ours).
    """
    if change.ref.kind != kinds.NODE:
        return
    beyond = set(change.desired) - {"apiVersion", "kind", "metadata"}
    beyond |= set(dig(change.desired, "metadata", default={})) - {"name", "labels", "resourceVersion"}
    if beyond:
        raise ObjectRefused(f"{change.ref}: railwright writes only labels of nodes, never {', '.join(sorted(beyond))}")


def foreign_fields(ref: Ref, fields: tuple[FieldChange, ...]) -> WriteConflict:
    """Say whose fields these are, what they hold and what we want there."""
    lines = [f"{'.'.join(item.path)} is {item.old!r}, set by {item.owner}; wanted {item.new!r}" for item in fields]
    return WriteConflict(
        f"{ref}: " + "; ".join(lines),
        hint="agree with its owner, or take the fields over with --take-over (clean puts them back)",
        context={_spelled(item.path): item.owner for item in fields},
    )


def owned_by_others(error: WriteConflict) -> bool:
    """Tell a conflict about fields from an object that only moved: the API server spells fields ".spec.mtu"."""
    return any(key.startswith((".", "[")) for key in error.context)


def _spelled(path: FieldPath) -> str:
    return "." + ".".join(path)


def _version(obj: KubeObject) -> str:
    return str(obj["metadata"]["resourceVersion"])


def _uid(obj: KubeObject) -> str:
    return str(dig(obj, "metadata", "uid", default=""))
