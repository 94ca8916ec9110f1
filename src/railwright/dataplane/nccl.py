"""
An NCCL all-reduce over two ranks; NCCL's own log says which way the bytes went.

Source: NCCL 2.30 user guide, environment variables; src/transport/net.cc (the words "via NET/IB/n/GDRDMA"),
src/transport/net_ib (NCCL_IB_PKEY is an index, not a key).
"""

import dataclasses
import time

from railwright.dataplane.child import run_child
from railwright.dataplane.counters import read_counters
from railwright.dataplane.model import NcclRequest, Reply, Used
from railwright.dataplane.problems import HalfFailed
from railwright.dataplane.rail import Found, find_rail


def run_nccl(request: NcclRequest) -> Reply:
    """Run this rank in a program of its own; its log is in `raw`."""
    begin = time.monotonic()
    try:
        found = find_rail(request.rail, request.wire.partition) if request.rail.netdev or request.rail.device else None
    except HalfFailed as failure:
        return Reply("nccl", failure.problem, role=request.meeting.role, elapsed_s=time.monotonic() - begin)
    before = read_counters(found.port.device, found.port.port, found.netdev) if found else ()
    reply = run_child("railwright.dataplane.nccl_child", request, settings(request, found), "")
    after = read_counters(found.port.device, found.port.port, found.netdev) if found else ()
    used = Used(device=found.port.device, port=found.port.port, netdev=found.netdev) if found else Used()
    return dataclasses.replace(reply, used=used, before=before, after=after)


def settings(request: NcclRequest, found: Found | None) -> dict[str, str]:
    """Write NCCL's settings: no NVLink between nodes for the proof, exact HCAs, the GID that belongs to the rail."""
    own = {
        "NCCL_DEBUG": "INFO",
        "NCCL_DEBUG_SUBSYS": "INIT,NET,GRAPH",
        "NCCL_MNNVL_ENABLE": "0",
        "NCCL_NVLS_ENABLE": "0",
    }
    names = request.devices or ((found.port.device,) if found else ())
    if names:
        own["NCCL_IB_HCA"] = "=" + ",".join(names)
    if found is not None and found.gid is not None:
        own["NCCL_IB_GID_INDEX"] = str(found.gid.index)
    if found is not None and found.key is not None:
        own["NCCL_IB_PKEY"] = str(found.key.index)
    if request.wire.traffic_class is not None:
        own["NCCL_IB_TC"] = str(request.wire.traffic_class)
    if not request.gpu_direct:
        own["NCCL_NET_GDR_LEVEL"] = "LOC"
    return own
