"""
Our own verbs engine: bandwidth and latency with every byte checked; with rdma_cm, and without.

Its numbers are its own measurements. On hardware perftest's number is the figure of record; the engine is there for
the bytes, the counters, and where no perftest is at hand.
"""

from dataclasses import replace
from typing import Literal

from railwright.core.verdicts import Verdict
from railwright.dataplane.model import EngineRequest, Sample
from railwright.verify.model import Direction, Says, SizePoint
from railwright.verify.problems import blame_of, problem_of
from railwright.verify.task import START_S, Exchange, Outcome, Reading, Task, rail_end
from railwright.verify.witnesses import checksums, counters, rights

_CHECK_S = 10.0
"""Filling, sending once and checking what is not timed, for each size."""
_LATENCY_BYTES = (8, 4096)
_CM_BYTES = (65536,)
_CONTROL, _CONTROL_BYTES, _CONTROL_S = "remote-rights", (4096,), 0.2


def bandwidth(task: Task) -> tuple[Exchange, ...]:
    """Ask for bandwidth at the effort's sizes, and for the READ that must be refused."""
    run = _exchange(task, task.effort.sizes_bytes)
    return (run, _without_rights(task)) if task.step.direction is Direction.READ else (run,)


def sweep(task: Task) -> tuple[Exchange, ...]:
    """Ask for bandwidth from small to large messages."""
    return (_exchange(task, task.effort.sweep_bytes),)


def latency(task: Task) -> tuple[Exchange, ...]:
    """Ask for the latency of small messages, one in flight."""
    return (_exchange(task, _LATENCY_BYTES, measure="latency"),)


def over_rdma_cm(task: Task) -> tuple[Exchange, ...]:
    """Ask for the same through the RDMA connection manager, which takes the rail's IP address."""
    return (_exchange(task, _CM_BYTES, connection="rdma_cm"),)


def _without_rights(task: Task) -> Exchange:
    """Ask for one short READ of memory that nobody may read from afar."""
    short = replace(task, effort=replace(task.effort, qps=1, duration_s=_CONTROL_S))
    return _exchange(short, _CONTROL_BYTES, withhold="remote-access")


def _exchange(
    task: Task,
    sizes: tuple[int, ...],
    *,
    measure: Literal["bandwidth", "latency"] = "bandwidth",
    connection: Literal["tcp", "rdma_cm"] = "tcp",
    withhold: Literal["", "remote-access"] = "",
) -> Exchange:
    meetings = task.meetings(1 if withhold else 0)
    requests = [
        EngineRequest(
            meeting=meeting,
            rail=rail_end(end),
            operation="read" if task.step.direction is Direction.READ else "write",
            measure=measure,
            sizes_bytes=sizes,
            qps=1 if measure == "latency" else task.effort.qps,
            depth=1 if measure == "latency" else task.effort.depth,
            duration_s=task.effort.duration_s,
            bidirectional=task.step.direction is Direction.BOTH,
            memory=task.memory(end),
            wire=task.wire,
            connection=connection,
            rdma_address=task.ends_driving[0].held.address if connection == "rdma_cm" else "",
            withhold=withhold,
        )
        for meeting, end in zip(meetings, task.ends_driving, strict=True)
    ]
    limit_s = START_S + task.patience_s + len(sizes) * (task.effort.duration_s + _CHECK_S)
    return Exchange(_CONTROL if withhold else "run", requests[0], requests[1], limit_s)


def read(task: Task, outcomes: tuple[Outcome, ...]) -> Reading:
    """Read the engine's samples, checksums and counters, and whether the READ without rights was refused."""
    outcome = outcomes[0]
    ran, reason = problem_of(outcome.replies, task.way)
    samples = [sample for reply in outcome.replies for sample in reply.samples]
    bytes_checked, bytes_reason = checksums.compare(outcome.replies, task.way)
    if ran is not Verdict.PASS:
        # A half that ended early has no digests to compare; one that differs is worse than any reason to stop.
        kept = bytes_checked if bytes_checked is Verdict.FAIL else Verdict.SKIP
        return Reading(
            ran,
            reason,
            bytes_checked=kept,
            bytes_reason=bytes_reason,
            wire=wire_of(outcome),
            blame=blame_of(outcome.replies, task.way),
        )
    if not samples:
        return Reading(Verdict.UNKNOWN, "neither half timed anything", wire=wire_of(outcome))
    points = _points(samples)
    is_latency = any(sample.latency_us for sample in samples)
    largest = points[-1]
    testimonies = []
    if task.step.direction is not Direction.BOTH:
        testimonies.append(checksums.testify(outcome.replies, task.way, task.step.memory, outcome.evidence))
        if not is_latency:
            testimonies.append(counters.testify(outcome, task.way, task.step.memory))
    controls = [rights.testify_control(item, task.way, task.step.memory) for item in outcomes[1:]]
    refuted = next((item for item in controls if item.says is Says.CONTRADICTS), None)
    return Reading(
        Verdict.FAIL if refuted else Verdict.PASS,
        refuted.text if refuted else "",
        average_gbps=None if is_latency else largest.average_gbps,
        at_bytes=largest.size_bytes,
        qps=samples[0].qps,
        sizes=() if is_latency else points,
        latency_us=samples[0].latency_us,
        bytes_checked=bytes_checked,
        bytes_reason=bytes_reason,
        testimonies=(*testimonies, *controls),
        wire=wire_of(outcome),
        loss=counters.loss(outcome),
        loss_watched=counters.watches_loss(outcome),
    )


def _points(samples: list[Sample]) -> tuple[SizePoint, ...]:
    """Add up what both halves drove at each size: with one driver that is its own number."""
    by_size: dict[int, float] = {}
    for sample in samples:
        by_size[sample.size_bytes] = by_size.get(sample.size_bytes, 0.0) + sample.average_gbps
    return tuple(SizePoint(size, round(gbps, 6)) for size, gbps in sorted(by_size.items()))


def wire_of(outcome: Outcome) -> dict[str, str]:
    """Say what carried the bytes: device, GID and path MTU of each end."""
    said: dict[str, str] = {}
    for where, reply in (("source", outcome.source), ("target", outcome.target)):
        used = reply.used
        fields = {
            "device": f"{used.device}/{used.port}" if used.device else "",
            "netdev": str(used.netdev),
            "gid": f"[{used.gid_index}] {used.gid} {used.gid_type}" if used.gid_index is not None else "",
            "lid": str(used.lid) if used.lid else "",
            "pkey": f"[{used.pkey_index}] {used.pkey}" if used.pkey else "",
            "path_mtu_bytes": str(used.path_mtu_bytes) if used.path_mtu_bytes else "",
            "traffic_class": str(used.traffic_class) if used.traffic_class else "",
            "registration": used.registration,
        }
        said |= {f"{where}_{key}": value for key, value in fields.items() if value}
    return said
