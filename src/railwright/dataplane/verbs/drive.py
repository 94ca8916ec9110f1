"""
Timed loops over queue pairs.

Python is slow beside a NIC, so the work is prepared once: chains of transfers, each posted with one call and signalled
once; posting a chain again costs one call and no Python object.
"""

import time
from ctypes import POINTER, byref, pointer
from dataclasses import dataclass
from typing import Any

from railwright.dataplane.model import Operation, Sample
from railwright.dataplane.problems import HalfFailed
from railwright.dataplane.verbs import structs
from railwright.dataplane.verbs.pairs import Base

CHAINS_IN_FLIGHT = 4
_POLL_ENTRIES = 64
_SPIN_S = 30e-6
"""How long to poll before sleeping: longer would take the processor from soft-RoCE, which needs it to move bytes."""
_CAUSE_LIMIT_S = 0.2
"""How long to look for the transfer that failed, when only such were seen that were flushed after it."""
DRAIN_LIMIT_S = 15.0
"""How long what is in flight may take once nothing more is posted: over every retry that the wire allows."""


@dataclass(frozen=True)
class Target:
    """Where the other half's memory is."""

    address: int
    rkey: int


@dataclass
class _Chain:
    """Linked transfers of one queue pair; kept alive as long as they may be posted."""

    pair: Any
    first: Any
    length: int
    keep: Any


class Driver:
    """Posts the transfers of one size, one slot of memory each: slot i of ours against slot i of theirs."""

    def __init__(
        self,
        base: Base,
        pairs: list[Any],
        operation: Operation,
        size: int,
        slots: int,
        own: Target,
        lkey: int,
        their: Target,
    ) -> None:
        """Prepare chains for `slots` slots a queue pair; `own` and `their` are where the slots begin."""
        self._base = base
        self._operation: Operation = operation
        self._size = size
        self._pairs = len(pairs)
        self._opcode = structs.SEND_RDMA_WRITE if operation == "write" else structs.SEND_RDMA_READ
        self._completions = (structs.Completion * _POLL_ENTRIES)()
        self._chains: list[_Chain] = []
        length = max(1, slots // CHAINS_IN_FLIGHT)
        for index, pair in enumerate(pairs):
            for start in range(0, slots, length):
                offset = (index * slots + start) * size
                count = min(length, slots - start)
                self._chains.append(
                    self._chain(pair, count, own.address + offset, lkey, their.address + offset, their.rkey)
                )

    def _chain(self, pair: Any, count: int, own: int, lkey: int, their: int, rkey: int) -> _Chain:
        works = (structs.Work * count)()
        pieces = (structs.Piece * count)()
        for index in range(count):
            pieces[index] = structs.Piece(own + index * self._size, self._size, lkey)
            work = works[index]
            work.wr_id = len(self._chains)
            work.sg_list = pointer(pieces[index])
            work.num_sge = 1
            work.opcode = self._opcode
            work.remote_addr = their + index * self._size
            work.rkey = rkey
            if index + 1 < count:
                work.next = pointer(works[index + 1])
        works[count - 1].send_flags = structs.SEND_SIGNALED
        return _Chain(pair, pointer(works[0]), count, (works, pieces))

    def once(self) -> None:
        """Transfer every slot once, and wait until all are done. Raises HalfFailed "transfer-failed", "timed-out"."""
        self._run(0.0, 0)

    def timed(self, duration_s: float, iterations: int | None) -> Sample:
        """
        Transfer every slot at least once, then on and on for a time or a count.

        Raises:
            HalfFailed: "transfer-failed" with the completion's status, "timed-out" when nothing moves any more.
        """
        wanted = None if iterations is None else iterations * self._pairs
        transfers, elapsed_s = self._run(duration_s, wanted)
        gbps = transfers * self._size * 8 / elapsed_s / 1e9
        return Sample(self._operation, self._size, self._pairs, transfers, elapsed_s, gbps)

    def _run(self, duration_s: float, wanted: int | None) -> tuple[int, float]:
        begin = time.perf_counter()
        end = begin + duration_s
        posted = in_flight = done = 0
        for chain in self._chains:
            self._post(chain)
            posted += chain.length
            in_flight += 1
        while in_flight:
            now = time.perf_counter()
            count = self._completed(end + DRAIN_LIMIT_S)
            goes_on = now < end and (wanted is None or posted < wanted)
            for index in range(count):
                completion = self._completions[index]
                if completion.status:
                    self._fail(count)
                chain = self._chains[completion.wr_id]
                done += chain.length
                if goes_on:
                    self._post(chain)
                    posted += chain.length
                else:
                    in_flight -= 1
        return done, time.perf_counter() - begin

    def latency(self, duration_s: float, iterations: int | None) -> Sample:
        """Transfer one slot at a time; what one takes holds about two microseconds of our own. Raises as `timed`."""
        chain = self._chains[0]
        times: list[float] = []
        begin = time.perf_counter()
        while time.perf_counter() - begin < duration_s and (iterations is None or len(times) < iterations):
            start = time.perf_counter()
            self._post(chain)
            self._completed(start + DRAIN_LIMIT_S)
            times.append(time.perf_counter() - start)
            if self._completions[0].status:
                self._fail(1)
        elapsed_s = time.perf_counter() - begin
        gbps = len(times) * chain.length * self._size * 8 / elapsed_s / 1e9
        return Sample(self._operation, self._size, 1, len(times), elapsed_s, gbps, percentiles(times))

    def _post(self, chain: _Chain) -> None:
        bad = POINTER(structs.Work)()
        answer = self._base.operations.post_send(chain.pair, chain.first, byref(bad))
        if answer:
            raise HalfFailed(
                "transfer-failed", f"posting a {self._operation} of {self._size} bytes failed", str(answer)
            )

    def _completed(self, deadline: float) -> int:
        """Wait for completions; how many, at least one."""
        poll, notify = self._base.operations.poll, self._base.operations.notify
        queue, room = self._base.queue, self._completions
        spin_until = time.perf_counter() + _SPIN_S
        while True:
            count = poll(queue, _POLL_ENTRIES, room)
            if count > 0:
                return count
            now = time.perf_counter()
            if now > deadline:
                raise HalfFailed(
                    "timed-out",
                    f"{self._operation} of {self._size} bytes: nothing completed any more for {DRAIN_LIMIT_S:.0f} s",
                )
            if now > spin_until:
                notify(queue, 0)
                count = poll(queue, _POLL_ENTRIES, room)
                if count > 0:
                    return count
                self._base.wait(deadline - now)

    def _fail(self, count: int) -> None:
        """Say why, when one of `count` completions is bad. What was flushed only went with the one that failed."""
        until = time.perf_counter() + _CAUSE_LIMIT_S
        while True:
            bad = [each for each in self._completions[:count] if each.status]
            cause = next((each for each in bad if each.status != structs.FLUSHED), bad[0] if bad else None)
            if cause is not None:
                status, vendor = cause.status, cause.vendor_err
            if (cause is not None and status != structs.FLUSHED) or time.perf_counter() > until:
                break
            count = max(0, self._base.operations.poll(self._base.queue, _POLL_ENTRIES, self._completions))
        words = self._base.library.status_text(status)
        raise HalfFailed(
            "refused" if status == structs.REMOTE_ACCESS_ERROR else "transfer-failed",
            f"{self._operation} of {self._size} bytes failed: {words} (completion status {status}, vendor {vendor:#x})",
            words,
        )


def percentiles(times_s: list[float]) -> dict[str, float]:
    """Sum up single times, in microseconds; empty for none."""
    if not times_s:
        return {}
    ordered = sorted(times_s)
    last = len(ordered) - 1
    points = {"min": 0.0, "p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "max": 1.0}
    return {name: round(ordered[round(last * share)] * 1e6, 3) for name, share in points.items()}
