"""GPU memory is registered as a dma-buf, else by its address; what refused is all in the message. No GPU is here."""

import ctypes
import os
from typing import Any, ClassVar

import pytest

from railwright.dataplane.cuda import Exported
from railwright.dataplane.model import Memory
from railwright.dataplane.problems import HalfFailed
from railwright.dataplane.verbs import memory, structs
from railwright.dataplane.verbs.memory import FULL_ACCESS, GpuBuffer

ADDRESS = 0x7F0000000000


class _Cuda:
    """A GPU that allocates one address, and exports or not."""

    exports: Exported | str = "unset"
    log: ClassVar[list[str]] = []

    def __init__(self, _: Memory) -> None:
        self.log.clear()

    def allocate(self, _: int) -> int:
        """Give the address."""
        return ADDRESS

    def free(self, address: int) -> None:
        """Note it."""
        self.log.append(f"free {address:#x}")

    def export_dmabuf(self, *_: int) -> Exported | str:
        """Export, or say why not."""
        return self.exports

    def flush_writes(self) -> None:
        """Note it."""
        self.log.append("flush")

    def copy_out(self, address: int, size: int) -> bytes:
        """Note it."""
        self.log.append(f"copy {size} of {address:#x}")
        return bytes(size)


class _Library:
    """libibverbs that registers what it is told to."""

    def __init__(self, *, dmabuf: bool, address: bool, knows: bool = True) -> None:
        self.registers = {"ibv_reg_dmabuf_mr": dmabuf, "ibv_reg_mr": address}
        self.knows_dmabuf = knows
        self.called: list[str] = []

    def call(self, name: str, *_: Any) -> Any:
        """Register, or refuse with "not supported"."""
        self.called.append(name)
        ctypes.set_errno(95)
        return ctypes.pointer(structs.Region(lkey=7, rkey=9)) if self.registers.get(name) else None


@pytest.fixture(autouse=True)
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "Cuda", _Cuda)
    monkeypatch.setattr(_Cuda, "exports", Exported(os.open("/dev/null", os.O_RDONLY), "dma-buf pcie"))


def _buffer(library: _Library, **wanted: Any) -> GpuBuffer:
    return GpuBuffer(library, 1, 4096, Memory("gpu", **wanted), FULL_ACCESS)  # type: ignore[arg-type]


def test_a_dma_buf_is_tried_first() -> None:
    library = _Library(dmabuf=True, address=True)
    buffer = _buffer(library)
    assert (buffer.registration, buffer.lkey, buffer.rkey) == ("dma-buf pcie", 7, 9)
    assert library.called == ["ibv_reg_dmabuf_mr"]


def test_what_cannot_be_a_dma_buf_is_registered_by_its_address() -> None:
    assert _buffer(_Library(dmabuf=False, address=True)).registration == "peermem"


def test_an_old_library_is_registered_by_its_address() -> None:
    library = _Library(dmabuf=True, address=True, knows=False)
    assert _buffer(library).registration == "peermem"
    assert library.called == ["ibv_reg_mr"]


def test_refused_both_ways_says_both_reasons_and_frees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Cuda, "exports", "this GPU exports none")
    with pytest.raises(
        HalfFailed, match=r"dma-buf: this GPU exports none; peermem: ibv_reg_mr refused: E(NOT|OPNOT)SUP"
    ) as failed:
        _buffer(_Library(dmabuf=True, address=False))
    assert failed.value.problem.code == "gpu-registration-refused"
    assert _Cuda.log == [f"free {ADDRESS:#x}"]


@pytest.mark.parametrize(("wanted", "tried"), [("dma-buf", "ibv_reg_dmabuf_mr"), ("peermem", "ibv_reg_mr")])
def test_a_way_that_is_asked_for_is_tried_alone(wanted: str, tried: str) -> None:
    library = _Library(dmabuf=False, address=False)
    with pytest.raises(HalfFailed, match=wanted):
        _buffer(library, registration=wanted)
    assert library.called == [tried]


def test_writes_of_the_nic_are_flushed_before_they_are_read() -> None:
    _buffer(_Library(dmabuf=True, address=True)).read(16, 8)
    assert _Cuda.log == ["flush", f"copy 8 of {ADDRESS + 16:#x}"]
