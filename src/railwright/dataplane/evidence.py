"""What a place is: limits, rights, devices, GIDs, counters, tools, as raw text and as numbers that the kernel gives."""

import contextlib
import os
import resource
import shutil
import time
from pathlib import Path

from railwright.dataplane.counters import read_counters
from railwright.dataplane.ipoib import partitions
from railwright.dataplane.model import Counter, Evidence, EvidenceRequest, Reply, Watched
from railwright.dataplane.netlink import netns_mode
from railwright.dataplane.perftest import PROGRAMS
from railwright.dataplane.problems import HalfFailed
from railwright.dataplane.rail import INFINIBAND_LAYER, find_rail, read_ports

_FILES = {
    "capabilities": "/proc/self/status",
    "limits": "/proc/self/limits",
    "modules": "/proc/modules",
    "nvidia-driver": "/proc/driver/nvidia/version",
    "nvidia-peermem": "/sys/module/nvidia_peermem/version",
    "mlx5-driver": "/sys/module/mlx5_core/version",
    "kernel": "/proc/version",
    "net-devices": "/proc/net/dev",
}
_TOOLS = (*PROGRAMS, "nvidia-smi", "rdma", "ibstat", "ucx_info")


def run_evidence(request: EvidenceRequest) -> Reply:
    """Look around; nothing is started and nothing is changed."""
    begin = time.monotonic()
    ports = read_ports()
    rail = request.rail
    counters: tuple[Counter, ...] = ()
    for port in ports:
        if rail.netdev in port.netdevs or rail.device == port.device:
            counters += read_counters(port.device, port.port, rail.netdev)
    devices = Path("/dev/infiniband")
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    evidence = Evidence(
        user_id=os.geteuid(),
        memlock_bytes=-1 if soft == resource.RLIM_INFINITY else soft,
        netns_mode=netns_mode(),
        ports=ports,
        counters=counters,
        device_files=tuple(sorted(each.name for each in devices.iterdir())) if devices.is_dir() else (),
        tools={name: path for name in _TOOLS if (path := shutil.which(name))},
        partitions=partitions() if any(port.link_layer == INFINIBAND_LAYER for port in ports) else {},
        watched=_watched(request),
        sections={name: text for name, file in _FILES.items() if (text := _read(Path(file)))},
    )
    return Reply("evidence", evidence=evidence, elapsed_s=time.monotonic() - begin)


def _watched(request: EvidenceRequest) -> tuple[Watched, ...]:
    """Read the counters of rails twice; one without a port here says so when it is used."""
    found = []
    for rail in request.watched:
        with contextlib.suppress(HalfFailed):
            found.append((rail, find_rail(rail)))
    ways = [(rail, (each.port.device, each.port.port, each.netdev)) for rail, each in found]
    begin = time.monotonic()
    before = [read_counters(*where) for _, where in ways]
    if ways:
        time.sleep(request.watch_s)
    elapsed_s = time.monotonic() - begin
    return tuple(
        Watched(rail, elapsed_s, earlier, read_counters(*where))
        for (rail, where), earlier in zip(ways, before, strict=True)
    )


def _read(file: Path) -> str:
    with contextlib.suppress(OSError):
        return file.read_text(errors="replace")
    return ""
