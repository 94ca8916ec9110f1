"""
Witness 4, perftest's own lines: at both ends the buffer was GPU memory, registered with the NIC by dma-buf or peermem.

It proves that the memory that the NIC reads and writes is the GPU's. Without a dma-buf line a GPU buffer takes the
kernel's peer-memory client, so nvidia_peermem must then be loaded at both ends, which the facts say.
"""

from railwright.facts.measured import PerftestOutput, Registration
from railwright.verify.model import MemoryKind, Says, Testimony, Way

NAME, NUMBER = "perftest-gpu-memory", 4


def testify(
    source: PerftestOutput, target: PerftestOutput, way: Way, evidence: tuple[str, ...], *, peermem: bool | None
) -> Testimony:
    """
    Say what both ends' lines prove.

    Args:
        peermem: whether nvidia_peermem is loaded at both ends; None when that is not known.
    """

    def say(says: Says, text: str) -> Testimony:
        lines = tuple(
            f"{name}: {line}" for name, out in ((way.source, source), (way.target, target)) for line in out.evidence
        )
        return Testimony(NAME, NUMBER, way, MemoryKind.GPU, says, text, lines, evidence)

    for where, output in ((way.source, source), (way.target, target)):
        if output.problem:
            return say(Says.UNCLEAR, f"perftest at {where}: {output.problem}")
        if output.registration is Registration.NONE:
            return say(Says.CONTRADICTS, f"perftest at {where} made no GPU buffer: it moved host memory")
    used = sorted({source.registration.value, target.registration.value})
    if Registration.PEERMEM.value in used and not peermem:
        known = "is not loaded" if peermem is False else "may not be loaded: nothing says so"
        return say(Says.UNCLEAR, f"GPU memory was registered by its address, and nvidia_peermem {known}")
    return say(Says.AGREES, f"GPU memory at both ends, registered by {' and '.join(used)}")
