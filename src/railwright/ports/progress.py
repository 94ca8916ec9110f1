"""What happens, told while it happens, as typed events; where they are shown is the edge's business."""

from dataclasses import dataclass
from typing import Protocol

from railwright.core.ids import NodeName, StageName
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict


@dataclass(frozen=True)
class Reading:
    """Facts are being read: `done` of `total` of `what`."""

    what: str
    done: int
    total: int


@dataclass(frozen=True)
class StageStarted:
    """A stage begins; `batch` is empty for stages that run once."""

    stage: StageName
    number: int
    total: int
    batch: str
    nodes: tuple[NodeName, ...]
    risk: str
    expected_s: float


@dataclass(frozen=True)
class Wrote:
    """One object was written, or would have been (`dry_run`)."""

    stage: StageName
    ref: Ref
    action: str
    """create, update, adopt, delete, restore, approve"""
    dry_run: bool = False


@dataclass(frozen=True)
class Waiting:
    """A gate waits: for what, since when, and how long it should take."""

    stage: StageName
    waiting_for: str
    elapsed_s: float
    expected_s: float
    limit_s: float


@dataclass(frozen=True)
class StageEnded:
    """A stage ended."""

    stage: StageName
    batch: str
    verdict: Verdict
    reason: str
    elapsed_s: float


@dataclass(frozen=True)
class Measuring:
    """Cells are being measured: `done` of `total`, `failed` of them so far."""

    what: str
    done: int
    total: int
    failed: int


@dataclass(frozen=True)
class Note:
    """Something a person should read, that is no result."""

    text: str


Event = Reading | StageStarted | Wrote | Waiting | StageEnded | Measuring | Note


class Progress(Protocol):
    """Takes events."""

    def emit(self, event: Event) -> None:
        """Take one event; never raises, never waits."""


class Silent:
    """A Progress that shows nothing."""

    def emit(self, event: Event) -> None:
        """Drop the event."""
