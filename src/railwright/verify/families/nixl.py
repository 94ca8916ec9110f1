"""
NIXL over UCX, software emulation forbidden, with its negative controls: what an inference engine would use.

GPU memory is the point of it. With host memory only the control without RDMA means anything.
"""

from typing import Literal

from railwright.core.verdicts import Verdict
from railwright.dataplane.model import NixlRequest
from railwright.verify.model import Direction, MemoryKind, Says, SizePoint
from railwright.verify.problems import blame_of, problem_of
from railwright.verify.task import START_S, Exchange, Outcome, Reading, Task, rail_end
from railwright.verify.witnesses import checksums, emulation

Withheld = Literal["", "gpu-direct", "rdma"]

_HOST_SIZES = (65536, 1 << 20)
_GPU_SIZES = (1 << 20, 1 << 24)
_CONTROL_SIZES = (65536,)
_CONTROL_ITERATIONS = 2


def exchanges(task: Task) -> tuple[Exchange, ...]:
    """Ask for the transfer, and then for the controls that must be refused."""
    is_gpu = task.step.memory is MemoryKind.GPU
    wanted: tuple[Withheld, ...] = ("", "gpu-direct", "rdma") if is_gpu else ("", "rdma")
    return tuple(_exchange(task, number, withhold) for number, withhold in enumerate(wanted))


def _exchange(task: Task, number: int, withhold: Withheld) -> Exchange:
    is_gpu = task.step.memory is MemoryKind.GPU
    sizes = _CONTROL_SIZES if withhold else ((*_GPU_SIZES, task.effort.largest_gpu_bytes) if is_gpu else _HOST_SIZES)
    requests = [
        NixlRequest(
            meeting=meeting,
            rail=rail_end(end),
            operation="read" if task.step.direction is Direction.READ else "write",
            memory=task.memory(end),
            sizes_bytes=sizes,
            iterations=_CONTROL_ITERATIONS if withhold else task.effort.iterations,
            allow_emulation=False,
            withhold=withhold,
            wire=task.wire,
        )
        for meeting, end in zip(task.meetings(number), task.ends_driving, strict=True)
    ]
    return Exchange(withhold or "run", requests[0], requests[1], START_S + task.patience_s + 20.0)


def read(task: Task, outcomes: tuple[Outcome, ...]) -> Reading:
    """Read the transfer, what UCX says carried it, and whether the controls were refused."""
    memory = task.step.memory
    run = outcomes[0]
    ran, reason = problem_of(run.replies, task.way)
    seen = emulation.testify(run, task.way, memory, run.driver.used.device)
    if ran is not Verdict.PASS:
        return Reading(ran, reason, testimonies=(seen,), blame=blame_of(run.replies, task.way))
    controls = tuple(
        emulation.testify_control(outcome.exchange.name, outcome, task.way, memory) for outcome in outcomes[1:]
    )
    testimonies = (seen, checksums.testify(run.replies, task.way, memory, run.evidence), *controls)
    samples = [sample for reply in run.replies for sample in reply.samples]
    if not samples:
        return Reading(Verdict.UNKNOWN, "NIXL timed nothing", testimonies=testimonies)
    bytes_checked, bytes_reason = checksums.compare(run.replies, task.way)
    points = tuple(
        SizePoint(sample.size_bytes, round(sample.average_gbps, 6))
        for sample in sorted(samples, key=lambda item: item.size_bytes)
    )
    refuted = next((item for item in controls if item.says is Says.CONTRADICTS), None)
    return Reading(
        Verdict.FAIL if refuted else Verdict.PASS,
        refuted.text if refuted else "",
        average_gbps=points[-1].average_gbps,
        at_bytes=points[-1].size_bytes,
        sizes=points,
        bytes_checked=bytes_checked,
        bytes_reason=bytes_reason,
        testimonies=testimonies,
    )
