"""The live adapter against a simulated world behind HTTP, on the simulated clock of that world."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from support.http_api import HttpApi

from railwright.adapters.cluster import LiveCluster
from railwright.adapters.kubeconfig import read_login
from railwright.adapters.transport import Transport
from railwright.core.marks import LEDGER_NAMESPACE
from railwright.core.objects import KubeObject, Ref
from railwright.ports.approval import Question
from railwright.ports.cluster import Selection, Watch
from railwright.ports.world import World
from railwright.simulator.clock import SimClock
from railwright.simulator.node import SimNode


class Yes:
    def approve(self, question: Question) -> bool:
        return True


class _Step:
    """A watch that lets the world go on and tells nothing: the caller reads again."""

    def __init__(self, api: HttpApi) -> None:
        self._api = api

    async def next(self, timeout_s: float) -> tuple[()]:
        with self._api.lock:
            self._api.cluster.engine.tick(timeout_s)
        return ()


class SteppedCluster(LiveCluster):
    """The live adapter, on the simulated clock of the world behind the server."""

    api: HttpApi

    @asynccontextmanager
    async def watch(self, selections: Sequence[Selection]) -> AsyncIterator[Watch]:
        yield _Step(self.api)


@asynccontextmanager
async def world_of(api: HttpApi, server: str = "") -> AsyncIterator[World]:
    """Log in; `server` stands between."""
    login = read_login(None, {"KUBECONFIG": str(api.kubeconfig(Path.cwd()))}, Path.cwd())
    cluster = SteppedCluster("here", Transport(replace(login, server=server or login.server)))
    cluster.api = api
    engine = api.cluster.engine
    async with World(cluster, SimNode(engine), SimClock(engine), cluster.close) as world:
        yield world


def state(api: HttpApi) -> dict[Ref, KubeObject]:
    """Everything that people and operators mean: without bookkeeping, times, names made by chance, and the ledger."""
    found: dict[Ref, KubeObject] = {}
    for ref, obj in api.cluster.engine.store.objects.items():
        if ref.namespace != LEDGER_NAMESPACE and ref.kind.kind not in {"Event", "InstallPlan"}:
            kept = {key: value for key, value in obj.items() if key != "status"}
            kept["metadata"] = {key: obj["metadata"].get(key) for key in ("labels", "finalizers")}
            found[ref] = kept
    return found
