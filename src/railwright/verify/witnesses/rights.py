"""
Witness 3 for our own engine: the same READ, with remote rights withheld, must be refused by the NIC that is read.

The memory is there and both halves are connected; only the right to read it from afar is missing. Whatever reads it
all the same is no RDMA of a NIC that checks, so a control that passes contradicts.
"""

from railwright.verify.model import MemoryKind, Says, Testimony, Way
from railwright.verify.problems import is_not_here
from railwright.verify.task import Outcome

NAME, NUMBER = "remote-rights-withheld", 3
_REFUSED = "refused"


def testify_control(outcome: Outcome, way: Way, memory: MemoryKind) -> Testimony:
    """Say whether the READ without remote rights was refused, as it must be."""
    driver = outcome.driver
    problem = driver.problem

    def say(says: Says, text: str) -> Testimony:
        lines = (problem.message,) if problem is not None else ()
        return Testimony(NAME, NUMBER, way, memory, says, text, lines, outcome.evidence)

    if driver.samples or any(digest.end == "arrived" for digest in driver.digests):
        return say(
            Says.CONTRADICTS, "the same READ passed without remote rights: nobody checks them, so it proves nothing"
        )
    if problem is None:
        return say(Says.UNCLEAR, "without remote rights it is not said what happened")
    if problem.code == _REFUSED:
        return say(Says.AGREES, f"the same READ was refused without remote rights: {problem.status or problem.message}")
    return say(Says.ABSENT if is_not_here(driver) else Says.UNCLEAR, f"without remote rights: {problem.message}")
