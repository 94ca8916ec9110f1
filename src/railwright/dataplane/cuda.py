"""
GPU memory through the CUDA driver alone, by ctypes: allocate, copy, export as a dma-buf, flush.

Source: NVIDIA CUDA driver API 13.0: cuMemGetHandleForAddressRange, cuFlushGPUDirectRDMAWrites, cuDeviceGetByPCIBusId.
"""

import ctypes
import os
from ctypes import byref, c_char_p, c_int, c_size_t, c_ulonglong, c_void_p
from dataclasses import dataclass
from typing import Self

from railwright.dataplane.model import Memory
from railwright.dataplane.problems import HalfFailed

_HANDLE_DMA_BUF = 1
_MAPPED_THROUGH_PCIE = 1
_FLUSH_CURRENT_CONTEXT, _FLUSH_TO_ALL_DEVICES = 0, 200
_DMA_BUF_SUPPORTED, _FLUSH_OPTIONS = 124, 117
_FLUSH_FROM_HOST = 1


@dataclass(frozen=True)
class Exported:
    """A dma-buf of GPU memory; closed at the end of the block, which the registration outlives."""

    descriptor: int
    registration: str

    def __enter__(self) -> Self:
        """Use it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        os.close(self.descriptor)


class Cuda:
    """One GPU, with its primary context current in this thread."""

    def __init__(self, wanted: Memory) -> None:
        """Load the driver and take the GPU. Raises HalfFailed "no-gpu"."""
        try:
            self._driver = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise HalfFailed(
                "no-gpu", f"libcuda.so.1 cannot be loaded ({error}): no GPU was given to this place"
            ) from error
        self._must("cuInit", 0)
        device = c_int()
        if wanted.gpu_pci:
            self._must("cuDeviceGetByPCIBusId", byref(device), c_char_p(wanted.gpu_pci.encode()))
        else:
            self._must("cuDeviceGet", byref(device), wanted.gpu)
        self._device = device
        context = c_void_p()
        self._must("cuDevicePrimaryCtxRetain", byref(context), device)
        self._must("cuCtxSetCurrent", context)

    @property
    def pci_address(self) -> str:
        """The GPU's address, as the driver writes it."""
        text = ctypes.create_string_buffer(32)
        self._must("cuDeviceGetPCIBusId", text, 32, self._device)
        return text.value.decode()

    @property
    def ordinal(self) -> int:
        """The GPU's number in this process."""
        return self._device.value

    def synchronize(self) -> None:
        """Wait until the GPU has done everything."""
        self._must("cuCtxSynchronize")

    def attribute(self, number: int) -> int:
        """Read one attribute; -1 where this driver does not know it."""
        value = c_int()
        return value.value if self._call("cuDeviceGetAttribute", byref(value), number, self._device) == 0 else -1

    def allocate(self, size_bytes: int) -> int:
        """Allocate memory; its address."""
        pointer = c_ulonglong()
        self._must("cuMemAlloc_v2", byref(pointer), c_size_t(size_bytes))
        return pointer.value

    def free(self, address: int) -> None:
        """Give memory back."""
        self._call("cuMemFree_v2", c_ulonglong(address))

    def copy_in(self, address: int, data: bytes) -> None:
        """Copy from the host."""
        self._must("cuMemcpyHtoD_v2", c_ulonglong(address), data, c_size_t(len(data)))

    def copy_out(self, address: int, size: int) -> bytes:
        """Copy to the host."""
        data = ctypes.create_string_buffer(size)
        self._must("cuMemcpyDtoH_v2", data, c_ulonglong(address), c_size_t(size))
        return data.raw

    def flush_writes(self) -> None:
        """Make what a NIC has written visible, where the GPU needs to be told."""
        if self.attribute(_FLUSH_OPTIONS) & _FLUSH_FROM_HOST:
            self._must("cuFlushGPUDirectRDMAWrites", _FLUSH_CURRENT_CONTEXT, _FLUSH_TO_ALL_DEVICES)

    def export_dmabuf(self, address: int, size_bytes: int) -> Exported | str:
        """Export memory, mapped through PCIe where that is supported; else the reason why not, in words."""
        if self.attribute(_DMA_BUF_SUPPORTED) != 1:
            return "the driver says that this GPU exports none (proprietary kernel module, or an old driver)"
        refusal = ""
        for flag, registration in ((_MAPPED_THROUGH_PCIE, "dma-buf pcie"), (0, "dma-buf")):
            descriptor = c_int(-1)
            size = c_size_t(size_bytes)
            answer = self._call(
                "cuMemGetHandleForAddressRange",
                byref(descriptor),
                c_ulonglong(address),
                size,
                _HANDLE_DMA_BUF,
                c_ulonglong(flag),
            )
            if answer == 0:
                return Exported(descriptor.value, registration)
            refusal = self._words(answer)
        return f"cuMemGetHandleForAddressRange refused: {refusal}"

    def _call(self, name: str, *arguments: object) -> int:
        answer: int = getattr(self._driver, name)(*arguments)
        return answer

    def _must(self, name: str, *arguments: object) -> None:
        answer = self._call(name, *arguments)
        if answer:
            raise HalfFailed("no-gpu", f"{name} refused", self._words(answer))

    def _words(self, answer: int) -> str:
        name, text = c_char_p(), c_char_p()
        self._driver.cuGetErrorName(answer, byref(name))
        self._driver.cuGetErrorString(answer, byref(text))
        return f"{(name.value or b'?').decode()} ({(text.value or b'?').decode()})"
