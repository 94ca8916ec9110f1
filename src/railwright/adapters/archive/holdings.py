"""What an archive holds, whatever its layout: shelves of objects, logs, node records; and what it can't know."""

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from railwright.core.ids import NodeName
from railwright.core.objects import Kind, KubeObject, Ref
from railwright.ports.cluster import Selection, ServedKind
from railwright.ports.node import NodeAnswer

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True)
class Shelf:
    """
    Objects of one kind that were collected together, read when they are asked for.

    Attributes:
        namespace: where they come from; "" for all namespaces, or none.
        labels: the selector they were collected with; "" for any.
        name: when only this object was collected.
        is_complete: nothing that fits was left out; else they are only what happened to be collected.
        size_bytes: of the text they are read from.
    """

    kind: Kind
    read: Callable[[], Iterator[KubeObject]]
    namespace: str = ""
    labels: str = ""
    name: str = ""
    is_complete: bool = True
    size_bytes: int = 0

    def covers(self, selection: Selection) -> bool:
        """Whether everything that a selection asks for, if it exists, is here."""
        return (
            self.is_complete
            and self.kind == selection.kind
            and self.namespace in {"", selection.namespace}
            and self.labels in {"", selection.labels}
            and self.name in {"", selection.name}
        )

    def touches(self, selection: Selection) -> bool:
        """Whether something that a selection asks for may be here."""
        return (
            self.kind == selection.kind
            and (not selection.namespace or self.namespace in {"", selection.namespace})
            and (not selection.name or self.name in {"", selection.name})
        )


@dataclass(frozen=True, order=True)
class LogKey:
    """Which log; `container` is "" where the logs of all containers are in one file."""

    namespace: str
    pod: str
    container: str
    previous: bool = False


@dataclass(frozen=True)
class Holdings:
    """
    Everything in an archive.

    Attributes:
        absent: objects that were asked for by name and did not exist.
        served: what the API server served; None where that was not collected.
        version: of Kubernetes; "" where that was not collected.
        problems: why something could not be collected, by kind and namespace ("" for all).
        logs: the end of each log.
        nodes: what the Node port answers.
        taken_at: when it was collected, RFC 3339; "" where nothing says.
        simulated, virtual: it was collected from a simulated world, or from the virtual cluster, by what it says itself.
        notes: what a person should know of it, one sentence each.
    """

    shelves: tuple[Shelf, ...] = ()
    absent: frozenset[Ref] = frozenset()
    served: tuple[ServedKind, ...] | None = None
    version: str = ""
    problems: Mapping[tuple[Kind, str], str] = field(default_factory=dict)
    logs: Mapping[LogKey, Callable[[], str]] = field(default_factory=dict)
    nodes: Mapping[NodeName, Callable[[], NodeAnswer]] = field(default_factory=dict)
    node_problem: str = "the archive holds no record of this node"
    taken_at: str = ""
    simulated: bool = False
    virtual: bool = False
    notes: tuple[str, ...] = ()


def together(parts: Sequence[Holdings]) -> Holdings:
    """Join what lies in one archive; of what two of them say, the first counts."""
    if len(parts) == 1:
        return parts[0]
    return Holdings(
        shelves=tuple(shelf for part in parts for shelf in part.shelves),
        absent=frozenset(ref for part in parts for ref in part.absent),
        served=next((part.served for part in parts if part.served is not None), None),
        version=next((part.version for part in parts if part.version), ""),
        problems=_joined([part.problems for part in parts]),
        logs=_joined([part.logs for part in parts]),
        nodes=_joined([part.nodes for part in parts]),
        node_problem=parts[0].node_problem,
        taken_at=max(part.taken_at for part in parts),
        simulated=any(part.simulated for part in parts),
        virtual=any(part.virtual for part in parts),
        notes=tuple(note for part in parts for note in part.notes),
    )


def _joined(maps: Sequence[Mapping[K, V]]) -> Mapping[K, V]:
    return dict(ChainMap(*[dict(item) for item in maps]))
