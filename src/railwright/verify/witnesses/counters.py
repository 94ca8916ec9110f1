"""
Witness 5, the NIC's byte counters: they rose on the NIC that was meant, by the payload and no more than its packets need.

It proves which port carried the bytes. Counters of a port count everybody's traffic: more than the packets of this
transfer need makes the answer unclear, never a pass. Counters of network devices don't count RDMA on hardware, so they
are not asked.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from railwright.dataplane.model import Counter, EngineRequest
from railwright.verify.model import MemoryKind, Says, Testimony, Way
from railwright.verify.task import Outcome

NAME, NUMBER = "nic-counters", 5

_SENT = ("port_xmit_data", "tx_vport_rdma_unicast_bytes", "sent_bytes")
_RECEIVED = ("port_rcv_data", "rx_vport_rdma_unicast_bytes", "rcvd_bytes")
_BYTES_OF_UNIT = {"bytes": 1, "4 bytes": 4}

_PACKET_OVERHEAD_BYTES = 102
"""
The longest headers of one packet: Ethernet with VLAN and FCS 22, IPv6 40, UDP 8, base 12, RDMA 16, checksum 4.

Source: InfiniBand Architecture Specification volume 1, annex A17 (RoCEv2); InfiniBand's own headers are shorter.
"""
_SMALLEST_MTU_BYTES = 256
_SLACK = 1.05
_SLACK_BYTES = 1 << 20
"""What a quiet port may carry besides: acknowledgements, connection management, neighbours' broadcasts."""


@dataclass(frozen=True)
class Rise:
    """How far one end's counter rose."""

    name: str
    source: str
    rise_bytes: int | None
    why: str = ""


def testify(outcome: Outcome, way: Way, memory: MemoryKind) -> Testimony:
    """Say what the counters of both ends prove of one transfer from source to target."""
    least, most = _expected(outcome)
    sent = _rise(outcome.source.before, outcome.source.after, _SENT)
    received = _rise(outcome.target.before, outcome.target.after, _RECEIVED)
    lines = tuple(
        f"{where}: {item.source} {item.name} rose by {item.rise_bytes} bytes"
        for where, item in ((f"{way.source} sent", sent), (f"{way.target} received", received))
        if item.rise_bytes is not None
    )

    def say(says: Says, text: str) -> Testimony:
        return Testimony(NAME, NUMBER, way, memory, says, text, lines, outcome.evidence)

    if not least:
        return say(Says.UNCLEAR, "how much was moved is not known")
    if most is None:
        return say(
            Says.UNCLEAR, "the path MTU is not known, and with it how many packets with headers the payload needs"
        )
    unknown = next((item for item in (sent, received) if item.rise_bytes is None), None)
    if unknown is not None:
        return say(Says.ABSENT, unknown.why)
    for where, item in (
        (f"{way.source_rail} of {way.source} sent", sent),
        (f"{way.target_rail} of {way.target} received", received),
    ):
        rise = item.rise_bytes or 0
        if rise < least:
            return say(Says.CONTRADICTS, f"{where} {rise} bytes by its counter, less than the payload of {least}")
        if rise > most:
            return say(
                Says.UNCLEAR,
                f"{where} {rise} bytes by its counter, more than the {most} that this transfer needs: other traffic",
            )
    return say(
        Says.AGREES, f"both ports' counters rose by the payload of {least} bytes, and not by more than its packets need"
    )


def _expected(outcome: Outcome) -> tuple[int, int | None]:
    """
    Give the least and the most that the ports carry: payload, and with headers, checks and what was still in flight.

    The most is None where the path MTU is not known.
    """
    samples = [sample for reply in outcome.replies for sample in reply.samples]
    timed = sum(sample.transfers * sample.size_bytes for sample in samples)
    checked = sum(digest.covered_bytes for reply in outcome.replies for digest in reply.digests if digest.end == "born")
    request = outcome.exchange.connect
    in_flight = (
        sum(size * request.qps * request.depth for size in request.sizes_bytes)
        if isinstance(request, EngineRequest)
        else 0
    )
    mtu_bytes = _path_mtu_bytes(outcome)
    if mtu_bytes is None:
        return timed, None
    overhead = 1 + _PACKET_OVERHEAD_BYTES / mtu_bytes
    return timed, int((timed + 2 * checked + in_flight) * overhead * _SLACK) + _SLACK_BYTES


def _path_mtu_bytes(outcome: Outcome) -> int | None:
    """Give the MTU that the halves' queue pairs were brought up with, the smaller of the two; None when neither says."""
    return min((reply.used.path_mtu_bytes for reply in outcome.replies if reply.used.path_mtu_bytes), default=None)


def carried_bytes(before: Iterable[Counter], after: Iterable[Counter]) -> int | None:
    """Say how much a port sent and received in between; None where its counters don't tell."""
    both = [_rise(tuple(before), tuple(after), names).rise_bytes for names in (_SENT, _RECEIVED)]
    known = [rise for rise in both if rise is not None]
    return sum(known) if known else None


def _rise(first: tuple[Counter, ...], after: tuple[Counter, ...], names: tuple[str, ...]) -> Rise:
    """Take the first counter of the list that was read before and after."""
    before = {(item.source, item.name): item for item in first}
    for name in names:
        for item in after:
            earlier = before.get((item.source, item.name))
            if item.name != name or earlier is None:
                continue
            return _difference(earlier, item)
    return Rise("", "", None, "no counter that counts RDMA is visible at both ends")


def _difference(before: Counter, after: Counter) -> Rise:
    factor = _BYTES_OF_UNIT.get(after.unit)
    if factor is None or before.unit != after.unit:
        return Rise(after.name, after.source, None, f"{after.name} has a unit that is not known: {after.unit!r}")
    if after.value < before.value:
        return Rise(after.name, after.source, None, f"{after.name} fell: it was reset meanwhile")
    return Rise(after.name, after.source, (after.value - before.value) * factor)


_LOST = (
    "out_of_sequence",
    "packet_seq_err",
    "local_ack_timeout_err",
    "implied_nak_seq_err",
    "duplicate_request",
    "rcvd_seq_err",
    "out_of_seq_request",
    "completer_retry_err",
    "retry_exceeded_err",
)
"""
Counters that rise when packets are sent again.

Source: Linux drivers/infiniband/hw/mlx5/counters.c and drivers/infiniband/sw/rxe/rxe_hw_counters.c.
"""
LOSS_WORDS = "packets were sent again"
LOSS_SHARE = 0.001
"""More than so many of the packets sent again is loss; a lossless fabric has none."""


def watches_loss(outcome: Outcome) -> bool:
    """Whether any counter that would show packets sent again was read, before and after, at either end."""
    return any(
        item.name in _LOST and (item.source, item.name) in {(one.source, one.name) for one in reply.before}
        for reply in outcome.replies
        for item in reply.after
    )


def loss(outcome: Outcome, payload_bytes: int | None = None) -> str:
    """
    Say that packets were lost, with the counters that show it; "" when none say so.

    Args:
        payload_bytes: how much was moved; None for what the halves' own samples say.
    """
    payload = _expected(outcome)[0] if payload_bytes is None else payload_bytes
    if not payload:
        return ""
    # Without an MTU as many packets as there can be: what is too much of them is too much of fewer.
    packets = max(1, payload // (_path_mtu_bytes(outcome) or _SMALLEST_MTU_BYTES))
    seen = []
    for where, reply in (("source", outcome.source), ("target", outcome.target)):
        before = {(item.source, item.name): item.value for item in reply.before}
        for item in reply.after:
            rise = item.value - before.get((item.source, item.name), item.value)
            if item.name in _LOST and rise > max(1, LOSS_SHARE * packets):
                seen.append((rise, f"{item.name} +{rise} at the {where}"))
    if not seen:
        return ""
    worst = max(seen)[0]
    return f"{LOSS_WORDS}, {worst} of about {packets}: {', '.join(text for _, text in seen)}"
