"""What a judge takes and gives."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from railwright.core import kinds
from railwright.core.ids import NodeName
from railwright.core.objects import Kind, KubeObject, Ref, dig
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
        refs = self._sorted_refs.get(kind, ())
        return tuple(self.objects[ref] for ref in refs if namespace in {None, ref.namespace})

    def pods_on(self, node: str, namespace: str) -> tuple[KubeObject, ...]:
        """Pods of a namespace on one node ("" for every node), sorted."""
        return self._pods.get((namespace, node), ()) if node else self.of_kind(kinds.POD, namespace)

    @cached_property
    def _sorted_refs(self) -> Mapping[Kind, tuple[Ref, ...]]:
        found: dict[Kind, list[Ref]] = defaultdict(list)
        for ref in self.objects:
            found[ref.kind].append(ref)
        return {kind: tuple(sorted(refs, key=lambda ref: (ref.namespace, ref.name))) for kind, refs in found.items()}

    @cached_property
    def _pods(self) -> Mapping[tuple[str, str], tuple[KubeObject, ...]]:
        found: dict[tuple[str, str], list[KubeObject]] = defaultdict(list)
        for ref in self._sorted_refs.get(kinds.POD, ()):
            pod = self.objects[ref]
            found[ref.namespace, str(dig(pod, "spec", "nodeName", default=""))].append(pod)
        return {key: tuple(pods) for key, pods in found.items()}
