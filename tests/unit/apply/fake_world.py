"""
A small world for apply's tests: objects with the promises of an API server, a clock that moves when somebody waits,
reactors that stand for operators, and hooks that break it.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from railwright.core import kinds
from railwright.core.errors import NotFound
from railwright.core.objects import FIELD_MANAGER, KubeObject, Ref, ref_of
from railwright.ports.approval import Question
from railwright.ports.cluster import ExecResult, Seen, Selection, ServedKind
from railwright.ports.node import NodeAnswer
from railwright.ports.progress import Event
from railwright.simulator.kinds import KUBERNETES, OPENSHIFT
from railwright.simulator.ownership import Manager
from railwright.simulator.store import Store

WIDGET_KINDS = tuple(
    ServedKind(kind, f"{kind.kind.lower()}s", namespaced)
    for kind, namespaced in (
        (kinds.NIC_CLUSTER_POLICY, False),
        (kinds.CLUSTER_POLICY, False),
        (kinds.MACVLAN_NETWORK, False),
        (kinds.SRIOV_NETWORK, True),
        (kinds.SRIOV_NETWORK_NODE_POLICY, True),
        (kinds.NV_IPAM_IP_POOL, True),
        (kinds.NODE_FEATURE_DISCOVERY, True),
    )
)


class Killed(BaseException):
    """The process is gone: nothing may catch this."""


@dataclass
class FakeClock:
    """Time that moves only when somebody waits."""

    elapsed_s: float = 0.0
    ticks: list[Callable[[], None]] = field(default_factory=list)

    def now(self) -> datetime:
        return datetime(2026, 11, 30, 7, 0, tzinfo=UTC) + timedelta(seconds=self.elapsed_s)

    def monotonic_s(self) -> float:
        return self.elapsed_s

    async def sleep(self, seconds: float) -> None:
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        self.elapsed_s += seconds
        for tick in self.ticks:
            tick()


@dataclass
class FakeWatch:
    cluster: "FakeCluster"
    position: int

    async def next(self, timeout_s: float) -> tuple[Seen, ...]:
        log = self.cluster.store.log
        until_s = self.cluster.clock.elapsed_s + timeout_s
        while len(log) == self.position and self.cluster.clock.elapsed_s < until_s:
            self.cluster.clock.advance(min(1.0, until_s - self.cluster.clock.elapsed_s))
        fresh, self.position = log[self.position :], len(log)
        return () if self.cluster.deaf else tuple(change.seen for change in fresh)


@dataclass
class FakeCluster:
    """The Cluster port; `before_call` sees (verb, ref) of everything, and may raise."""

    clock: FakeClock = field(default_factory=FakeClock)
    store: Store = field(default_factory=lambda: Store((*KUBERNETES, *OPENSHIFT, *WIDGET_KINDS)))
    before_call: Callable[[str, Ref], None] = lambda _verb, _ref: None
    after_write: Callable[[str, Ref], None] = lambda _verb, _ref: None
    deaf: bool = False
    name: str = "fake"
    simulated: bool = True
    writes: list[tuple[str, Ref]] = field(default_factory=list)

    def put(self, obj: KubeObject, manager: str = "somebody") -> KubeObject:
        return self.store.create(obj, Manager(manager, "Update"), self.clock.now())

    def merge(self, ref: Ref, patch: KubeObject, manager: str = "somebody", *, status: bool = False) -> None:
        self.store.merge(ref, patch, Manager(manager, "Update"), self.clock.now(), status=status)

    def find(self, ref: Ref) -> KubeObject | None:
        return self.store.objects.get(ref)

    async def version(self) -> str:
        return "v1.33.5"

    async def served_kinds(self) -> tuple[ServedKind, ...]:
        return tuple(self.store.served().values())

    async def get(self, ref: Ref) -> KubeObject:
        self.before_call("get", ref)
        return self.store.get(ref)

    async def list(self, selection: Selection) -> AsyncIterator[KubeObject]:
        self.before_call("list", Ref(selection.kind, selection.namespace, selection.name))
        self.store.check_kind(selection.kind)
        for ref, obj in sorted(self.store.objects.items()):
            wanted = [label.partition("=")[0] for label in selection.labels.split(",") if label]
            there = ref.kind == selection.kind and selection.namespace in {"", ref.namespace}
            if there and all(label in obj["metadata"].get("labels", {}) for label in wanted):
                yield obj

    @asynccontextmanager
    async def watch(self, selections: Sequence[Selection]) -> AsyncIterator[FakeWatch]:
        yield FakeWatch(self, len(self.store.log))

    async def apply(
        self, obj: KubeObject, *, field_manager: str = FIELD_MANAGER, take_over: bool = False, dry_run: bool = False
    ) -> KubeObject:
        return self._write(
            "dry-run" if dry_run else "apply",
            ref_of(obj),
            lambda: self.store.apply(
                obj, Manager(field_manager, "Apply"), self.clock.now(), take_over=take_over, dry_run=dry_run
            ),
        )

    async def patch(self, ref: Ref, merge_patch: KubeObject, *, dry_run: bool = False) -> KubeObject:
        manager = Manager(FIELD_MANAGER, "Update")
        return self._write(
            "dry-run" if dry_run else "patch",
            ref,
            lambda: self.store.merge(ref, merge_patch, manager, self.clock.now(), dry_run=dry_run),
        )

    async def delete(self, ref: Ref, *, uid: str = "", dry_run: bool = False) -> None:
        self._write(
            "dry-run" if dry_run else "delete",
            ref,
            lambda: self.store.delete(ref, self.clock.now(), uid=uid, dry_run=dry_run),
        )

    def _write(self, verb: str, ref: Ref, effect):
        self.before_call(verb, ref)
        result = effect()
        self.writes.append((verb, ref))
        self.after_write(verb, ref)
        return result

    async def exec(self, namespace, pod, container, command, *, stdin="", timeout_s) -> ExecResult:
        raise NotFound(f"no pod {namespace}/{pod}")

    async def logs(self, namespace, pod, container, *, tail_lines, previous=False) -> str:
        return ""

    async def may(self, verb: str, group: str, plural: str, namespace: str = "", name: str = "") -> bool:
        return True


@dataclass
class FakeNode:
    answer: NodeAnswer = field(default_factory=lambda: NodeAnswer("", "", "nobody home"))
    reads: int = 0

    async def read(self, node, script, *, timeout_s) -> NodeAnswer:
        self.reads += 1
        return self.answer


@dataclass
class Seeing:
    """A Progress that keeps everything."""

    events: list[Event] = field(default_factory=list)

    def emit(self, event: Event) -> None:
        self.events.append(event)

    def of(self, kind: type) -> list:
        return [event for event in self.events if isinstance(event, kind)]


@dataclass
class Answering:
    """An Approval that always gives one answer, and keeps the questions."""

    answer: bool = True
    questions: list[Question] = field(default_factory=list)

    def approve(self, question: Question) -> bool:
        self.questions.append(question)
        return self.answer


def an_object(kind, name, namespace="", labels=None, **sections) -> dict:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **sections}


def content(cluster: FakeCluster) -> dict[str, KubeObject]:
    """Everything of a cluster that is no bookkeeping of the API server or of time."""
    result = {}
    for ref, obj in sorted(cluster.store.objects.items()):
        skipped = {"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"}
        metadata = {key: value for key, value in obj["metadata"].items() if key not in skipped and value != {}}
        result[str(ref)] = {**obj, "metadata": metadata}
    return result
