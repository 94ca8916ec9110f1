"""An API server of canned answers, in memory."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2

from railwright.adapters.cluster import LiveCluster
from railwright.adapters.kubeconfig import Login
from railwright.adapters.transport import Transport

LOGIN = Login(name="test", server="https://api.example.com:6443", token="t")
CORE = {
    "kind": "APIResourceList",
    "resources": [
        {"name": "configmaps", "kind": "ConfigMap", "namespaced": True},
        {"name": "nodes", "kind": "Node", "namespaced": False},
        {"name": "pods", "kind": "Pod", "namespaced": True},
        {"name": "pods/log", "kind": "Pod", "namespaced": True},
    ],
}
Handler = Callable[[httpx2.Request], httpx2.Response]


def a_cluster(handler: Handler) -> LiveCluster:
    return LiveCluster("test", Transport(LOGIN, transport=httpx2.MockTransport(handler)))


def status(code: int, message: str, **more: Any) -> httpx2.Response:
    return httpx2.Response(code, json={"kind": "Status", "code": code, "message": message, **more})


class Lines(httpx2.AsyncByteStream):
    """A watch: lines, then the end or an error."""

    def __init__(self, *events: dict[str, Any], then: Exception | None = None) -> None:
        self._events = events
        self._then = then

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for event in self._events:
            yield json.dumps(event).encode() + b"\n"
        if self._then is not None:
            raise self._then
