"""
Whether the object of this moment is the one that a ledger entry speaks of.

An entry is written before the effect. After a crash it may speak of an object that was never made, or that somebody
else made in the same moment; and any object may be deleted and made anew by others.
"""

from collections.abc import Mapping

from railwright.apply.model import Ledger, LedgerEntry
from railwright.changes.model import TakenField
from railwright.core.marks import is_ours
from railwright.core.objects import FIELD_MANAGER, KubeObject, Ref, dig


def speaks_of(entry: LedgerEntry, live: KubeObject) -> bool:
    """
    Decide whether an entry speaks of this very object.

    A confirmed entry names its uid. An unconfirmed one that meant to make the object does only if we wrote to it, and
    it says that we manage it. Times tell nothing: the entry's is our clock's, the object's is the API server's, and an
    object that was not there when we meant to make it cannot be older than that.
    """
    if entry.uid:
        return entry.uid == str(dig(live, "metadata", "uid", default=""))
    if not entry.created:
        return True
    managers = dig(live, "metadata", "managedFields", default=[])
    applied = any(item.get("manager") == FIELD_MANAGER and item.get("operation") == "Apply" for item in managers)
    return applied and is_ours(live)


def known_refs(ledger: Ledger, live: Mapping[Ref, KubeObject]) -> frozenset[Ref]:
    """Give the live objects that the ledger speaks of."""
    return frozenset(ref for ref, entry in ledger.entries.items() if ref in live and speaks_of(entry, live[ref]))


def taken_by_ref(ledger: Ledger) -> Mapping[Ref, tuple[TakenField, ...]]:
    """Give the fields that we took, by object, as compare wants them."""
    return {ref: entry.fields for ref, entry in ledger.entries.items()}
