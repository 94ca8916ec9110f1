"""One half of the verbs engine, connected: its memory, its queue pairs, and where the other half's memory is."""

from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from railwright.dataplane.meeting import Talk
from railwright.dataplane.model import EngineRequest, Used
from railwright.dataplane.rail import Found, mtu_bytes
from railwright.dataplane.verbs import structs
from railwright.dataplane.verbs.cm import Connector
from railwright.dataplane.verbs.drive import Target
from railwright.dataplane.verbs.library import Library
from railwright.dataplane.verbs.memory import FULL_ACCESS, LOCAL_ACCESS, Buffer, allocate
from railwright.dataplane.verbs.pairs import Address, Base, connect, create_pairs, local_addresses

WINDOW_BYTES = 1 << 24
"""How much may be in flight over all queue pairs: far over what any link holds, and little enough to check quickly."""
_GPU_GRAIN_BYTES = 1 << 21
"""CUDA aligns allocations of this size and up to it, and a dma-buf must begin and end at a page."""


@dataclass(frozen=True)
class Half:
    """
    What a connected half holds.

    Attributes:
        area_bytes: of the sending half of the buffer, which begins at 0; the receiving half begins there.
        their: address and key of the other half's buffer, laid out in the same way.
    """

    base: Base
    pairs: list[Any]
    buffer: Buffer
    area_bytes: int
    their: Target
    used: Used


def slots_for(size: int, request: EngineRequest) -> int:
    """Say how many transfers of one size a queue pair keeps in flight: `depth`, or what fits into the window."""
    return max(2, min(request.depth, WINDOW_BYTES // (size * request.qps)))


def area_bytes(request: EngineRequest) -> int:
    """Say how much memory one direction needs for the largest of the sizes."""
    needed = max(size * slots_for(size, request) * request.qps for size in request.sizes_bytes)
    grain = _GPU_GRAIN_BYTES if request.memory.kind == "gpu" else 4096
    return -(-needed // grain) * grain


def open_half(request: EngineRequest, found: Found, talk: Talk, cleanup: ExitStack) -> Half:
    """
    Open the device, register memory, connect, and learn where the other half's memory is.

    Raises:
        HalfFailed: whatever is missing or refused, by its code.
    """
    library = Library()
    area = area_bytes(request)
    if request.connection == "rdma_cm":
        base, pairs = _by_manager(library, request, talk, cleanup)
        buffer = _buffer(library, base, area, request, cleanup)
        heard = talk.exchange({"address": buffer.address, "rkey": buffer.rkey})
        mtu = base.port_attributes(found.port.port).active_mtu
    else:
        base, pairs = _by_ourselves(library, request, found, cleanup)
        buffer = _buffer(library, base, area, request, cleanup)
        ours = local_addresses(base, pairs, found, request)
        heard = talk.exchange(
            {"address": buffer.address, "rkey": buffer.rkey, "pairs": [asdict(address) for address in ours]}
        )
        theirs = [Address(**fields) for fields in heard["pairs"]]
        for pair, here, there in zip(pairs, ours, theirs, strict=True):
            connect(base, pair, here, there, found, request)
        mtu = min(ours[0].mtu, theirs[0].mtu)
        talk.together("connected")
    used = _used(request, found, base, buffer, mtu_bytes(mtu))
    return Half(base, pairs, buffer, area, Target(heard["address"], heard["rkey"]), used)


def _by_ourselves(library: Library, request: EngineRequest, found: Found, cleanup: ExitStack) -> tuple[Base, list[Any]]:
    context = library.open(found.port.device)
    cleanup.callback(library.call, "ibv_close_device", context)
    base = Base(library, context, request.qps * (request.depth + 1), cleanup)
    return base, create_pairs(base, request, cleanup)


def _by_manager(library: Library, request: EngineRequest, talk: Talk, cleanup: ExitStack) -> tuple[Base, list[Any]]:
    connector = Connector(library, request, request.meeting.port, cleanup)
    if request.meeting.role == "listen":
        connector.listen()
        talk.together("listening")
        return connector.accept()
    talk.together("listening")
    return connector.connect()


def _buffer(library: Library, base: Base, area: int, request: EngineRequest, cleanup: ExitStack) -> Buffer:
    withheld = request.withhold == "remote-access" and request.meeting.role == "listen"
    access = LOCAL_ACCESS if withheld else FULL_ACCESS
    buffer = allocate(library, base.domain, 2 * area, request.memory, access)
    cleanup.callback(buffer.close)
    return buffer


def _used(request: EngineRequest, found: Found, base: Base, buffer: Buffer, path_mtu_bytes: int) -> Used:
    gid = found.gid
    layer = base.port_attributes(found.port.port).link_layer
    return Used(
        device=found.port.device,
        port=found.port.port,
        netdev=found.netdev,
        link_layer=structs.LINK_LAYER_NAMES.get(layer, str(layer)),
        gid_index=gid.index if gid else None,
        gid=gid.gid if gid else "",
        gid_type=gid.type if gid else "",
        lid=base.port_attributes(found.port.port).lid or None,
        path_mtu_bytes=path_mtu_bytes,
        pkey_index=found.key.index if found.key else None,
        pkey=str(found.key or ""),
        registration=buffer.registration,
        traffic_class=request.wire.traffic_class or 0,
        library=base.operations.provider,
    )
