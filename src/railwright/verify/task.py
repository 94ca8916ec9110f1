"""One cell on its way: what is asked of its two halves, and what they answered. Families fill it, run.py runs it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from railwright.core.ids import NodeName, RailName
from railwright.core.verdicts import Verdict
from railwright.dataplane.model import Meeting, Memory, RailEnd, Reply, Request, Wire
from railwright.ports.endpoint import HeldRail
from railwright.verify.model import MemoryKind, SizePoint, Step, Testimony, Way

START_S = 20.0
"""What starting a half may take: a Python in a busy pod, CUDA, the verbs library."""
PATIENCE_S = 15.0
"""How long a half waits for the other one."""


_PLAIN = Wire()


@dataclass(frozen=True)
class Effort:
    """
    How much is measured.

    Attributes:
        duration_s: of each timed stretch.
        sizes_bytes: of the bandwidth families; sweep_bytes: of the sweep.
        qps, depth: queue pairs, and transfers in flight on each.
        iterations: of NIXL and NCCL.
    """

    duration_s: float = 2.0
    sizes_bytes: tuple[int, ...] = (65536, 1 << 20)
    sweep_bytes: tuple[int, ...] = (4096, 16384, 65536, 262144, 1 << 20, 8 << 20)
    qps: int = 4
    depth: int = 32
    iterations: int = 50
    largest_gpu_bytes: int = 1 << 28


@dataclass(frozen=True)
class End:
    """One end of a task: what its endpoint holds, and where the other half reaches it over TCP."""

    held: HeldRail
    meeting_address: str


@dataclass(frozen=True)
class Task:
    """
    One cell before it is run.

    Attributes:
        port: the first of a few TCP ports that are this task's own.
        patience_s: how long a half waits for the other one.
    """

    id: str
    step: Step
    way: Way
    source: End
    target: End
    port: int
    effort: Effort
    wire: Wire = _PLAIN
    patience_s: float = PATIENCE_S

    @property
    def ends_driving(self) -> tuple[End, End]:
        """The listening end and the connecting one: who writes connects, and so does who reads."""
        return (self.source, self.target) if self.step.direction == "read" else (self.target, self.source)

    def meetings(self, number: int = 0) -> tuple[Meeting, Meeting]:
        """How the halves of the task's exchange `number` find each other: listening, connecting."""
        listening, _ = self.ends_driving
        address, port = listening.meeting_address, self.port + number
        return Meeting("listen", address, port, self.patience_s), Meeting("connect", address, port, self.patience_s)

    def memory(self, end: End) -> Memory:
        """Where an end's bytes live."""
        if self.step.memory is MemoryKind.HOST:
            return Memory("host")
        return Memory("gpu", gpu_pci=end.held.gpu)


def rail_end(end: End) -> RailEnd:
    """Name an end's NIC as a probe finds it."""
    return RailEnd(netdev=end.held.netdev, device=end.held.device)


@dataclass(frozen=True)
class Exchange:
    """
    One probe with two halves.

    Attributes:
        name: "run", or the name of a negative control.
        limit_s: when both halves are given up, whatever they say.
    """

    name: str
    listen: Request
    connect: Request
    limit_s: float


@dataclass(frozen=True)
class Outcome:
    """What the two halves of an exchange answered, by end."""

    exchange: Exchange
    source: Reply
    target: Reply
    evidence: tuple[str, ...] = ()
    """Names of the two raw replies in the record: source's, target's."""

    @property
    def replies(self) -> tuple[Reply, Reply]:
        """Both."""
        return self.source, self.target

    @property
    def driver(self) -> Reply:
        """The reply of the half that moves the bytes: of the two, the one that connects."""
        return self.source if self.source.role == "connect" else self.target


@dataclass(frozen=True)
class Reading:
    """
    What a family makes of its outcomes.

    Attributes:
        ran: PASS when every transfer ended well; FAIL when one was seen to fail; UNKNOWN, SKIP with `reason`.
        at_bytes, qps: what `average_gbps` was measured with.
        loss: what says that packets were sent again; "" when nothing does.
        loss_watched: whether any counter that would say so was read.
        is_reference: perftest's number is the figure of record on hardware.
    """

    ran: Verdict
    reason: str = ""
    average_gbps: float | None = None
    at_bytes: int = 0
    qps: int = 1
    sizes: tuple[SizePoint, ...] = ()
    latency_us: Mapping[str, float] = field(default_factory=dict)
    bytes_checked: Verdict = Verdict.SKIP
    bytes_reason: str = ""
    testimonies: tuple[Testimony, ...] = ()
    wire: Mapping[str, str] = field(default_factory=dict)
    loss: str = ""
    loss_watched: bool = True
    is_reference: bool = False
    blame: tuple[NodeName, RailName] | None = None
    """The port whose own half said what is wrong with it."""
