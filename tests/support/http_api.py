"""
A Kubernetes API server on loopback: a simulated world behind real HTTP, with a saboteur between.

The saboteur sees each request first. It may answer in its own way, cut the connection or not answer at all, and says
whether that was all; else the world answers as it should.
"""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from railwright.core.errors import (
    KindNotServed,
    NotFound,
    ObjectRefused,
    PermissionMissing,
    RailwrightError,
    WriteConflict,
)
from railwright.core.objects import Kind, Ref
from railwright.ports.cluster import Selection, ServedKind
from railwright.simulator.cluster import SimCluster
from railwright.simulator.open import open_simulator

WATCH_LIFE_S = 0.2
"""Watches end soon: a client has to go on from where they were, and a test's end does not wait for them."""


class Call(BaseHTTPRequestHandler):
    """One request; saboteurs answer through `send`, `status` and `cut`."""

    protocol_version = "HTTP/1.1"
    server: "HttpApi"

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (ConnectionError, TimeoutError, ValueError):
            self.close_connection = True

    def do_GET(self) -> None:
        self._any()

    do_PATCH = do_DELETE = do_POST = do_PUT = do_GET  # noqa: N815 - the base class asks for these names

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Stay silent."""

    @property
    def parameters(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))

    @property
    def where(self) -> str:
        return urlsplit(self.path).path

    def _any(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        self.body = json.loads(self.rfile.read(size)) if size else None
        with self.server.lock:
            self.server.asked.append(f"{self.command} {self.where}")
        if self.server.saboteur(self):
            return
        self.server.answer(self)

    def send(self, code: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def json(self, code: int, value: object, **headers: str) -> None:
        self.send(code, json.dumps(value).encode(), **headers)

    def status(self, code: int, message: str, reason: str = "", **headers: str) -> bool:
        """Answer with a Status, as an API server does."""
        self.json(
            code,
            {
                "kind": "Status",
                "apiVersion": "v1",
                "status": "Failure",
                "code": code,
                "reason": reason,
                "message": message,
            },
            **headers,
        )
        return True

    def cut(self, *, after: bytes = b"") -> bool:
        """End the connection: before an answer, or in the middle of one."""
        if after:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(after) + 100))
            self.end_headers()
            self.wfile.write(after)
            self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)
        return True

    def hang(self) -> bool:
        """Never answer, as long as the client or the test waits."""
        self.server.ending.wait(60)
        self.close_connection = True
        return True


Saboteur = Callable[[Call], bool]


def honest(_call: Call) -> bool:
    """Sabotage nothing."""
    return False


class HttpApi(ThreadingHTTPServer):
    """The server; `asked` lists what was asked, in order."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, cluster: SimCluster, saboteur: Saboteur) -> None:
        super().__init__(("127.0.0.1", 0), Call)
        self.cluster = cluster
        self.saboteur = saboteur
        self.asked: list[str] = []
        self.lock = threading.Lock()
        self.ending = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are part of the game."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def kubeconfig(self, folder: Path, **user: Any) -> Path:
        """Write a kubeconfig that leads here."""
        path = folder / "kubeconfig"
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "clusters": [{"name": "c", "cluster": {"server": self.url}}],
            "users": [{"name": "u", "user": user or {"token": "t"}}],
            "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        }
        path.write_text(json.dumps(content))
        return path

    def answer(self, call: Call) -> None:
        """Answer as an API server should."""
        try:
            with self.lock:
                found = asyncio.run(answered(self.cluster, call))
        except RailwrightError as error:
            code, details = _refusal(error)
            call.json(
                code,
                {"kind": "Status", "status": "Failure", "code": code, "message": error.message, "details": details},
            )
            return
        if found is None:
            self._watch(call)
        else:
            call.json(200, found)

    def _watch(self, call: Call) -> None:
        """A watch that tells nothing but where it is: what changed is for the next read."""
        call.send_response(200)
        call.send_header("Content-Type", "application/json")
        call.send_header("Connection", "close")
        call.end_headers()
        bookmark = {"metadata": {"resourceVersion": str(self.cluster.engine.store.version)}}
        call.wfile.write(json.dumps({"type": "BOOKMARK", "object": bookmark}).encode() + b"\n")
        call.wfile.flush()
        self.ending.wait(WATCH_LIFE_S)
        call.close_connection = True


async def answered(cluster: SimCluster, call: Call) -> object:
    """Do what was asked; give the answer, None for a watch. Raises RailwrightError."""
    served = tuple(cluster.engine.store.served().values())
    match call.command, call.where:
        case "GET", "/version":
            return {"gitVersion": await cluster.version()}
        case "GET", "/api" | "/apis":
            return _discovery(served, is_core=call.where == "/api")
        case "POST", _:
            return {"status": {"allowed": True}}
    version, namespace, plural, name = _path(call.where)
    of_version = [item for item in served if item.kind.api_version == version]
    if not plural:
        return _resources(version, of_version)
    kind = next((item.kind for item in of_version if item.plural == plural), None)
    if kind is None:
        message = "the server could not find the requested resource"
        raise KindNotServed(message)
    return await (
        _collection(cluster, call, kind, namespace) if not name else _object(cluster, call, Ref(kind, namespace, name))
    )


async def _collection(cluster: SimCluster, call: Call, kind: Kind, namespace: str) -> object:
    asked = call.parameters
    if asked.get("watch"):
        return None
    name = asked.get("fieldSelector", "").removeprefix("metadata.name=")
    selection = Selection(kind, namespace, name=name, labels=asked.get("labelSelector", ""))
    items = [obj async for obj in cluster.list(selection)]
    return {
        "kind": f"{kind.kind}List",
        "metadata": {"resourceVersion": str(cluster.engine.store.version)},
        "items": items,
    }


async def _object(cluster: SimCluster, call: Call, ref: Ref) -> object:
    asked = call.parameters
    dry_run = asked.get("dryRun") == "All"
    if call.command == "PATCH" and "apply-patch" in call.headers["Content-Type"]:
        return await cluster.apply(
            call.body, field_manager=asked["fieldManager"], take_over=asked.get("force") == "true", dry_run=dry_run
        )
    if call.command == "PATCH":
        return await cluster.patch(ref, call.body, dry_run=dry_run)
    if call.command == "DELETE":
        options: Mapping[str, Any] = call.body or {}
        uid = options.get("preconditions", {}).get("uid", "")
        await cluster.delete(ref, uid=uid, dry_run=bool(options.get("dryRun")))
        return {"kind": "Status", "status": "Success"}
    return await cluster.get(ref)


def _path(where: str) -> tuple[str, str, str, str]:
    """Take a path apart: group version, namespace, plural, name."""
    parts = where.strip("/").split("/")
    version, rest = (parts[1], parts[2:]) if parts[0] == "api" else ("/".join(parts[1:3]), parts[3:])
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    plural, name = (*rest, "", "")[:2]
    return version, namespace, plural, name


def _discovery(served: tuple[ServedKind, ...], *, is_core: bool) -> object:
    groups: dict[str, dict[str, list[ServedKind]]] = {}
    for item in served:
        if (item.kind.group == "") == is_core:
            version = item.kind.api_version.rpartition("/")[2]
            groups.setdefault(item.kind.group, {}).setdefault(version, []).append(item)
    return {
        "kind": "APIGroupDiscoveryList",
        "items": [
            {
                "metadata": {"name": group},
                "versions": [
                    {
                        "version": version,
                        "resources": [
                            {
                                "resource": item.plural,
                                "responseKind": {"kind": item.kind.kind},
                                "scope": "Namespaced" if item.namespaced else "Cluster",
                            }
                            for item in items
                        ],
                    }
                    for version, items in versions.items()
                ],
            }
            for group, versions in groups.items()
        ],
    }


def _resources(version: str, served: list[ServedKind]) -> object:
    if not served:
        message = "the server could not find the requested resource"
        raise KindNotServed(message)
    resources = [{"name": item.plural, "kind": item.kind.kind, "namespaced": item.namespaced} for item in served]
    return {"kind": "APIResourceList", "groupVersion": version, "resources": resources}


def _refusal(error: RailwrightError) -> tuple[int, dict[str, Any]]:
    match error:
        case KindNotServed():
            return 404, {}
        case NotFound():
            return 404, {"name": "it", "kind": "it"}
        case WriteConflict():
            causes = [
                {"reason": "FieldManagerConflict", "message": f'conflict with "{owner}"', "field": field}
                for field, owner in error.context.items()
                if field.startswith((".", "["))
            ]
            return 409, {"causes": causes}
        case ObjectRefused():
            return 422, {}
        case PermissionMissing():
            return 403, {}
        case _:
            return 500, {}


@contextmanager
def http_api(saboteur: Saboteur = honest, world: str = "h200-roce") -> Iterator[HttpApi]:
    """Run a server until the block ends."""
    cluster = open_simulator(world).cluster
    assert isinstance(cluster, SimCluster)
    server = HttpApi(cluster, saboteur)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ending.set()
        server.shutdown()
        server.server_close()
        thread.join()


def drip(call: Call) -> bool:
    """Answer a byte at a time, slowly, and without end."""
    call.send_response(200)
    call.send_header("Content-Type", "application/json")
    call.send_header("Transfer-Encoding", "chunked")
    call.end_headers()
    end = time.monotonic() + 60
    while time.monotonic() < end and not call.server.ending.wait(0.2):
        call.wfile.write(b"1\r\n \r\n")
        call.wfile.flush()
    call.close_connection = True
    return True
