"""Reading from the Cluster port so that a missing answer is never taken for an empty one."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from railwright.core.errors import (
    ClusterUnreachable,
    LoginExpired,
    NotFound,
    RailwrightError,
)
from railwright.core.objects import MISSHAPEN, Kind, KubeObject, Ref, ref_of
from railwright.facts.model import Unseen
from railwright.ports.cluster import Cluster, Selection, ServedKind

T = TypeVar("T")
U = TypeVar("U")

_PARALLEL_READS = 8
"""Enough to hide a round trip of 50 ms over some forty reads; few enough for a busy API server."""

_MISSHAPEN_SAID = "not of the form that its kind has"
_SAID_CHARACTERS = 200


async def together(work: Iterable[Awaitable[T]]) -> list[T]:
    """Wait for all; the first error stops the rest and is raised as it is, once nothing of them goes on any more."""
    tasks = [asyncio.ensure_future(item) for item in work]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def both(first: Awaitable[T], second: Awaitable[U]) -> tuple[T, U]:
    """Wait for two; the first error stops the other and is raised as it is."""
    one, other = asyncio.ensure_future(first), asyncio.ensure_future(second)
    await together((one, other))
    return one.result(), other.result()


@dataclass
class Reading:
    """
    One reading of a cluster: what is served, and everything that could not be seen.

    A kind that the API server says it does not serve has no objects: that is an answer, and `ClusterFacts.serves`
    tells it. Everything else that keeps a list from being read is Unseen. Without an answer on what is served, a kind
    that is not served is Unseen too.
    """

    cluster: Cluster
    served: tuple[ServedKind, ...] | None = None
    unseen: list[Unseen] = field(default_factory=list)
    whole_in: set[tuple[Kind, str]] = field(default_factory=set)
    """Kinds of which every object of a namespace was seen."""
    _gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_PARALLEL_READS))

    async def attempt(self, what: str, work: Callable[[], Awaitable[T]], otherwise: T) -> T:
        """Do one reading; a cluster that can't be talked to is raised, any other error is Unseen and `otherwise`."""
        async with self._gate:
            try:
                return await work()
            except (ClusterUnreachable, LoginExpired):
                raise
            except RailwrightError as error:
                self.unseen.append(Unseen(what, f"{error.code}: {error.message.removeprefix(f'{what}: ')}"))
                return otherwise

    def not_served(self, kind: Kind) -> bool:
        """Whether it is certain that the API server does not serve a kind."""
        return self.served is not None and all(served.kind != kind for served in self.served)

    async def get(self, ref: Ref) -> KubeObject | None:
        """Read one object; None when it does not exist, its kind is not served, or it can't be seen (then Unseen)."""
        if self.not_served(ref.kind):
            return None

        async def work() -> KubeObject | None:
            try:
                return await self.cluster.get(ref)
            except NotFound:
                return None

        return await self.attempt(str(ref), work, None)

    async def each(self, selection: Selection, take: Callable[[KubeObject], object]) -> bool:
        """
        Hand every object of a selection to `take`, one at a time; one of another form than its kind has is Unseen.

        Returns:
            Whether all of them were seen; True for a kind that is certainly not served.
        """
        if self.not_served(selection.kind):
            return True
        odd: list[str] = []
        has_home = self._lives_in_namespaces(selection.kind)

        async def work() -> bool:
            async for obj in self.cluster.list(selection):
                try:
                    _check_metadata(obj, has_home=has_home)
                    take(obj)
                except MISSHAPEN as error:
                    odd.append(f"{ref_of(obj)}: {_said(error)}")
            return not odd

        is_whole = await self.attempt(_name(selection), work, otherwise=False)
        if odd:
            more = f", and {len(odd) - 1} more" if len(odd) > 1 else ""
            self.unseen.append(Unseen(_name(selection), f"{_MISSHAPEN_SAID}: {odd[0]}{more}"))
        if is_whole and selection.namespace and not selection.labels and not selection.name:
            self.whole_in.add((selection.kind, selection.namespace))
        return is_whole

    def _lives_in_namespaces(self, kind: Kind) -> bool:
        """Whether it is certain that every object of a kind is in a namespace."""
        return any(served.kind == kind and served.namespaced for served in self.served or ())

    def understand(self, what: object, read: Callable[[], T], otherwise: T) -> T:
        """Take an object apart that was read before; one of another form than its kind has is Unseen, and `otherwise`."""
        try:
            return read()
        except MISSHAPEN as error:
            self.unseen.append(Unseen(str(what), f"{_MISSHAPEN_SAID}: {_said(error)}"))
            return otherwise

    def forgive(self, selection: Selection) -> None:
        """Take back that a selection could not be seen: it is known by other means that nothing is in it."""
        self.unseen[:] = [item for item in self.unseen if item.what != _name(selection)]


async def start_reading(cluster: Cluster) -> Reading:
    """Begin with what is served; a cluster that answers nothing at all is raised here."""
    reading = Reading(cluster)

    async def work() -> tuple[ServedKind, ...] | None:
        return await cluster.served_kinds()

    reading.served = await reading.attempt("served kinds", work, None)
    return reading


def _check_metadata(obj: KubeObject, *, has_home: bool) -> None:
    """Raise ValueError or TypeError for what no API server stores, and every reader of objects takes for granted."""
    metadata = obj["metadata"]
    if has_home and not metadata.get("namespace"):
        message = "it names no namespace"
        raise ValueError(message)
    for name in ("labels", "annotations"):
        if not isinstance(metadata.get(name) or {}, Mapping):
            message = f"metadata.{name} is no mapping"
            raise TypeError(message)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_SAID_CHARACTERS]


def _name(selection: Selection) -> str:
    where = f" in {selection.namespace}" if selection.namespace else ""
    labelled = f" with {selection.labels}" if selection.labels else ""
    return f"{selection.kind}{where}{labelled}"
