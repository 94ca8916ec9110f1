"""What servers and pods answer: an API server (or whatever stands before it), and the halves of a probe."""

import asyncio
import json
from collections.abc import Callable
from functools import cache
from typing import Any

import httpx2
from fuzz.model import Form, Target, to_bytes, to_text
from support.verifying import verified

from railwright.adapters.answers import Answer, Asked, error_of
from railwright.adapters.cluster import LiveCluster
from railwright.adapters.execution import exit_code_of
from railwright.adapters.kubeconfig import Login
from railwright.adapters.transport import Transport
from railwright.adapters.watching import Followed, Gone, MergedWatch
from railwright.core import kinds
from railwright.core.errors import RailwrightError
from railwright.core.ids import NetDevice, NodeName, RailName
from railwright.core.objects import Ref, ref_of
from railwright.core.verdicts import Verdict
from railwright.dataplane.model import Meeting, PerftestRequest, RailEnd, Reply
from railwright.dataplane.wire import reply_text
from railwright.ports.cluster import ExecResult, Selection
from railwright.ports.endpoint import HeldRail
from railwright.verify.families import engine, nccl, nixl, perftest
from railwright.verify.model import Direction, MemoryKind, Step, Way
from railwright.verify.pods.endpoint import PodEndpoint, has_python
from railwright.verify.pods.shell import perftest_reply
from railwright.verify.problems import blame_of, problem_of
from railwright.verify.task import Effort, End, Outcome, Task

_LOGIN = Login(name="fuzz", server="https://api.example.com:6443", token="t")
_DISCOVERY = {
    "kind": "APIGroupDiscoveryList",
    "items": [
        {
            "metadata": {"name": ""},
            "versions": [
                {
                    "version": "v1",
                    "resources": [{"resource": "nodes", "responseKind": {"kind": "Node"}, "scope": "Cluster"}],
                }
            ],
        }
    ],
}
_GROUP = {"kind": "APIResourceList", "resources": [{"name": "nodes", "kind": "Node", "namespaced": False}]}
_LIST = {"kind": "NodeList", "metadata": {"continue": ""}, "items": [{"metadata": {"name": "a"}, "status": {}}]}
_STATUS = {
    "kind": "Status",
    "reason": "Conflict",
    "message": 'Apply failed with 1 conflict: conflict with "kubectl" using v1',
    "code": 409,
    "details": {
        "name": "a",
        "kind": "nodes",
        "causes": [
            {"reason": "FieldManagerConflict", "message": 'conflict with "kubectl" using v1', "field": ".data.a"}
        ],
    },
}
_ENDED = {
    "status": "Failure",
    "reason": "NonZeroExitCode",
    "details": {"causes": [{"reason": "ExitCode", "message": "3"}]},
}
_EVENT = {
    "type": "MODIFIED",
    "object": {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "a", "resourceVersion": "7"}},
}
_CODES = (400, 403, 404, 409, 410, 422, 429, 500, 503, 302, 418)


_ANSWER: list[Callable[[httpx2.Request], httpx2.Response]] = []


@cache
def _transport() -> Transport:
    """One for the process: a TLS context takes longer than everything else here."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        return _ANSWER[0](request)

    return Transport(_LOGIN, transport=httpx2.MockTransport(answer))


def _json(*values: Any) -> tuple[bytes, ...]:
    return tuple(to_bytes(json.dumps(value)) for value in values)


def _asked(data: bytes) -> None:
    """The same body as answer to everything that is asked; a group that reads as one lets a list be asked for."""
    asyncio.run(_ask_all(data))


async def _ask_all(data: bytes) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        is_group = request.url.path == "/api/v1"
        return httpx2.Response(200, content=json.dumps(_GROUP).encode() if is_group else data)

    for group in (answer, lambda _: httpx2.Response(200, content=data)):
        _ANSWER[:] = [group]
        cluster = LiveCluster("fuzz", _transport())
        for ask in (cluster.version, cluster.served_kinds, lambda c=cluster: c.get(Ref(kinds.NODE, "", "a"))):
            await _attempt(ask())
        for brief in (True, False):
            await _attempt(_listed(cluster, brief=brief))
        await _attempt(cluster.may("get", "", "nodes"))


async def _listed(cluster: LiveCluster, *, brief: bool) -> None:
    async for obj in cluster.list(Selection(kinds.NODE, brief=brief)):
        assert ref_of(obj).kind == kinds.NODE or "kind" in obj
        break


async def _attempt(asked: Any) -> None:
    try:
        await asked
    except RailwrightError:
        return


def _watched(data: bytes) -> None:
    asyncio.run(_follow(data))


async def _follow(data: bytes) -> None:
    """One stream of a watch, with this as its only line."""
    _ANSWER[:] = [lambda _: httpx2.Response(200, content=data + b"\n")]
    watch, followed = MergedWatch(_transport(), ()), Followed(kinds.NODE, "/api/v1/nodes", ())
    try:
        async for event in watch._events(followed, "1"):
            watch._take(event)
    except Gone:
        return
    for seen in await watch.next(0.0):
        ref_of(seen.obj)


def _refused(data: bytes) -> None:
    for code in _CODES:
        error = error_of(Answer(code, to_text(data), "1"), Asked("apply Node a", writes=True))
        assert isinstance(error, RailwrightError)


def _ended(data: bytes) -> None:
    value = json.loads(data)
    if isinstance(value, dict):
        exit_code_of(value)


_END = End(HeldRail(RailName("rail0"), NetDevice("net1")), "10.0.0.1")
_WAY = Way(NodeName("a"), RailName("rail0"), NodeName("b"), RailName("rail0"))
_REQUEST = PerftestRequest(Meeting("connect", "10.0.0.1", 20000), RailEnd(NetDevice("net1")))
_FAMILIES = {
    "engine": (engine.bandwidth, engine.read),
    "nccl": (nccl.exchanges, nccl.read),
    "nixl": (nixl.exchanges, nixl.read),
    "perftest": (perftest.exchanges, perftest.read),
}


class _Says:
    """A cluster in which every command prints the same."""

    simulated = True

    def __init__(self, text: str) -> None:
        self._done = ExecResult(text, text[-300:], 0)

    async def exec(self, *_: Any, **__: Any) -> ExecResult:
        return self._done


@cache
def _replies() -> tuple[bytes, ...]:
    """A whole reply of every probe and its control, as simulated endpoints give them."""
    raw = asyncio.run(verified(2, rails=1)).raw
    return tuple(to_bytes(text) for text in dict.fromkeys(raw.values()))


def _half(data: bytes) -> None:
    """A pod's reply, as both halves of an exchange, against every family."""
    text = json.dumps(json.loads(data))
    pod = PodEndpoint(_Says(text), "ns", "pod", "c", NodeName("a"), (), "10.0.0.1")  # type: ignore[arg-type]  # all that it asks
    reply = asyncio.run(pod.run(_REQUEST, timeout_s=1.0))
    assert isinstance(reply, Reply)
    problem_of((reply, reply), _WAY)
    blame_of((reply, reply), _WAY)
    for name, (asks, read) in _FAMILIES.items():
        for memory in MemoryKind:
            task = Task("c1", Step(name, Direction.READ, memory), _WAY, _END, _END, 20000, Effort())
            assert read(task, tuple(Outcome(exchange, reply, reply) for exchange in asks(task))).ran in Verdict


def _shell(text: bytes) -> None:
    said = to_text(text)
    has_python(said)
    reply = perftest_reply(_REQUEST, ExecResult(said, said[-300:], 0))
    reply_text(reply)


_SHELL = (
    "=== verify used\nmlx5_0\t3\t::ffff:10.0.0.1\tRoCE v2\n=== verify before\nport_xmit_data\t1\n=== verify words\nx\n"
    "=== verify after\nport_xmit_data\t99\n=== verify code\n0\n"
)
TARGETS = (
    Target(
        "api-answer", Form.TREE, lambda: _json(_DISCOVERY, _GROUP, _LIST, {"gitVersion": "v1.33.4"}), _asked, short=10
    ),
    Target("api-answer-bytes", Form.BYTES, lambda: _json(_DISCOVERY, _LIST), _asked, short=10),
    Target("api-watch", Form.TREE, lambda: _json(_EVENT, {"type": "ERROR", "object": _STATUS}), _watched, short=20),
    Target("api-refusal", Form.TREE, lambda: _json(_STATUS), _refused, allowed=()),
    Target("exec-status", Form.TREE, lambda: _json(_ENDED), _ended),
    Target("probe-reply", Form.TREE, _replies, _half, short=20),
    Target("perftest-by-shell", Form.TEXT, lambda: (to_bytes(_SHELL),), _shell, allowed=()),
)
