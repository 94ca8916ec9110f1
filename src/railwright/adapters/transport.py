"""
HTTP to one API server: every request has a deadline, and every failure is an error of core.errors.

Reads are tried again a few times when the server is busy or the connection broke; writes are not: whether a write
that got no answer happened is for the caller to find out.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import msgspec

from railwright.adapters.answers import Answer, Asked, error_of
from railwright.adapters.credentials import authentication
from railwright.adapters.failures import FOREIGN, understood, unreachable
from railwright.adapters.kubeconfig import Login
from railwright.adapters.tls import tls_context
from railwright.core.errors import ClusterBusy, ClusterError, ClusterUnreachable
from railwright.core.foreign_text import whole_number
from railwright.core.opening import opened
from railwright.core.version import __version__

REQUEST_LIMIT_S = 60.0
"""One request with all its attempts; kube-apiserver ends its own after 60 s, so a longer wait brings nothing."""
CONNECT_LIMIT_S = 10.0
ANSWER_LIMIT_BYTES = 256 << 20
"""More than any page of a list; what sends more is no API server, or one that would fill our memory."""
READ_ATTEMPTS = 4
LONGEST_PAUSE_S = 10.0


@dataclass(frozen=True)
class Request:
    """
    One HTTP request.

    Attributes:
        what: in words, for messages: "apply ConfigMap a/b".
        params: names may repeat.
    """

    method: str
    path: str
    what: str
    params: tuple[tuple[str, str], ...] = ()
    body: Any = None
    content_type: str = "application/json"
    accept: str = "application/json"

    @property
    def writes(self) -> bool:
        """Whether it may change something."""
        return self.method not in ("GET", "HEAD")


class Transport:
    """Connections to one API server, opened when first needed."""

    def __init__(self, login: Login, *, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        """
        Prepare; nothing is sent yet.

        Args:
            transport: stands in for the network; None is the network.
        """
        self.server = login.server
        context = tls_context(login)
        self._extensions = {"sni_hostname": login.tls_server_name} if login.tls_server_name else {}
        self._client = httpx2.AsyncClient(
            base_url=login.server,
            auth=authentication(login, context),
            verify=context,
            proxy=login.proxy_url or None,
            transport=transport,
            timeout=httpx2.Timeout(REQUEST_LIMIT_S, connect=CONNECT_LIMIT_S),
            headers={"User-Agent": f"railwright/{__version__}"},
            event_hooks={"response": [_read_refusal]},
            limits=httpx2.Limits(max_connections=100, max_keepalive_connections=32),
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    async def json(self, request: Request, *, limit_s: float = REQUEST_LIMIT_S) -> dict[str, Any]:
        """Send and decode what comes back, which is always an object."""
        content = await self.content(request, limit_s=limit_s)
        with understood(request.what, self.server):
            value = msgspec.json.decode(content)
            if not isinstance(value, dict):
                message = f"a {type(value).__name__} where an object was expected"
                raise TypeError(message)
            return value

    async def content(self, request: Request, *, limit_s: float = REQUEST_LIMIT_S) -> bytes:
        """Send; give the body of a success. All attempts together end within `limit_s`."""
        ends_s = time.monotonic() + limit_s
        for attempt in range(1, 1 if request.writes else READ_ATTEMPTS):
            try:
                return await self._once(request, ends_s - time.monotonic())
            except (ClusterBusy, ClusterUnreachable) as error:
                wanted_s = pause_s(error, attempt)
                if is_too_old(error) or time.monotonic() + wanted_s >= ends_s:
                    raise
                await asyncio.sleep(wanted_s)
        return await self._once(request, ends_s - time.monotonic())

    async def _once(self, request: Request, limit_s: float) -> bytes:
        try:
            async with asyncio.timeout(limit_s):
                response = await self._opened(self._built(request))
                try:
                    if response.is_success:
                        return await self._bounded(response, request)
                finally:
                    await response.aclose()
        except FOREIGN as error:
            raise unreachable(error, request.what, self.server) from error
        raise self.refusal(response, request)

    async def _opened(self, built: httpx2.Request) -> httpx2.Response:
        """Send; who is cancelled before the answer begins leaves no connection behind."""
        return await opened(self._client.send(built, stream=True), httpx2.Response.aclose)

    async def _bounded(self, response: httpx2.Response, request: Request) -> bytes:
        chunks: list[bytes] = []
        size = 0
        async for chunk in response.aiter_bytes():
            chunks.append(chunk)
            size += len(chunk)
            if size > ANSWER_LIMIT_BYTES:
                raise ClusterUnreachable(
                    f"{request.what}: {self.server} answers with more than {ANSWER_LIMIT_BYTES >> 20} MiB",
                    hint="is it the API server, or something before it?",
                    context={"server": self.server},
                )
        return b"".join(chunks)

    @asynccontextmanager
    async def lines(self, request: Request, *, quiet_s: float) -> AsyncIterator[AsyncIterator[str]]:
        """Open a stream of lines; longer than `quiet_s` without a byte is an error."""
        built = self._built(request, timeout=httpx2.Timeout(CONNECT_LIMIT_S, read=quiet_s))
        try:
            response = await self._opened(built)
            try:
                if not response.is_success:
                    raise self.refusal(response, request)
                yield response.aiter_lines()
            finally:
                await response.aclose()
        except FOREIGN as error:
            raise unreachable(error, request.what, self.server) from error

    @asynccontextmanager
    async def websocket(self, request: Request, protocols: list[str]) -> AsyncIterator[Any]:
        """
        Open a websocket; the caller maps what happens inside, and says how long anything may take.

        The answer to the opening comes only when the node has begun, which a busy one does late.
        """
        scheme = "wss" if self.server.startswith("https") else "ws"
        url = f"{scheme}{self.server[self.server.index('://') :]}{request.path}"
        async with self._client.websocket(
            url,
            subprotocols=protocols,
            params=list(request.params),
            max_message_size_bytes=16 << 20,
            extensions={**self._extensions, "timeout": httpx2.Timeout(CONNECT_LIMIT_S, read=None).as_dict()},
        ) as session:
            yield session

    def _built(self, request: Request, timeout: httpx2.Timeout | None = None) -> httpx2.Request:
        headers: Mapping[str, str] = {"Accept": request.accept}
        content = None
        if request.body is not None:
            content = msgspec.json.encode(request.body)
            headers = {**headers, "Content-Type": request.content_type}
        extensions: dict[str, Any] = dict(self._extensions)
        if timeout is not None:
            extensions["timeout"] = timeout.as_dict()
        return self._client.build_request(
            request.method,
            request.path,
            params=list(request.params),
            content=content,
            headers=headers,
            extensions=extensions or None,
        )

    @staticmethod
    def refusal(response: httpx2.Response, request: Request) -> ClusterError:
        """Say what an answer that is no success means."""
        headers = response.headers
        answer = Answer(
            response.status_code, response.text, headers.get("Retry-After", ""), headers.get("Location", "")
        )
        return error_of(answer, Asked(request.what, writes=request.writes))


async def _read_refusal(response: httpx2.Response) -> None:
    """Read why something was refused while the stream is open; a refused websocket closes it before we see it."""
    if response.is_error or response.is_redirect:
        await response.aread()


def is_too_old(error: ClusterError) -> bool:
    """Tell a 410: the resourceVersion or page token is no longer kept, and asking for it again is no use."""
    return error.context.get("http_status") == "410"


def pause_s(error: ClusterError, attempt: int) -> float:
    """Say how long to wait before another attempt: what the server asked for, else 0.2 s doubling, with jitter."""
    asked = error.context.get("retry_after_s", "")
    seconds = whole_number(asked)
    wanted = float(seconds) if seconds is not None else 0.2 * 2.0 ** (attempt - 1)
    return min(wanted, LONGEST_PAUSE_S) * random.uniform(0.8, 1.2)  # noqa: S311 - spreads clients, hides nothing
