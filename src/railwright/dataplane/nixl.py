"""
READ and WRITE through NIXL and its UCX backend, with software emulation forbidden unless it is asked for.

Source: UCX 1.23 src/ucp/core/ucp_context.c (PROTO_EMULATION_ENABLE, PROTO_INFO), src/uct/ib/base/ib_iface.c
(its own traffic class on RoCE v2 is 106; path MTUs are 512 to 4096).
"""

import dataclasses
import importlib.util
import time

from railwright.dataplane.child import run_child
from railwright.dataplane.counters import read_counters
from railwright.dataplane.model import Counter, NixlRequest, Reply, Used
from railwright.dataplane.problems import HalfFailed
from railwright.dataplane.rail import Found, find_rail

MODULES = ("nixl", "nixl_cu13", "nixl_cu12")
MISSING = "NIXL is not installed here (Python package nixl, or nixl-cu12 or nixl-cu13)"
_PATH_MTUS = (512, 1024, 2048, 4096)
_WITHHELD = {
    "gpu-direct": {"UCX_IB_GPU_DIRECT_RDMA": "n"},
    "rdma": {"UCX_TLS": "tcp,cuda_copy"},
}


def run_nixl(request: NixlRequest) -> Reply:
    """Run this half in a program of its own; UCX's words about the lanes that it used are in `raw`."""
    begin = time.monotonic()
    try:
        _must_be_here()
        on_rail = request.rail.netdev or request.rail.device
        found = find_rail(request.rail, request.wire.partition) if on_rail else None
    except HalfFailed as failure:
        return Reply("nixl", failure.problem, role=request.meeting.role, elapsed_s=time.monotonic() - begin)
    before = _counters(found)
    reply = run_child("railwright.dataplane.nixl_child", request, settings(request, found), "UCX_LOG_FILE")
    used = Used(device=found.port.device, port=found.port.port, netdev=found.netdev) if found else Used()
    return dataclasses.replace(reply, used=used, before=before, after=_counters(found))


def _must_be_here() -> None:
    """Look for NIXL's package before a program is started for it: on an emulated processor that takes seconds."""
    if not any(importlib.util.find_spec(name) for name in MODULES):
        raise HalfFailed("tool-missing", MISSING)


def settings(request: NixlRequest, found: Found | None) -> dict[str, str]:
    """
    Write UCX's settings.

    On a rail, GPU memory of the same host must not take the short way (`cuda_ipc`): the rail is to be proven.
    """
    own = {"UCX_PROTO_INFO": "used", "UCX_LOG_LEVEL": "info"}
    if not request.allow_emulation:
        own["UCX_PROTO_EMULATION_ENABLE"] = "n"
    if found is not None:
        own |= {"UCX_TLS": "^cuda_ipc", "UCX_NET_DEVICES": f"{found.port.device}:{found.port.port}"}
        if found.gid is not None:
            own["UCX_IB_GID_INDEX"] = str(found.gid.index)
        if found.key is not None:
            own["UCX_IB_PKEY"] = f"0x{found.key.number:04x}"
        own["UCX_IB_TRAFFIC_CLASS"] = str(request.wire.traffic_class or 0)
        if (request.wire.path_mtu_bytes or 0) in _PATH_MTUS:
            own["UCX_IB_PATH_MTU"] = str(request.wire.path_mtu_bytes)
    if request.withhold:
        own |= _WITHHELD[request.withhold]
        if request.withhold == "rdma":
            own.pop("UCX_NET_DEVICES", None)
    return own


def _counters(found: Found | None) -> tuple[Counter, ...]:
    return read_counters(found.port.device, found.port.port, found.netdev) if found else ()
