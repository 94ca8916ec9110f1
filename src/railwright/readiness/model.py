"""What a judge takes and gives."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from railwright.core.ids import NodeName
from railwright.core.objects import Kind, KubeObject, Ref
from railwright.facts.model import NodeHardware


class Readiness(StrEnum):
    """The four answers."""

    READY = "ready"
    PROGRESSING = "progressing"
    FAILED = "failed"
    """It says itself that it cannot go on; a gate stops at once only if it stays so for the hold time."""
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Judgement:
    """An answer with its reason; `waiting_for` names who holds it up: "DaemonSet x on worker-2: ImagePullBackOff ..."."""

    readiness: Readiness
    reason: str
    waiting_for: str = ""


@dataclass(frozen=True)
class Receipt:
    """What our last write of an object came back with; a status must be newer to count."""

    resource_version: str
    generation: int
    written_at: datetime
    changed: bool
    """False when the write changed nothing: the old status may stand."""


@dataclass(frozen=True)
class Companions:
    """Objects and facts that an object is judged with: everything the gate watches, as last read."""

    objects: Mapping[Ref, KubeObject] = field(default_factory=dict)
    hardware: Mapping[NodeName, NodeHardware] = field(default_factory=dict)
    hardware_problems: Mapping[NodeName, str] = field(default_factory=dict)
    """Why a node's inside could not be read."""
    unserved: frozenset[Kind] = frozenset()
    """Kinds that the API server does not serve (yet)."""

    def get(self, kind: Kind, name: str, namespace: str = "") -> KubeObject | None:
        """Find one object."""
        return self.objects.get(Ref(kind, namespace, name))

    def of_kind(self, kind: Kind, namespace: str | None = None) -> tuple[KubeObject, ...]:
        """Objects of a kind, sorted."""
        refs: Iterable[Ref] = sorted(
            ref for ref in self.objects if ref.kind == kind and namespace in {None, ref.namespace}
        )
        return tuple(self.objects[ref] for ref in refs)
