"""
From nothing to the first verified byte in the lab: a machine that boots, and one that is woken as it was kept.

    python benchmarks/lab.py [METHOD...]

Budget: 15 s for shared and host-device, 40 s for sriov, with the image in the cache. `cpu_s` is what the emulator and
we used of a processor: on a busy machine it says more than the time on the wall.
"""

import asyncio
import dataclasses
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

from railwright.dataplane.model import EngineRequest, Meeting, RailEnd
from railwright.lab.rdma import kept
from railwright.lab.rdma.lab import lab, machine_parts
from railwright.lab.rdma.topology import Method, Shape
from railwright.ports.progress import Silent

BUDGET_S = {"shared": 15.0, "host-device": 15.0, "sriov": 40.0}
_LIMIT_S = 300.0


async def first_byte(method: Method) -> None:
    """Bring a lab up, move the first bytes and compare their checksums, end it."""
    async with lab(Shape(method, rails=1), Silent()) as made:
        first, last = made.endpoints
        meeting = Meeting("connect", last.meeting_address, 20000, patience_s=90.0)
        driving = EngineRequest(
            meeting, RailEnd(first.rails[0].netdev), sizes_bytes=(4096,), depth=2, iterations=2, duration_s=5.0
        )
        target = dataclasses.replace(driving, meeting=dataclasses.replace(meeting, role="listen"))
        halves = await asyncio.gather(first.run(driving, timeout_s=_LIMIT_S), last.run(target, timeout_s=_LIMIT_S))
        sums = {(digest.label, digest.sha256) for half in halves for digest in half.digests}
        if any(half.problem for half in halves) or len(sums) != len(halves[0].digests):
            raise SystemExit(f"{method}: {[half.problem for half in halves]}")


@contextmanager
def _measured(method: Method, how: str) -> Iterator[None]:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    before, began = [resource.getrusage(kind) for kind in kinds], time.perf_counter()
    yield
    wall_s = time.perf_counter() - began
    after = [resource.getrusage(kind) for kind in kinds]
    cpu_s = sum(
        now.ru_utime + now.ru_stime - then.ru_utime - then.ru_stime for now, then in zip(after, before, strict=True)
    )
    case = {"method": method, "how": how, "wall_s": round(wall_s, 1), "cpu_s": round(cpu_s, 1)}
    print(json.dumps({**case, "budget_s": BUDGET_S[method], "held": wall_s <= BUDGET_S[method]}), flush=True)


async def measure(methods: list[Method]) -> None:
    """Measure each method twice: booted, and woken."""
    for method in methods:
        parts = await machine_parts(Shape(method, rails=1), Silent())
        state = kept.state_file(parts)
        with tempfile.TemporaryDirectory(dir=state.parent.parent) as aside:
            if state.is_file():
                state.rename(Path(aside) / state.name)
            with _measured(method, "booted"):
                await first_byte(method)
        with _measured(method, "woken"):
            await first_byte(method)


if __name__ == "__main__":
    chosen = [name for name in get_args(Method) if name in sys.argv[1:] or len(sys.argv) == 1]
    asyncio.run(measure(chosen))
