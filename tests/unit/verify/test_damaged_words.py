"""Words of tools that were cut off anywhere, or run together with another's, never make a pass."""

from pathlib import Path

import pytest

from railwright.core.ids import NetDevice, NodeName, RailName, RdmaDevice
from railwright.core.verdicts import Verdict
from railwright.dataplane.model import Meeting, NcclRequest, NixlRequest, PerftestRequest, RailEnd, Reply, Sample, Used
from railwright.ports.endpoint import HeldRail
from railwright.verify.families import perftest as perftest_family
from railwright.verify.model import Direction, MemoryKind, Says, Step, Way
from railwright.verify.task import Effort, End, Exchange, Outcome, Task
from railwright.verify.witnesses import emulation, nccl

CASES = Path(__file__).resolve().parents[2] / "cases" / "facts"
WAY = Way(NodeName("a"), RailName("rail0"), NodeName("b"), RailName("rail0"))
MLX = RdmaDevice("mlx5_0")
CONNECT, RAIL = Meeting("connect", "10.0.0.1", 20000), RailEnd(NetDevice("net1"))
MOVED = (Sample("read", 65536, 1, 50, 1.0, 100.0),)


def text_of(name: str) -> str:
    return (CASES / f"{name}.txt").read_text()


def halves(request, listening: str, connecting: str) -> Outcome:
    used = Used(device=MLX, path_mtu_bytes=4096)
    listen = Reply(request_name(request), role="listen", used=used, raw=listening, exit_code=0)
    connect = Reply(request_name(request), role="connect", used=used, raw=connecting, exit_code=0, samples=MOVED)
    return Outcome(Exchange("run", request, request, 60.0), listen, connect)


def request_name(request) -> str:
    return type(request).__name__.removesuffix("Request").lower()


def by_perftest(name: str, text: str) -> bool:
    """Whether perftest's family makes a pass of it, with its witness where it speaks of GPU memory."""
    end = End(HeldRail(RailName("rail0"), NetDevice("net1")), "10.0.0.1")
    memory = MemoryKind.GPU if name.startswith("perftest/gpu") else MemoryKind.HOST
    task = Task("c1", Step("perftest", Direction.WRITE, memory), WAY, end, end, 20000, Effort())
    reading = perftest_family.read(task, (halves(PerftestRequest(CONNECT, RAIL), text, text),))
    agrees = memory is MemoryKind.HOST or any(item.says is Says.AGREES for item in reading.testimonies)
    return reading.ran is Verdict.PASS and agrees


def by_ucx(_: str, text: str) -> bool:
    return emulation.testify(halves(NixlRequest(CONNECT, RAIL), "", text), WAY, MemoryKind.GPU, MLX).says is Says.AGREES


def by_nccl(_: str, text: str) -> bool:
    return nccl.testify(halves(NcclRequest(CONNECT, RAIL), text, text), WAY, (MLX, MLX)).says is Says.AGREES


GOOD = [
    ("perftest/write-bandwidth-gbit", by_perftest),
    ("perftest/fixed-duration", by_perftest),
    ("perftest/gpu-dma-buf", by_perftest),
    ("ucx/nic-lane", by_ucx),
    ("nccl/gpu-direct", by_nccl),
]


@pytest.mark.parametrize(("name", "passes"), GOOD, ids=[name for name, _ in GOOD])
def test_words_that_are_cut_off_anywhere_never_pass(name, passes) -> None:
    whole = text_of(name)
    assert passes(name, whole), "the recorded words themselves do"
    needed = len(whole.rstrip().rpartition("\n")[0].rstrip())
    """Without its last line, a rule or a message that holds nothing, a whole output is told from one that is cut."""
    wrong = [cut for cut in range(needed) if passes(name, whole[:cut])]
    assert not wrong, f"passes when cut after {whole[: wrong[-1]][-60:]!r}"


@pytest.mark.parametrize(("name", "passes"), GOOD, ids=[name for name, _ in GOOD])
def test_words_of_two_runs_between_each_other_never_pass(name, passes) -> None:
    lines = text_of(name).splitlines(keepends=True)
    doubled = "".join(line + line for line in lines)
    assert not passes(name, doubled)
