"""`python -m railwright.dataplane`, as a pod runs it."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from railwright.dataplane.model import EngineRequest, EvidenceRequest, Meeting, RailEnd
from railwright.dataplane.wire import read_reply, request_text

ENTRY = [sys.executable, "-m", "railwright.dataplane"]


def _run(text: str, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*ENTRY, *more], input=text, capture_output=True, text=True, check=False, timeout=60)


def test_one_request_has_one_reply() -> None:
    done = _run(request_text(EvidenceRequest()) + "\n")
    assert done.returncode == 0
    evidence = read_reply(done.stdout).evidence
    assert evidence is not None
    assert evidence.user_id == os.geteuid()


@pytest.mark.parametrize("text", ["", "{}\n", '{"probe": "engine"}\n', "nonsense\n"])
def test_what_is_no_request_is_wrong_use(text: str) -> None:
    done = _run(text)
    assert (done.returncode, done.stdout) == (2, "")
    assert "not a request" in done.stderr


def test_a_limit_that_is_no_number_is_wrong_use() -> None:
    assert _run(request_text(EvidenceRequest()), "--timeout-s", "soon").returncode == 2


def test_a_peer_that_never_comes_ends_at_the_limit() -> None:
    request = EngineRequest(Meeting("listen", "", 0, patience_s=600.0), RailEnd())
    problem = read_reply(_run(request_text(request), "--timeout-s", "0.2").stdout).problem
    assert problem is not None
    assert problem.code == "timed-out"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_an_interrupt_ends_the_half_too(number: signal.Signals) -> None:
    """The half listens on a port, which is free again only when the half is gone."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    request = EngineRequest(Meeting("listen", "", port, patience_s=600.0), RailEnd())
    process = subprocess.Popen(ENTRY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(request_text(request) + "\n")
    process.stdin.flush()
    _wait_until(port, listening=True)
    process.send_signal(number)
    assert process.stdout.read() == ""
    assert process.wait(30) != 0
    process.stdin.close()
    process.stdout.close()
    _wait_until(port, listening=False)


def _wait_until(port: int, *, listening: bool) -> None:
    """Look at the kernel's table, since a connection would be taken for the other half."""
    wanted = f":{port:04X} "
    for _ in range(200_000):
        lines = [line for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()]
        there = any(wanted in line and " 0A " in line for line in lines)
        if there == listening:
            return
    raise AssertionError(f"port {port} is {'not ' if listening else ''}listened on")
