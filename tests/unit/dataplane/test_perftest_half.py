"""One half of perftest: its arguments, and what becomes of programs that are early, hang, fail or are not there."""

from pathlib import Path

import pytest

from railwright.core.ids import NetDevice, PciAddress, RdmaDevice
from railwright.dataplane import perftest
from railwright.dataplane.model import Meeting, Memory, PerftestRequest, RailEnd, Wire
from railwright.dataplane.partition import PartitionKey
from railwright.dataplane.perftest import arguments, run_perftest
from railwright.dataplane.port import Gid, Port
from railwright.dataplane.rail import Found

GID = Gid(3, "::ffff:10.1.0.2", "RoCE v2", NetDevice("net1"))
PORT = Port(RdmaDevice("mlx5_1"), 1, "4: ACTIVE", "5: LinkUp", "Ethernet", "", "", None, (NetDevice("net1"),), (GID,))
FOUND = Found(PORT, GID, NetDevice("net1"))


def _request(role: str = "connect", **change: object) -> PerftestRequest:
    meeting = Meeting(role, "10.99.0.2", 20000, patience_s=5.0)  # type: ignore[arg-type]
    return PerftestRequest(meeting, RailEnd(NetDevice("net1")), **change)  # type: ignore[arg-type]


def _line(request: PerftestRequest, found: Found = FOUND) -> str:
    return " ".join(arguments(request, found))


def test_both_halves_differ_in_the_peers_address_alone() -> None:
    assert _line(_request("connect")) == _line(_request("listen")) + " 10.99.0.2"


@pytest.mark.parametrize(
    ("change", "there", "absent"),
    [
        ({}, "-d mlx5_1 -i 1 -p 20000 -F -s 65536 -q 1 -n 200 -x 3 --report_gbits", "-D"),
        ({"duration_s": 2.0}, "-D 2", "-n"),
        ({"duration_s": 0.2}, "-D 1", "-D 0"),
        ({"program": "ib_read_lat"}, "-s 65536 -n 200", "-q"),
        ({"bidirectional": True}, "-b", "-R"),
        ({"wire": Wire(traffic_class=106, path_mtu_bytes=4096)}, "-m 4096 --tclass=106", "-u"),
        ({"wire": Wire(timeout_exponent=19)}, "-u 19", "-m"),
        (
            {"wire": Wire(traffic_class=106), "connection": "rdma_cm", "rdma_address": "10.1.0.9"},
            "-T 106 -R 10.1.0.9",
            "10.99",
        ),
        ({"memory": Memory("gpu", gpu=2)}, "--use_cuda=2 --use_cuda_dmabuf", "bus_id"),
        (
            {"memory": Memory("gpu", gpu_pci=PciAddress("0000:1b:00.0"))},
            "--use_cuda_bus_id=0000:1b:00.0",
            "--use_cuda=",
        ),
        ({"memory": Memory("gpu"), "gpu_dmabuf": False}, "--use_cuda=0", "dmabuf"),
    ],
)
def test_settings_become_arguments(change: dict[str, object], there: str, absent: str) -> None:
    line = _line(_request(**change))
    assert there in line
    assert absent not in line.split()


def test_infiniband_has_no_gid_index() -> None:
    line = _line(_request(), Found(PORT, None, NetDevice("net1"), PartitionKey(2, 0x8001)))
    assert "-x" not in line.split()
    assert "--pkey_index=2" in line.split()


@pytest.mark.parametrize(("connection", "asked"), [("tcp", 2), ("rdma_cm", None)])
def test_the_connection_manager_takes_the_partition_of_the_device_and_not_the_wanted_one(
    connection: str, asked: int | None, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = PartitionKey(0, 0x8001) if asked is None else PartitionKey(1, 0x8002)
    wanted: list[int | None] = []

    def find(_: RailEnd, partition: int | None) -> Found:
        wanted.append(partition)
        return Found(PORT, None, NetDevice("ib0"), key)

    monkeypatch.setattr(perftest, "find_rail", find)
    _write(program, "echo done")
    reply = run_perftest(_request(wire=Wire(partition=2), connection=connection))
    assert (wanted, reply.used.pkey) == ([asked], str(key))
    assert ("--pkey_index=1" in reply.command.split()) == (connection == "tcp")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for a program that plays ib_write_bw."""
    monkeypatch.setattr(perftest, "find_rail", lambda *_: FOUND)
    monkeypatch.setattr(perftest, "_RUN_SPARE_S", 0.2)
    monkeypatch.setattr(perftest, "_CONNECTING_TRIES_S", 0.0)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path / "ib_write_bw"


def _write(program: Path, text: str) -> None:
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)


def test_words_come_back_untouched(program: Path) -> None:
    _write(program, 'printf "  65536  200\\t1.0 \\n"; echo worse >&2')
    reply = run_perftest(_request())
    assert (reply.problem, reply.raw, reply.raw_errors, reply.exit_code) == (None, "  65536  200\t1.0 \n", "worse\n", 0)
    assert "-d mlx5_1" in reply.command


def test_a_program_that_fails_keeps_its_words(program: Path) -> None:
    _write(program, "echo half a line; exit 1")
    reply = run_perftest(_request())
    assert reply.problem is not None
    assert (reply.problem.code, reply.raw, reply.exit_code) == ("transfer-failed", "half a line\n", 1)


def test_a_program_that_hangs_is_ended(program: Path) -> None:
    _write(program, "echo begun; sleep 60")
    reply = run_perftest(PerftestRequest(Meeting("listen", "", 1, patience_s=0.1), RailEnd()))
    assert reply.problem is not None
    assert (reply.problem.code, reply.raw, reply.exit_code) == ("timed-out", "begun\n", None)


def test_the_connecting_half_tries_again_while_its_peer_is_not_there(program: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    _write(program, f'[ -e {again} ] && echo met && exit 0; touch {again}; echo "Couldn\'t connect to x" >&2; exit 1')
    reply = run_perftest(_request())
    assert (reply.problem, reply.raw) == (None, "met\n")


def test_a_missing_program_is_said_with_its_package(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(program.parent))
    reply = run_perftest(_request())
    assert reply.problem is not None
    assert (reply.problem.code, "package perftest" in reply.problem.message) == ("tool-missing", True)


def test_what_is_no_program_of_perftest_is_not_run() -> None:
    reply = run_perftest(_request(program="rm"))
    assert reply.problem is not None
    assert reply.problem.code == "broken-request"
