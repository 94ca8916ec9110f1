"""
The program that loads NCCL, through ctypes: two ranks, one all-reduce again and again, its sum checked.

Source: NCCL 2.30 nccl.h (ncclUniqueId of 128 bytes, ncclFloat32 = 7, ncclSum = 0).
"""

import contextlib
import ctypes
import struct
import time
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p

from railwright.dataplane.child import be_child
from railwright.dataplane.local_memory import LocalMemory
from railwright.dataplane.meeting import meet
from railwright.dataplane.model import NcclRequest, Problem, Reply, Request, Sample
from railwright.dataplane.problems import HalfFailed

_FLOAT32, _SUM = 7, 0
_STEP_LIMIT_S = 120.0
_WARM_UP = 2


class _UniqueId(ctypes.Structure):
    """ncclUniqueId."""

    _fields_ = (("data", ctypes.c_ubyte * 128),)


def reduce_all(request: Request) -> Reply:
    """Be one rank. Raises HalfFailed: "tool-missing", "refused" with NCCL's own word."""
    if not isinstance(request, NcclRequest):
        raise HalfFailed("broken-request", "this program runs NCCL ranks only")
    library = _library()
    rank = 0 if request.meeting.role == "listen" else 1
    memory = LocalMemory(request.memory, request.size_bytes)
    if memory.cuda is None:
        raise HalfFailed("broken-request", "NCCL works on GPU memory")
    count = request.size_bytes // 4
    one = struct.pack("<f", float(rank + 1))
    with meet(request.meeting, request.meeting.patience_s + _STEP_LIMIT_S) as talk:
        unique = _UniqueId()
        if rank == 0:
            _must(library, "ncclGetUniqueId", byref(unique))
        heard = talk.exchange({"id": bytes(unique.data).hex()})
        if rank == 1:
            ctypes.memmove(unique.data, bytes.fromhex(heard["id"]), 128)
        communicator = c_void_p()
        _must(library, "ncclCommInitRank", byref(communicator), c_int(2), unique, c_int(rank))
        target = memory.cuda.allocate(request.size_bytes)
        memory.cuda.copy_in(memory.address, one * count)
        arguments = (c_void_p(memory.address), c_void_p(target), c_size_t(count), _FLOAT32, _SUM, communicator, None)
        for _ in range(_WARM_UP):
            _must(library, "ncclAllReduce", *arguments)
        memory.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(request.iterations):
            _must(library, "ncclAllReduce", *arguments)
        memory.cuda.synchronize()
        elapsed_s = time.perf_counter() - begin
        right = memory.cuda.copy_out(target, request.size_bytes) == struct.pack("<f", 3.0) * count
        talk.together("end")
        _must(library, "ncclCommDestroy", communicator)
    gbps = request.iterations * request.size_bytes * 8 / elapsed_s / 1e9
    sample = Sample("write", request.size_bytes, 1, request.iterations, elapsed_s, gbps)
    problem = None if right else Problem("transfer-failed", "the sums are wrong")
    return Reply("nccl", problem, role=request.meeting.role, samples=(sample,))


def _library() -> ctypes.CDLL:
    with contextlib.suppress(OSError):
        library = ctypes.CDLL("libnccl.so.2")
        library.ncclGetErrorString.restype = c_char_p
        return library
    raise HalfFailed("tool-missing", "libnccl.so.2 cannot be loaded: NCCL is not installed here")


def _must(library: ctypes.CDLL, name: str, *arguments: object) -> None:
    answer: int = getattr(library, name)(*arguments)
    if answer:
        words: bytes = library.ncclGetErrorString(answer)
        raise HalfFailed("refused", f"{name} refused", words.decode(errors="replace"))


if __name__ == "__main__":
    be_child(reduce_all)
