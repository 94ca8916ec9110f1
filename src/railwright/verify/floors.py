"""
What hardware must reach on average: the slower of port rate and PCIe link, of both ends, by a share from the catalog.

Pure. A peak is the best stretch of a run and flatters it, so only averages are held against a floor. Below 64 KiB, or
with fewer than 4 queue pairs, the number of messages is the limit and not the line: there is no floor there.
"""

from dataclasses import dataclass

from railwright.catalog.model import Catalog
from railwright.core.verdicts import Verdict
from railwright.verify.model import Direction, MemoryKind, Seat

SMALLEST_LINE_RATE_BYTES = 64 * 1024
FEWEST_LINE_RATE_QPS = 4

_PACKET_PAYLOAD_BYTES = 128
_PACKET_OVERHEAD_BYTES = 26
"""
Start, sequence number, header with 64-bit address, digest, end, and link control traffic of one PCIe packet.

128 bytes is the smallest payload that a server sets: a floor must be reachable there too.
Source: inferred from the packet format of the PCI Express base specification.
"""
_FLIT_GTS = 64.0
_ENCODING = ((8.0, 8 / 10), (_FLIT_GTS, 128 / 130))


@dataclass(frozen=True)
class Floor:
    """
    A floor, or why there is none.

    Attributes:
        minimum_gbps: payload, 10**9 bit/s, average; the tolerance is in it. None where there is no floor, or where it
            is not known.
        why: what it is made of, or why there is none.
        unknown: what of the hardware is not known. Without a minimum nothing can be said then; with one it is the
            highest that the floor can be, so that less than it is no failure yet.
    """

    minimum_gbps: float | None
    why: str
    unknown: str = ""


def pcie_payload_gbps(speed_gts: float | None, lanes: int | None) -> float | None:
    """
    Say what a PCIe link carries of payload.

    Source: PCI Express base specification: 8b/10b below 8 GT/s, 128b/130b up to 32 GT/s, flits of 256 bytes at 64 GT/s
    (236 of them payload and headers).
    """
    if not speed_gts or not lanes:
        return None
    encoding = next((share for limit, share in _ENCODING if speed_gts < limit), 236 / 256)
    packets = _PACKET_PAYLOAD_BYTES / (_PACKET_PAYLOAD_BYTES + _PACKET_OVERHEAD_BYTES)
    return round(speed_gts * lanes * encoding * packets, 2)


def floor(
    source: Seat,
    target: Seat,
    direction: Direction,
    size_bytes: int,
    qps: int,
    catalog: Catalog,
    memory: MemoryKind = MemoryKind.HOST,
) -> Floor:
    """Give the floor of one cell at one message size."""
    if direction is Direction.BOTH:
        return Floor(None, "no floor for both directions at once")
    if size_bytes < SMALLEST_LINE_RATE_BYTES or qps < FEWEST_LINE_RATE_QPS:
        return Floor(None, "below 64 KiB or 4 queue pairs the number of messages is the limit")
    limits = [
        (value, f"{what} of {seat.rail} on {seat.node}")
        for seat in (source, target)
        for value, what in ((seat.rate_gbps, "port rate"), (seat.pcie_gbps, "PCIe link"))
    ]
    unknown = next((f"the {what} is not known" for value, what in limits if not value), "")
    if not (source.rate_gbps and target.rate_gbps):
        return Floor(None, unknown, unknown)
    share, _ = min(catalog.floor_share(seat.nic_id, seat.gpu_id, memory.value) for seat in (source, target))
    slowest, what = min((value, what) for value, what in limits if value)
    return Floor(round(slowest * share, 2), f"{share:.0%} of {slowest:g} Gb/s ({what})", unknown)


def judge_bandwidth(average_gbps: float, limit: Floor) -> Verdict:
    """Compare an average with its floor; SKIP where there is none, UNKNOWN where it can't be told."""
    if limit.minimum_gbps is None:
        return Verdict.UNKNOWN if limit.unknown else Verdict.SKIP
    if average_gbps >= limit.minimum_gbps:
        return Verdict.PASS
    return Verdict.UNKNOWN if limit.unknown else Verdict.FAIL
