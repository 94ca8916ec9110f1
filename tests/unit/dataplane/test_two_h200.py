"""What two H200s of one host answered (cases/dataplane/two-h200): it must go on being read, and saying what it says."""

import json
from pathlib import Path

import pytest

from railwright.dataplane.model import Reply
from railwright.dataplane.wire import read_reply

FOLDER = Path(__file__).parents[2] / "cases" / "dataplane" / "two-h200"
SUMMARY = json.loads((FOLDER / "summary.json").read_text())
LARGEST = 1 << 28


def _halves(name: str) -> tuple[Reply, Reply]:
    driving, target = (read_reply((FOLDER / f"{name}.{role}.json").read_text()) for role in ("connect", "listen"))
    return driving, target


@pytest.mark.parametrize("name", ["nixl-read", "nixl-write"])
def test_gpu_memory_arrived_as_it_was_born_without_a_copy(name: str) -> None:
    driving, target = _halves(name)
    assert driving.problem is None
    ends = [{digest.label: digest.sha256 for digest in half.digests} for half in (driving, target)]
    assert ends[0] == ends[1]
    assert len(ends[0]) == 4
    assert {digest.end for digest in driving.digests} != {digest.end for digest in target.digests}
    used = [line for line in driving.raw.splitlines() if "zero-copy" in line]
    assert len(used) == 1
    assert "cuda_ipc/cuda" in used[0]


@pytest.mark.parametrize("name", ["nixl-read", "nixl-write"])
def test_it_is_as_fast_as_a_raw_copy_of_the_same_run(name: str) -> None:
    (sample,) = (each for each in _halves(name)[0].samples if each.size_bytes == LARGEST)
    assert sample.average_gbps / 8 >= 0.95 * SUMMARY["raw copy GB/s"][str(LARGEST)]


@pytest.mark.parametrize("operation", ["read", "write"])
def test_with_every_direct_way_withheld_it_is_refused(operation: str) -> None:
    driving, target = _halves(f"control-rdma-withheld-{operation}")
    assert driving.problem is not None
    assert target.problem is not None
    assert (driving.problem.code, target.problem.code) == ("refused", "peer-lost")
    assert "No zero-copy protocol found" in driving.raw
    assert not driving.samples


def test_the_same_way_works_where_emulation_is_allowed() -> None:
    """So it is the missing direct way that was refused, not something else."""
    driving, target = _halves("control-emulation-allowed-read")
    assert driving.problem is None
    assert driving.digests[0].sha256 == target.digests[0].sha256


def test_gpu_memory_exports_as_a_dma_buf() -> None:
    assert SUMMARY["dma-buf"].startswith("dma-buf: ")


def test_nccl_says_which_way_it_took() -> None:
    driving, _ = _halves("nccl")
    assert driving.problem is None
    assert "via P2P" in driving.raw
    assert "NET/IB : No device found" in driving.raw or "GDRDMA" not in driving.raw
