"""One command on the live adapter in a process of its own: what it costs, and every call that it makes by verb and resource."""

import asyncio
import json
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx2
from scale_world import LIKE, Yes, as_node

from railwright import api
from railwright.adapters.clock import RealClock
from railwright.adapters.cluster import LiveCluster
from railwright.adapters.kubeconfig import read_login
from railwright.adapters.tls import tls_context
from railwright.adapters.transport import Transport
from railwright.catalog.load import load_catalog
from railwright.catalog.model import Catalog
from railwright.core.ids import NodeName, StageName
from railwright.ports.node import NodeAnswer
from railwright.ports.progress import Event, Waiting
from railwright.ports.world import World

HOLD_S = 0.5
"""How long an answer has to hold here: what is measured is work, not patience."""


@dataclass
class Counting(httpx2.AsyncBaseTransport):
    """The network, and how often it was asked for what."""

    inner: httpx2.AsyncBaseTransport
    calls: Counter[str] = field(default_factory=Counter)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.calls[call_of(request.method, request.url.path, dict(request.url.params))] += 1
        return await self.inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self.inner.aclose()


def call_of(method: str, path: str, params: Mapping[str, str]) -> str:
    """
    Name a call by verb and resource: "list pods", "patch nodes", "watch nodes", "get discovery".

    A list of one object, by which a watch learns where to begin, is "begin nodes".
    """
    parts = path.strip("/").split("/")
    parts = parts[2:] if parts[0] == "api" else parts[3:]
    if len(parts) > 2 and parts[0] == "namespaces":
        parts = parts[2:]
    if not parts:
        return f"{method.lower()} discovery"
    resource_name, is_named = "/".join([parts[0], *parts[2:]]), len(parts) > 1
    if method != "GET":
        return f"{ {'POST': 'create', 'PUT': 'update'}.get(method, method.lower()) } {resource_name}"
    if params.get("watch") == "true":
        return f"watch {resource_name}"
    verb = "get" if is_named else "begin" if params.get("limit") == "1" else "list"
    return f"{verb} {resource_name}"


@dataclass
class Records:
    """The Node port over kept records."""

    texts: Mapping[str, str]
    reads: int = 0

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
        del script, timeout_s
        self.reads += 1
        text = self.texts.get(node) or as_node(self.texts[LIKE], node)
        return NodeAnswer(text, "kept record")


@dataclass
class FirstWait:
    """A Progress that tells when the gate of a stage begins to wait for what is not there."""

    stage: StageName

    waits: asyncio.Event = field(default_factory=asyncio.Event)

    def emit(self, event: Event) -> None:
        if isinstance(event, Waiting) and event.stage == self.stage and "worker-" in event.waiting_for:
            self.waits.set()


@dataclass(frozen=True)
class Asked:
    """A command on its way: the world, whose network and nodes count."""

    world: World
    network: Counting
    records: Records
    intents: tuple[api.Intent, ...]

    def so_far(self) -> tuple[float, float, Counter[str], int]:
        return time.process_time(), time.perf_counter(), Counter(self.network.calls), self.records.reads


async def _apply(asked: Asked) -> dict[str, Any]:
    """Admit every node: the labels of all batches, up to the first gate that they go through."""
    until = StageName("nic-driver-ready")
    record = await api.apply(asked.world, asked.intents, approval=Yes(), until=until, catalog=_quick())
    not_passed = [stage for stage in record.stages if stage.verdict not in {api.Verdict.PASS, api.Verdict.SKIP}]
    assert not not_passed, [(stage.stage, stage.batch, stage.reason) for stage in not_passed]
    return {"runs": len(record.stages), "labelled": asked.network.calls["patch nodes"]}


async def _wait(asked: Asked, seconds: float) -> dict[str, Any]:
    """Wait in a gate that does not get ready, for so long, and give what the wait alone took."""
    until = StageName("devices-allocatable")
    progress = FirstWait(until)
    work = asyncio.ensure_future(
        api.apply(asked.world, asked.intents, approval=Yes(), until=until, catalog=_quick(), progress=progress)
    )
    waits = asyncio.ensure_future(progress.waits.wait())
    await asyncio.wait((work, waits), return_when=asyncio.FIRST_COMPLETED)
    assert not work.done(), work.result()
    before = asked.so_far()
    await asked.world.clock.sleep(seconds)
    found = _since(before, asked.so_far())
    work.cancel()
    with suppress(asyncio.CancelledError):
        await work
    return found


def _quick() -> Catalog:
    catalog = load_catalog()
    return replace(catalog, stages=tuple(replace(stage, hold_s=HOLD_S) for stage in catalog.stages))


async def _plan(asked: Asked) -> dict[str, Any]:
    prepared = await api.plan(asked.world, asked.intents)
    return {
        "admitted": len(prepared.plan.admitted),
        "refusals": [item.code for item in prepared.plan.refusals],
        "changes": sum(1 for _, change in prepared.changes.items if change.fields),
    }


async def _discover(asked: Asked) -> dict[str, Any]:
    snapshot = await api.discover(asked.world)
    return {"nodes": len(snapshot.nodes), "pods": len(snapshot.cluster.pods)}


async def _status(asked: Asked) -> dict[str, Any]:
    record = await api.status(asked.world, asked.intents)
    return {"stages": {stage.name: stage.verdict.value for stage in record.stages}}


async def _doctor(asked: Asked) -> dict[str, Any]:
    record = await api.diagnose(asked.world)
    return {"findings": sorted({item.rule for item in record.diagnosis.findings})}


COMMANDS: Mapping[str, Callable[[Asked], Awaitable[dict[str, Any]]]] = {
    "discover": _discover,
    "plan": _plan,
    "apply": _apply,
    "status": _status,
    "doctor": _doctor,
}
"""In the order in which they are run: status and doctor look at what apply has labelled."""


def _since(
    before: tuple[float, float, Counter[str], int], after: tuple[float, float, Counter[str], int]
) -> dict[str, Any]:
    return {
        "cpu_s": round(after[0] - before[0], 2),
        "wall_s": round(after[1] - before[1], 2),
        "calls": dict(sorted((after[2] - before[2]).items())),
        "node_reads": after[3] - before[3],
    }


async def run(command: str, folder: Path, seconds: float) -> dict[str, Any]:
    """Run a command; the figures hold Python's start as well."""
    login = read_login(None, os.environ, Path("/nonexistent"))
    limits = httpx2.Limits(max_connections=100, max_keepalive_connections=32)
    network = Counting(httpx2.AsyncHTTPTransport(verify=tls_context(login), limits=limits))
    cluster = LiveCluster(login.name, Transport(login, transport=network))
    records = Records(json.loads((folder / "records.json").read_text()))
    intents = api.parse_intents((folder / "rails.yaml").read_text())
    asked = Asked(World(cluster, records, RealClock(), cluster.close), network, records, intents)
    began_s = time.perf_counter()
    try:
        answer = await (_wait(asked, seconds) if command == "wait" else COMMANDS[command](asked))
    finally:
        await cluster.close()
    found = _since((0.0, began_s, Counter(), 0), asked.so_far())
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {**found, "peak_rss_mib": peak_mib, **answer}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])))))
