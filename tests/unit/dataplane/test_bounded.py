"""A half cannot outlive its limit, and one that dies is an answer too."""

import os
import signal
import socket
from pathlib import Path

import pytest

from railwright.dataplane import bounded
from railwright.dataplane.bounded import run_bounded
from railwright.dataplane.model import EvidenceRequest, Reply, Request
from railwright.dataplane.wire import read_reply


def _children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def _half(monkeypatch: pytest.MonkeyPatch, what: object) -> None:
    monkeypatch.setattr(bounded, "run_half", what)


def test_a_half_that_hangs_is_ended_with_what_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()

    def hang(_: Request) -> Reply:
        os.fork()
        signal.pause()
        raise AssertionError

    _half(monkeypatch, hang)
    reply = read_reply(run_bounded(EvidenceRequest(), 0.3))
    assert reply.problem is not None
    assert reply.problem.code == "timed-out"
    assert not _children()
    os.close(writing)
    assert os.read(reading, 1) == b"", "ends only when nobody holds the other side any more"
    os.close(reading)


def test_a_half_that_is_killed_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def die(_: Request) -> Reply:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    _half(monkeypatch, die)
    reply = read_reply(run_bounded(EvidenceRequest(), 5.0))
    assert reply.problem is not None
    assert (reply.problem.code, "signal 9" in reply.problem.message) == ("died", True)


def test_a_place_that_cannot_be_entered_is_an_answer() -> None:
    def refuse() -> None:
        raise PermissionError(1, "no")

    reply = read_reply(run_bounded(EvidenceRequest(), 5.0, refuse))
    assert reply.problem is not None
    assert reply.problem.code == "not-permitted"


def test_a_reply_larger_than_a_pipe_comes_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    _half(monkeypatch, lambda _: Reply("evidence", raw="x" * 1_000_000))
    assert len(read_reply(run_bounded(EvidenceRequest(), 5.0)).raw) == 1_000_000


def test_a_bug_in_a_half_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("railwright.dataplane.evidence.read_ports", lambda: 1 / 0)
    reply = read_reply(run_bounded(EvidenceRequest(), 5.0))
    assert reply.problem is not None
    assert (reply.problem.code, "ZeroDivisionError" in reply.problem.message) == ("unexpected", True)


def test_a_half_holds_no_socket_of_ours_open(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair()
    _half(monkeypatch, lambda _: Reply("evidence"))
    read_reply(run_bounded(EvidenceRequest(), 5.0))
    theirs.close()
    assert ours.recv(1) == b""
    ours.close()
