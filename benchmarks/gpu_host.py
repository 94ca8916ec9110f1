"""
The GPU half of the probes on a host with two NVIDIA GPUs and no NIC: by hand, never in CI.

    python benchmarks/gpu_host.py FOLDER

NIXL READ and WRITE between the GPUs with emulation forbidden, both negative controls, the dma-buf export of our own
engine, NCCL, and a raw copy between the same two GPUs in the same run. Every reply is written to FOLDER as JSON; the
last line printed is the summary. It proves zero-copy between GPU memories, not GPU over NIC.
"""

import ctypes
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, c_int, c_size_t, c_ulonglong, c_void_p
from dataclasses import replace
from pathlib import Path

from railwright.dataplane.cuda import Cuda, Exported
from railwright.dataplane.model import (
    EngineRequest,
    EvidenceRequest,
    Meeting,
    Memory,
    NcclRequest,
    NixlRequest,
    RailEnd,
    Reply,
    Request,
)
from railwright.dataplane.wire import read_reply, reply_text, request_text

SIZES = (1 << 16, 1 << 20, 1 << 24, 1 << 28)
LIMIT_S = 60.0
_COPIES = 30
_FIRST_PORT = 21000


def half(request: Request, gpu: int) -> Reply:
    """Run one half in a process of its own that sees both GPUs, its own first."""
    done = subprocess.run(
        [sys.executable, "-m", "railwright.dataplane", "--timeout-s", str(LIMIT_S)],
        input=request_text(request) + "\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S + 20,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": f"{gpu},{1 - gpu}"},
    )
    if not done.stdout.strip():
        raise SystemExit(f"no reply: {done.stderr[-2000:]}")
    return read_reply(done.stdout.strip().splitlines()[-1])


def pair(number: int, request: NixlRequest | NcclRequest | EngineRequest) -> tuple[Reply, Reply]:
    """Run both halves at the same time: GPU 1 drives, GPU 0 is the target."""
    meeting = Meeting("connect", "127.0.0.1", _FIRST_PORT + number, patience_s=40.0)
    with ThreadPoolExecutor(2) as pool:
        driver = pool.submit(half, replace(request, meeting=meeting), 1)
        target = pool.submit(half, replace(request, meeting=replace(meeting, role="listen")), 0)
        return driver.result(), target.result()


def raw_copy_gbps(size: int) -> float:
    """Copy between the GPUs with the driver alone, peer access on: what NIXL is held against; 10**9 byte/s."""
    far = Cuda(Memory("gpu", gpu=0))
    source = far.allocate(size)
    near = Cuda(Memory("gpu", gpu=1))
    target = near.allocate(size)
    driver = ctypes.CDLL("libcuda.so.1")
    other = c_void_p()
    driver.cuDevicePrimaryCtxRetain(byref(other), c_int(0))
    driver.cuCtxEnablePeerAccess(other, 0)
    for count in (3, _COPIES):
        begin = time.perf_counter()
        for _ in range(count):
            if driver.cuMemcpyDtoDAsync_v2(c_ulonglong(target), c_ulonglong(source), c_size_t(size), None) != 0:
                raise SystemExit("the raw copy failed")
        near.synchronize()
    return size * _COPIES / (time.perf_counter() - begin) / 1e9


def export() -> str:
    """Export memory as a dma-buf, as the engine does before it registers it."""
    cuda = Cuda(Memory("gpu"))
    exported = cuda.export_dmabuf(cuda.allocate(1 << 22), 1 << 22)
    if isinstance(exported, Exported):
        with exported:
            target = Path(f"/proc/self/fd/{exported.descriptor}").readlink()
            return f"{exported.registration}: {target}"
    return exported


def main(folder: Path) -> None:
    """Run all, keep all, sum up."""
    folder.mkdir(parents=True, exist_ok=True)
    base = NixlRequest(Meeting("connect", "", 0), RailEnd(), memory=Memory("gpu"), sizes_bytes=SIZES, iterations=30)
    runs: dict[str, NixlRequest | NcclRequest | EngineRequest] = {
        "nixl-read": replace(base, operation="read"),
        "nixl-write": replace(base, operation="write"),
        "control-rdma-withheld-read": replace(base, operation="read", withhold="rdma", sizes_bytes=(1 << 20,)),
        "control-rdma-withheld-write": replace(base, operation="write", withhold="rdma", sizes_bytes=(1 << 20,)),
        "control-emulation-allowed-read": replace(
            base, operation="read", withhold="rdma", allow_emulation=True, sizes_bytes=(1 << 20,), iterations=5
        ),
        "nccl": NcclRequest(Meeting("connect", "", 0), RailEnd(), size_bytes=1 << 28, iterations=20),
        "engine-gpu": EngineRequest(Meeting("connect", "", 0), RailEnd(), memory=Memory("gpu")),
    }
    summary: dict[str, object] = {"dma-buf": export()}
    evidence = half(EvidenceRequest(), 0)
    (folder / "evidence.json").write_text(reply_text(evidence))
    for number, (name, request) in enumerate(runs.items()):
        replies = pair(number, request)
        for reply in replies:
            (folder / f"{name}.{reply.role or 'none'}.json").write_text(reply_text(reply))
        summary[name] = {
            "problems": [reply.problem.message if reply.problem else None for reply in replies],
            "GB/s": {
                sample.size_bytes: round(sample.average_gbps / 8, 2) for reply in replies for sample in reply.samples
            },
            "digests": [digest.sha256[:12] for reply in replies for digest in reply.digests],
        }
        print(name, json.dumps(summary[name]), flush=True)
    summary["raw copy GB/s"] = {size: round(raw_copy_gbps(size), 2) for size in SIZES}
    (folder / "summary.json").write_text(json.dumps(summary, indent=2))
    print(json.dumps(summary))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
