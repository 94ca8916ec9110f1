"""
Run one half of the verbs engine: sizes one after another, each checked, then timed, then checked again.

Both halves take the same steps, and each step begins when both are there; only who posts differs.
"""

import dataclasses
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Literal

from railwright.dataplane.counters import read_counters
from railwright.dataplane.meeting import Talk, meet
from railwright.dataplane.model import Digest, EngineRequest, Reply, Sample
from railwright.dataplane.problems import HalfFailed
from railwright.dataplane.rail import find_rail
from railwright.dataplane.verbs.drive import DRAIN_LIMIT_S, Driver, Target
from railwright.dataplane.verbs.half import Half, open_half, slots_for
from railwright.dataplane.verbs.memory import sha256_of

_FILL_STEP_BYTES = 1 << 24


def run_engine(request: EngineRequest) -> Reply:
    """Run this half; what stops it is the reply's problem, beside everything that was done until then."""
    begin = time.monotonic()
    notes = _Notes()
    reply = Reply("engine", role=request.meeting.role)
    try:
        with ExitStack() as cleanup:
            # Met first, so that a half that lacks something can tell the other, which would wait for it in vain.
            talk = cleanup.enter_context(meet(request.meeting, _step_limit_s(request)))
            notes.add("met the other half")
            found = find_rail(request.rail, request.wire.partition if request.connection == "tcp" else None)
            notes.add(f"found {found.port.device}/{found.port.port}, GID {found.gid}, partition key {found.key}")
            before = read_counters(found.port.device, found.port.port, found.netdev)
            notes.add(f"read {len(before)} counters")
            reply = dataclasses.replace(reply, before=before)
            half = open_half(request, found, talk, cleanup)
            notes.add(f"connected {request.qps} queue pairs over {request.connection}")
            reply = dataclasses.replace(reply, used=half.used)
            for size in request.sizes_bytes:
                reply = _OneSize(request, half, talk, size, notes).add_to(reply)
            after = read_counters(found.port.device, found.port.port, found.netdev)
            reply = dataclasses.replace(reply, after=after)
            talk.together("end")
            notes.add("closing")
    except HalfFailed as failure:
        reply = dataclasses.replace(reply, problem=failure.problem)
        notes.add(f"gave up: {failure.problem.message}")
    notes.add("closed")
    return dataclasses.replace(reply, elapsed_s=time.monotonic() - begin, raw=notes.text)


def _step_limit_s(request: EngineRequest) -> float:
    """How long the other half may take for one step: its timed stretch, and then some."""
    return request.duration_s + request.meeting.patience_s + DRAIN_LIMIT_S


def _cut(half: Half) -> None:
    """Take our own link down, as a pulled cable would."""
    subprocess.run(["ip", "link", "set", half.used.netdev, "down"], check=True)  # noqa: S603, S607 - the lab's fault


_MIDWAY: dict[str, Callable[[Half], None]] = {
    "cut-midway": _cut,
    "die-midway": lambda _: os.kill(os.getpid(), signal.SIGKILL),
}


class _Notes:
    """What was done when, for whoever reads the raw record."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._lines: list[str] = []

    def add(self, text: str) -> None:
        """Note that something is done now."""
        self._lines.append(f"{time.monotonic() - self._begin:9.3f} s  {text}\n")

    @property
    def text(self) -> str:
        """All lines."""
        return "".join(self._lines)


class _OneSize:
    """The steps for one message size."""

    def __init__(self, request: EngineRequest, half: Half, talk: Talk, size: int, notes: _Notes) -> None:
        self._request, self._half, self._talk, self._size, self._notes = request, half, talk, size, notes
        connects = request.meeting.role == "connect"
        self._drives = connects or request.bidirectional
        self._slots = 1 if request.measure == "latency" else slots_for(size, request)
        self._covered = self._slots * size * (1 if request.measure == "latency" else request.qps)
        writes = request.operation == "write"
        # WRITE: bytes are born where it is posted. READ: where it is answered.
        self._gives = request.bidirectional or connects == writes
        self._takes = request.bidirectional or connects != writes
        self._digests: list[Digest] = []

    def add_to(self, reply: Reply) -> Reply:
        """Take every step; the reply with what came out. Raises HalfFailed."""
        born = self._fill() if self._gives else ""
        self._notes.add(f"{self._size} bytes: filled")
        driver = self._driver() if self._drives else None
        self._notes.add(f"{self._size} bytes: prepared {self._slots} transfers a queue pair")
        self._round("checked", born, driver.once if driver else None)
        samples: list[Sample] = []
        if driver:
            self._round("timed", born, lambda: samples.append(self._time(driver)))
        else:
            self._round("timed", born, None)
        return dataclasses.replace(reply, samples=(*reply.samples, *samples), digests=(*reply.digests, *self._digests))

    def _driver(self) -> Driver:
        half = self._half
        write = self._request.operation == "write"
        own, their = (0, half.area_bytes) if write else (half.area_bytes, 0)
        pairs = half.pairs[:1] if self._request.measure == "latency" else half.pairs
        return Driver(
            half.base,
            pairs,
            self._request.operation,
            self._size,
            self._slots,
            Target(half.buffer.address + own, 0),
            half.buffer.lkey,
            Target(half.their.address + their, half.their.rkey),
        )

    def _time(self, driver: Driver) -> Sample:
        request = self._request
        if request.measure == "latency":
            return driver.latency(request.duration_s, request.iterations)
        return driver.timed(request.duration_s, request.iterations)

    def _round(self, name: str, born: str, drive: object) -> None:
        """Clear, move, and make checksums of what was born here and of what arrived here."""
        request, half = self._request, self._half
        label = f"{request.operation} {self._size} {name}"
        if self._takes:
            half.buffer.write(half.area_bytes, bytes(self._covered))
        self._talk.together(f"before {label}")
        if name == "timed" and request.fault in _MIDWAY:
            signal.signal(signal.SIGALRM, lambda *_: _MIDWAY[request.fault](half))
            signal.setitimer(signal.ITIMER_REAL, request.duration_s / 2)
        self._notes.add(f"{label}: begins")
        if callable(drive):
            drive()
        self._notes.add(f"{label}: done")
        self._talk.together(f"after {label}")
        if self._takes and request.fault == "corrupt-arrival":
            spoiled = half.buffer.read(half.area_bytes, 1)[0] ^ 1
            half.buffer.write(half.area_bytes, bytes([spoiled]))
        if born:
            self._digest(label, "born", born)
        if self._takes:
            self._digest(label, "arrived", sha256_of(half.buffer, half.area_bytes, self._covered))

    def _digest(self, label: str, end: Literal["born", "arrived"], sha256: str) -> None:
        """Keep a checksum; "back" is in front of what is posted by the listening half."""
        from_listener = (self._request.meeting.role == "listen") == (end == "born")
        forth = (self._request.operation == "read") == from_listener
        self._digests.append(Digest(label if forth else f"back {label}", end, sha256, self._covered))

    def _fill(self) -> str:
        """Fill what will be sent with bytes that nobody can guess, and make their checksum where they are."""
        grown = random.Random(f"{self._request.seed} {self._request.meeting.role} {self._size}")  # noqa: S311 - a pattern
        for start in range(0, self._covered, _FILL_STEP_BYTES):
            step = min(_FILL_STEP_BYTES, self._covered - start)
            self._half.buffer.write(start, grown.randbytes(step))
        return sha256_of(self._half.buffer, 0, self._covered)
