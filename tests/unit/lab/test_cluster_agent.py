"""A node's own agent: answers over its port, each request with its number, and ends what takes too long."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from railwright.lab.cluster.guest import agent

SERVE = "import runpy, sys; runpy.run_path(sys.argv[1])['serve'](int(sys.argv[2]))"


@pytest.fixture
def port() -> Iterator[socket.socket]:
    """The host's end; the agent serves the other one in a process of its own, as on a node."""
    ours, its = socket.socketpair()
    argv = [sys.executable, "-S", "-E", "-c", SERVE, str(Path(agent.__file__)), str(its.fileno())]
    process = subprocess.Popen(argv, pass_fds=(its.fileno(),))
    its.close()
    ours.settimeout(30)
    yield ours
    process.kill()
    process.wait()
    ours.close()


def test_it_greets_then_answers_each_request_with_its_number(port: socket.socket) -> None:
    with port.makefile("rwb") as lines:
        assert json.loads(lines.readline())["ready"]
        for number, text in ((7, "echo out; echo err >&2; exit 3"), (8, "true")):
            lines.write(json.dumps({"id": number, "shell": text, "timeout_s": 9}).encode() + b"\n")
        lines.flush()
        assert json.loads(lines.readline()) == {"id": 7, "exit_code": 3, "out": "out\n", "err": "err\n"}
        assert json.loads(lines.readline())["id"] == 8


def test_what_takes_too_long_is_ended_with_all_that_it_started() -> None:
    answer = agent.run("echo begun; sleep 60 & wait", 0.2)
    assert answer == {"exit_code": None, "out": "begun\n", "err": ""}
