"""
Transfers that fail because of the size of their packets: the same way, tried once with small ones.

A switch port or a NIC that takes less than the ends agreed on drops large packets in silence: small ones, a ping and
every address look well. Where small packets arrive, that is shown, and stands first in the reason.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from railwright.core.verdicts import Verdict
from railwright.verify.families import engine
from railwright.verify.judge import Measured
from railwright.verify.model import MemoryKind, Way
from railwright.verify.run import Bench
from railwright.verify.task import Effort, Exchange

SMALL_BYTES = 1024
"""The largest path MTU that fits into 1,500 bytes."""
PATH_MTU_WORDS = "large packets do not arrive"
MOST_PROBES = 4
_DURATION_S = 0.2


async def try_small_packets(bench: Bench, items: Iterable[Measured]) -> tuple[Measured, ...]:
    """
    Try each way on which every transfer of large packets failed; only a few of them, the rest is like them.

    Returns:
        The items, with the reason of those that fail by the size of their packets.
    """
    known = tuple(items)
    large = {way: size for way in {item.task.way for item in known} if (size := _failing_with(known, way))}
    small: set[Way] = set()
    for way in sorted(large)[:MOST_PROBES]:
        item = next(item for item in known if item.task.way == way and _is_candidate(item))
        if await _passes(bench, item):
            small.add(way)
    return tuple(_said(item, large[item.task.way]) if item.task.way in small else item for item in known)


def _is_candidate(item: Measured) -> bool:
    step = item.task.step
    return step.family == "engine" and step.memory is MemoryKind.HOST and not step.rail_shift


def _failing_with(items: Sequence[Measured], way: Way) -> int:
    """Give the path MTU with which every transfer on a way failed; 0 where one passed, or none was large."""
    own = [item for item in items if item.task.way == way and item.reading.ran in {Verdict.PASS, Verdict.FAIL}]
    sizes = [int(item.reading.wire.get("source_path_mtu_bytes", 0)) for item in own if _is_candidate(item)]
    failed = all(item.reading.ran is Verdict.FAIL and item.reading.blame is None for item in own)
    return max(sizes) if failed and sizes and max(sizes) > SMALL_BYTES else 0


async def _passes(bench: Bench, item: Measured) -> bool:
    effort: Effort = replace(item.task.effort, sizes_bytes=(4 * SMALL_BYTES,), duration_s=_DURATION_S, qps=1)
    wire = replace(item.task.wire, path_mtu_bytes=SMALL_BYTES)
    task = replace(item.task, id=f"{item.task.id}.small", effort=effort, wire=wire, port=item.task.port + 1)
    exchange = engine.bandwidth(task)[0]
    named = Exchange("small-packets", exchange.listen, exchange.connect, exchange.limit_s)
    outcome = await bench.exchange(task, named)
    return all(reply.problem is None for reply in outcome.replies)


def _said(item: Measured, size: int) -> Measured:
    if item.reading.ran is not Verdict.FAIL:
        return item
    reason = (
        f"{PATH_MTU_WORDS}: packets of {size} bytes fail and packets of {SMALL_BYTES} pass, so a port on the way"
        f" takes less than its ends ({item.reading.reason})"
    )
    return replace(item, reading=replace(item.reading, reason=reason))
