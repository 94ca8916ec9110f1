"""
Undo ledger entries: delete what we made, give fields back what they held, forget what is done.

An entry leaves the ledger only when its object is seen to be gone or restored, so that a clean that was killed goes
on where it stopped. Deleted objects are waited for: a finalizer whose operator was removed first would hang for ever.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from railwright.apply.means import Means
from railwright.apply.model import LedgerEntry
from railwright.apply.ours import speaks_of
from railwright.apply.retry import WRITE_LIMIT_S, retried
from railwright.apply.waiting import REREAD_S, Wait, until_nothing_is_left
from railwright.apply.writer import check_node_change
from railwright.changes.invert import invert
from railwright.changes.model import Action, Change, FieldChange
from railwright.changes.owners import read_owners
from railwright.core import kinds
from railwright.core.errors import KindNotServed, NotFound, ObjectRefused, WriteConflict
from railwright.core.ids import StageName
from railwright.core.objects import KubeObject, Ref, dig, ref_of
from railwright.core.verdicts import Verdict
from railwright.ports.cluster import Selection
from railwright.ports.progress import Wrote

_ATTEMPTS = 3


@dataclass(frozen=True)
class Undo:
    """How one entry was undone: `action` is delete, restore, forget or keep."""

    ref: Ref
    action: str
    verdict: Verdict
    reason: str = ""
    left: tuple[FieldChange, ...] = ()


async def undo_step(
    entries: Iterable[LedgerEntry],
    means: Means,
    stage: StageName,
    *,
    limit_s: float,
    also_gone: tuple[Ref, ...] = (),
    stays: Mapping[Ref, LedgerEntry] | None = None,
    forget: bool = True,
    dry_run: bool = False,
) -> tuple[Undo, ...]:
    """
    Undo several entries, then wait until everything that was deleted is gone.

    Args:
        stage: how the step is called in events.
        limit_s: for how long deleted objects are waited for.
        also_gone: objects that others remove in consequence, and that must be gone too (NADs of networks).
        stays: what the ledger keeps of entries of which only a part is undone.
        forget: take what went out of the ledger; without, the caller does, once what follows from it has ended.
        dry_run: let the server check only.
    """
    results: list[Undo] = []
    deleted: dict[Ref, str] = {}
    for entry in entries:
        if not dry_run:
            # Whoever took over since, after a long silence of ours, may need what would go now.
            await means.ledger.renew()
        result, uid = await _undo_one(entry, means, stage, dry_run=dry_run)
        results.append(result)
        if uid:
            deleted[entry.ref] = uid
        elif result.verdict is Verdict.PASS and forget and not dry_run:
            left = (stays or {}).get(entry.ref)
            await (means.ledger.forget(entry.ref) if left is None else means.ledger.replace_entry(left))
    if dry_run:
        return tuple(results)
    remaining = await _await_gone(deleted, also_gone, means, stage, limit_s)
    for ref in deleted:
        if forget and ref not in remaining:
            await means.ledger.forget(ref)
    shown = [
        replace(item, verdict=Verdict.FAIL, reason=remaining[item.ref]) if item.ref in remaining else item
        for item in results
    ]
    seen = {item.ref for item in shown}
    return (*shown, *(Undo(ref, "delete", Verdict.FAIL, why) for ref, why in remaining.items() if ref not in seen))


async def _undo_one(entry: LedgerEntry, means: Means, stage: StageName, *, dry_run: bool) -> tuple[Undo, str]:
    """Undo one entry; the text is the uid of an object whose end must be waited for."""
    for attempt in range(1, _ATTEMPTS + 1):
        live = await _read(entry.ref, means)
        if live is None:
            return Undo(entry.ref, "forget", Verdict.PASS, "it is gone already"), ""
        if entry.ref.kind == kinds.INSTALL_PLAN:
            return Undo(entry.ref, "forget", Verdict.PASS, "an approval needs no undo"), ""
        if not speaks_of(entry, live):
            return Undo(
                entry.ref, "forget", Verdict.PASS, "it is not the object that we wrote to: somebody made it anew"
            ), ""
        change = invert(
            entry.ref,
            created=entry.created,
            uid=entry.uid,
            taken=entry.fields,
            embedded=entry.embedded,
            live=live,
        )
        if change is None:
            return Undo(entry.ref, "forget", Verdict.PASS, "it holds nothing of ours"), ""
        try:
            return await _carry_out(change, live, means, stage, dry_run=dry_run)
        except NotFound:
            return Undo(entry.ref, "forget", Verdict.PASS, "it is gone already"), ""
        except (WriteConflict, ObjectRefused) as error:
            if isinstance(error, ObjectRefused) or attempt == _ATTEMPTS:
                return Undo(entry.ref, change.action.value, Verdict.FAIL, error.message), ""
    raise AssertionError("the last attempt returns")


async def _carry_out(
    change: Change, live: KubeObject, means: Means, stage: StageName, *, dry_run: bool
) -> tuple[Undo, str]:
    cluster = means.cluster
    uid = str(live["metadata"]["uid"])
    if change.action is Action.DELETE:
        await retried(lambda: cluster.delete(change.ref, uid=uid, dry_run=dry_run), means.clock)
        means.progress.emit(Wrote(stage, change.ref, change.action.value, dry_run))
        return Undo(change.ref, "delete", Verdict.PASS), uid
    if change.desired:
        check_node_change(change)
        restored = await retried(lambda: cluster.patch(change.ref, change.desired, dry_run=dry_run), means.clock)
        means.progress.emit(Wrote(stage, change.ref, change.action.value, dry_run))
        if not dry_run:
            await _give_up_shared(restored, means)
    reason = "fields that somebody changed since stay as they are" if change.left else ""
    return Undo(change.ref, "restore", Verdict.PASS, reason, change.left), ""


async def _give_up_shared(obj: KubeObject, means: Means) -> None:
    """Stop owning fields together with others, so that these may remove them; never what would go with it."""
    owners = read_owners(obj)
    if not owners.ours or not all(owners.of(path) for path in owners.ours):
        return
    ref = ref_of(obj)
    identity = {
        "apiVersion": ref.kind.api_version,
        "kind": ref.kind.kind,
        "metadata": {
            "name": ref.name,
            **({"namespace": ref.namespace} if ref.namespace else {}),
            "resourceVersion": obj["metadata"]["resourceVersion"],
        },
    }
    try:
        await retried(lambda: means.cluster.apply(identity), means.clock)
    except (WriteConflict, ObjectRefused):
        # Bookkeeping only: values are as they were, and a co-owner more harms nobody.
        return


async def _read(ref: Ref, means: Means, *, limit_s: float = WRITE_LIMIT_S) -> KubeObject | None:
    try:
        return await retried(lambda: means.cluster.get(ref), means.clock, limit_s=limit_s)
    except (NotFound, KindNotServed):
        return None


async def _await_gone(
    deleted: dict[Ref, str], also_gone: tuple[Ref, ...], means: Means, stage: StageName, limit_s: float
) -> Mapping[Ref, str]:
    """Wait until objects are gone; give those that are not, with what holds each."""
    expected = {**dict.fromkeys(also_gone, ""), **deleted}

    async def look() -> Mapping[Ref, str]:
        nonlocal expected
        remaining = {}
        for ref, uid in expected.items():
            live = await _read(ref, means, limit_s=REREAD_S)
            if live is not None and (not uid or live["metadata"]["uid"] == uid):
                remaining[ref] = _what_holds(live, limit_s)
        expected = {ref: expected[ref] for ref in remaining}
        return remaining

    selections = [Selection(ref.kind, ref.namespace, name=ref.name) for ref in expected]
    waited = await until_nothing_is_left(Wait(stage, selections, look, lambda _: limit_s, _to_be_gone), means)
    return waited.left


def _to_be_gone(left: Mapping[Ref, str]) -> str:
    more = f" (and {len(left) - 1} more)" if len(left) > 1 else ""
    return f"{next(iter(left))} to be gone{more}"


def _what_holds(live: KubeObject, limit_s: float) -> str:
    finalizers = dig(live, "metadata", "finalizers", default=[])
    if finalizers:
        return f"still there after {limit_s:.0f} s: held by finalizer {', '.join(finalizers)}: is its operator running?"
    if dig(live, "metadata", "deletionTimestamp"):
        return f"still there after {limit_s:.0f} s: it is being deleted"
    return f"still there after {limit_s:.0f} s"
