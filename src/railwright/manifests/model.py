"""What render gives."""

from dataclasses import dataclass

from railwright.core.ids import FabricName, NodeName, StageName
from railwright.core.objects import KubeObject, Ref, ref_of


@dataclass(frozen=True)
class Manifest:
    """
    One object of the plan.

    Attributes:
        obj: exactly the fields that we want to own; no status, no defaults of the server.
        fabrics: for whom it is there; empty when it belongs to every fabric.
        node: set for labels of one node: applied only with that node's batch.
        embedded: paths of fields whose string holds entries that others may share: {"spec.x.config": "rdma-shared"};
            the name says how to merge (changes/embedded.py).
        partial: the object is never made by us, only fields of an existing one are set (Node, an adopted policy).
    """

    stage: StageName
    obj: KubeObject
    fabrics: tuple[FabricName, ...]
    node: NodeName | None = None
    embedded: tuple[tuple[str, str], ...] = ()
    partial: bool = False

    @property
    def ref(self) -> Ref:
        """Reference of the object."""
        return ref_of(self.obj)


@dataclass(frozen=True)
class Manifests:
    """All objects of a plan, in the order in which they are applied."""

    items: tuple[Manifest, ...]

    def of_stage(self, stage: StageName) -> tuple[Manifest, ...]:
        """The stage's objects, in order."""
        return tuple(item for item in self.items if item.stage == stage)


@dataclass(frozen=True)
class File:
    """A rendered file: path relative to the target folder, text with a final newline."""

    path: str
    text: str
