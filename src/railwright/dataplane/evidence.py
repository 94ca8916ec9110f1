"""What a place is: limits, rights, devices, GIDs, counters, tools, as raw text and as numbers that the kernel gives."""

import contextlib
import os
import resource
import shutil
import time
from pathlib import Path

from railwright.dataplane.counters import read_counters
from railwright.dataplane.model import Counter, Evidence, EvidenceRequest, Reply
from railwright.dataplane.netlink import netns_mode
from railwright.dataplane.perftest import PROGRAMS
from railwright.dataplane.rail import read_ports

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
        sections={name: text for name, file in _FILES.items() if (text := _read(Path(file)))},
    )
    return Reply("evidence", evidence=evidence, elapsed_s=time.monotonic() - begin)


def _read(file: Path) -> str:
    with contextlib.suppress(OSError):
        return file.read_text(errors="replace")
    return ""
