"""
Halves on request: a process that has everything loaded, and makes a child of itself for each request.

For places where loading takes longer than measuring: an emulated processor takes ten seconds for what is done in a fifth of
one elsewhere. A request is a line: how long the half may take, in seconds, and the request itself; the reply is a line.
"""

import contextlib
import os
import signal
import socket

from railwright.dataplane.bounded import run_bounded
from railwright.dataplane.wire import read_request

_NOBODY_S = 900.0
"""So long after the last request it ends by itself; a pod ends it before."""


def serve(name: str) -> None:
    """Serve at a name of the network namespace until nobody has asked for a while; at once when somebody is there."""
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as waiting, contextlib.suppress(OSError):
        waiting.bind(f"\0{name}")
        waiting.listen()
        _load()
        _serve(waiting)


def _load() -> None:
    """Load what halves load when they are asked for it."""
    import railwright.dataplane.evidence
    import railwright.dataplane.perftest
    import railwright.dataplane.verbs.engine  # noqa: F401 - loaded for the children


def _serve(waiting: socket.socket) -> None:
    waiting.settimeout(_NOBODY_S)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        connection, _ = waiting.accept()
        if os.fork() == 0:
            # A child that outlives us must not hold the name: nobody would answer there, and nobody else could serve.
            waiting.close()
            _answer(connection)
        connection.close()


def _answer(connection: socket.socket) -> None:
    """Be the child: run one half, no longer than whoever asks is there; never returns."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        connection.settimeout(None)
        with connection, connection.makefile() as lines:
            limit_s, _, text = lines.readline().partition(" ")
            reply = run_bounded(read_request(text), float(limit_s), until=connection.fileno())
            connection.sendall(reply.encode() + b"\n")
    finally:
        os._exit(0)
