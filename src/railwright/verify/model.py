"""
What verify gives: one VerifyRecord, with a verdict for every planned cell and the evidence behind it.

A cell is one way of bytes: from a rail of one node to a rail of another, into host or GPU memory, by one family of
probes. Two questions are answered apart: is it direct (no kernel, no host memory in the way), and is it fast.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from railwright.core.ids import NetDevice, NodeName, PciAddress, RailName, RdmaDevice
from railwright.core.verdicts import Verdict


class Direction(StrEnum):
    """How the bytes are moved; they always flow from source to target."""

    WRITE = "write"
    """The source writes into the target's memory."""
    READ = "read"
    """The target reads the source's memory."""
    BOTH = "both"
    """Source and target write to each other at the same time."""


class MemoryKind(StrEnum):
    """Where the bytes are born and where they arrive."""

    HOST = "host"
    GPU = "gpu"


@dataclass(frozen=True, order=True)
class Way:
    """From a rail of one node to a rail of another."""

    source: NodeName
    source_rail: RailName
    target: NodeName
    target_rail: RailName

    def __str__(self) -> str:
        """Write as people say it."""
        rail = (
            f"{self.source_rail}"
            if self.source_rail == self.target_rail
            else f"{self.source_rail} to {self.target_rail}"
        )
        return f"{self.source} to {self.target} on {rail}"


@dataclass(frozen=True)
class Step:
    """
    What is run on every rail of every pair of a round at the same time.

    Attributes:
        family: a name of the family table.
        backwards: from the pair's second node to its first.
        rail_shift: 0 is same-rail; n is from rail i to rail i+n.
        expected_s: how long it takes, for the plan that is shown before the start.
    """

    family: str
    direction: Direction
    memory: MemoryKind
    backwards: bool = False
    rail_shift: int = 0
    expected_s: float = 5.0


@dataclass(frozen=True)
class SizePoint:
    """One message size of a cell."""

    size_bytes: int
    average_gbps: float
    floor_gbps: float | None = None


@dataclass(frozen=True)
class Cell:
    """
    One planned cell and how it ended.

    Attributes:
        verdict: the worst of bytes checked, `direct` and `fast`; SKIP left out.
        reason: one sentence; empty only when everything passed.
        average_gbps: payload, 10**9 bit/s, average over the timed stretch at the size that is judged.
        floor_gbps: what the hardware must reach on average; None where there is no floor.
        latency_us: percentiles, keyed "p50", "p99"; empty for bandwidth families.
        evidence: names of the raw replies of this cell, in the record's `raw`.
        wire: what the packets looked like and which device carried them: "gid", "path_mtu_bytes", ...
        confirmed: it failed, was run again on its own, and failed again.
    """

    id: str
    source: NodeName
    target: NodeName
    source_rail: RailName
    target_rail: RailName
    direction: Direction
    memory: MemoryKind
    family: str
    verdict: Verdict
    direct: Verdict = Verdict.SKIP
    fast: Verdict = Verdict.SKIP
    reason: str = ""
    average_gbps: float | None = None
    floor_gbps: float | None = None
    latency_us: Mapping[str, float] = field(default_factory=dict)
    bytes_checked: Verdict = Verdict.SKIP
    sizes: tuple[SizePoint, ...] = ()
    evidence: tuple[str, ...] = ()
    wire: Mapping[str, str] = field(default_factory=dict)
    confirmed: bool = False

    @property
    def way(self) -> Way:
        """Its two ends."""
        return Way(self.source, self.source_rail, self.target, self.target_rail)


class Says(StrEnum):
    """What a witness says of directness."""

    AGREES = "agrees"
    CONTRADICTS = "contradicts"
    UNCLEAR = "unclear"
    """It was asked, and its answer can't be used."""
    ABSENT = "absent"
    """It can't be had here; said, and not held against the cell."""


@dataclass(frozen=True)
class Testimony:
    """
    What one witness says of one way (or of one seat), with its raw evidence.

    Attributes:
        witness: "bytes", "nic-counters", "forbidden-emulation", ... a name of the witness table.
        number: 1 to 7, as docs/verify.md numbers them; 3 is the negative controls.
        text: one sentence.
        lines: the raw lines that it rests on.
        evidence: names of raw replies, in the record's `raw`.
    """

    witness: str
    number: int
    way: Way
    memory: MemoryKind
    says: Says
    text: str
    lines: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Culprit:
    """
    Where failures were narrowed to.

    Attributes:
        kind: "node", "port", "rail", "pair", "direction", "swapped-rails", "way".
        where: "worker-3", "rail1 of worker-3", ...
        text: one sentence: what is wrong there, and how that is known.
        cells: ids of the cells that it explains.
    """

    kind: str
    where: str
    text: str
    cells: tuple[str, ...] = ()


@dataclass(frozen=True)
class LeftOut:
    """Cells that were asked for and not planned, and why: budget, busy, not enough nodes."""

    reason: str
    cells: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Coverage:
    """
    How much was looked at, of what could have been.

    Attributes:
        ways: pairs of ports that some cell was judged on; ways_possible: all of the fabric.
        nodes, nodes_possible: the same for nodes.
        by_verdict: cells by verdict.
        left_out: what was not planned, with reasons.
        shrunk: what an earlier run covered and this one does not, a line each.
    """

    cells: int
    by_verdict: Mapping[Verdict, int]
    nodes: int
    nodes_possible: int
    ways: int
    ways_possible: int
    left_out: tuple[LeftOut, ...] = ()
    shrunk: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScheduleSummary:
    """What was planned before the start; `held` is what no one else could use meanwhile."""

    rounds: int
    rounds_possible: int
    pairs: int
    steps: tuple[Step, ...]
    cells: int
    expected_s: float
    held_gpus: int
    held_rails: int


@dataclass(frozen=True)
class Regression:
    """
    A cell that is slower than in an earlier run: by its average, or by its latency.

    Attributes:
        before_us, now_us: half of its messages took no longer; None where bandwidth is compared, as are the others where
            latency is.
    """

    cell: str
    what: str
    before_gbps: float | None
    now_gbps: float | None
    before_us: float | None = None
    now_us: float | None = None

    @property
    def change(self) -> str:
        """Write as people say it."""
        if self.now_gbps is not None and self.before_gbps is not None:
            return f"{self.now_gbps:.1f} Gb/s, was {self.before_gbps:.1f}"
        return f"{self.now_us or 0.0:.2f} us (p50), was {self.before_us or 0.0:.2f}"


@dataclass(frozen=True)
class Seat:
    """
    One rail on one node: what the facts say of it.

    Attributes:
        distance: between GPU and NIC, in nvidia-smi's words; "" where it is not known.
        pcie_gbps: what the NIC's PCIe link carries, 10**9 bit/s; None where it is not known.
        capability: what speaks for and against a direct path, a line each ("dma-buf: open driver 580.95.05").
        obstacles: what makes a direct path impossible or slow ("ACS redirects ...").
        unread: what could not be read of that ("ACS at 0000:12:00.0"): there may be more obstacles.
        pkeys: partition keys of an InfiniBand port: of the VF that a pod has where it read them, else of the PF; empty
            where they were not read.
        ipoib_partition: number of its IPoIB device's partition; None where it has none, or it was not read.
    """

    node: NodeName
    rail: RailName
    pci: PciAddress | None = None
    netdev: NetDevice | None = None
    rdma: RdmaDevice | None = None
    gpu: PciAddress | None = None
    distance: str = ""
    rate_gbps: float | None = None
    pcie_gbps: float | None = None
    numa: int | None = None
    switch: str = ""
    """PCI address of the nearest bridge that GPU and NIC share; "" when there is none."""
    capability: tuple[str, ...] = ()
    obstacles: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    peermem: bool | None = None
    """Whether nvidia_peermem is loaded on the node; None when that is not known."""
    nic_id: str = ""
    gpu_id: str = ""
    """PCI ids, "15b3:1021" and "10de:2335"."""
    pkeys: tuple[int, ...] = ()
    ipoib_partition: int | None = None
    skip: str = ""
    """Why this seat is not verified ("busy: ..."); "" when it is."""


@dataclass(frozen=True)
class Summary:
    """
    The answer.

    Attributes:
        claim: what was shown, worded by what was witnessed: nothing more.
        simulated: no byte of it was real.
        bed: what ran it: "pods of CLUSTER", "soft-RoCE in a virtual machine", ...; not_real: what that bed leaves out.
    """

    verdict: Verdict
    direct: Verdict
    fast: Verdict
    claim: str
    exit_code: int
    fabric: str
    method: str
    cluster: str
    simulated: bool
    bed: str
    not_real: tuple[str, ...]
    started_at: str
    ended_at: str
    elapsed_s: float
    interrupted: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class VerifyRecord:
    """Everything of one run; `raw` holds each half's whole reply as JSON text, by name."""

    summary: Summary
    cells: tuple[Cell, ...]
    witnesses: tuple[Testimony, ...]
    coverage: Coverage
    schedule: ScheduleSummary
    seats: tuple[Seat, ...] = ()
    culprits: tuple[Culprit, ...] = ()
    regressions: tuple[Regression, ...] = ()
    raw: Mapping[str, str] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """As core/errors.py has it."""
        return self.summary.exit_code
