"""
From witnesses to one answer: is the way direct? Pure.

PASS takes the checked bytes, the first negative control, the NIC's counters, and one witness that names the way
itself. What is missing is named; one that contradicts makes it FAIL.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from railwright.core.verdicts import Verdict
from railwright.verify.model import Says, Testimony
from railwright.verify.witnesses import capability, checksums, counters, emulation, nccl, perftest, rights

_NEEDED = {
    checksums.NAME: "checked bytes",
    emulation.CONTROLS["gpu-direct"]: "the control with GPUDirect withheld",
    counters.NAME: "the NIC's counters",
}
_ONE_OF = {
    emulation.NAME: "a transfer with emulation forbidden",
    perftest.NAME: "perftest's own lines",
    nccl.NAME: "NCCL's own words",
}
NAMES = {
    **_NEEDED,
    **_ONE_OF,
    emulation.CONTROLS["rdma"]: "the control with RDMA withheld",
    rights.NAME: "the READ without remote rights",
    nccl.CONTROL: "NCCL with GPUDirect withheld",
    capability.NAME: "drivers and PCI paths",
}


@dataclass(frozen=True)
class Directness:
    """The answer, why, and by which witnesses."""

    verdict: Verdict
    reason: str
    witnessed_by: tuple[str, ...] = ()


def judge_direct(testimonies: Iterable[Testimony]) -> Directness:
    """Judge one way of GPU memory by everything that was said of it."""
    heard = tuple(testimonies)
    against = next((item for item in heard if item.says is Says.CONTRADICTS), None)
    if against is not None:
        return Directness(Verdict.FAIL, against.text)
    agreeing = {item.witness for item in heard if item.says is Says.AGREES}
    missing = [name for name in _NEEDED if name not in agreeing]
    if not agreeing & set(_ONE_OF):
        missing.append(next(iter(_ONE_OF)))
    if missing:
        return Directness(
            Verdict.UNKNOWN, "not shown to be direct: " + "; ".join(_why(name, heard) for name in missing)
        )
    return Directness(Verdict.PASS, "", tuple(name for name in NAMES if name in agreeing))


def _why(name: str, heard: tuple[Testimony, ...]) -> str:
    said = [item for item in heard if item.witness == name]
    if not said:
        return f"{NAMES[name]} {'were' if NAMES[name].endswith('s') else 'was'} not there"
    return f"{NAMES[name]}: {said[0].text}"
