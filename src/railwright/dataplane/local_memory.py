"""Memory of this process or of its GPU that nobody has registered yet: filled, cleared, and summed up."""

import ctypes
import hashlib
import random

from railwright.dataplane.cuda import Cuda
from railwright.dataplane.model import Memory

_STEP_BYTES = 1 << 24


class LocalMemory:
    """One stretch of memory; `device` is the CUDA ordinal, 0 for the host's."""

    def __init__(self, wanted: Memory, size_bytes: int) -> None:
        """Allocate it. Raises HalfFailed "no-gpu"."""
        self.cuda = Cuda(wanted) if wanted.kind == "gpu" else None
        self._host = ctypes.create_string_buffer(0 if self.cuda else size_bytes)
        self.address = self.cuda.allocate(size_bytes) if self.cuda else ctypes.addressof(self._host)
        self.device = self.cuda.ordinal if self.cuda else 0

    def fill(self, size: int, seed: str) -> str:
        """Fill it with bytes that nobody can guess; their checksum, made of what is there."""
        grown = random.Random(seed)  # noqa: S311 - a pattern, no secret
        for start in range(0, size, _STEP_BYTES):
            self._put(start, grown.randbytes(min(_STEP_BYTES, size - start)))
        return self.sha256(size)

    def clear(self, size: int) -> None:
        """Fill it with zeros."""
        for start in range(0, size, _STEP_BYTES):
            self._put(start, bytes(min(_STEP_BYTES, size - start)))

    def sha256(self, size: int) -> str:
        """Make the checksum, after a NIC's writes were flushed."""
        digest = hashlib.sha256()
        if self.cuda:
            self.cuda.flush_writes()
        for start in range(0, size, _STEP_BYTES):
            step = min(_STEP_BYTES, size - start)
            at = self.address + start
            digest.update(self.cuda.copy_out(at, step) if self.cuda else ctypes.string_at(at, step))
        return digest.hexdigest()

    def _put(self, start: int, data: bytes) -> None:
        if self.cuda:
            self.cuda.copy_in(self.address + start, data)
        else:
            ctypes.memmove(self.address + start, data, len(data))
