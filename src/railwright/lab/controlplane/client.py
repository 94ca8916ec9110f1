"""
A small client for setting a control plane up and for playing operators on it, apart from the one that we judge.

Every write is a plain one: create, merge patch, merge patch of status, delete. Errors of the API server come out as
`Answered`, with its code, for the caller to decide: who sets a world up knows which ones are meant.
"""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import httpx2
import msgspec

from railwright.core.objects import Kind, KubeObject, Ref
from railwright.core.opening import opened

BUSY_ATTEMPTS = 40
BUSY_PAUSE_S = 0.25
"""The storage of a kind that is new answers 429 until it is initialized, as it says itself within a second or two."""


@dataclass(eq=False)
class Answered(Exception):
    """The API server said no. Not frozen: Python writes the traceback into an exception that passes a context."""

    status_code: int
    message: str

    def __str__(self) -> str:
        return f"HTTP {self.status_code}: {self.message}"


@dataclass(frozen=True)
class Resource:
    """Where a kind is served."""

    plural: str
    namespaced: bool
    has_status: bool


class PlaneClient:
    """Talks to one API server on loopback with a bearer token."""

    def __init__(self, server: str, token: str) -> None:
        """Prepare; the server's self-made certificate on loopback is taken as it is."""
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        headers = {"Authorization": f"Bearer {token}"}
        self._client = httpx2.AsyncClient(base_url=server, verify=context, headers=headers, timeout=30, trust_env=False)
        self._resources: dict[Kind, Resource] = {}

    async def close(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    async def is_ready(self) -> bool:
        """Ask /readyz."""
        try:
            return (await self._client.get("/readyz", timeout=2)).is_success
        except httpx2.TransportError:
            return False

    async def resource(self, kind: Kind) -> Resource:
        """Look a kind up; Answered 404 when it is not served."""
        if kind not in self._resources:
            prefix = "apis" if kind.group else "api"
            names = (await self._send("GET", f"/{prefix}/{kind.api_version}"))["resources"]
            with_status = {item["name"].partition("/")[0] for item in names if item["name"].endswith("/status")}
            for item in names:
                if "/" not in item["name"]:
                    found = Resource(item["name"], item["namespaced"], item["name"] in with_status)
                    self._resources[Kind(kind.api_version, item["kind"])] = found
        if kind not in self._resources:
            raise Answered(404, f"{kind} is not served")
        return self._resources[kind]

    async def create(self, obj: KubeObject, ref: Ref) -> KubeObject:
        """Create, strict about unknown fields; the status, which a create drops, goes after it."""
        path = await self._path(ref, named=False)
        made = await self._send("POST", path, obj, params={"fieldValidation": "Strict"})
        if obj.get("status") and (await self.resource(ref.kind)).has_status:
            made = await self.merge(ref, {"status": obj["status"]}, status=True)
        return made

    async def merge(self, ref: Ref, patch: KubeObject, *, status: bool = False) -> dict[str, Any]:
        """Merge patch an object or, where there is one, its status subresource; strict about unknown fields."""
        path = await self._path(ref)
        if status and (await self.resource(ref.kind)).has_status:
            path += "/status"
        strict = {"fieldValidation": "Strict"}
        return await self._send("PATCH", path, patch, params=strict, content_type="application/merge-patch+json")

    async def delete(self, ref: Ref) -> None:
        """Delete in the background, pods at once: whoever plays the kubelet ends them with this."""
        options = {"propagationPolicy": "Background", "gracePeriodSeconds": 0}
        await self._send("DELETE", await self._path(ref), options)

    async def read(self, ref: Ref) -> dict[str, Any]:
        """Read one object."""
        return await self._send("GET", await self._path(ref))

    async def token_of(self, namespace: str, service_account: str) -> str:
        """Ask for a token of a ServiceAccount that is there."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{service_account}/token"
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": None}}
        return str((await self._send("POST", path, body))["status"]["token"])

    async def list(self, kind: Kind) -> tuple[list[KubeObject], str]:
        """Read all objects of a kind in all namespaces, and the version of the collection."""
        answer = await self._send("GET", await self._path(Ref(kind, "", ""), named=False))
        types = {"apiVersion": kind.api_version, "kind": kind.kind}
        return [{**types, **item} for item in answer["items"]], str(answer["metadata"]["resourceVersion"])

    async def follow(self, kind: Kind, version: str) -> AsyncGenerator[Mapping[str, Any], None]:
        """
        Watch all objects of a kind from a version on, until the stream ends.

        Whoever leaves early closes this generator, and all that it reads from is closed with it: what is left to the
        garbage collector keeps its socket until then.
        """
        params = {"watch": "true", "resourceVersion": version}
        path = await self._path(Ref(kind, "", ""), named=False)
        request = self._client.build_request("GET", path, params=params, timeout=None)
        response = await self._opened(request)
        async with aclosing(response), aclosing(response.aiter_bytes()) as chunks:
            begun = b""
            async for chunk in chunks:
                *lines, begun = (begun + chunk).split(b"\n")
                for line in lines:
                    yield msgspec.json.decode(line)

    async def _path(self, ref: Ref, *, named: bool = True) -> str:
        resource = await self.resource(ref.kind)
        prefix = "apis" if ref.kind.group else "api"
        middle = f"/namespaces/{ref.namespace}" if resource.namespaced and ref.namespace else ""
        tail = f"/{ref.name}" if named else ""
        return f"/{prefix}/{ref.kind.api_version}{middle}/{resource.plural}{tail}"

    async def _opened(self, request: httpx2.Request) -> httpx2.Response:
        return await opened(self._client.send(request, stream=True), httpx2.Response.aclose)

    async def _send(
        self,
        method: str,
        path: str,
        body: KubeObject | None = None,
        *,
        params: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> dict[str, Any]:
        content = None if body is None else msgspec.json.encode(body)
        headers = {"Content-Type": content_type}
        for _ in range(BUSY_ATTEMPTS):
            response = await self._opened(
                self._client.build_request(method, path, content=content, headers=headers, params=params)
            )
            async with aclosing(response):
                await response.aread()
            if response.status_code != httpx2.codes.TOO_MANY_REQUESTS:
                break
            await asyncio.sleep(BUSY_PAUSE_S)
        if not response.is_success:
            raise Answered(response.status_code, response.text[:2000])
        return msgspec.json.decode(response.content, type=dict[str, Any])
