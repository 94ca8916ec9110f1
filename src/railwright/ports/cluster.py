"""
A Kubernetes API server, seen through the few calls that railwright makes.

Every implementation raises only errors of railwright.core.errors: NotFound, KindNotServed, PermissionMissing,
LoginExpired, ClusterUnreachable, ClusterBusy, WriteConflict, ObjectRefused; and NotCollected from an archive.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from railwright.core.objects import FIELD_MANAGER, Kind, KubeObject, Ref


@dataclass(frozen=True)
class ServedKind:
    """One kind that the API server serves."""

    kind: Kind
    plural: str
    namespaced: bool


@dataclass(frozen=True)
class Selection:
    """
    Objects of one kind.

    Attributes:
        namespace: only in this one; "" for all.
        name: only this one; "" for all.
        labels: "a=b,c", as on a command line.
        brief: nodes and pods may come without what only fills memory (images of nodes, probes, managed fields); for
            lists, which are only read.
    """

    kind: Kind
    namespace: str = ""
    name: str = ""
    labels: str = ""
    brief: bool = False


@dataclass(frozen=True)
class Seen:
    """One thing that a watch saw: `gone` when the object was deleted, and `obj` is its last state."""

    obj: KubeObject
    gone: bool = False


@dataclass(frozen=True)
class ExecResult:
    """What a command in a container said."""

    stdout: str
    stderr: str
    exit_code: int


class Watch(Protocol):
    """Changes of some selections since the watch was opened."""

    async def next(self, timeout_s: float) -> tuple[Seen, ...]:
        """
        Wait until something changes, at most `timeout_s`.

        Returns:
            What changed, in order; empty when nothing did, or when the watch had to start again and what was
            missed is not known: the caller reads the objects again either way.
        """


class Cluster(Protocol):
    """One cluster; `name` is what the person called it, `simulated` marks every result that comes of it."""

    @property
    def name(self) -> str:
        """The context, or the simulator's or archive's specification."""

    @property
    def simulated(self) -> bool:
        """Whether nothing of it is real."""

    async def version(self) -> str:
        """Kubernetes version of the API server, as "v1.33.4"."""

    async def served_kinds(self) -> tuple[ServedKind, ...]:
        """Every kind served now; read again at each call, since operators add kinds."""

    async def get(self, ref: Ref) -> KubeObject:
        """Read one whole object. Raises NotFound, KindNotServed."""

    def list(self, selection: Selection) -> AsyncIterator[KubeObject]:
        """Read objects page by page, whole. Raises KindNotServed at the first step."""

    def watch(self, selections: Sequence[Selection]) -> AbstractAsyncContextManager[Watch]:
        """Watch several selections at once; kinds that are not served (yet) are left out in silence."""

    async def apply(
        self,
        obj: KubeObject,
        *,
        field_manager: str = FIELD_MANAGER,
        take_over: bool = False,
        dry_run: bool = False,
    ) -> KubeObject:
        """
        Server-side apply; a `metadata.resourceVersion` in `obj` makes a write to a changed object a WriteConflict.

        Args:
            obj: every field that the field manager wants; what it had before and is not here is given up.
            take_over: force fields that another manager owns; without it they raise WriteConflict, whose
                context has one entry a field: its path, and the other manager.
            dry_run: let the server check and answer without storing.
        """

    async def patch(self, ref: Ref, merge_patch: KubeObject, *, dry_run: bool = False) -> KubeObject:
        """Apply a JSON merge patch (RFC 7396): null removes a key; resourceVersion inside guards it."""

    async def delete(self, ref: Ref, *, uid: str = "", dry_run: bool = False) -> None:
        """Delete in the background; with `uid` only that very object. Raises NotFound, WriteConflict (other uid)."""

    async def exec(
        self, namespace: str, pod: str, container: str, command: Sequence[str], *, stdin: str = "", timeout_s: float
    ) -> ExecResult:
        """Run a command in a container that runs already."""

    async def logs(self, namespace: str, pod: str, container: str, *, tail_lines: int, previous: bool = False) -> str:
        """Read the end of a container's log."""

    async def may(self, verb: str, group: str, plural: str, namespace: str = "", name: str = "") -> bool:
        """Ask the API server whether we may do this (SelfSubjectAccessReview); `plural` may be "pods/exec"."""
