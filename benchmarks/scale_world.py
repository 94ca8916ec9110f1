"""
A cluster that was applied to, grown to many nodes, on a real API server.

The simulator applies a fabric to two workers. Their cluster is then put on the API server, and its second worker again and
again: node, SriovNetworkNodeState and the pods of every DaemonSet, under names, addresses and MACs of their own. The copies do
not carry the admission labels: those are what `apply` has still to write.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from railwright import api
from railwright.core.kinds import DAEMON_SET, MACHINE_CONFIG_POOL, NAMESPACE, NODE, POD, SRIOV_NETWORK_NODE_STATE
from railwright.core.marks import LEDGER_NAMESPACE
from railwright.core.objects import FIELD_MANAGER, KubeObject, dig, ref_of
from railwright.facts.script import node_script
from railwright.lab.controlplane.client import Answered, PlaneClient
from railwright.lab.controlplane.seed import without_servers_own
from railwright.ports.approval import Question
from railwright.simulator.cluster import SimCluster

WORLD = "sim:h200-roce"
LIKE, NUMBER_OF_LIKE = "worker-1", "01"
OTHERS = 4
"""Nodes of the simulated world beside the one that is copied: three of the control plane and a worker."""
RAILS = """\
apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {{name: east-west}}
spec:
  method: {method}
  fabric: roce
  workloadNamespaces: [training]
  network: {{subnets: 10.32.0.0/11}}
"""
_AT_ONCE = 32
_EXISTS = 409
# Sizes as on clusters in use: 50 images are the most that a kubelet reports; a pod has about 6 kB.
_IMAGES = [
    {"names": [f"registry.invalid/some/image-{number}@sha256:{'0' * 64}"], "sizeBytes": 1} for number in range(50)
]
_PADDING = {"padding": "x" * 4_000}
_MADE_UP = re.compile(
    rf"(?P<name>\b{LIKE}\b)"
    r"|(?P<net>10\.[01])\.0\.21(?P<mask>/24)?\b"
    rf"|(?P<maker>(?:[0-9a-f]{{2}}:){{3}}){NUMBER_OF_LIKE}:(?P<port>[0-9a-f]{{2}}):(?P<last>[0-9a-f]{{2}})\b"
    rf"|(?P<gid>a288:c2ff:fe|a088:c203:00){NUMBER_OF_LIKE}:(?P<gid_port>[0-9a-f]{{2}})(?P<gid_last>[0-9a-f]{{2}})\b"
)
"""What is a node's own in the text of an object or record: name, addresses, MACs, and GIDs and GUIDs after the MACs."""


class Yes:
    """Consents to every risk."""

    def approve(self, question: Question) -> bool:
        return not question.takes_over


@dataclass
class Grown:
    """
    A simulated cluster on an API server.

    Attributes:
        records: node records by node; copies answer with the one of `LIKE`, under their own name.
        nodes: how many there are on the API server.
        pods: how many of them.
    """

    client: PlaneClient
    objects: tuple[KubeObject, ...]
    records: Mapping[str, str]
    nodes: int = 0
    pods: int = 0
    _uids: dict[str, str] = field(default_factory=dict)
    _limit: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    async def begin(self) -> None:
        """Put the simulated world itself there: what others name by uid comes before them, the ledger last."""
        for _, group in sorted(_by_turn(self.objects).items()):
            await self._put(group)
        self.nodes = OTHERS + 1

    async def grow(self, nodes: int) -> None:
        """Add copies until there are so many nodes."""
        numbers = range(self.nodes - OTHERS, nodes - OTHERS)
        its_own = [obj for obj in self.objects if _is_of(obj, LIKE)]
        for kinds in ((NODE,), (SRIOV_NETWORK_NODE_STATE,), (POD,)):
            chosen = [obj for obj in its_own if ref_of(obj).kind in kinds]
            await self._put(_copy(obj, number) for number in numbers for obj in chosen)
        self.nodes = nodes
        await self._count_again(nodes - OTHERS - 1)

    async def _put(self, objects: Iterable[KubeObject]) -> None:
        # So many at a time: 15,000 pods at once would be 15,000 tasks, and their copies in memory.
        waiting = list(objects)
        for start in range(0, len(waiting), 50 * _AT_ONCE):
            await asyncio.gather(*(self._make(obj) for obj in waiting[start : start + 50 * _AT_ONCE]))

    async def _make(self, obj: KubeObject) -> None:
        ref = ref_of(obj)
        self.pods += ref.kind == POD
        async with self._limit:
            try:
                made = await self.client.create(self._here(obj), ref)
            except Answered as answer:
                if answer.status_code != _EXISTS:
                    raise
                made = await self.client.read(ref)
        self._uids[str(dig(obj, "metadata", "uid", default=ref))] = str(made["metadata"]["uid"])

    def _here(self, obj: KubeObject) -> KubeObject:
        """Give an object as it is on this API server: what names others by their uid names them by the new one."""
        owners = [
            {**owner, "uid": self._uids[owner["uid"]]}
            for owner in dig(obj, "metadata", "ownerReferences", default=())
            if owner["uid"] in self._uids
        ]
        made: dict[str, Any] = dict(without_servers_own(obj))
        kind = ref_of(obj).kind
        ours = [item for item in dig(obj, "metadata", "managedFields", default=()) if _is_applied_by_us(item)]
        if ours:
            # Who makes an object may say whose its fields are; else the first apply here would take them all again.
            made["metadata"] = {**made["metadata"], "managedFields": ours}
        if owners:
            made["metadata"] = {**made["metadata"], "ownerReferences": owners}
        if kind == NODE:
            made["status"] = {**made["status"], "images": _IMAGES}
        elif kind == POD:
            notes = dig(made, "metadata", "annotations", default={})
            made["metadata"] = {**made["metadata"], "annotations": {**notes, **_PADDING}}
        elif ref_of(obj).namespace == LEDGER_NAMESPACE:
            made["data"] = {key: self._renamed(text) for key, text in dig(made, "data", default={}).items()}
        return made

    def _renamed(self, text: str) -> str:
        return re.sub(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", lambda m: self._uids.get(m[0], m[0]), text)

    async def _count_again(self, copies: int) -> None:
        """Set what DaemonSets and pools say of how many nodes they are on."""
        for obj in self.objects:
            ref = ref_of(obj)
            is_on_workers = ref.kind == DAEMON_SET or (ref.kind == MACHINE_CONFIG_POOL and ref.name == "worker")
            counts = {
                key: value + copies
                for key, value in dig(obj, "status", default={}).items()
                if isinstance(value, int) and value and key != "observedGeneration"
            }
            if is_on_workers and counts:
                await self.client.merge(ref, {"status": counts}, status=True)


async def applied(client: PlaneClient, method: str) -> Grown:
    """Apply a fabric to the simulated world, without verify; nothing is on the API server yet."""
    async with await api.open_cluster(WORLD) as world:
        intents = api.parse_intents(RAILS.format(method=method))
        record = await api.apply(world, intents, approval=Yes(), until=api.StageName("networks-attached"))
        not_passed = [stage for stage in record.stages if stage.verdict not in {api.Verdict.PASS, api.Verdict.SKIP}]
        assert not not_passed, not_passed
        assert isinstance(world.cluster, SimCluster)
        objects = tuple(world.cluster.engine.store.objects.values())
        names = [ref_of(obj).name for obj in objects if ref_of(obj).kind == NODE]
        assert len(names) == OTHERS + 1
        answers = [await world.node.read(api.NodeName(name), node_script(), timeout_s=30) for name in names]
        return Grown(client, objects, {name: answer.text for name, answer in zip(names, answers, strict=True)})


def as_node(text: str, name: str) -> str:
    """Give text of `LIKE` as it would be of a copy of it."""
    high, low = divmod(int(name.rpartition("-")[2]), 250)
    whole, marks = _pieces(text)
    return "".join(
        piece if mark is None else _as_of(mark, name, high, low) for piece, mark in zip(whole, marks, strict=True)
    )


@lru_cache(maxsize=64)
def _pieces(text: str) -> tuple[tuple[str, ...], tuple[re.Match[str] | None, ...]]:
    """Take a text apart once: what is the same for every node, and what is not."""
    whole: list[str] = []
    marks: list[re.Match[str] | None] = []
    end = 0
    for match in _MADE_UP.finditer(text):
        whole += (text[end : match.start()], match[0])
        marks += (None, match)
        end = match.end()
    return (*whole, text[end:]), (*marks, None)


def _as_of(match: re.Match[str], name: str, high: int, low: int) -> str:
    if match["name"]:
        return name
    if match["net"]:
        return f"{match['net']}.{high + 1}.{low}" + ("/16" if match["mask"] else "")
    last = int(match["last"] or match["gid_last"], 16) + high + 1
    if match["maker"]:
        return f"{match['maker']}{low:02x}:{match['port']}:{last:02x}"
    return f"{match['gid']}{low:02x}:{match['gid_port']}{last:02x}"


def _copy(obj: KubeObject, number: int) -> KubeObject:
    name = f"worker-{number:04d}"
    made: dict[str, Any] = json.loads(as_node(json.dumps(obj), name))
    del made["metadata"]["uid"], made["metadata"]["managedFields"]
    if ref_of(obj).kind == POD:
        made["metadata"]["name"] = f"{ref_of(obj).name[:-5]}{number:05d}"
    else:
        labels = made["metadata"].get("labels", {})
        made["metadata"]["labels"] = {
            key: text for key, text in labels.items() if not key.startswith("railwright.dev/")
        }
    return made


def _is_applied_by_us(item: Mapping[str, Any]) -> bool:
    return bool(item["manager"] == FIELD_MANAGER and item["operation"] == "Apply")


def _is_of(obj: KubeObject, node: str) -> bool:
    ref = ref_of(obj)
    if ref.kind == POD:
        return bool(dig(obj, "spec", "nodeName", default="") == node)
    return ref.kind in {NODE, SRIOV_NETWORK_NODE_STATE} and ref.name == node


def _by_turn(objects: Iterable[KubeObject]) -> Mapping[int, list[KubeObject]]:
    turns: dict[int, list[KubeObject]] = {}
    for obj in objects:
        ref = ref_of(obj)
        if ref.namespace == LEDGER_NAMESPACE:
            turn = 4
        elif ref.kind == POD:
            turn = 3
        else:
            turn = 0 if ref.kind == NAMESPACE else 1 if not ref.namespace else 2
        turns.setdefault(turn, []).append(obj)
    return turns
