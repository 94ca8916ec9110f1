"""A process that keeps everything loaded, and the children that it makes of itself."""

import os
import signal
import socket
import time

import pytest

from railwright.dataplane import serving
from railwright.dataplane.serving import serve


def _ask(name: str) -> socket.socket:
    """Connect to whoever serves, once somebody does."""
    for _ in range(1000):
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            line.connect(f"\0{name}")
        except OSError:
            line.close()
            time.sleep(0.01)
        else:
            return line
    raise AssertionError("nobody serves")


def test_a_half_that_outlives_its_server_holds_nobody_else_from_serving(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(connection: socket.socket) -> None:
        connection.sendall(b"I am here")
        signal.pause()

    monkeypatch.setattr(serving, "_answer", hang)
    name = f"railwright-test-{os.getpid()}"
    server = os.fork()
    if server == 0:
        try:
            serve(name)
        finally:
            os._exit(1)
    try:
        with _ask(name) as line:
            assert line.recv(9) == b"I am here"
            os.kill(server, signal.SIGKILL)
            os.waitpid(server, 0)
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as another:
                another.bind(f"\0{name}")
    finally:
        os.killpg(server, signal.SIGKILL)
