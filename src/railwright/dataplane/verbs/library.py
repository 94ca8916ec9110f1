"""libibverbs as it is on this machine, loaded late; a call that fails raises HalfFailed with the kernel's word."""

import contextlib
import ctypes
from collections.abc import Callable
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint8, c_uint64, c_void_p, cast
from typing import Any

from railwright.core.ids import RdmaDevice
from railwright.dataplane.problems import HalfFailed, errno_name
from railwright.dataplane.verbs import structs

_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "ibv_get_device_list": (POINTER(c_void_p), (POINTER(c_int),)),
    "ibv_free_device_list": (None, (POINTER(c_void_p),)),
    "ibv_get_device_name": (c_char_p, (c_void_p,)),
    "ibv_open_device": (c_void_p, (c_void_p,)),
    "ibv_close_device": (c_int, (c_void_p,)),
    "ibv_query_device": (c_int, (c_void_p, POINTER(structs.DeviceAttributes))),
    "ibv_query_port": (c_int, (c_void_p, c_uint8, POINTER(structs.PortAttributes))),
    "ibv_alloc_pd": (c_void_p, (c_void_p,)),
    "ibv_dealloc_pd": (c_int, (c_void_p,)),
    "ibv_reg_mr": (POINTER(structs.Region), (c_void_p, c_void_p, c_size_t, c_int)),
    "ibv_dereg_mr": (c_int, (POINTER(structs.Region),)),
    "ibv_create_comp_channel": (POINTER(structs.CompletionChannel), (c_void_p,)),
    "ibv_destroy_comp_channel": (c_int, (POINTER(structs.CompletionChannel),)),
    "ibv_create_cq": (c_void_p, (c_void_p, c_int, c_void_p, POINTER(structs.CompletionChannel), c_int)),
    "ibv_destroy_cq": (c_int, (c_void_p,)),
    "ibv_get_cq_event": (c_int, (POINTER(structs.CompletionChannel), POINTER(c_void_p), POINTER(c_void_p))),
    "ibv_ack_cq_events": (None, (c_void_p, c_int)),
    "ibv_create_qp": (POINTER(structs.Pair), (c_void_p, POINTER(structs.PairInit))),
    "ibv_modify_qp": (c_int, (POINTER(structs.Pair), POINTER(structs.PairAttributes), c_int)),
    "ibv_destroy_qp": (c_int, (POINTER(structs.Pair),)),
    "ibv_wc_status_str": (c_char_p, (c_int,)),
}
_DMABUF = (POINTER(structs.Region), (c_void_p, c_uint64, c_size_t, c_uint64, c_int, c_int))
_POST = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(structs.Work), POINTER(POINTER(structs.Work)), use_errno=True)
_POLL = ctypes.CFUNCTYPE(c_int, c_void_p, c_int, POINTER(structs.Completion))
_NOTIFY = ctypes.CFUNCTYPE(c_int, c_void_p, c_int)


class _Place(ctypes.Structure):
    """Dl_info of dladdr(3)."""

    _fields_ = (("file", c_char_p), ("base", c_void_p), ("symbol", c_char_p), ("address", c_void_p))


class Library:
    """libibverbs: `call` names a function of it; every other way in is a method."""

    def __init__(self) -> None:
        """Load it. Raises HalfFailed "no-library"."""
        try:
            self._library = ctypes.CDLL("libibverbs.so.1", use_errno=True)
        except OSError as error:
            raise HalfFailed("no-library", f"libibverbs.so.1 cannot be loaded ({error}); it is in rdma-core") from error
        self._functions: dict[str, Any] = {}
        for name, signature in _SIGNATURES.items():
            self._declare(name, *signature)
        with contextlib.suppress(AttributeError):
            self._declare("ibv_reg_dmabuf_mr", *_DMABUF)

    def _declare(self, name: str, result: Any, arguments: tuple[Any, ...]) -> None:
        function = getattr(self._library, name)
        function.restype, function.argtypes = result, list(arguments)
        self._functions[name] = function

    @property
    def knows_dmabuf(self) -> bool:
        """Whether the library can register a dma-buf (rdma-core 34 and later)."""
        return "ibv_reg_dmabuf_mr" in self._functions

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function that answers with a pointer or number; the answer as it is."""
        ctypes.set_errno(0)
        return self._functions[name](*arguments)

    def must(self, code: str, doing: str, name: str, *arguments: Any) -> Any:
        """Call a function that answers with a pointer, and raise HalfFailed where it is null."""
        answer = self.call(name, *arguments)
        if not answer:
            raise HalfFailed(code, f"{doing}: {name} refused", errno_name(ctypes.get_errno()))
        return answer

    def do(self, code: str, doing: str, name: str, *arguments: Any) -> None:
        """Call a function that answers 0 or an error number, and raise HalfFailed on the latter."""
        answer = self.call(name, *arguments)
        if answer:
            number = answer if answer > 0 else ctypes.get_errno()
            raise HalfFailed(code, f"{doing}: {name} refused", errno_name(number))

    def status_text(self, status: int) -> str:
        """Give libibverbs' words for a completion's status."""
        words: bytes = self.call("ibv_wc_status_str", status)
        return words.decode(errors="replace")

    def open(self, device: RdmaDevice) -> int:
        """Open a device by name; the context. Raises HalfFailed "no-device"."""
        count = c_int()
        listed = self.must("no-device", "listing RDMA devices", "ibv_get_device_list", byref(count))
        try:
            for index in range(count.value):
                if self.call("ibv_get_device_name", listed[index]) == device.encode():
                    opened: int = self.must("no-device", f"opening {device}", "ibv_open_device", listed[index])
                    return opened
        finally:
            self.call("ibv_free_device_list", listed)
        raise HalfFailed(
            "no-device",
            f"libibverbs does not list {device}: /dev/infiniband/uverbs* is missing here, or its user-space driver is",
        )

    def operations(self, context: int) -> "Operations":
        """Give the data path of an opened device; see `Operations`."""
        return Operations(self._library, context)


class Operations:
    """
    post_send, poll_cq and req_notify_cq, which are pointers inside the context and not functions of the library.

    Before they are called it is checked that they point into a provider's library: a layout that we do not know would
    otherwise crash the process.
    """

    def __init__(self, library: ctypes.CDLL, context: int) -> None:
        """Look at the context. Raises HalfFailed "unknown-layout" where it is not laid out as we know it."""
        head = cast(context, POINTER(structs.Context)).contents
        self.provider = _file_of(library, head.ops.poll_cq)
        if not self.provider or _file_of(library, head.ops.post_send) != self.provider:
            raise HalfFailed(
                "unknown-layout", "this libibverbs lays out struct ibv_context in a way that we do not know"
            )
        self.post_send: Callable[..., int] = _POST(head.ops.post_send)
        self.poll: Callable[..., int] = _POLL(head.ops.poll_cq)
        self.notify: Callable[..., int] = _NOTIFY(head.ops.req_notify_cq)


def _file_of(library: ctypes.CDLL, address: int | None) -> str:
    """Name the library that an address lies in; "" when it is in none."""
    place = _Place()
    if not address or not library.dladdr(c_void_p(address), byref(place)) or not place.file:
        return ""
    text: str = place.file.decode(errors="replace")
    return text
