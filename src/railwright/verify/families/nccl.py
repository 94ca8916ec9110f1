"""NCCL all-reduce between two GPUs over one rail, with its own log as the witness, and once with GPUDirect withheld."""

from railwright.core.verdicts import Verdict
from railwright.dataplane.model import NcclRequest
from railwright.verify.problems import blame_of, problem_of
from railwright.verify.task import START_S, Exchange, Outcome, Reading, Task, rail_end
from railwright.verify.witnesses import nccl as witness

_ITERATIONS = 20
_SIZE_BYTES = 1 << 26


def exchanges(task: Task) -> tuple[Exchange, ...]:
    """Ask for an all-reduce of two ranks, and for the same with GPUDirect withheld."""
    return tuple(_exchange(task, number, gpu_direct) for number, gpu_direct in enumerate((True, False)))


def _exchange(task: Task, number: int, gpu_direct: bool) -> Exchange:
    requests = [
        NcclRequest(
            meeting=meeting,
            rail=rail_end(end),
            devices=(end.held.device,) if end.held.device else (),
            memory=task.memory(end),
            size_bytes=_SIZE_BYTES,
            iterations=_ITERATIONS,
            gpu_direct=gpu_direct,
            wire=task.wire,
        )
        for meeting, end in zip(task.meetings(number), task.ends_driving, strict=True)
    ]
    return Exchange("run" if gpu_direct else "gpu-direct", requests[0], requests[1], 2 * START_S + task.patience_s)


def read(task: Task, outcomes: tuple[Outcome, ...]) -> Reading:
    """Read what NCCL said of its channels."""
    ran, reason = problem_of(outcomes[0].replies, task.way)
    devices = (outcomes[0].source.used.device, outcomes[0].target.used.device)
    seen = witness.testify(outcomes[0], task.way, devices)
    if ran is not Verdict.PASS:
        return Reading(ran, reason, testimonies=(seen,), blame=blame_of(outcomes[0].replies, task.way))
    testimonies = (seen, *(witness.testify_control(outcome, task.way, outcomes[0]) for outcome in outcomes[1:]))
    samples = [sample for reply in outcomes[0].replies for sample in reply.samples]
    if not samples:
        return Reading(Verdict.UNKNOWN, f"NCCL timed nothing between {task.way}", testimonies=testimonies)
    average = max(sample.average_gbps for sample in samples)
    return Reading(Verdict.PASS, average_gbps=average, at_bytes=_SIZE_BYTES, testimonies=testimonies)
