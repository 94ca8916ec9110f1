"""Halves in pods: our probes in any Python, perftest alone where there is none."""

import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from railwright.core.errors import ClusterUnreachable
from railwright.core.ids import NetDevice, NodeName
from railwright.dataplane.model import (
    EngineRequest,
    EvidenceRequest,
    Meeting,
    Memory,
    NixlRequest,
    PerftestRequest,
    RailEnd,
    Reply,
    Request,
    Wire,
)
from railwright.dataplane.wire import read_reply, request_text
from railwright.ports.cluster import ExecResult
from railwright.verify.pods.bundle import START, program, program_kept
from railwright.verify.pods.endpoint import PodEndpoint, has_python
from railwright.verify.pods.shell import perftest_reply, perftest_script

RAIL = RailEnd(NetDevice("net1"))
LISTEN, CONNECT = Meeting("listen", "10.0.0.1", 20000, 0.5), Meeting("connect", "10.0.0.1", 20000, 0.5)


class Answering:
    """A cluster whose exec answers what it was told to."""

    simulated = False

    def __init__(self, answer: ExecResult | Exception) -> None:
        self.answer, self.commands = answer, []

    async def exec(self, namespace, pod, container, command, *, stdin="", timeout_s):
        self.commands.append((tuple(command), stdin))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def pod(answer, *, python: bool = True) -> PodEndpoint:
    return PodEndpoint(Answering(answer), "training", "p-0", "main", NodeName("a"), (), "10.128.0.1", has_python=python)


def run_bundled(request, *options: str):
    done = subprocess.run(
        [sys.executable, "-S", "-c", START, *options],
        input=program() + request_text(request) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd="/",
        env={"PATH": "/usr/bin:/bin"},
    )
    return read_reply(done.stdout.strip().splitlines()[-1])


def test_our_probes_run_in_a_bare_python_that_knows_nothing_of_us() -> None:
    assert run_bundled(EvidenceRequest(), "--timeout-s", "20").probe == "evidence"


def test_programs_that_a_half_starts_find_our_probes_too() -> None:
    reply = run_bundled(NixlRequest(LISTEN, RailEnd(), memory=Memory("host")), "--timeout-s", "20")
    assert reply.problem is not None
    assert reply.problem.code in {"peer-missing", "tool-missing", "no-library"}


@pytest.fixture
def name() -> Iterator[str]:
    """A name under which probes are kept; whoever keeps them is ended afterwards."""
    made = f"railwright-test-{secrets.token_hex(4)}"
    yield made
    for process in keepers(made):
        os.kill(process, signal.SIGKILL)


def keepers(name: str) -> list[int]:
    """Processes that were started with the name in what they execute, and are still there."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"KEEPS={name}".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def ask_kept(name: str, request: Request, *, spoiled: bool = False) -> Reply:
    before, after = program_kept(name)
    serving, alone = after.splitlines(keepends=True)
    text = before + request_text(request) + "\n" + ("raise SystemExit\n" if spoiled else serving) + alone
    done = subprocess.run(
        [sys.executable, "-S", "-c", START, "--timeout-s", "20"],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "KEEPS": name},
    )
    return read_reply(done.stdout.strip().splitlines()[-1])


def test_probes_that_stay_loaded_answer_each_request_in_a_child_of_its_own(name: str) -> None:
    assert [ask_kept(name, EvidenceRequest()).probe for _ in range(2)] == ["evidence", "evidence"]
    assert len(keepers(name)) == 1
    assert ask_kept(name, PerftestRequest(CONNECT, RAIL)).problem is not None


def test_where_none_can_stay_loaded_a_half_runs_alone(name: str) -> None:
    assert ask_kept(name, EvidenceRequest(), spoiled=True).probe == "evidence"
    assert keepers(name) == []


def test_a_half_ends_when_whoever_asked_has_gone(name: str) -> None:
    ask_kept(name, EvidenceRequest())
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(f"\0{name}")
        patient = replace(LISTEN, port=0, patience_s=50.0)
        line.sendall(f"50 {request_text(EngineRequest(patient, RAIL))}\n".encode())
        while len(keepers(name)) < 3:
            os.sched_yield()
    while len(keepers(name)) > 1:
        os.sched_yield()


async def test_an_exec_that_fails_is_a_problem_of_the_reply() -> None:
    reply = await pod(ClusterUnreachable("no end within 5 s")).run(EvidenceRequest(), timeout_s=1)
    assert (reply.problem.code, "no end within 5 s" in reply.problem.message) == ("timed-out", True)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (ExecResult("", "Killed", 137), "died"),
        (ExecResult('{"probe": "evidence", "surprise": 1}\n', "", 0), "unexpected"),
        (ExecResult("Traceback ...\n", "", 1), "unexpected"),
    ],
)
async def test_what_is_no_reply_is_never_taken_for_one(answer, code) -> None:
    reply = await pod(answer).run(EvidenceRequest(), timeout_s=1)
    assert reply.problem.code == code


async def test_without_python_only_perftest_runs() -> None:
    endpoint = pod(ExecResult("=== verify problem\nno-device\n", "", 0), python=False)
    assert (await endpoint.run(NixlRequest(CONNECT, RAIL), timeout_s=1)).problem.code == "tool-missing"
    assert (await endpoint.run(PerftestRequest(CONNECT, RAIL), timeout_s=9)).problem.code == "no-device"


@pytest.mark.parametrize(
    ("said", "expected"),
    [("python 3 12\n", True), ("python 3 11\n", True), ("python 3 9\n/usr/bin/ib_write_bw\n", False), ("", False)],
)
def test_a_python_must_be_new_enough(said, expected) -> None:
    assert has_python(said) is expected


# --- perftest by shell -----------------------------------------------------------------------------------------------

GOOD = (Path(__file__).resolve().parents[2] / "cases/facts/perftest/write-bandwidth-gbit.txt").read_text()
SAID = (
    "=== verify used\nmlx5_0\t3\t0000:0000:0000:0000:0000:ffff:c0a8:0001\tRoCE v2\n"
    "=== verify before\nport_xmit_data\t100\nport_rcv_data\t50\n"
    f"=== verify words\n{GOOD}=== verify after\nport_xmit_data\t900\nport_rcv_data\t60\n=== verify code\n0\n"
)


def test_the_sections_of_the_script_are_read_back() -> None:
    reply = perftest_reply(PerftestRequest(CONNECT, RAIL), ExecResult(SAID, "", 0))
    assert (reply.problem, reply.exit_code, reply.used.gid_index, reply.used.gid_type) == (None, 0, 3, "RoCE v2")
    assert reply.raw == GOOD
    assert [(item.name, item.value, item.unit) for item in reply.after] == [
        ("port_xmit_data", 900, "4 bytes"),
        ("port_rcv_data", 60, "4 bytes"),
    ]


@pytest.mark.parametrize(
    ("stdout", "code"),
    [
        ("", "died"),
        (SAID.replace("code\n0", "code\n124"), "timed-out"),
        (SAID.replace("code\n0", "code\n1"), "transfer-failed"),
    ],
)
def test_a_script_that_did_not_end_well_is_a_problem(stdout, code) -> None:
    assert perftest_reply(PerftestRequest(CONNECT, RAIL), ExecResult(stdout, "", 0)).problem.code == code


def test_the_script_is_one_that_a_posix_shell_understands_and_names_cannot_break_it(tmp_path) -> None:
    hostile = NetDevice("net1'; touch owned; '")
    request = PerftestRequest(
        CONNECT, RailEnd(hostile), wire=Wire(traffic_class=106), memory=Memory("gpu", gpu_pci="0000:1b:00.0")
    )
    script = perftest_script(request, 10)
    assert "--tclass=106" in script
    assert "--use_cuda_bus_id=0000:1b:00.0" in script
    assert "--use_cuda_dmabuf" in script
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=30, check=False, cwd=tmp_path)
    assert perftest_reply(request, ExecResult(done.stdout, done.stderr, done.returncode)).problem.code == "no-device"
    assert list(tmp_path.iterdir()) == []
