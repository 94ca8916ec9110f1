"""
Commands in containers, over the websocket protocol of kube-apiserver.

Every binary message starts with a channel: 0 stdin, 1 stdout, 2 stderr, 3 the end, as a Status. Version 5 can close
stdin (channel 255, then 0); version 4, all that Kubernetes before 1.30 speaks, can not, so what reads stdin to its end
there must end by itself.

    channel 3: {"metadata": {}, "status": "Failure", "reason": "NonZeroExitCode", "message": "command terminated ...",
                "details": {"causes": [{"reason": "ExitCode", "message": "3"}]}}

Source: https://kubernetes.io/docs/concepts/architecture/streaming/ and KEP-4006 (remotecommand over websocket).
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec
from httpx2.websockets import WebSocketDisconnect, WebSocketUpgradeError

from railwright.adapters.answers import causes_of
from railwright.adapters.failures import FOREIGN, unreachable
from railwright.adapters.transport import Request, Transport
from railwright.core.errors import ClusterError, ClusterUnreachable, RailwrightError
from railwright.core.foreign_text import whole_number
from railwright.ports.cluster import ExecResult

PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"]
_CLOSES_STDIN = PROTOCOLS[0]
_STDIN, _STDOUT, _STDERR, _END, _CLOSE = 0, 1, 2, 3, 255
_CHUNK_BYTES = 64 << 10
MOST_BYTES = 64 << 20
"""More than anything that is asked for here; what prints more would fill our memory."""


async def execute(transport: Transport, request: Request, stdin: str, timeout_s: float) -> ExecResult:
    """
    Run the command that the request names.

    Raises:
        ClusterUnreachable: no end within `timeout_s`, or the connection broke.
    """
    output = _Output()
    try:
        async with asyncio.timeout(timeout_s), transport.websocket(request, PROTOCOLS) as session:
            await _send(session, stdin)
            while output.exit_code is None:
                output.take(await session.receive_bytes())
    except TimeoutError as error:
        message = f"{request.what}: no end within {timeout_s:.0f} s"
        raise ClusterUnreachable(message, hint="is the node's kubelet alive?") from error
    except (*FOREIGN, BaseExceptionGroup) as error:
        raise _mapped(error, transport, request) from error
    return output.result()


async def _send(session: Any, stdin: str) -> None:
    data = stdin.encode()
    for start in range(0, len(data), _CHUNK_BYTES):
        await session.send_bytes(bytes([_STDIN]) + data[start : start + _CHUNK_BYTES])
    if session.subprotocol == _CLOSES_STDIN:
        await session.send_bytes(bytes([_CLOSE, _STDIN]))


class _Output:
    """What came so far."""

    def __init__(self) -> None:
        self.exit_code: int | None = None
        self._streams: dict[int, list[bytes]] = {_STDOUT: [], _STDERR: []}
        self._bytes = 0

    def take(self, message: bytes) -> None:
        if not message:
            return
        channel, data = message[0], message[1:]
        if channel == _END:
            self.exit_code = exit_code_of(msgspec.json.decode(data))
        elif channel in self._streams:
            self._streams[channel].append(data)
            self._bytes += len(data)
            if self._bytes > MOST_BYTES:
                said = f"the command printed more than {MOST_BYTES >> 20} MiB"
                raise ClusterError(said, hint="something on that node prints without end")

    def result(self) -> ExecResult:
        stdout, stderr = (b"".join(self._streams[channel]).decode(errors="replace") for channel in (_STDOUT, _STDERR))
        return ExecResult(stdout, stderr, self.exit_code or 0)


def exit_code_of(status: Mapping[str, Any]) -> int:
    """
    Read the exit code out of the Status that ends a command.

    Raises:
        ClusterError: the command could not be started at all.
    """
    if status.get("status") == "Success":
        return 0
    if status.get("reason") == "NonZeroExitCode":
        for cause in causes_of(status):
            code = whole_number(str(cause.get("message", "")))
            if cause.get("reason") == "ExitCode" and code is not None:
                return code
    message = f"the command could not be run: {status.get('message', 'no reason given')}"
    raise ClusterError(message)


def _mapped(error: BaseException, transport: Transport, request: Request) -> RailwrightError:
    """Choose our error for what ended the session; groups hold it as their only member."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, RailwrightError):
        return error
    if isinstance(error, WebSocketUpgradeError):
        return transport.refusal(error.response, request)
    if isinstance(error, WebSocketDisconnect):
        message = f"{request.what}: the API server closed the session ({error.code} {error.reason})".rstrip()
        return ClusterUnreachable(message, hint="try again")
    return unreachable(error, request.what, transport.server)
