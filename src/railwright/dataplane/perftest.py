"""
One half of a perftest program: found, started with the request's settings, bounded, its words handed back untouched.

Source: linux-rdma/perftest 25.01 src/perftest_parameters.c, usage().
"""

import dataclasses
import time

from railwright.dataplane.counters import read_counters
from railwright.dataplane.model import PerftestRequest, Problem, Reply, Used
from railwright.dataplane.problems import HalfFailed
from railwright.dataplane.programs import find_program, run_program
from railwright.dataplane.rail import Found, find_rail

PROGRAMS = ("ib_write_bw", "ib_read_bw", "ib_send_bw", "ib_write_lat", "ib_read_lat", "ib_send_lat")
_CONNECTING_TRIES_S = 0.3
_RUN_SPARE_S = 20.0
"""A run by iterations has no length of its own; soft-RoCE does 200 of 64 KiB in a second."""


def run_perftest(request: PerftestRequest) -> Reply:
    """Run this half; the program's exit code and words are the reply, for facts to parse."""
    begin = time.monotonic()
    reply = Reply("perftest", role=request.meeting.role)
    try:
        path = _program(request.program)
        # The connection manager takes the partition of the device, whatever is wanted.
        found = find_rail(request.rail, request.wire.partition if request.connection == "tcp" else None)
        reply = dataclasses.replace(
            reply,
            used=_used(request, found),
            before=read_counters(found.port.device, found.port.port, found.netdev),
        )
        reply = _try_until_met(reply, request, [path, *arguments(request, found)], begin + request.meeting.patience_s)
        after = read_counters(found.port.device, found.port.port, found.netdev)
        reply = dataclasses.replace(reply, after=after)
    except HalfFailed as failure:
        reply = dataclasses.replace(reply, problem=failure.problem)
    return dataclasses.replace(reply, elapsed_s=time.monotonic() - begin)


def _program(name: str) -> str:
    if name not in PROGRAMS:
        raise HalfFailed("broken-request", f"{name} is none of {', '.join(PROGRAMS)}")
    return find_program(name, "perftest")


def gpu_arguments(request: PerftestRequest) -> list[str]:
    """Name the GPU whose memory is meant: by its PCI address where that is known, for its number differs in a pod."""
    memory = request.memory
    gpu = f"--use_cuda_bus_id={memory.gpu_pci}" if memory.gpu_pci else f"--use_cuda={memory.gpu}"
    return [gpu, *(["--use_cuda_dmabuf"] if request.gpu_dmabuf else [])]


def arguments(request: PerftestRequest, found: Found) -> list[str]:
    """Write the program's arguments."""
    wire = request.wire
    own = ["-d", found.port.device, "-i", str(found.port.port), "-p", str(request.meeting.port), "-F"]
    own += (
        ["-s", str(request.size_bytes), "-q", str(request.qps)]
        if request.program.endswith("_bw")
        else ["-s", str(request.size_bytes)]
    )
    own += (
        ["-n", str(request.iterations)]
        if request.duration_s is None
        else ["-D", f"{max(1, round(request.duration_s))}"]
    )
    if found.gid is not None:
        own += ["-x", str(found.gid.index)]
    if request.program.endswith("_bw"):
        own += ["--report_gbits", *(["-b"] if request.bidirectional else [])]
    if found.key is not None and request.connection == "tcp":
        own += [f"--pkey_index={found.key.index}"]
    if wire.timeout_exponent is not None:
        own += ["-u", str(wire.timeout_exponent)]
    if wire.path_mtu_bytes is not None:
        own += ["-m", str(wire.path_mtu_bytes)]
    if wire.traffic_class is not None:
        own += [f"--tclass={wire.traffic_class}"] if request.connection == "tcp" else ["-T", str(wire.traffic_class)]
    if request.memory.kind == "gpu":
        own += gpu_arguments(request)
    if request.connection == "rdma_cm":
        own += ["-R"]
    if request.meeting.role == "connect":
        own += [request.rdma_address if request.connection == "rdma_cm" else request.meeting.address]
    return own


def _try_until_met(reply: Reply, request: PerftestRequest, command: list[str], deadline: float) -> Reply:
    """Run the program; the connecting half again while its peer is not listening yet."""
    limit_s = request.meeting.patience_s + (request.duration_s or 0.0) + _RUN_SPARE_S
    while True:
        done = run_program(command, limit_s)
        reply = dataclasses.replace(
            reply, raw=done.out, raw_errors=done.err, command=done.command, exit_code=done.exit_code
        )
        too_early = done.exit_code not in {0, None} and "Couldn't connect" in done.out + done.err
        if request.meeting.role == "listen" or not too_early or time.monotonic() > deadline:
            break
        time.sleep(_CONNECTING_TRIES_S)
    if done.exit_code is None:
        return dataclasses.replace(
            reply, problem=Problem("timed-out", f"{request.program} was not done after {limit_s:.0f} s and was ended")
        )
    if done.exit_code != 0:
        return dataclasses.replace(
            reply, problem=Problem("transfer-failed", f"{request.program} ended with {done.exit_code}")
        )
    return reply


def _used(request: PerftestRequest, found: Found) -> Used:
    gid = found.gid
    return Used(
        device=found.port.device,
        port=found.port.port,
        netdev=found.netdev,
        link_layer=found.port.link_layer,
        gid_index=gid.index if gid else None,
        gid=gid.gid if gid else "",
        gid_type=gid.type if gid else "",
        pkey_index=found.key.index if found.key else None,
        pkey=str(found.key or ""),
        traffic_class=request.wire.traffic_class or 0,
    )
