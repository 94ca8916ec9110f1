"""Kubernetes objects that hold something else than their kinds allow: read, judged, planned with, shown."""

import asyncio
import json
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from fuzz.model import Form, Target, to_bytes

from railwright.adapters.archive.clock import ArchiveClock
from railwright.adapters.archive.cluster import ArchiveCluster
from railwright.adapters.archive.holdings import Holdings, Shelf
from railwright.adapters.archive.node import ArchiveNode
from railwright.adapters.archive.objects import whole
from railwright.catalog.load import load_catalog
from railwright.changes.compare import compare
from railwright.core.objects import Kind, KubeObject, ref_of
from railwright.core.redactor import Redactor
from railwright.doctor.diagnose import diagnose
from railwright.facts.discover import discover
from railwright.facts.model import Scope, Snapshot
from railwright.intent.parse import read_intents
from railwright.manifests.render import render
from railwright.plan.plan import plan
from railwright.ports.progress import Silent
from railwright.readiness.judge import judge, judge_expectation
from railwright.readiness.model import Companions, Receipt
from railwright.report.discover import snapshot_document
from railwright.report.formats import to_json, to_text
from railwright.simulator.open import open_simulator

CASES = Path(__file__).parents[2] / "cases"
EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.yaml"))
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
_OF_A_KIND = 3
_LONGEST = 20_000
_LOOK = Scope(hardware=False, events=True)
_NO_OBJECTS = Holdings()


@cache
def _base() -> Snapshot:
    """A bare simulated cluster with the inside of its nodes."""
    world = open_simulator("h200-roce")
    return asyncio.run(discover(world.cluster, world.node, Scope(), Silent(), world.clock))


@cache
def _bare() -> tuple[KubeObject, ...]:
    """Its objects, whole."""
    cluster = open_simulator("h200-roce").cluster
    return tuple(cluster.engine.store.objects.values())


def _recorded() -> Iterator[KubeObject]:
    for path in sorted((CASES / "readiness").glob("*.json")):
        case = json.loads(path.read_text())
        yield from (case["object"], *case["companions"])
    for path in sorted((CASES / "doctor" / "recorded").glob("*.json")):
        yield from json.loads(path.read_text())["objects"]
    for path in sorted((CASES / "facts" / "packages").glob("*.json")):
        yield from json.loads(path.read_text())["objects"]
    for path in sorted((CASES / "facts" / "pods").glob("*.json")):
        yield json.loads(path.read_text())["pod"]


@cache
def _corpus() -> tuple[bytes, ...]:
    """A few objects of each kind."""
    found: dict[tuple[str, str], list[bytes]] = defaultdict(list)
    for obj in (*_bare(), *_recorded()):
        text = to_bytes(json.dumps(obj))
        of_its_kind = found[obj["apiVersion"], obj["kind"]]
        if len(text) < _LONGEST and len(of_its_kind) < _OF_A_KIND and text not in of_its_kind:
            of_its_kind.append(text)
    return tuple(text for texts in found.values() for text in texts)


def _checked(data: bytes) -> KubeObject | None:
    """An object as every way in lets it pass: of a kind, with a name."""
    value = json.loads(data)
    if not isinstance(value, dict) or not all(isinstance(value.get(key), str) for key in ("apiVersion", "kind")):
        return None
    return whole(value, Kind(value["apiVersion"], value["kind"]))


def _seen(obj: KubeObject) -> Snapshot:
    """Read a cluster that has this object beside, or in place of, those of the bare one."""
    objects = {ref_of(item): item for item in _bare()} | {ref_of(obj): obj}
    shelves = tuple(Shelf(ref.kind, partial(_one, item), ref.namespace) for ref, item in objects.items())
    served = _base().cluster.served_kinds
    holdings = replace(_NO_OBJECTS, shelves=shelves, served=served, version="v1.33.4")
    world = ArchiveCluster("fuzz", holdings), ArchiveNode(holdings)
    return asyncio.run(discover(*world, _LOOK, Silent(), ArchiveClock(NOW)))


def _one(obj: KubeObject) -> Iterator[KubeObject]:
    yield obj


def _read(data: bytes) -> None:
    obj = _checked(data)
    if obj is None:
        return
    snapshot = _seen(obj)
    document = snapshot_document(snapshot)
    to_json(document)
    to_text(document)


def _diagnosed(data: bytes) -> None:
    obj = _checked(data)
    if obj is not None:
        diagnose(_seen(obj), load_catalog())


def _planned(data: bytes) -> None:
    """Plan one of the six configurations with it, and compare it with what the plan would write."""
    obj = _checked(data)
    if obj is None:
        return
    intents = read_intents(EXAMPLES[zlib.crc32(data) % len(EXAMPLES)])
    seen = _seen(obj)
    inside = {node.name: node for node in _base().nodes}
    nodes = tuple(
        replace(node, hardware=inside[node.name].hardware, hardware_problem="") if node.name in inside else node
        for node in seen.nodes
    )
    decided = plan(intents, replace(seen, nodes=nodes), load_catalog())
    if not decided.is_refused:
        compare(render(decided).items, {ref_of(obj): obj}, frozenset())


def _cases() -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in sorted((CASES / "readiness").glob("*.json")))


def _judged(data: bytes) -> None:
    case = json.loads(data)
    checked = [_checked(to_bytes(json.dumps(item))) for item in (case.get("object"), *_list(case.get("companions")))]
    obj, *others = [item for item in checked if item is not None] or [None]
    if obj is None:
        return
    companions = Companions(objects={ref_of(item): item for item in others})
    for receipt in (None, Receipt("1", 1, NOW, changed=True)):
        judge(obj, companions, receipt, NOW)
    for expectation in _expectations():
        judge_expectation(expectation, companions, NOW)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


@cache
def _expectations() -> tuple[Any, ...]:
    """One of each kind that the plan for VFs on RoCE waits for."""
    decided = plan(read_intents(EXAMPLES[-1]), _base(), load_catalog())
    return tuple({type(item): item for stage in decided.stages for item in stage.expectations}.values())


_REDACTOR = Redactor(b"k" * 32)
TARGETS = (
    Target("objects-read", Form.TREE, _corpus, _read, short=40),
    Target("objects-diagnosed", Form.TREE, _corpus, _diagnosed, short=10),
    Target("objects-planned", Form.TREE, _corpus, _planned, short=10),
    Target("objects-judged", Form.TREE, _cases, _judged),
    Target("objects-redacted", Form.TREE, _corpus, lambda data: _REDACTOR.value(json.loads(data))),
)
