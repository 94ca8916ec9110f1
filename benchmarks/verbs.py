"""
Our verbs engine against ib_write_bw and ib_read_bw on the same soft-RoCE devices, paired runs, medians.

    python benchmarks/verbs.py [RUNS]

Budget: 0.90 of perftest at 64 KiB, 0.95 at 1 MiB. Runs in the lab's machine; absolute numbers mean nothing there, and
its one processor flatters us: perftest polls at both ends, our engine sleeps while nothing is done. Measured 2026-11-30
on a busy machine, 3 runs: 2.9 and 1.9 (WRITE, READ of 64 KiB), 2.1 (WRITE of 1 MiB).
"""

import asyncio
import dataclasses
import json
import statistics
import sys

from railwright.dataplane.model import EngineRequest, Meeting, PerftestRequest, RailEnd, Reply
from railwright.facts.sources.perftest import parse_perftest
from railwright.lab.rdma.lab import Lab, lab
from railwright.lab.rdma.topology import Shape
from railwright.ports.progress import Silent

BUDGET = {65536: 0.90, 1 << 20: 0.95}
ITERATIONS = {65536: 400, 1 << 20: 48}
DEPTH = {"write": 128, "read": 16}
"""perftest's own: TX depth 128 for WRITE, 16 outstanding READs."""
_LIMIT_S = 120.0


async def pair(made: Lab, request: EngineRequest | PerftestRequest) -> Reply:
    """Run both halves; the reply of the one that drives."""
    first, last = made.endpoints
    meeting = Meeting("connect", last.meeting_address, 20000, patience_s=60.0)
    rail = RailEnd(first.rails[0].netdev)
    driving = dataclasses.replace(request, meeting=meeting, rail=rail)
    target = dataclasses.replace(driving, meeting=dataclasses.replace(meeting, role="listen"))
    replies = await asyncio.gather(first.run(driving, timeout_s=_LIMIT_S), last.run(target, timeout_s=_LIMIT_S))
    for reply in replies:
        if reply.problem:
            raise SystemExit(f"{reply.probe} {reply.role}: {reply.problem.message}\n{reply.raw}{reply.raw_errors}")
    return replies[0]


async def measure(runs: int) -> None:
    """Run everything in turn, ours and theirs, and print one line a case."""
    base = Meeting("connect", "", 0)
    async with lab(Shape("host-device", rails=1), Silent()) as made:
        for size, budget in BUDGET.items():
            for operation in ("write", "read"):
                ours, theirs = [], []
                engine = EngineRequest(
                    base, RailEnd(), operation=operation, sizes_bytes=(size,), iterations=ITERATIONS[size],
                    duration_s=30.0, depth=DEPTH[operation],
                )  # fmt: skip
                perftest = PerftestRequest(
                    base, RailEnd(), program=f"ib_{operation}_bw", size_bytes=size, iterations=ITERATIONS[size]
                )
                for _ in range(runs):
                    ours.append((await pair(made, engine)).samples[0].average_gbps)
                    theirs.append(parse_perftest((await pair(made, perftest)).raw).bandwidth[-1].average_gbps)
                ratio = statistics.median(ours) / statistics.median(theirs)
                case = {"operation": operation, "size_bytes": size, "ours": ours, "perftest": theirs}
                print(
                    json.dumps({**case, "ratio": round(ratio, 3), "budget": budget, "held": ratio >= budget}),
                    flush=True,
                )


if __name__ == "__main__":
    asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
