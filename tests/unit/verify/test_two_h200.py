"""Replies of real halves between two H200 of one host, without a NIC: what the witnesses make of them."""

from pathlib import Path

import pytest

from railwright.core.ids import NodeName, RailName, RdmaDevice
from railwright.core.verdicts import Verdict
from railwright.dataplane.model import Meeting, NcclRequest, NixlRequest, RailEnd, Reply
from railwright.dataplane.wire import read_reply
from railwright.facts.sources.nccl import parse_nccl
from railwright.verify.model import MemoryKind, Says, Way
from railwright.verify.task import Exchange, Outcome
from railwright.verify.witnesses import checksums, emulation, nccl

FOLDER = Path(__file__).resolve().parents[2] / "cases" / "dataplane" / "two-h200"
WAY = Way(NodeName("one"), RailName("rail0"), NodeName("other"), RailName("rail0"))
CONNECT = Meeting("connect", "127.0.0.1", 20000)
NIXL = NixlRequest(CONNECT, RailEnd())


def reply(name: str) -> Reply:
    return read_reply((FOLDER / f"{name}.json").read_text())


def both(name: str, *, reads: bool) -> Outcome:
    listen, connect = reply(f"{name}.listen"), reply(f"{name}.connect")
    source, target = (listen, connect) if reads else (connect, listen)
    return Outcome(Exchange("run", NIXL, NIXL, 60.0), source, target)


@pytest.mark.parametrize(("name", "reads"), [("nixl-read", True), ("nixl-write", False)])
def test_bytes_over_nvlink_are_right_and_no_proof_of_a_nic(name: str, reads: bool) -> None:
    outcome = both(name, reads=reads)
    assert checksums.compare(outcome.replies, WAY)[0] is Verdict.PASS
    said = emulation.testify(outcome, WAY, MemoryKind.GPU, RdmaDevice(""))
    assert (said.says, "past the NIC: cuda_ipc/cuda" in said.text) == (Says.CONTRADICTS, True)


@pytest.mark.parametrize(
    ("name", "reads"), [("control-rdma-withheld-read", True), ("control-rdma-withheld-write", False)]
)
def test_without_a_zero_copy_way_gpu_memory_is_refused(name: str, reads: bool) -> None:
    said = emulation.testify_control("rdma", both(name, reads=reads), WAY, MemoryKind.GPU)
    assert said.says is Says.AGREES
    assert "No zero-copy protocol found" in said.lines[0]


def test_the_same_with_emulation_allowed_passes_and_is_not_taken_for_direct() -> None:
    outcome = both("control-emulation-allowed-read", reads=True)
    said = emulation.testify(outcome, WAY, MemoryKind.GPU, RdmaDevice(""))
    assert (said.says, said.text) == (Says.CONTRADICTS, "UCX counts transfers that were not zero-copy")
    control = emulation.testify_control("rdma", outcome, WAY, MemoryKind.GPU)
    assert control.says is Says.CONTRADICTS, "a control that passes proves nothing"


def test_nccl_between_gpus_of_one_host_uses_no_network() -> None:
    one, other = reply("nccl.listen"), reply("nccl.connect")
    assert (parse_nccl(one.raw).problem, parse_nccl(other.raw).problem) == ("", "")
    asked = NcclRequest(CONNECT, RailEnd())
    said = nccl.testify(Outcome(Exchange("run", asked, asked, 60.0), one, other), WAY, (RdmaDevice(""), RdmaDevice("")))
    assert (said.says, "no channel over the network" in said.text) == (Says.CONTRADICTS, True)
