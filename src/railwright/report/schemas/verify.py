"""Shapes of what verify, lab and report give; `cells` and `witnesses` are the heart of it."""

from typing import Any, Literal

from railwright.report.schemas.base import Shape

Answer = Literal["PASS", "FAIL", "SKIP", "UNKNOWN"]


class SummaryShape(Shape):
    """The answer; `claim` says what was shown and nothing more."""

    verdict: Answer
    direct: Answer
    fast: Answer
    claim: str
    exit_code: int
    fabric: str
    method: str
    cluster: str
    simulated: bool
    bed: str
    not_real: list[str]
    started_at: str
    ended_at: str
    elapsed_s: float
    interrupted: bool
    notes: list[str]


class SizeShape(Shape):
    """One message size of a cell; averages in 10**9 bit/s of payload."""

    size_bytes: int
    average_gbps: float
    floor_gbps: float | None


class CellShape(Shape):
    """One planned cell: bytes flow from source to target."""

    id: str
    source: str
    target: str
    source_rail: str
    target_rail: str
    direction: Literal["write", "read", "both"]
    memory: Literal["host", "gpu"]
    family: str
    verdict: Answer
    direct: Answer
    fast: Answer
    reason: str
    average_gbps: float | None
    floor_gbps: float | None
    latency_us: dict[str, float]
    bytes_checked: Answer
    sizes: list[SizeShape]
    evidence: list[str]
    wire: dict[str, str]
    confirmed: bool


class WayShape(Shape):
    """From a rail of one node to a rail of another."""

    source: str
    source_rail: str
    target: str
    target_rail: str


class TestimonyShape(Shape):
    """What one witness says of one way; `number` as in docs/verify.md."""

    witness: str
    number: int
    way: WayShape
    memory: Literal["host", "gpu"]
    says: Literal["agrees", "contradicts", "unclear", "absent"]
    text: str
    lines: list[str]
    evidence: list[str]


class LeftOutShape(Shape):
    """Cells that were not planned, and why."""

    reason: str
    cells: int
    examples: list[str]


class CoverageShape(Shape):
    """How much was looked at, of what could have been."""

    cells: int
    by_verdict: dict[str, int]
    nodes: int
    nodes_possible: int
    ways: int
    ways_possible: int
    left_out: list[LeftOutShape]
    shrunk: list[str]


class StepShape(Shape):
    """What ran on every rail of every pair of a round at the same time."""

    family: str
    direction: Literal["write", "read", "both"]
    memory: Literal["host", "gpu"]
    backwards: bool
    rail_shift: int
    expected_s: float


class ScheduleShape(Shape):
    """What was planned before the start."""

    rounds: int
    rounds_possible: int
    pairs: int
    steps: list[StepShape]
    cells: int
    expected_s: float
    held_gpus: int
    held_rails: int


class SeatShape(Shape):
    """One rail on one node, by the facts."""

    node: str
    rail: str
    pci: str | None
    netdev: str | None
    rdma: str | None
    gpu: str | None
    distance: str
    rate_gbps: float | None
    pcie_gbps: float | None
    numa: int | None
    switch: str
    capability: list[str]
    obstacles: list[str]
    unread: list[str]
    peermem: bool | None
    nic_id: str
    gpu_id: str
    pkeys: list[int]
    ipoib_partition: int | None
    skip: str


class CulpritShape(Shape):
    """Where failures were narrowed to."""

    kind: str
    where: str
    text: str
    cells: list[str]


class RegressionShape(Shape):
    """A cell that is slower than in the baseline."""

    cell: str
    what: str
    before_gbps: float | None
    now_gbps: float | None
    before_us: float | None
    now_us: float | None


class VerifyPayload(Shape):
    """`railwright verify` and `railwright lab`; raw replies are only in the folder of --to, in raw.jsonl."""

    summary: SummaryShape
    cells: list[CellShape]
    witnesses: list[TestimonyShape]
    coverage: CoverageShape
    schedule: ScheduleShape
    seats: list[SeatShape]
    culprits: list[CulpritShape]
    regressions: list[RegressionShape]
    raw: dict[str, Any]


class ChangedShape(Shape):
    """One cell whose verdict changed."""

    cell: str
    before: Answer
    after: Answer
    reason: str


class RunShape(Shape):
    """One of the two runs."""

    cluster: str
    started_at: str
    verdict: Answer


class VerifyDiffPayload(Shape):
    """`railwright report diff`."""

    before: RunShape
    after: RunShape
    worse: list[ChangedShape]
    better: list[ChangedShape]
    slower: list[RegressionShape]
    no_longer_covered: list[str]
    cells_in_both: int
