"""The four answers, and how several become one."""

from collections.abc import Iterable
from datetime import datetime

from railwright.core.objects import KubeObject, dig
from railwright.readiness.model import Judgement, Readiness, Receipt

SETTLE_S = 5.0
"""
How long a status without observedGeneration may be older than our write.

Measured: 0.4 to 1.2 s with Network Operator 26.4.1 and GPU Operator 26.7.0 controllers against kube-apiserver
1.36.3, 2026-11; 5 s is that with room (estimate).
"""

_WORST_FIRST = (Readiness.FAILED, Readiness.UNKNOWN, Readiness.PROGRESSING, Readiness.READY)


def ready(reason: str) -> Judgement:
    """Say that it is there."""
    return Judgement(Readiness.READY, reason)


def progressing(reason: str, waiting_for: str = "") -> Judgement:
    """Say that it may still come; `waiting_for` is the reason unless somebody else can be named."""
    return Judgement(Readiness.PROGRESSING, reason, waiting_for or reason)


def failed(reason: str, waiting_for: str = "") -> Judgement:
    """Say that it says itself that it cannot go on."""
    return Judgement(Readiness.FAILED, reason, waiting_for)


def unknown(reason: str) -> Judgement:
    """Say that it cannot be told."""
    return Judgement(Readiness.UNKNOWN, reason)


def worst_of(judgements: Iterable[Judgement], otherwise: Judgement) -> Judgement:
    """Give the first of the worst answers: failed, unknown, progressing; `otherwise` when all are ready."""
    found = tuple(judgements)
    for answer in _WORST_FIRST[:-1]:
        for judgement in found:
            if judgement.readiness is answer:
                return judgement
    return otherwise


def may_be_stale(receipt: Receipt | None, now: datetime, settle_s: float = SETTLE_S) -> bool:
    """Whether a status that does not say what it is about may still be the one from before our write."""
    return receipt is not None and receipt.changed and (now - receipt.written_at).total_seconds() < settle_s


def condition(obj: KubeObject, type_: str) -> KubeObject | None:
    """Find a condition of an object's status."""
    conditions = dig(obj, "status", "conditions", default=[])
    return next((item for item in conditions if item.get("type") == type_), None)


def holds(obj: KubeObject, type_: str) -> bool:
    """Whether a condition is there and True."""
    found = condition(obj, type_)
    return found is not None and found.get("status") == "True"


def message_of(found: KubeObject | None) -> str:
    """Put a condition into words: its reason and message."""
    if found is None:
        return ""
    parts = (str(found.get("reason") or ""), str(found.get("message") or ""))
    return ": ".join(part for part in parts if part)
