"""
What a gate looks at: the gated objects with everything they are judged with, read, watched, and judged.

Reading is separate from judging: readiness decides, this only sees to it that the objects it decides on are there
and fresh. The inside of nodes is read on demand, because a node script on each node is dear.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from railwright.apply.model import ObjectState
from railwright.core import kinds
from railwright.core.errors import KindNotServed, NotFound
from railwright.core.ids import NodeName
from railwright.core.objects import Kind, KubeObject, Ref, ref_of
from railwright.facts.model import NodeFacts, NodeHardware
from railwright.facts.node_record import parse_node_record
from railwright.plan.model import (
    Allocatable,
    DriverLoaded,
    Expectation,
    InsideNode,
    MemoryLockable,
    NadPresent,
    NodeLabel,
    PodsReady,
    PoolUpdated,
    RailUp,
    VfsManaged,
)
from railwright.ports.cluster import Cluster, Seen, Selection
from railwright.ports.node import Node
from railwright.readiness.judge import judge, judge_expectation, selections_for
from railwright.readiness.model import Companions, Judgement, Readiness, Receipt

NODE_TIMEOUT_S = 30.0
_PARALLEL_NODES = 16


@dataclass(frozen=True)
class Judged:
    """One gated object or expectation, and the answer about it."""

    what: str
    judgement: Judgement
    names_itself: bool = False
    """Whether the reason says already what it is about."""

    @property
    def is_ready(self) -> bool:
        """Whether it holds nothing up."""
        return self.judgement.readiness is Readiness.READY

    @property
    def text(self) -> str:
        """The answer as one sentence: most reasons name what they are about themselves."""
        reason = self.judgement.reason
        return reason if self.names_itself or self.what in reason else f"{self.what}: {reason}"

    @property
    def waiting_for(self) -> str:
        """Who holds it up, or the reason where nobody is named."""
        return self.judgement.waiting_for or self.text

    def state(self) -> ObjectState:
        """The same for a record."""
        judgement = self.judgement
        return ObjectState(self.what, judgement.readiness.value, judgement.reason, judgement.waiting_for)


class Observer:
    """Keeps the last seen state of everything that a gate needs."""

    def __init__(
        self,
        cluster: Cluster,
        gated: Iterable[Ref],
        expectations: Iterable[Expectation],
        also: Iterable[Selection] = (),
        *,
        shared: dict[Selection, tuple[KubeObject, ...]] | None = None,
    ) -> None:
        """
        Work out what has to be read.

        Args:
            also: is kept with the rest.
            shared: what several observers of one moment have read, and read only once; None to read anew every time.
        """
        self._cluster = cluster
        self._gated = tuple(gated)
        self._expectations = tuple(expectations)
        self.selections = selections_of(self._gated, self._expectations, tuple(also))
        self._shared = shared
        self._objects: dict[Ref, KubeObject] = {}
        self._unserved: frozenset[Kind] = frozenset()
        self._hardware: dict[NodeName, NodeHardware] = {}
        self._hardware_problems: dict[NodeName, str] = {}

    @property
    def unserved(self) -> frozenset[Kind]:
        """Kinds that the API server did not serve at the last full read."""
        return self._unserved

    @property
    def objects(self) -> Mapping[Ref, KubeObject]:
        """Everything as last seen."""
        return self._objects

    @property
    def inside_nodes(self) -> tuple[NodeName, ...]:
        """Nodes whose inside is part of the gate."""
        inside = (item.node for item in self._expectations if isinstance(item, InsideNode))
        return tuple(sorted(set(inside)))

    async def read_all(self) -> None:
        """Read every selection again."""
        objects: dict[Ref, KubeObject] = {}
        unserved: set[Kind] = set()
        for selection in self.selections:
            if selection.kind in unserved:
                continue
            try:
                if self._shared is None:
                    objects |= {ref_of(obj): obj async for obj in self._read(selection)}
                    continue
                if selection not in self._shared:
                    self._shared[selection] = tuple([obj async for obj in self._read(selection)])
                objects |= {ref_of(obj): obj for obj in self._shared[selection]}
            except KindNotServed:
                unserved.add(selection.kind)
        self._objects, self._unserved = objects, frozenset(unserved)

    async def _read(self, selection: Selection) -> AsyncIterator[KubeObject]:
        if selection.name:
            try:
                yield await self._cluster.get(Ref(selection.kind, selection.namespace, selection.name))
            except NotFound:
                return
        else:
            async for obj in self._cluster.list(selection):
                yield obj

    def take(self, seen: Iterable[Seen]) -> None:
        """Take what a watch delivered."""
        for item in seen:
            if item.gone:
                self._objects.pop(ref_of(item.obj), None)
            else:
                self._objects[ref_of(item.obj)] = item.obj

    def take_nodes(self, nodes: Iterable[NodeFacts]) -> None:
        """Take the inside of nodes as it was read a moment ago, instead of reading it."""
        for facts in nodes:
            if facts.hardware is not None:
                self._hardware[facts.name] = facts.hardware
            else:
                self._hardware_problems[facts.name] = facts.hardware_problem

    async def read_nodes(self, node: Node, script: str) -> None:
        """Read the inside of every node that the gate looks into, some at once."""
        slots = asyncio.Semaphore(_PARALLEL_NODES)

        async def read_one(name: NodeName) -> None:
            async with slots:
                answer = await node.read(name, script, timeout_s=NODE_TIMEOUT_S)
            self._hardware.pop(name, None)
            self._hardware_problems.pop(name, None)
            if answer.problem:
                self._hardware_problems[name] = answer.problem
                return
            try:
                self._hardware[name] = parse_node_record(answer.text)
            except ValueError as error:
                self._hardware_problems[name] = f"its record cannot be read: {error}"

        async with asyncio.TaskGroup() as group:
            for name in self.inside_nodes:
                group.create_task(read_one(name))

    def judge_api(self, receipts: Mapping[Ref, Receipt], now: datetime) -> tuple[Judged, ...]:
        """Judge everything that the API server alone can answer."""
        companions = self._companions()
        objects = tuple(
            Judged(str(ref), self._judge_object(ref, companions, receipts.get(ref), now)) for ref in self._gated
        )
        return objects + tuple(
            Judged(describe(item), judge_expectation(item, companions, now), names_itself=True)
            for item in self._expectations
            if not isinstance(item, InsideNode)
        )

    def judge_inside(self, now: datetime) -> tuple[Judged, ...]:
        """Judge what only the inside of nodes can answer, as last read."""
        companions = self._companions()
        return tuple(
            Judged(describe(item), judge_expectation(item, companions, now), names_itself=True)
            for item in self._expectations
            if isinstance(item, InsideNode)
        )

    def _companions(self) -> Companions:
        return Companions(self._objects, self._hardware, self._hardware_problems, self._unserved)

    def _judge_object(self, ref: Ref, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
        obj = self._objects.get(ref)
        if obj is not None:
            return judge(obj, companions, receipt, now)
        if ref.kind in self._unserved:
            return Judgement(Readiness.PROGRESSING, f"the API server does not serve {ref.kind} yet", str(ref))
        return Judgement(Readiness.PROGRESSING, "it does not exist", f"{ref} to exist")


def describe(expectation: Expectation) -> str:
    """Name an expectation for people: "rail0 (0000:17:00.0) of worker-1"."""
    match expectation:
        case Allocatable(node, resource):
            return f"{resource} on {node}"
        case NodeLabel(node, label):
            return f"label {label} of {node}"
        case PodsReady(node, namespace, daemon_set):
            return f"pod {namespace}/{daemon_set.rstrip('-')}-* on {node}"
        case NadPresent(namespace, name):
            return f"network {namespace}/{name}"
        case PoolUpdated(pool, _, kubelet_config):
            return f"MachineConfigPool {pool}" + (f" with KubeletConfig {kubelet_config}" if kubelet_config else "")
        case VfsManaged(node, rail, pci):
            return f"VFs of {rail} ({pci}) of {node}"
        case RailUp(node, rail, pci):
            return f"{rail} ({pci}) of {node}"
        case DriverLoaded(node):
            return f"drivers of {node}"
        case MemoryLockable(node):
            return f"memory that containers of {node} may lock"


def selections_of(
    gated: tuple[Ref, ...], expectations: tuple[Expectation, ...], also: tuple[Selection, ...]
) -> tuple[Selection, ...]:
    """Join what readiness asks for with the gated objects themselves, each read once; what a gate reads and watches."""
    asked = [
        # Whole, the pods and nodes of a large cluster are some hundred megabytes, of which nothing judges most.
        Selection(kind, namespace, labels=labels, brief=kind in {kinds.NODE, kinds.POD})
        for kind, namespace, labels in selections_for(gated, expectations)
    ]
    wide = list(dict.fromkeys((*asked, *also)))
    covered = {(item.kind, item.namespace) for item in wide if not item.labels and not item.name}
    single = [
        Selection(ref.kind, ref.namespace, name=ref.name)
        for ref in gated
        if (ref.kind, "") not in covered and (ref.kind, ref.namespace) not in covered
    ]
    return (*wide, *single)
