"""
Witness 6, NCCL's own words: every channel between the nodes goes via NET/IB/n/GDRDMA on the HCA that was meant.

It proves what an application of many GPUs would use. NVLink between nodes is switched off for it.
"""

from railwright.core.ids import RdmaDevice
from railwright.facts.measured import NcclChannel
from railwright.facts.sources.nccl import parse_nccl
from railwright.verify.model import MemoryKind, Says, Testimony, Way
from railwright.verify.problems import is_not_here
from railwright.verify.task import Outcome

NAME, NUMBER = "nccl", 6
CONTROL = "nccl-gpu-direct-withheld"


def testify(outcome: Outcome, way: Way, devices: tuple[RdmaDevice, RdmaDevice]) -> Testimony:
    """Say what both ranks' words prove; `devices` are the HCAs meant at source and target, "" where not known."""
    lines: list[str] = []

    def say(says: Says, text: str) -> Testimony:
        return Testimony(NAME, NUMBER, way, MemoryKind.GPU, says, text, tuple(lines), outcome.evidence)

    for where, reply, device in zip((way.source, way.target), outcome.replies, devices, strict=True):
        if reply.problem is not None:
            return say(Says.ABSENT if is_not_here(reply) else Says.UNCLEAR, f"{where}: {reply.problem.message}")
        said = parse_nccl(reply.raw + "\n" + reply.raw_errors)
        if said.problem:
            return say(Says.UNCLEAR, f"NCCL at {where}: {said.problem}")
        channels = said.network_channels
        lines += [f"{where}: {item.line}" for item in channels[:8]]
        if not channels:
            return say(Says.CONTRADICTS, f"NCCL at {where} has no channel over the network")
        one_way = _one_way(channels)
        if one_way:
            return say(
                Says.UNCLEAR, f"NCCL at {where} names one direction only of channel {one_way}: its log is not whole"
            )
        staged = next((item for item in channels if not item.is_gpu_direct), None)
        if staged is not None:
            return say(Says.CONTRADICTS, f"NCCL at {where} stages through host memory: {staged.line}")
        hcas = dict(said.hcas)
        used = {hcas.get(item.hca_index, "") if item.hca_index is not None else "" for item in channels}
        if not device:
            return say(
                Says.UNCLEAR, f"NCCL at {where} used {', '.join(sorted(used))}; which HCA was meant is not known"
            )
        if not all(name.startswith(f"{device}:") for name in used):
            return say(Says.CONTRADICTS, f"NCCL at {where} used {', '.join(sorted(used))}, and {device} was meant")
    return say(Says.AGREES, "every channel between the nodes is GDRDMA on the HCA that was meant")


def _one_way(channels: tuple[NcclChannel, ...]) -> str:
    """Name a channel of which only one direction is there; of two ranks each sends and receives on every one."""
    ways = {(item.channel, item.source_rank, item.target_rank) for item in channels}
    return next((channel for channel, one, other in sorted(ways) if (channel, other, one) not in ways), "")


def testify_control(outcome: Outcome, way: Way, run: Outcome) -> Testimony:
    """Say whether GDRDMA goes away when GPUDirect is withheld, as it must; `run` is the one in which it was not."""

    def say(says: Says, text: str, lines: tuple[str, ...] = ()) -> Testimony:
        return Testimony(CONTROL, 3, way, MemoryKind.GPU, says, text, lines, outcome.evidence)

    for where, reply in zip((way.source, way.target), outcome.replies, strict=True):
        if reply.problem is not None:
            return say(Says.ABSENT if is_not_here(reply) else Says.UNCLEAR, f"{where}: {reply.problem.message}")
        said = parse_nccl(reply.raw + "\n" + reply.raw_errors)
        if said.problem or not said.network_channels:
            return say(Says.UNCLEAR, f"NCCL at {where}: {said.problem or 'no channel over the network'}")
        direct = tuple(item.line for item in said.network_channels if item.is_gpu_direct)
        if direct:
            return say(Says.CONTRADICTS, f"NCCL at {where} still says GDRDMA with GPUDirect withheld", direct)
    if not _was_direct(run):
        return say(
            Says.UNCLEAR, "no channel said GDRDMA before GPUDirect was withheld: that none does now shows nothing"
        )
    return say(Says.AGREES, "with GPUDirect withheld no channel says GDRDMA")


def _was_direct(run: Outcome) -> bool:
    """Whether both ranks named a channel that is GPUDirect."""
    words = (parse_nccl(reply.raw + "\n" + reply.raw_errors) for reply in run.replies)
    return all(any(item.is_gpu_direct for item in said.network_channels) for said in words)
