"""Memory that the NIC reads and writes: of the host, or of a GPU through dma-buf or peermem."""

import ctypes
import hashlib
import mmap
from collections.abc import Callable
from typing import Protocol

from railwright.dataplane.cuda import Cuda
from railwright.dataplane.model import Memory
from railwright.dataplane.problems import HalfFailed, errno_name
from railwright.dataplane.verbs import structs
from railwright.dataplane.verbs.library import Library

LOCAL_ACCESS = structs.ACCESS_LOCAL_WRITE
FULL_ACCESS = LOCAL_ACCESS | structs.ACCESS_REMOTE_WRITE | structs.ACCESS_REMOTE_READ


class Buffer(Protocol):
    """Some memory, registered with one protection domain."""

    address: int
    lkey: int
    rkey: int
    registration: str

    def write(self, offset: int, data: bytes) -> None:
        """Put bytes there, from the host."""

    def read(self, offset: int, size: int) -> bytes:
        """Get bytes, after everything that the NIC has written is visible."""

    def close(self) -> None:
        """Give it back."""


class HostBuffer:
    """Anonymous memory of this process."""

    registration = "host"

    def __init__(self, library: Library, domain: int, size_bytes: int, access: int) -> None:
        """Map and register it. Raises HalfFailed "no-memory-to-lock"."""
        self._library = library
        self._map = mmap.mmap(-1, size_bytes)
        self._view = (ctypes.c_char * size_bytes).from_buffer(self._map)
        self.address = ctypes.addressof(self._view)
        self._region = library.call("ibv_reg_mr", domain, self.address, size_bytes, access)
        if not self._region:
            number = ctypes.get_errno()
            raise HalfFailed(
                "no-memory-to-lock",
                f"{size_bytes} bytes of host memory cannot be registered: {_memlock_text()}",
                errno_name(number),
            )
        self.lkey, self.rkey = self._region.contents.lkey, self._region.contents.rkey

    def write(self, offset: int, data: bytes) -> None:
        """Put bytes there."""
        self._map[offset : offset + len(data)] = data

    def read(self, offset: int, size: int) -> bytes:
        """Get bytes."""
        return self._map[offset : offset + size]

    def close(self) -> None:
        """Deregister and unmap."""
        self._library.call("ibv_dereg_mr", self._region)
        del self._view
        self._map.close()


class GpuBuffer:
    """Memory of a GPU, registered as a dma-buf, or by its address where peermem translates it."""

    def __init__(self, library: Library, domain: int, size_bytes: int, wanted: Memory, access: int) -> None:
        """Allocate and register it. Raises HalfFailed "no-gpu", "gpu-registration-refused" with every reason."""
        self._library, self._access = library, access
        self._cuda = Cuda(wanted)
        self._memory = self._cuda.allocate(size_bytes)
        self.address = self._memory
        refusals: list[str] = []
        ways: dict[str, Callable[[], object]] = {
            "dma-buf": lambda: self._as_dmabuf(domain, size_bytes, refusals),
            "peermem": lambda: self._by_address(domain, size_bytes, refusals),
        }
        self.registration = ""
        self._region: ctypes._Pointer[structs.Region] | None = None
        for name, way in ways.items():
            if wanted.registration in {"auto", name} and not self._region:
                self._region = way()  # type: ignore[assignment]
        if not self._region:
            self._cuda.free(self._memory)
            raise HalfFailed("gpu-registration-refused", "GPU memory cannot be registered: " + "; ".join(refusals))
        self.lkey, self.rkey = self._region.contents.lkey, self._region.contents.rkey

    def _as_dmabuf(self, domain: int, size_bytes: int, refusals: list[str]) -> object:
        if not self._library.knows_dmabuf:
            refusals.append("dma-buf: this libibverbs has no ibv_reg_dmabuf_mr (it came with rdma-core 34)")
            return None
        exported = self._cuda.export_dmabuf(self._memory, size_bytes)
        if isinstance(exported, str):
            refusals.append(f"dma-buf: {exported}")
            return None
        with exported:
            region = self._library.call(
                "ibv_reg_dmabuf_mr", domain, 0, size_bytes, self._memory, exported.descriptor, self._access
            )
        if not region:
            refusals.append(f"dma-buf: ibv_reg_dmabuf_mr refused: {errno_name(ctypes.get_errno())}")
            return None
        self.registration = exported.registration
        return region

    def _by_address(self, domain: int, size_bytes: int, refusals: list[str]) -> object:
        region = self._library.call("ibv_reg_mr", domain, self._memory, size_bytes, self._access)
        if not region:
            refusals.append(
                f"peermem: ibv_reg_mr refused: {errno_name(ctypes.get_errno())} (is nvidia_peermem loaded?)"
            )
            return None
        self.registration = "peermem"
        return region

    def write(self, offset: int, data: bytes) -> None:
        """Copy from the host."""
        self._cuda.copy_in(self._memory + offset, data)

    def read(self, offset: int, size: int) -> bytes:
        """Copy to the host, after the NIC's writes were flushed."""
        self._cuda.flush_writes()
        return self._cuda.copy_out(self._memory + offset, size)

    def close(self) -> None:
        """Deregister and free."""
        self._library.call("ibv_dereg_mr", self._region)
        self._cuda.free(self._memory)


def allocate(library: Library, domain: int, size_bytes: int, wanted: Memory, access: int = FULL_ACCESS) -> Buffer:
    """Allocate and register what the request wants."""
    if wanted.kind == "gpu":
        return GpuBuffer(library, domain, size_bytes, wanted, access)
    return HostBuffer(library, domain, size_bytes, access)


def sha256_of(buffer: Buffer, offset: int, size: int) -> str:
    """Make the checksum of a stretch of a buffer, a piece at a time."""
    digest = hashlib.sha256()
    step = 1 << 24
    for start in range(0, size, step):
        digest.update(buffer.read(offset + start, min(step, size - start)))
    return digest.hexdigest()


def _memlock_text() -> str:
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return "memlock is " + ("unlimited" if soft == resource.RLIM_INFINITY else f"{soft} bytes")
