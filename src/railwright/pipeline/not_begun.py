"""Fields of nodes that apply has not come to yet: still to be done, and no drift."""

from collections.abc import Mapping

from railwright.apply.model import LedgerEntry
from railwright.changes.model import FieldChange
from railwright.core import kinds
from railwright.core.objects import Ref


def split_begun(
    differing: Mapping[Ref, tuple[FieldChange, ...]], entries: Mapping[Ref, LedgerEntry]
) -> tuple[Mapping[Ref, tuple[FieldChange, ...]], tuple[str, ...]]:
    """
    Keep what drifted, and name the nodes of which only fields differ that we never wrote.

    A node is in the ledger from the first label on, as the one that holds its driver; the others come with its batch.
    """
    drifted: dict[Ref, tuple[FieldChange, ...]] = {}
    waiting: list[str] = []
    for ref, fields in differing.items():
        entry = entries.get(ref)
        ours = {field.path for field in entry.fields} if entry is not None else set()
        if ref.kind == kinds.NODE and not any(field.path in ours for field in fields):
            waiting.append(ref.name)
        else:
            drifted[ref] = fields
    return drifted, tuple(waiting)
