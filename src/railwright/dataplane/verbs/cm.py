"""
Queue pairs connected by the RDMA connection manager, as storage and many MPI stacks do it.

Source: rdma-core librdmacm/rdma_cma.h, rdma_cm(7).
"""

import ctypes
import select
import socket
import time
from contextlib import ExitStack
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_uint8, c_uint32, c_void_p
from typing import Any

from railwright.dataplane.addresses import addresses_of
from railwright.dataplane.model import EngineRequest
from railwright.dataplane.problems import HalfFailed, errno_name
from railwright.dataplane.verbs import structs
from railwright.dataplane.verbs.library import Library
from railwright.dataplane.verbs.pairs import READS_IN_FLIGHT, Base

_PORT_SPACE_TCP = 0x0106
_ADDRESS_RESOLVED, _ROUTE_RESOLVED, _CONNECT_REQUEST, _ESTABLISHED = 0, 2, 4, 9
_OPTION_ID, _OPTION_TOS = 0, 0
_RESOLVE_MS = 3000
_RNR_RETRY = 6


class _Identifier(Structure):
    """The head of struct rdma_cm_id."""

    _fields_ = (
        ("verbs", c_void_p),
        ("channel", c_void_p),
        ("context", c_void_p),
        ("qp", POINTER(structs.Pair)),
    )


class _Event(Structure):
    """The head of struct rdma_cm_event."""

    _fields_ = (
        ("id", POINTER(_Identifier)),
        ("listen_id", POINTER(_Identifier)),
        ("event", c_int),
        ("status", c_int),
    )


class _Parameters(Structure):
    """struct rdma_conn_param."""

    _fields_ = (
        ("private_data", c_void_p),
        ("private_data_len", c_uint8),
        ("responder_resources", c_uint8),
        ("initiator_depth", c_uint8),
        ("flow_control", c_uint8),
        ("retry_count", c_uint8),
        ("rnr_retry_count", c_uint8),
        ("srq", c_uint8),
        ("qp_num", c_uint32),
    )


class Connector:
    """librdmacm with one event channel; every wait ends at the deadline."""

    def __init__(self, library: Library, request: EngineRequest, port: int, cleanup: ExitStack) -> None:
        """Load it and open the channel. Raises HalfFailed "no-library", "not-permitted"."""
        try:
            self._cm = ctypes.CDLL("librdmacm.so.1", use_errno=True)
        except OSError as error:
            raise HalfFailed("no-library", f"librdmacm.so.1 cannot be loaded ({error}); it is in rdma-core") from error
        self._cm.rdma_create_event_channel.restype = c_void_p
        self._cm.rdma_event_str.restype = c_char_p
        self._library, self._request, self._port = library, request, port
        self._cleanup = cleanup
        channel = self._cm.rdma_create_event_channel()
        if not channel:
            raise HalfFailed(
                "not-permitted",
                "no RDMA connection manager here: /dev/infiniband/rdma_cm is missing or may not be opened",
                errno_name(ctypes.get_errno()),
            )
        self._channel = c_void_p(channel)
        cleanup.callback(self._cm.rdma_destroy_event_channel, self._channel)
        self._deadline = time.monotonic() + request.meeting.patience_s
        self._poller = select.poll()
        self._poller.register(ctypes.cast(channel, POINTER(c_int)).contents.value, select.POLLIN)

    def listen(self) -> None:
        """Listen on our address on the rail, before the other half is told to connect."""
        listener = self._identifier()
        self._do("rdma_bind_addr", listener, _socket_address(self._own_address(), self._port))
        self._do("rdma_listen", listener, self._request.qps)

    def accept(self) -> tuple[Base, list[Any]]:
        """Take the other half's queue pairs."""
        base: Base | None = None
        pairs = []
        for _ in range(self._request.qps):
            identifier = self._event(_CONNECT_REQUEST)
            self._cleanup.callback(self._cm.rdma_destroy_id, identifier)
            base = base or self._base(identifier)
            pairs.append(self._pair(base, identifier))
            self._do("rdma_accept", identifier, byref(self._parameters(base)))
            self._event(_ESTABLISHED)
        if base is None:
            raise HalfFailed("broken-request", "no queue pair was asked for")
        return base, pairs

    def connect(self) -> tuple[Base, list[Any]]:
        """Connect our queue pairs to the listening half."""
        base: Base | None = None
        pairs = []
        for _ in range(self._request.qps):
            identifier = self._identifier()
            if self._request.wire.traffic_class is not None:
                service = c_uint8(self._request.wire.traffic_class)
                self._do("rdma_set_option", identifier, _OPTION_ID, _OPTION_TOS, byref(service), 1)
            own = _socket_address(self._own_address(), 0)
            their = _socket_address(self._request.rdma_address, self._port)
            self._do("rdma_resolve_addr", identifier, own, their, _RESOLVE_MS)
            self._event(_ADDRESS_RESOLVED)
            self._do("rdma_resolve_route", identifier, _RESOLVE_MS)
            self._event(_ROUTE_RESOLVED)
            base = base or self._base(identifier)
            pairs.append(self._pair(base, identifier))
            self._do("rdma_connect", identifier, byref(self._parameters(base)))
            self._event(_ESTABLISHED)
        if base is None:
            raise HalfFailed("broken-request", "no queue pair was asked for")
        return base, pairs

    def _own_address(self) -> str:
        ours = [address for address in addresses_of(self._request.rail.netdev) if not address.is_link_local]
        if not ours:
            raise HalfFailed("no-gid", f"{self._request.rail.netdev or 'the rail'} has no address to connect from")
        return str(ours[0])

    def _identifier(self) -> Any:
        identifier = POINTER(_Identifier)()
        self._do("rdma_create_id", self._channel, byref(identifier), None, _PORT_SPACE_TCP)
        self._cleanup.callback(self._cm.rdma_destroy_id, identifier)
        return identifier

    def _base(self, identifier: Any) -> Base:
        entries = self._request.qps * (self._request.depth + 1)
        return Base(self._library, identifier.contents.verbs, entries, self._cleanup)

    def _pair(self, base: Base, identifier: Any) -> Any:
        init = base.pair_init(self._request.depth)
        self._do("rdma_create_qp", identifier, c_void_p(base.domain), byref(init))
        self._cleanup.callback(self._cm.rdma_destroy_qp, identifier)
        return identifier.contents.qp

    def _parameters(self, base: Base) -> _Parameters:
        reads = min(READS_IN_FLIGHT, base.device_attributes().max_qp_rd_atom)
        return _Parameters(
            responder_resources=reads,
            initiator_depth=reads,
            retry_count=self._request.wire.retry_count,
            rnr_retry_count=_RNR_RETRY,
        )

    def _do(self, name: str, *arguments: Any) -> None:
        if getattr(self._cm, name)(*arguments) != 0:
            raise HalfFailed("refused", f"{name} refused", errno_name(ctypes.get_errno()))

    def _event(self, wanted: int) -> Any:
        """Wait for one event; its identifier. Raises HalfFailed when another one comes, or none."""
        if not self._poller.poll(max(0.0, self._deadline - time.monotonic()) * 1000):
            raise HalfFailed("peer-missing", f"the connection manager waited in vain for {self._name(wanted)}")
        event = POINTER(_Event)()
        self._do("rdma_get_cm_event", self._channel, byref(event))
        seen, status, identifier = event.contents.event, event.contents.status, event.contents.id
        pointer = ctypes.cast(identifier, c_void_p).value or 0
        self._cm.rdma_ack_cm_event(event)
        if seen != wanted:
            message = f"the connection manager says {self._name(seen)} instead of {self._name(wanted)}"
            raise HalfFailed("refused", message, errno_name(-status) if status < 0 else str(status))
        return ctypes.cast(pointer, POINTER(_Identifier))

    def _name(self, event: int) -> str:
        words: bytes = self._cm.rdma_event_str(event)
        return words.decode(errors="replace")


def _socket_address(address: str, port: int) -> Any:
    """Pack struct sockaddr_in or sockaddr_in6."""
    if ":" in address:
        packed = socket.AF_INET6.to_bytes(2, "little") + port.to_bytes(2, "big") + bytes(4)
        return ctypes.create_string_buffer(packed + socket.inet_pton(socket.AF_INET6, address) + bytes(4))
    packed = socket.AF_INET.to_bytes(2, "little") + port.to_bytes(2, "big") + socket.inet_aton(address)
    return ctypes.create_string_buffer(packed + bytes(8))
