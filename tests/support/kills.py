"""A Cluster whose process is killed just before a certain write, and that takes nothing after it; and one that looks on."""

from collections.abc import Callable
from typing import Any

from railwright.core.objects import Kind, KubeObject, Ref, ref_of
from railwright.ports.cluster import Cluster

Look = Callable[[str, Ref], None]


class Killed(BaseException):
    """The process is gone: no handler of ours may turn this into anything else."""


class LookingCluster:
    """Passes everything on, and shows each write to `look(verb, ref)` before it happens; checks of the server are none."""

    def __init__(self, cluster: Cluster, look: Look) -> None:
        """Look at writes, counted by nobody."""
        self._cluster = cluster
        self._look = look

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    async def apply(self, obj: KubeObject, **options: Any) -> KubeObject:
        self._show("apply", ref_of(obj), options)
        return await self._cluster.apply(obj, **options)

    async def patch(self, ref: Ref, merge_patch: KubeObject, **options: Any) -> KubeObject:
        self._show("patch", ref, options)
        return await self._cluster.patch(ref, merge_patch, **options)

    async def delete(self, ref: Ref, **options: Any) -> None:
        self._show("delete", ref, options)
        await self._cluster.delete(ref, **options)

    def _show(self, verb: str, ref: Ref, options: dict[str, Any]) -> None:
        if not options.get("dry_run"):
            self._look(verb, ref)


class KillingCluster(LookingCluster):
    """Is killed at the write that never happens; nothing is written after it either."""

    def __init__(self, cluster: Cluster, number: int = 0, *, verb: str = "", kind: Kind | None = None) -> None:
        """Be killed just before write `number`, counted from 1; or before the first one with `verb` of a `kind`."""
        super().__init__(cluster, self._count)
        self._number, self._verb, self._kind = number, verb, kind
        self._writes = 0
        self._is_dead = False

    def _count(self, verb: str, ref: Ref) -> None:
        self._writes += 1
        self._is_dead |= self._writes == self._number or (verb, ref.kind) == (self._verb, self._kind)
        if self._is_dead:
            raise Killed
