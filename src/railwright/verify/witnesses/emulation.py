"""
Witness 2, a GPU-memory transfer through UCX with software emulation forbidden, and witness 3, the negative controls.

With emulation forbidden UCX refuses a transfer that has no zero-copy way; its own table names the lane that carried
it. The controls show that the first answer could have been another one: with GPUDirect withheld, and with RDMA
withheld, the same transfer must be refused. A control that passes makes the proof worthless, so it contradicts.
"""

from railwright.core.ids import RdmaDevice
from railwright.facts.measured import NixlOutput, UcxProtocol
from railwright.facts.sources.nixl import parse_nixl
from railwright.facts.sources.ucx import parse_ucx_usage
from railwright.verify.model import MemoryKind, Says, Testimony, Way
from railwright.verify.problems import is_not_here
from railwright.verify.task import Outcome

NAME, NUMBER = "emulation-forbidden", 2
CONTROLS = {"gpu-direct": "gpu-direct-withheld", "rdma": "rdma-withheld"}
CONTROL_NUMBER = 3

_RDMA = ("rc_", "dc_", "ud_", "rc/", "dc/", "ud/", "srd/", "gga_")
_LOCAL = ("cuda_ipc/", "cma/", "posix/", "sysv/", "self/", "xpmem/", "knem/")


def testify(outcome: Outcome, way: Way, memory: MemoryKind, device: RdmaDevice) -> Testimony:
    """Say what UCX's words prove of a transfer with emulation forbidden."""

    def say(says: Says, text: str, lines: tuple[str, ...] = ()) -> Testimony:
        return Testimony(NAME, NUMBER, way, memory, says, text, lines, outcome.evidence)

    driver = outcome.driver
    said = parse_nixl(driver.raw + "\n" + driver.raw_errors)
    if said.refusals:
        return say(Says.CONTRADICTS, "UCX has no zero-copy way for this transfer, and refused it", said.refusals)
    if driver.problem is not None:
        return say(Says.ABSENT if is_not_here(driver) else Says.UNCLEAR, driver.problem.message, said.errors)
    usage = parse_ucx_usage(driver.raw + "\n" + driver.raw_errors)
    if usage.problem:
        return say(Says.UNCLEAR, f"UCX's table of used protocols: {usage.problem}")
    rows = tuple(row for row in usage.rows if row.is_remote_memory and row.count)
    if not rows:
        return say(Says.UNCLEAR, "UCX says of no protocol that it moved remote memory")
    counted, made = sum(row.count for row in rows), sum(sample.transfers for sample in driver.samples)
    if counted < made:
        return say(Says.UNCLEAR, f"UCX counts {counted} of the {made} transfers that were made: its table is not whole")
    says, text = _of_rows(rows, memory, device)
    return say(says, text, tuple(f"{row.operation} {row.line}" for row in rows))


def _of_rows(rows: tuple[UcxProtocol, ...], memory: MemoryKind, device: RdmaDevice) -> tuple[Says, str]:
    if memory is MemoryKind.GPU and not all(row.is_gpu for row in rows):
        return Says.UNCLEAR, "UCX counts transfers of host memory where GPU memory was meant"
    if not all(row.is_zero_copy for row in rows):
        return Says.CONTRADICTS, "UCX counts transfers that were not zero-copy"
    lanes = sorted({lane for row in rows for lane in row.lanes})
    if any(lane.startswith(_LOCAL) for lane in lanes):
        return Says.CONTRADICTS, f"the bytes took a way past the NIC: {', '.join(lanes)}"
    if not lanes or not all(lane.startswith(_RDMA) for lane in lanes):
        return Says.CONTRADICTS, f"the bytes took no RDMA lane: {', '.join(lanes) or 'none named'}"
    if not device:
        return Says.UNCLEAR, f"the bytes took {', '.join(lanes)}; which device was meant is not known"
    if not all(f"/{device}:" in lane for lane in lanes):
        return Says.CONTRADICTS, f"the bytes took {', '.join(lanes)}, and {device} was meant"
    count = sum(row.count for row in rows)
    return Says.AGREES, f"{count} zero-copy transfers over {', '.join(lanes)}, emulation forbidden"


def testify_control(withheld: str, outcome: Outcome, way: Way, memory: MemoryKind) -> Testimony:
    """Say whether a negative control was refused, as it must be."""
    name = CONTROLS[withheld]

    def say(says: Says, text: str, lines: tuple[str, ...] = ()) -> Testimony:
        return Testimony(name, CONTROL_NUMBER, way, memory, says, text, lines, outcome.evidence)

    driver = outcome.driver
    said: NixlOutput = parse_nixl(driver.raw + "\n" + driver.raw_errors)
    problem = driver.problem
    if said.refusals and not driver.samples and not said.transfers:
        return say(Says.AGREES, f"with {_SPOKEN[withheld]} withheld the same transfer was refused", said.refusals)
    if problem is not None and is_not_here(driver):
        return say(Says.ABSENT, problem.message)
    if problem is not None:
        return say(Says.UNCLEAR, f"with {_SPOKEN[withheld]} withheld: {problem.message}", said.errors)
    if not driver.samples and not said.transfers:
        return say(Says.UNCLEAR, f"with {_SPOKEN[withheld]} withheld it is not said what happened", said.errors)
    return say(Says.CONTRADICTS, f"with {_SPOKEN[withheld]} withheld the same transfer passed: it proves nothing")


_SPOKEN = {"gpu-direct": "GPUDirect", "rdma": "RDMA"}
