"""What compare gives."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from railwright.core.ids import NodeName, StageName
from railwright.core.objects import KubeObject, Ref


class Action(StrEnum):
    """What happens to an object."""

    CREATE = "create"
    UPDATE = "update"
    """Ours already; some fields change."""
    ADOPT = "adopt"
    """Someone else's; we take some fields, or share it as it is."""
    UNCHANGED = "unchanged"
    DELETE = "delete"
    """Clean: we made it."""
    RESTORE = "restore"
    """Clean: fields get back what they held before us."""


FieldPath = tuple[str, ...]
"""Keys from the top; an item of a keyed list is "[name=x]"; an entry inside a string is "{resourceName=x}"."""


class Missing:
    """The value of a field that is not there; one instance, `MISSING`."""

    def __repr__(self) -> str:
        """Show as a person reads it."""
        return "(absent)"


MISSING = Missing()


@dataclass(frozen=True)
class FieldChange:
    """One field: `old` or `new` may be MISSING; `owner` is the other field manager, "" when nobody's or ours."""

    path: FieldPath
    old: Any
    new: Any
    owner: str

    @property
    def conflicts(self) -> bool:
        """Whether somebody else owns the field and holds another value."""
        return bool(self.owner) and self.old != self.new


@dataclass(frozen=True)
class TakenField:
    """One field that we took from an object that was there before: `previous` may be MISSING."""

    path: FieldPath
    previous: Any
    ours: Any


@dataclass(frozen=True)
class Change:
    """
    One object.

    Attributes:
        desired: what is sent with server-side apply (embedded strings already merged); for DELETE and RESTORE the
            live object, or the merge patch that restores.
        fields: every differing field; for CREATE none.
        live_version: resourceVersion that was compared with; "" when the object is not there.
        node: for labels of one node.
        left: clean only: fields that no longer hold our value, and stay.
        given_back: fields that we took and want no more, and that get their value of before back: a write that only
            leaves them out would remove them.
    """

    ref: Ref
    action: Action
    desired: KubeObject
    fields: tuple[FieldChange, ...] = ()
    live_version: str = ""
    node: NodeName | None = None
    left: tuple[FieldChange, ...] = ()
    embedded: tuple[tuple[str, str], ...] = ()
    given_back: tuple[FieldPath, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether anything of the object changes: one of others may be shared as it is."""
        return self.action is not Action.UNCHANGED and (self.action is not Action.ADOPT or bool(self.fields))

    @property
    def conflicts(self) -> tuple[FieldChange, ...]:
        """Fields that somebody else owns with another value."""
        return tuple(item for item in self.fields if item.conflicts)


@dataclass(frozen=True)
class Changes:
    """Changes of a plan, in order, with the stage of each."""

    items: tuple[tuple[StageName, Change], ...]

    def of_stage(self, stage: StageName) -> tuple[Change, ...]:
        """The stage's changes, in order."""
        return tuple(change for name, change in self.items if name == stage)
