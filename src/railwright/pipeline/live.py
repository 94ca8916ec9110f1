"""Read the live objects that manifests or ledger entries speak of: whole, and with few requests."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from railwright.apply.retry import retried
from railwright.core.errors import KindNotServed, NotCollected, NotFound, PermissionMissing
from railwright.core.kinds import NODE
from railwright.core.needs import Need, of_kind, of_ref
from railwright.core.objects import Kind, KubeObject, Ref, kind_of, ref_of
from railwright.ports.clock import Clock
from railwright.ports.cluster import Cluster, Selection

_LIST_FROM = 5
"""So many objects of one kind in one namespace are read as a list."""


@dataclass(frozen=True)
class Live:
    """What is there; `problems` names what could not be read, and is not known to be absent."""

    objects: dict[Ref, KubeObject]
    problems: tuple[str, ...]


async def read_live(cluster: Cluster, clock: Clock, refs: Iterable[Ref]) -> Live:
    """Read objects; one that does not exist, or whose kind is not served, is left out."""
    wanted: dict[tuple[Kind, str], set[Ref]] = defaultdict(set)
    for ref in refs:
        wanted[ref.kind, ref.namespace].add(ref)
    objects: dict[Ref, KubeObject] = {}
    problems: list[str] = []
    for (kind, namespace), group in sorted(wanted.items()):
        try:
            if len(group) < _LIST_FROM:
                found = [await _read_one(cluster, clock, ref) for ref in sorted(group)]
            else:
                found = list(await _read_list(cluster, clock, Selection(kind, namespace)))
        except (PermissionMissing, NotCollected) as error:
            if kind == NODE:
                # A node that may not be read must not be taken for one that is not there.
                raise
            problems.append(error.message)
            continue
        objects |= {ref_of(obj): obj for obj in found if obj is not None and ref_of(obj) in group}
    return Live(objects, tuple(problems))


def live_needs(refs: Iterable[Ref]) -> tuple[Need, ...]:
    """Give what `read_live` of these takes."""
    groups: dict[tuple[Kind, str], set[Ref]] = defaultdict(set)
    for ref in refs:
        groups[ref.kind, ref.namespace].add(ref)
    needs: list[Need] = []
    for (kind, namespace), group in groups.items():
        each = [need for ref in group for need in of_ref("get", ref)]
        needs += each if len(group) < _LIST_FROM else of_kind("list", kind, namespace)
    return tuple(needs)


async def _read_one(cluster: Cluster, clock: Clock, ref: Ref) -> KubeObject | None:
    try:
        return await retried(lambda: cluster.get(ref), clock)
    except (NotFound, KindNotServed):
        return None


async def _read_list(cluster: Cluster, clock: Clock, selection: Selection) -> list[KubeObject]:
    async def read() -> list[KubeObject]:
        return [_as_compared(obj) async for obj in cluster.list(selection)]

    try:
        return await retried(read, clock)
    except KindNotServed:
        return []


def _as_compared(obj: KubeObject) -> KubeObject:
    """Leave out what is never ours to write: of a node all but its metadata, which is the smaller part of it."""
    if kind_of(obj) != NODE:
        return obj
    return {key: obj[key] for key in ("apiVersion", "kind", "metadata")}
