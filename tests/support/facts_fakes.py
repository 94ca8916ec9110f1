"""The smallest Cluster, Node, Clock and Progress that discover can be shown."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from railwright.core.errors import KindNotServed, NotFound, RailwrightError
from railwright.core.objects import Kind, KubeObject, Ref, labels_of, ref_of
from railwright.ports.cluster import Selection, ServedKind
from railwright.ports.node import NodeAnswer
from railwright.ports.progress import Event


@dataclass
class FakeCluster:
    """Objects in memory; `failing` says for a kind what goes wrong with it."""

    objects: dict[Ref, KubeObject] = field(default_factory=dict)
    not_served: frozenset[Kind] = frozenset()
    failing: dict[Kind, RailwrightError] = field(default_factory=dict)
    served_error: RailwrightError | None = None
    version_error: RailwrightError | None = None
    kinds: tuple[Kind, ...] = ()
    name: str = "test"
    simulated: bool = False
    log_text: str = "a line"
    log_error: RailwrightError | None = None

    async def logs(self, namespace: str, pod: str, container: str, *, tail_lines: int, previous: bool = False) -> str:
        if self.log_error:
            raise self.log_error
        return self.log_text

    def put(self, obj: KubeObject) -> None:
        self.objects[ref_of(obj)] = obj

    async def version(self) -> str:
        if self.version_error:
            raise self.version_error
        return "v1.33.4"

    async def served_kinds(self) -> tuple[ServedKind, ...]:
        if self.served_error:
            raise self.served_error
        served = set(self.kinds) | {ref.kind for ref in self.objects}
        housed = {ref.kind for ref in self.objects if ref.namespace}
        return tuple(ServedKind(kind, f"{kind.kind.lower()}s", namespaced=kind in housed) for kind in sorted(served))

    def _check(self, kind: Kind) -> None:
        if kind in self.failing:
            raise self.failing[kind]
        if kind in self.not_served:
            raise KindNotServed(f"{kind} is not served")

    async def get(self, ref: Ref) -> KubeObject:
        self._check(ref.kind)
        if ref not in self.objects:
            raise NotFound(f"{ref} does not exist")
        return self.objects[ref]

    async def list(self, selection: Selection) -> AsyncIterator[KubeObject]:
        self._check(selection.kind)
        for ref, obj in self.objects.items():
            fits = ref.kind == selection.kind and selection.namespace in {"", ref.namespace}
            if fits and (not selection.labels or selection.labels in labels_of(obj)):
                yield obj


@dataclass
class FakeNode:
    """Answers with one record a node, and counts how many are read at once."""

    answer: Callable[[str], NodeAnswer]
    at_once: int = 0
    most_at_once: int = 0
    deadlines_s: list[float] = field(default_factory=list)

    async def read(self, node: str, script: str, *, timeout_s: float) -> NodeAnswer:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.deadlines_s.append(timeout_s)
        await _others()
        self.at_once -= 1
        return self.answer(node)


async def _others() -> None:
    """Let the other tasks run, without waiting."""
    loop = asyncio.get_running_loop()
    for _ in range(5):
        turn = loop.create_future()
        loop.call_soon(turn.set_result, None)
        await turn


class FakeClock:
    """Stands still."""

    def now(self) -> datetime:
        return datetime(2026, 11, 30, 8, 0, tzinfo=UTC)

    def monotonic_s(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("discover does not wait")


@dataclass
class Seen:
    """A Progress that remembers."""

    events: list[Event] = field(default_factory=list)

    def emit(self, event: Event) -> None:
        self.events.append(event)
