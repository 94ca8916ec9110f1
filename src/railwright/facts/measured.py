"""
What tools that move bytes say of a run, parsed: perftest, NIXL, UCX and NCCL.

`problem` is the heart of each type: why nothing of the output may be believed. A number is there only where the whole
output was understood; whoever judges turns a problem into UNKNOWN, never into a pass.
"""

from dataclasses import dataclass
from enum import StrEnum

from railwright.core.foreign_text import whole_number


@dataclass(frozen=True)
class BandwidthRow:
    """
    One line of a bandwidth test.

    Attributes:
        peak_gbps, average_gbps: payload, 10**9 bit/s; the peak is 0 in runs of fixed duration.
        message_rate_mpps: 10**6 messages a second.
    """

    size_bytes: int
    iterations: int
    peak_gbps: float
    average_gbps: float
    message_rate_mpps: float


@dataclass(frozen=True)
class LatencyRow:
    """One line of a latency test; every time in microseconds, one way for writes, round trip for reads."""

    size_bytes: int
    iterations: int
    min_us: float
    typical_us: float
    average_us: float
    p99_us: float
    p999_us: float


class Registration(StrEnum):
    """How perftest's own lines say that GPU memory was registered with the NIC."""

    NONE = "none"
    """No GPU buffer was made: a host-memory test."""
    DMA_BUF = "dma-buf"
    DATA_DIRECT = "data-direct"
    """dma-buf through the NIC's Data Direct function."""
    PEERMEM = "peermem"
    """A GPU buffer without any dma-buf line: it takes the kernel's peer-memory client."""


@dataclass(frozen=True)
class PerftestOutput:
    """
    One end's output of one perftest program.

    Attributes:
        test: "RDMA_Write BW", "RDMA_Read Latency", ... as the title says.
        header: "Link type" -> "Ethernet", "Mtu" -> "4096[B]", as printed.
        registration: what its lines say of GPU memory; evidence holds those lines.
        errors: its own words about what went wrong, in order.
        problem: why its numbers may not be believed; "" when they may.
    """

    test: str = ""
    header: tuple[tuple[str, str], ...] = ()
    bandwidth: tuple[BandwidthRow, ...] = ()
    latency: tuple[LatencyRow, ...] = ()
    registration: Registration = Registration.NONE
    evidence: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    problem: str = ""

    def value(self, key: str) -> str:
        """A header's value; empty when it was not printed."""
        return dict(self.header).get(key, "")


@dataclass(frozen=True)
class NixlTransfer:
    """One size and direction of a NIXL run; `bandwidth_gbps` is the median's payload, 10**9 bit/s."""

    operation: str
    """"READ" or "WRITE"."""
    size_bytes: int
    bandwidth_gbps: float
    latency_us: float


@dataclass(frozen=True)
class NixlOutput:
    """
    What NIXL and the UCX below it printed on one side.

    Attributes:
        backend: "UCX" once its backend was made; "" before.
        refusals: UCX's words where emulation is forbidden and no zero-copy protocol exists.
        errors: every other error, as printed.
    """

    backend: str = ""
    transfers: tuple[NixlTransfer, ...] = ()
    refusals: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class UcxProtocol:
    """
    One row of UCX's table of protocols that were used, with its count.

    Attributes:
        operation: "remote memory read by ucp_get*(multi) into cuda/GPU1 from cuda/dev[2]".
        lanes: transports with their devices: ("rc_mlx5/mlx5_0:1",).
    """

    operation: str
    count: int
    size_range: str
    description: str
    lanes: tuple[str, ...]
    line: str

    @property
    def is_remote_memory(self) -> bool:
        """Whether it moves bytes of remote memory; the others are control messages."""
        return self.operation.startswith("remote memory")

    @property
    def is_gpu(self) -> bool:
        """Whether either end is GPU memory."""
        return "cuda" in self.operation

    @property
    def is_zero_copy(self) -> bool:
        """Whether the bytes were not copied on their way."""
        return "zero-copy" in self.description and "emulation" not in self.description


@dataclass(frozen=True)
class UcxUsage:
    """Every protocol that a process of UCX used; empty rows with an empty problem mean: it moved nothing."""

    rows: tuple[UcxProtocol, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class NcclChannel:
    """One direction of one channel: "0[0] -> 1[0] [send] via NET/IB/0/GDRDMA"."""

    channel: str
    source_rank: int
    target_rank: int
    transport: str
    """"NET/IB/0", "NET/Socket/0", "P2P", "SHM"."""
    is_gpu_direct: bool
    line: str

    @property
    def hca_index(self) -> int | None:
        """Index into the HCAs that NCCL listed; None for anything but NET/IB."""
        parts = self.transport.split("/")
        return whole_number(parts[2]) if parts[:2] == ["NET", "IB"] and len(parts) > 2 else None


@dataclass(frozen=True)
class NcclOutput:
    """
    What NCCL said with NCCL_DEBUG=INFO, all ranks of one process group on one side.

    Attributes:
        version: "2.30.7+cuda13.0".
        hcas: index -> "mlx5_0:1/RoCE", in the order NCCL lists them.
        ranks_ready: ranks that said that their communicator is complete; ranks_expected: how many there should be.
    """

    version: str = ""
    hcas: tuple[tuple[int, str], ...] = ()
    channels: tuple[NcclChannel, ...] = ()
    ranks_ready: tuple[int, ...] = ()
    ranks_expected: int = 0
    warnings: tuple[str, ...] = ()
    problem: str = ""

    @property
    def network_channels(self) -> tuple[NcclChannel, ...]:
        """Channels that leave the node."""
        return tuple(item for item in self.channels if item.transport.startswith("NET/"))
