"""What a half's problem means for its cell: measured and wrong, not looked at, or not to be had here. Pure."""

from railwright.core.ids import NodeName, RailName
from railwright.core.verdicts import Verdict
from railwright.dataplane.model import Problem, Reply
from railwright.verify.model import Way

_NOT_HERE = ("tool-missing", "no-library")
_NOT_LOOKED_AT = ("broken-request", "unexpected", "unknown-layout", "not-permitted", "no-gpu", "pkeys-unread")
_MEASURED = (
    "no-device",
    "port-down",
    "no-gid",
    "no-pkey",
    "no-memory-to-lock",
    "gpu-registration-refused",
    "refused",
    "died",
    "transfer-failed",
    "timed-out",
    "peer-lost",
)
_OWN = frozenset(
    {"no-device", "port-down", "no-gid", "no-pkey", "no-memory-to-lock", "gpu-registration-refused", "died"}
)
"""Problems that lie in the half that reports them."""
_LAST = ("peer-missing",)
_ORDER = (*_NOT_HERE, *_NOT_LOOKED_AT, *_MEASURED, *_LAST)
"""Which of two halves' problems is the cause: whoever waited for a half that could not start only waited."""


def problem_of(replies: tuple[Reply, Reply], way: Way) -> tuple[Verdict, str]:
    """
    Join the problems of both halves.

    Returns:
        PASS and "" when neither has one.
    """
    found = [
        (_rank(reply.problem), number, reply.problem)
        for number, reply in enumerate(replies)
        if reply.problem is not None
    ]
    if not found:
        return Verdict.PASS, ""
    _, number, problem = min(found, key=lambda item: item[:2])
    where = f"{way.source_rail} of {way.source}" if number == 0 else f"{way.target_rail} of {way.target}"
    seen = "" if problem.code in _OWN else "seen at "
    return _verdict(problem), f"{seen}{where}: {problem.message}{_status(problem)}"


def is_not_here(reply: Reply) -> bool:
    """Whether a half lacks the tool itself: that can't be had in its place, and is not held against what it would show."""
    return reply.problem is not None and reply.problem.code in _NOT_HERE


def blame_of(replies: tuple[Reply, Reply], way: Way) -> tuple[NodeName, RailName] | None:
    """
    Give the port whose own half says what is wrong with it.

    Returns:
        None when neither says so, or both ports are down: one that goes down takes the other's link with it. Of two
        that each lack something of their own the one whose lack is the reason; the way back names the other.
    """
    ends = ((way.source, way.source_rail), (way.target, way.target_rail))
    own = [
        (_rank(reply.problem), number, reply.problem.code)
        for number, reply in enumerate(replies)
        if reply.problem and reply.problem.code in _OWN
    ]
    if not own or [code for *_, code in own] == ["port-down", "port-down"]:
        return None
    return ends[min(own)[1]]


def _rank(problem: Problem) -> int:
    return _ORDER.index(problem.code) if problem.code in _ORDER else len(_NOT_HERE)


def _verdict(problem: Problem) -> Verdict:
    if problem.code in _NOT_HERE:
        return Verdict.SKIP
    return Verdict.FAIL if problem.code in _MEASURED else Verdict.UNKNOWN


def _status(problem: Problem) -> str:
    return f" ({problem.status})" if problem.status and problem.status not in problem.message else ""
