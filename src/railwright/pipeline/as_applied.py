"""What fabrics were applied as, by the ledger, beside what is wanted of them now. Pure."""

from dataclasses import dataclass

from railwright.apply.model import Ledger
from railwright.core.errors import IntentError
from railwright.core.ids import FabricName
from railwright.intent.model import Intent
from railwright.intent.parse import parse_intents


@dataclass(frozen=True)
class AppliedOtherwise:
    """
    A fabric that was applied with another method or link type than is wanted of it now.

    Attributes:
        applied: method and link type, "sriov/infiniband".
        wanted: likewise.
        wanted_by: the file that says so, or the command line.
    """

    name: FabricName
    applied: str
    wanted: str
    wanted_by: str

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.name} was applied as {self.applied}; {self.wanted_by} says {self.wanted}"


def applied_otherwise(intents: tuple[Intent, ...], ledger: Ledger) -> tuple[AppliedOtherwise, ...]:
    """Find fabrics whose method or link type is no longer that of the ledger."""
    return tuple(
        AppliedOtherwise(intent.name, _way(before), _way(intent), _by(intent, before))
        for intent in intents
        if (before := _before(intent, ledger)) is not None and _way(before) != _way(intent)
    )


def edited(intents: tuple[Intent, ...], ledger: Ledger) -> tuple[FabricName, ...]:
    """Name fabrics that keep their method and link type, and of which something else is wanted than was applied."""
    return tuple(
        intent.name
        for intent in intents
        if (before := _before(intent, ledger)) is not None and _way(before) == _way(intent) and before != intent
    )


def files_of(intents: tuple[Intent, ...]) -> str:
    """Name the files that fabrics were read from, as a person would: "./rails.yaml"."""
    return ", ".join(dict.fromkeys(_shown(place.file) for intent in intents if (place := intent.place("spec"))))


def _before(intent: Intent, ledger: Ledger) -> Intent | None:
    """Read what was applied; None for a fabric that never was, or whose record this version cannot read."""
    note = ledger.fabrics.get(intent.name)
    if note is None:
        return None
    try:
        return next(iter(parse_intents(note.document, f"ledger of fabric {intent.name}")), None)
    except IntentError:
        return None


def _way(intent: Intent) -> str:
    return f"{intent.method.value}/{intent.fabric.value}"


def _by(intent: Intent, before: Intent) -> str:
    place = intent.place("spec.method" if intent.method is not before.method else "spec.fabric")
    return _shown(place.file) if place is not None else "the wanted state"


def _shown(file: str) -> str:
    return f"./{file}" if file.endswith((".yaml", ".yml", ".json")) and "/" not in file else file
