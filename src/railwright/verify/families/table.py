"""The families, each once: what it is for, what it moves, and its two functions."""

from collections.abc import Callable
from dataclasses import dataclass

from railwright.core.errors import UsageError
from railwright.verify.families import engine, nccl, nixl, perftest
from railwright.verify.model import Direction, MemoryKind, Seat, Step
from railwright.verify.task import Exchange, Outcome, Reading, Task

Seats = tuple[Seat | None, Seat | None]


@dataclass(frozen=True)
class Family:
    """One entry of the table; `has_line_rate` says whether its bandwidth is held against a floor."""

    name: str
    meaning: str
    exchanges: Callable[[Task], tuple[Exchange, ...]]
    read: Callable[[Task, tuple[Outcome, ...], Seats], Reading]
    has_line_rate: bool = True


def _without_seats(
    read: Callable[[Task, tuple[Outcome, ...]], Reading],
) -> Callable[[Task, tuple[Outcome, ...], Seats], Reading]:
    return lambda task, outcomes, _: read(task, outcomes)


_engine = _without_seats(engine.read)

FAMILIES = (
    Family(
        "engine",
        "our verbs engine: WRITE and READ, every byte checked, and a READ that must be refused",
        engine.bandwidth,
        _engine,
    ),
    Family(
        "nixl",
        "NIXL over UCX with emulation forbidden, and its controls",
        nixl.exchanges,
        _without_seats(nixl.read),
        has_line_rate=False,
    ),
    Family(
        "perftest",
        "ib_write_bw and ib_read_bw: the figure of record on hardware",
        perftest.exchanges,
        lambda task, outcomes, seats: perftest.read(task, outcomes, seats=seats),
    ),
    Family("latency", "small messages, one in flight, percentiles", engine.latency, _engine, has_line_rate=False),
    Family(
        "cm",
        "the engine through the RDMA connection manager",
        engine.over_rdma_cm,
        _engine,
        has_line_rate=False,
    ),
    Family("sweep", "bandwidth by message size, 4 KiB to 8 MiB", engine.sweep, _engine),
    Family(
        "nccl",
        "NCCL all-reduce, its log read for GDRDMA",
        nccl.exchanges,
        _without_seats(nccl.read),
        has_line_rate=False,
    ),
)
NAMES = tuple(family.name for family in FAMILIES)


def known_families(names: tuple[str, ...]) -> tuple[str, ...]:
    """Check names that a person gave. Raises UsageError for one that is not in the table."""
    for name in names:
        if name not in NAMES:
            raise UsageError(f"no family is named {name!r}", hint=f"families: {', '.join(NAMES)}")
    return names


def family(name: str) -> Family:
    """Find a family. Raises KeyError for one that is not in the table (a bug of ours)."""
    return next(item for item in FAMILIES if item.name == name)


_W, _R, _B = Direction.WRITE, Direction.READ, Direction.BOTH
_H, _G = MemoryKind.HOST, MemoryKind.GPU

# family, direction, memory, both ways round, in a quick run
_PLAN = (
    ("engine", _W, _H, True, True),
    ("engine", _W, _G, True, True),
    ("nixl", _R, _G, True, True),
    ("perftest", _W, _G, True, True),
    ("engine", _R, _H, True, True),
    ("nixl", _R, _H, False, True),
    ("perftest", _W, _H, True, True),
    ("perftest", _R, _H, True, False),
    ("engine", _R, _G, True, False),
    ("perftest", _R, _G, True, False),
    ("nixl", _W, _G, True, False),
    ("latency", _W, _H, True, False),
    ("latency", _R, _H, False, False),
    ("engine", _B, _H, False, False),
    ("engine", _B, _G, False, False),
    ("cm", _W, _H, True, False),
    ("sweep", _W, _H, False, False),
    ("sweep", _W, _G, False, False),
    ("nccl", _B, _G, False, False),
)
_NO_GPU = {("nixl", _R, _H)}
"""Only where there are no GPUs: there it stands in for the controls on GPU memory."""
_EXPECTED_S = {"engine": 8.0, "nixl": 20.0, "perftest": 7.0, "latency": 7.0, "cm": 6.0, "sweep": 16.0, "nccl": 40.0}
_REFUSED_READ_S = 3.0
"""What the engine's READ without remote rights comes to: both halves start again for it."""


def steps(
    *, has_gpus: bool, quick: bool, names: tuple[str, ...] = (), rail_shifts: tuple[int, ...] = ()
) -> tuple[Step, ...]:
    """
    List what is run on each pair, most important first.

    Args:
        names: only these families; empty for all.
        rail_shifts: from rail i to rail i+n as well, with the engine on host memory.
    """
    found = []
    for name, direction, memory, both_ways, is_quick in _PLAN:
        if (names and name not in names) or (quick and not is_quick):
            continue
        if (memory is _G) != has_gpus and (memory is _G or (name, direction, memory) in _NO_GPU):
            continue
        found += [
            Step(name, direction, memory, backwards, expected_s=_expected_s(name, direction))
            for backwards in ((False, True) if both_ways else (False,))
        ]
    if not names or "engine" in names:
        found += [Step("engine", _W, _H, rail_shift=shift, expected_s=_EXPECTED_S["engine"]) for shift in rail_shifts]
    return tuple(found)


def _expected_s(name: str, direction: Direction) -> float:
    return _EXPECTED_S[name] + (_REFUSED_READ_S if (name, direction) == ("engine", _R) else 0.0)
