"""The TCP connection over which two halves agree; lines of JSON, each waited for only so long."""

import contextlib
import json
import socket
import time
from types import TracebackType
from typing import Any, Self

from railwright.dataplane.model import Meeting, Problem
from railwright.dataplane.problems import HalfFailed

_RETRY_S = 0.05
_LONGEST_LINE_BYTES = 1 << 20


class Talk:
    """One connected half."""

    def __init__(self, connection: socket.socket, wait_s: float) -> None:
        """Talk over a connection; each answer is waited for `wait_s`."""
        self._connection = connection
        self._wait_s = wait_s
        self._reader = connection.makefile("rb")
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        """Use it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Tell the other half why this one gives up, and close."""
        if isinstance(error, HalfFailed):
            with contextlib.suppress(OSError):
                self._send({"failed": error.problem.message, "code": error.problem.code})
        with contextlib.suppress(OSError):
            self._reader.close()
            self._connection.close()

    def exchange(self, said: dict[str, Any], *, extra_wait_s: float = 0.0) -> dict[str, Any]:
        """
        Say something and hear what the other half says at the same step.

        Raises:
            HalfFailed: "peer-lost": it failed (its message is in ours), closed, or was silent for too long.
        """
        try:
            self._send(said)
            return self._receive(extra_wait_s)
        except OSError as error:
            raise HalfFailed("peer-lost", f"the other half is gone: {error}") from error

    def together(self, step: str, *, extra_wait_s: float = 0.0) -> None:
        """Wait until the other half is at the same step. Raises HalfFailed "peer-lost"."""
        heard = self.exchange({"step": step}, extra_wait_s=extra_wait_s)
        if heard.get("step") != step:
            raise HalfFailed("broken-request", f"the halves were asked for different things: {step!r} and {heard!r}")

    def _send(self, said: dict[str, Any]) -> None:
        self._connection.settimeout(self._wait_s)
        self._connection.sendall(json.dumps(said).encode() + b"\n")

    def _receive(self, extra_wait_s: float) -> dict[str, Any]:
        self._connection.settimeout(self._wait_s + extra_wait_s)
        line = self._reader.readline(_LONGEST_LINE_BYTES)
        if not line.endswith(b"\n"):
            raise HalfFailed("peer-lost", "the other half closed the connection in the middle of the run")
        heard = json.loads(line)
        if not isinstance(heard, dict):
            raise HalfFailed("peer-lost", f"the other half said {line[:80]!r}")
        if "failed" in heard:
            raise HalfFailed("peer-lost", f"the other half failed: {heard['failed']}", str(heard.get("code", "")))
        return heard


def meet(meeting: Meeting, wait_s: float) -> Talk:
    """
    Find the other half.

    Raises:
        HalfFailed: "peer-missing" when it has not come within the meeting's patience.
    """
    deadline = time.monotonic() + meeting.patience_s
    connection = _accept(meeting) if meeting.role == "listen" else _connect(meeting, deadline)
    return Talk(connection, wait_s)


def _accept(meeting: Meeting) -> socket.socket:
    family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
    try:
        with socket.create_server(
            ("", meeting.port), family=family, dualstack_ipv6=family == socket.AF_INET6, reuse_port=False
        ) as server:
            server.settimeout(meeting.patience_s)
            return server.accept()[0]
    except TimeoutError:
        raise HalfFailed("peer-missing", f"nobody came to port {meeting.port} in {meeting.patience_s:.0f} s") from None
    except OSError as error:
        raise HalfFailed("peer-missing", f"cannot listen on port {meeting.port}: {error}") from error


def _connect(meeting: Meeting, deadline: float) -> socket.socket:
    problem = Problem("peer-missing", "")
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise HalfFailed(
                "peer-missing", f"{meeting.address} port {meeting.port} does not answer: {problem.message}"
            )
        try:
            return socket.create_connection((meeting.address, meeting.port), timeout=left)
        except OSError as error:
            problem = Problem("peer-missing", str(error))
            time.sleep(_RETRY_S)
