"""Queue pairs and what they stand on: an opened device, a protection domain, a completion queue with its channel."""

import ctypes
import select
from contextlib import ExitStack
from ctypes import byref, c_void_p
from dataclasses import dataclass
from typing import Any

from railwright.dataplane.model import EngineRequest
from railwright.dataplane.problems import HalfFailed
from railwright.dataplane.rail import Found, verbs_mtu
from railwright.dataplane.verbs import structs
from railwright.dataplane.verbs.library import Library, Operations

READS_IN_FLIGHT = 16
"""At most; devices allow 16 mostly (rxe 128), and both ends must agree."""
TIMEOUT_EXPONENT = 16
"""4.096 us * 2**16 = 268 ms for an acknowledgement, where the request does not say."""
RNR_TIMER, RNR_RETRY = 12, 6
_FIRST_PSN = 0x1234


class Base:
    """Domain and completion queue on an opened device; closed by the stack that it is given."""

    def __init__(self, library: Library, context: int, entries: int, cleanup: ExitStack) -> None:
        """Create them. Raises HalfFailed where the device refuses."""
        self.library = library
        self.context = context
        self.operations: Operations = library.operations(context)
        code, doing = "not-permitted", "preparing the device"
        self.domain = library.must(code, doing, "ibv_alloc_pd", context)
        cleanup.callback(library.call, "ibv_dealloc_pd", self.domain)
        self.channel = library.must(code, doing, "ibv_create_comp_channel", context)
        cleanup.callback(library.call, "ibv_destroy_comp_channel", self.channel)
        self.queue = library.must(code, doing, "ibv_create_cq", context, entries, None, self.channel, 0)
        cleanup.callback(library.call, "ibv_destroy_cq", self.queue)
        self._poller = select.poll()
        self._poller.register(self.channel.contents.fd, select.POLLIN)

    def device_attributes(self) -> structs.DeviceAttributes:
        """Ask the device for its limits."""
        attributes = structs.DeviceAttributes()
        self.library.do("no-device", "asking the device", "ibv_query_device", self.context, byref(attributes))
        return attributes

    def port_attributes(self, port: int) -> structs.PortAttributes:
        """Ask the port for its state."""
        attributes = structs.PortAttributes()
        self.library.do("no-device", "asking the port", "ibv_query_port", self.context, port, byref(attributes))
        return attributes

    def wait(self, limit_s: float) -> None:
        """Sleep until a completion may be there, at most `limit_s`; ask for the event before the last poll."""
        if self._poller.poll(max(0.0, limit_s) * 1000):
            queue, user = c_void_p(), c_void_p()
            self.library.call("ibv_get_cq_event", self.channel, byref(queue), byref(user))
            self.library.call("ibv_ack_cq_events", self.queue, 1)

    def pair_init(self, depth: int) -> structs.PairInit:
        """Describe a queue pair for `depth` transfers in flight."""
        init = structs.PairInit(send_cq=self.queue, recv_cq=self.queue, qp_type=structs.QP_TYPE_RC)
        init.cap = structs.Capacity(depth + 1, 1, 1, 1, 0)
        return init


@dataclass(frozen=True)
class Address:
    """One end of a queue pair, as it is told to the other end."""

    number: int
    psn: int
    lid: int
    gid: str
    mtu: int
    reads_in: int


def create_pairs(base: Base, request: EngineRequest, cleanup: ExitStack) -> list[Any]:
    """Create the request's queue pairs; pointers to struct ibv_qp."""
    pairs = []
    for _ in range(request.qps):
        init = base.pair_init(request.depth)
        pair = base.library.must("not-permitted", "creating a queue pair", "ibv_create_qp", base.domain, byref(init))
        cleanup.callback(base.library.call, "ibv_destroy_qp", pair)
        pairs.append(pair)
    return pairs


def local_addresses(base: Base, pairs: list[Any], found: Found, request: EngineRequest) -> list[Address]:
    """Say where our ends are."""
    port = base.port_attributes(found.port.port)
    mtu = port.active_mtu
    if request.wire.path_mtu_bytes is not None:
        mtu = min(mtu, verbs_mtu(request.wire.path_mtu_bytes))
    reads_in = min(READS_IN_FLIGHT, base.device_attributes().max_qp_rd_atom)
    gid = found.gid.gid if found.gid else ""
    return [Address(pair.contents.qp_num, _FIRST_PSN, port.lid, gid, mtu, reads_in) for pair in pairs]


def connect(base: Base, pair: Any, here: Address, there: Address, found: Found, request: EngineRequest) -> None:
    """
    Bring one queue pair up to its peer.

    Raises:
        HalfFailed: "transfer-failed" with the step that the kernel refused.
    """
    wire = request.wire
    _initialise(base, pair, found)
    ready = structs.PairAttributes(
        qp_state=structs.STATE_RTR,
        path_mtu=min(here.mtu, there.mtu),
        dest_qp_num=there.number,
        rq_psn=there.psn,
        max_dest_rd_atomic=here.reads_in,
        min_rnr_timer=RNR_TIMER,
    )
    ready.ah_attr = _address_handle(there, found, request)
    _modify(
        base,
        pair,
        "to RTR",
        ready,
        structs.MASK_STATE
        | structs.MASK_ADDRESS
        | structs.MASK_PATH_MTU
        | structs.MASK_DESTINATION
        | structs.MASK_RQ_PSN
        | structs.MASK_READS_IN
        | structs.MASK_RNR_TIMER,
    )
    _modify(
        base,
        pair,
        "to RTS",
        structs.PairAttributes(
            qp_state=structs.STATE_RTS,
            timeout=TIMEOUT_EXPONENT if wire.timeout_exponent is None else wire.timeout_exponent,
            retry_cnt=wire.retry_count,
            rnr_retry=RNR_RETRY,
            sq_psn=here.psn,
            max_rd_atomic=min(there.reads_in, READS_IN_FLIGHT),
        ),
        structs.MASK_STATE
        | structs.MASK_TIMEOUT
        | structs.MASK_RETRY
        | structs.MASK_RNR_RETRY
        | structs.MASK_SQ_PSN
        | structs.MASK_READS_OUT,
    )


def _initialise(base: Base, pair: Any, found: Found) -> None:
    """Bind one queue pair to its port and partition, open to what the peer may ask."""
    _modify(
        base,
        pair,
        "to INIT",
        structs.PairAttributes(
            qp_state=structs.STATE_INIT,
            port_num=found.port.port,
            pkey_index=found.key.index if found.key else 0,
            qp_access_flags=structs.ACCESS_LOCAL_WRITE | structs.ACCESS_REMOTE_WRITE | structs.ACCESS_REMOTE_READ,
        ),
        structs.MASK_STATE | structs.MASK_PKEY | structs.MASK_PORT | structs.MASK_ACCESS,
    )


def _modify(base: Base, pair: Any, step: str, attributes: structs.PairAttributes, mask: int) -> None:
    base.library.do("transfer-failed", f"bringing a queue pair {step}", "ibv_modify_qp", pair, byref(attributes), mask)


def _address_handle(there: Address, found: Found, request: EngineRequest) -> structs.AddressHandle:
    handle = structs.AddressHandle(port_num=found.port.port, dlid=there.lid)
    if found.gid is not None:
        if not there.gid:
            raise HalfFailed("broken-request", "one half has a GID and the other has none: RoCE against InfiniBand?")
        handle.is_global = 1
        handle.grh.sgid_index = found.gid.index
        handle.grh.hop_limit = request.wire.hop_limit
        handle.grh.traffic_class = request.wire.traffic_class or 0
        ctypes.memmove(handle.grh.dgid.raw, bytes.fromhex(there.gid.replace(":", "")), 16)
    return handle
