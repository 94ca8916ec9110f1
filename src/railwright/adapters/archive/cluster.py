"""
The Cluster port over an archive: reading only, and never an empty answer in place of one that is not there.

A list of which only a part was collected gives that part, then raises NotCollected: whoever reads it keeps what there
is and knows that it is not all.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from railwright.adapters.archive.holdings import Holdings, LogKey, Shelf
from railwright.adapters.archive.read_only import ReadOnly
from railwright.core.errors import KindNotServed, NotCollected, NotFound
from railwright.core.kinds import NAMESPACE
from railwright.core.objects import Kind, KubeObject, Ref, ref_of
from railwright.ports.cluster import Seen, Selection, ServedKind, Watch
from railwright.ports.selecting import selected

_KEPT_SHELF_BYTES = 8 << 20
_KEPT_BYTES = 64 << 20
"""Text of shelves whose objects stay in memory, for reads of single objects."""
HINT = "collect again with `railwright collect`, or look at the cluster itself"


class _Still:
    """A watch in which nothing happens."""

    async def next(self, timeout_s: float) -> tuple[Seen, ...]:
        """Nothing changes in an archive, however long one waits."""
        del timeout_s
        return ()


@dataclass
class ArchiveCluster(ReadOnly):
    """The objects of an archive."""

    name: str
    holdings: Holdings
    _kept: dict[int, dict[Ref, KubeObject]] = field(default_factory=dict)
    _kept_bytes: int = 0

    @property
    def simulated(self) -> bool:
        """Whether it was collected from a simulated world."""
        return self.holdings.simulated

    async def version(self) -> str:
        """Kubernetes version of the API server."""
        if not self.holdings.version:
            message = "Kubernetes version: not in the archive"
            raise NotCollected(message, hint=HINT)
        return self.holdings.version

    async def served_kinds(self) -> tuple[ServedKind, ...]:
        """Every kind that was served."""
        if self.holdings.served is None:
            message = "served kinds: not in the archive"
            raise NotCollected(message, hint=HINT)
        return self.holdings.served

    async def get(self, ref: Ref) -> KubeObject:
        """Read one object."""
        selection = Selection(ref.kind, ref.namespace, ref.name)
        shelves = self._shelves(selection)
        for shelf in shelves:
            found = self._find(shelf, ref)
            if found is not None:
                return found
        if ref in self.holdings.absent or self._covered(shelves, selection):
            message = f"{ref} did not exist when this was collected"
            raise NotFound(message, context={"kind": ref.kind.kind, "name": ref.name, "namespace": ref.namespace})
        raise self._not_collected(ref.kind, ref.namespace, str(ref))

    async def list(self, selection: Selection) -> AsyncIterator[KubeObject]:
        """Read objects; raises NotCollected, after what is there, when that is not all."""
        shelves = self._shelves(selection)
        whole = next((shelf for shelf in shelves if shelf.covers(selection)), None)
        seen: set[Ref] = set()
        for shelf in (whole,) if whole else shelves:
            for obj in self._objects(shelf):
                ref = ref_of(obj)
                if ref not in seen and selected(obj, ref, selection):
                    seen.add(ref)
                    yield obj
        if whole is None and not self._covered(shelves, selection):
            what = f"{selection.kind}{f' in {selection.namespace}' if selection.namespace else ''}"
            what += f" with {selection.labels}" if selection.labels else ""
            raise self._not_collected(selection.kind, selection.namespace, what, found=len(seen))

    @asynccontextmanager
    async def watch(self, selections: Sequence[Selection]) -> AsyncIterator[Watch]:
        """Watch something in which nothing changes."""
        del selections
        yield _Still()

    async def logs(self, namespace: str, pod: str, container: str, *, tail_lines: int, previous: bool = False) -> str:
        """Give the end of a log."""
        for name in dict.fromkeys((container, "")):
            read = self.holdings.logs.get(LogKey(namespace, pod, name, previous))
            if read is not None:
                lines = read().splitlines(keepends=True)
                return "".join((lines if name else _of_container(lines, pod, container))[-tail_lines:])
        which = "previous log" if previous else "log"
        message = f"the {which} of {namespace}/{pod}{f' container {container}' if container else ''} was not collected"
        raise NotCollected(message, hint=HINT)

    async def may(self, verb: str, group: str, plural: str, namespace: str = "", name: str = "") -> bool:
        """Whoever can read the file may read everything in it, and change nothing."""
        del group, plural, namespace, name
        return verb in {"get", "list", "watch"}

    def _shelves(self, selection: Selection) -> tuple[Shelf, ...]:
        """Give the shelves that may hold something. Raises KindNotServed."""
        shelves = tuple(shelf for shelf in self.holdings.shelves if shelf.touches(selection))
        served = self.holdings.served
        if not shelves and served is not None and all(item.kind != selection.kind for item in served):
            message = f"the API server did not serve {selection.kind} when this was collected"
            raise KindNotServed(
                message,
                hint="the operator that brings this kind was not installed (yet)",
                context={"kind": selection.kind.kind, "apiVersion": selection.kind.api_version},
            )
        return shelves

    def _covered(self, shelves: Sequence[Shelf], selection: Selection) -> bool:
        """Whether it is certain that nothing else exists: also in a namespace that did not exist itself."""
        if any(shelf.covers(selection) for shelf in shelves):
            return True
        if not selection.namespace:
            return False
        place = Selection(NAMESPACE, name=selection.namespace)
        lists = [shelf for shelf in self.holdings.shelves if shelf.covers(place)]
        ref = Ref(NAMESPACE, "", selection.namespace)
        return bool(lists) and all(self._find(shelf, ref) is None for shelf in lists)

    def _objects(self, shelf: Shelf) -> Iterator[KubeObject]:
        kept = self._kept.get(id(shelf))
        return iter(kept.values()) if kept is not None else shelf.read()

    def _find(self, shelf: Shelf, ref: Ref) -> KubeObject | None:
        """Find one object; the objects of a small shelf stay in memory, for the next one that is asked for."""
        if id(shelf) not in self._kept and (
            shelf.size_bytes <= _KEPT_SHELF_BYTES and self._kept_bytes + shelf.size_bytes <= _KEPT_BYTES
        ):
            self._kept[id(shelf)] = {ref_of(obj): obj for obj in shelf.read()}
            self._kept_bytes += shelf.size_bytes
        kept = self._kept.get(id(shelf))
        if kept is not None:
            return kept.get(ref)
        return next((obj for obj in shelf.read() if ref_of(obj) == ref), None)

    def _not_collected(self, kind: Kind, namespace: str, what: str, found: int = 0) -> NotCollected:
        problems = self.holdings.problems
        why = problems.get((kind, namespace)) or problems.get((kind, "")) or ""
        part = f"{what}: only {found} of them happened to be collected" if found else f"{what}: not in the archive"
        message = f"{part}{f' (when it was collected: {why})' if why else ''}"
        return NotCollected(message, hint=HINT, context={"kind": kind.kind, "apiVersion": kind.api_version})


def _of_container(lines: list[str], pod: str, container: str) -> list[str]:
    """Take one container's lines out of a log of all of them, where each line says whose it is."""
    mark = f"[pod/{pod}/{container}] "
    if not container or not any(line.startswith("[pod/") for line in lines):
        return lines
    return [line.removeprefix(mark) for line in lines if line.startswith(mark)]
