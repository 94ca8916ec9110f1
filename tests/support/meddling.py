"""A Cluster on which somebody else acts just before our Nth write."""

from collections.abc import Callable
from typing import Any

from support.others import change, make, remove, store

from railwright.core import kinds
from railwright.core.marks import LEDGER_NAMESPACE
from railwright.core.objects import KubeObject, Ref, ref_of
from railwright.ports.world import World

SHARD = Ref(kinds.CONFIG_MAP, LEDGER_NAMESPACE, "railwright-ledger-0000")
HEAD = Ref(kinds.CONFIG_MAP, LEDGER_NAMESPACE, "railwright-ledger")
Act = Callable[[World, Ref], None]
_SERVERS_OWN = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "ownerReferences")


class MeddledCluster:
    """Passes everything on; before write `number` (from 1) somebody acts, and is told what we wrote last."""

    def __init__(self, world: World, number: int, act: Act) -> None:
        self._world, self._cluster, self._left, self._act = world, world.cluster, number, act
        self._last: Ref | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    async def apply(self, obj: KubeObject, **options: Any) -> KubeObject:
        self._count(ref_of(obj), options)
        return await self._cluster.apply(obj, **options)

    async def patch(self, ref: Ref, merge_patch: KubeObject, **options: Any) -> KubeObject:
        self._count(ref, options)
        return await self._cluster.patch(ref, merge_patch, **options)

    async def delete(self, ref: Ref, **options: Any) -> None:
        self._count(ref, options)
        await self._cluster.delete(ref, **options)

    def _count(self, ref: Ref, options: dict[str, Any]) -> None:
        if options.get("dry_run"):
            return
        self._left -= 1
        if self._left == 0 and self._last is not None:
            self._act(self._world, self._last)
        if ref.namespace != LEDGER_NAMESPACE and ref.kind not in {kinds.NODE, kinds.INSTALL_PLAN}:
            self._last = ref


def deletes(world: World, ref: Ref) -> None:
    if ref in store(world).objects:
        remove(world, ref)


def makes_anew(world: World, ref: Ref) -> None:
    if ref not in store(world).objects:
        return
    obj = dict(store(world).get(ref))
    remove(world, ref)
    if ref not in store(world).objects:
        metadata = {key: value for key, value in obj["metadata"].items() if key not in _SERVERS_OWN}
        make(world, {key: value for key, value in obj.items() if key != "status"} | {"metadata": metadata})


def edits(world: World, ref: Ref) -> None:
    if ref in store(world).objects:
        change(world, ref, {"metadata": {"labels": {"app.kubernetes.io/managed-by": "team-b", "team": "b"}}})


def deletes_shard(world: World, _ref: Ref) -> None:
    deletes(world, SHARD)


def deletes_head(world: World, _ref: Ref) -> None:
    deletes(world, HEAD)


def garbles_shard(world: World, _ref: Ref) -> None:
    if SHARD in store(world).objects:
        change(world, SHARD, {"data": {"notes": "not an entry"}})


def labels_shard(world: World, _ref: Ref) -> None:
    if SHARD in store(world).objects:
        change(world, SHARD, {"metadata": {"labels": {"team": "b"}}})


def deletes_ledger_namespace(world: World, _ref: Ref) -> None:
    deletes(world, Ref(kinds.NAMESPACE, "", LEDGER_NAMESPACE))
