"""Judge one object, or one expectation of the plan, and say what has to be read for it."""

from collections.abc import Iterable
from datetime import datetime

from railwright.core import kinds
from railwright.core.objects import MISSHAPEN, Kind, KubeObject, Ref, dig, kind_of, ref_of
from railwright.plan.model import (
    Allocatable,
    DriverLoaded,
    Expectation,
    MemoryLockable,
    NadPresent,
    NodeLabel,
    PodsReady,
    PoolUpdated,
    RailUp,
    VfsManaged,
)
from railwright.readiness import expectations, hardware
from railwright.readiness.answers import progressing, unknown
from railwright.readiness.judges import COMPANIONS, JUDGES, OPTIONAL, OWN
from railwright.readiness.model import Companions, Judgement, Receipt

_SAID_CHARACTERS = 200

Selected = tuple[Kind, str, str]
"""Kind, namespace ("" for all or none), labels as on a command line ("" for all)."""


def judge(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    """
    Judge whether a live object does what it is there for.

    Args:
        obj: the whole live object.
        companions: what `selections_for` names, as last read.
        receipt: our last write of it; None when we did not write it.
        now: the time of the cluster's clock.

    Returns:
        UNKNOWN for a kind without a judge, and when a kind that the judge needs is not served.
    """
    try:
        return _judge(obj, companions, receipt, now)
    except MISSHAPEN as error:
        return _not_understood(str(ref_of(obj)), error)


def _judge(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    kind = kind_of(obj)
    judge_kind = JUDGES.get(kind)
    if judge_kind is None:
        return unknown(f"no judge for {kind}")
    if dig(obj, "metadata", "deletionTimestamp"):
        return progressing(f"{ref_of(obj)} is being deleted")
    if receipt is not None and int(dig(obj, "metadata", "generation", default=0)) < receipt.generation:
        return progressing(f"{ref_of(obj)}: what was read is older than our write")
    needed = {wanted for wanted, _, _ in COMPANIONS.get(kind, ())} - OPTIONAL
    missing = sorted(needed & companions.unserved)
    if missing:
        return unknown(f"{ref_of(obj)} cannot be judged: {', '.join(str(item) for item in missing)} is not served")
    return judge_kind(obj, companions, receipt, now)


def judge_expectation(expectation: Expectation, companions: Companions, now: datetime) -> Judgement:
    """Judge one thing that the plan expects of a node, a pool or a network."""
    del now
    try:
        return _judged(expectation, companions)
    except MISSHAPEN as error:
        return _not_understood(type(expectation).__name__, error)


def _judged(expectation: Expectation, companions: Companions) -> Judgement:
    match expectation:
        case Allocatable():
            return expectations.judge_allocatable(expectation, companions)
        case NodeLabel():
            return expectations.judge_label(expectation, companions)
        case PodsReady():
            return expectations.judge_pods(expectation, companions)
        case NadPresent():
            return expectations.judge_network_there(expectation, companions)
        case PoolUpdated():
            return expectations.judge_pool_updated(expectation, companions)
        case VfsManaged():
            return hardware.judge_vfs(expectation, companions)
        case RailUp():
            return hardware.judge_rail(expectation, companions)
        case DriverLoaded():
            return hardware.judge_driver(expectation, companions)
        case MemoryLockable():
            return hardware.judge_memory(expectation, companions)


def _not_understood(what: str, error: Exception) -> Judgement:
    """Say that an object holds something else than its kind allows: never that it is ready, and no end of the run."""
    said = f"{type(error).__name__}: {error}"[:_SAID_CHARACTERS]
    return unknown(f"{what}, or what it is judged with, has another form than its kind has ({said})")


def selections_for(refs: Iterable[Ref], expected: Iterable[Expectation]) -> tuple[Selected, ...]:
    """
    List what has to be read and watched to judge these, beside the objects themselves.

    Returns:
        Sorted, each once; nothing that a wider selection of the same kind holds already.
    """
    found: set[Selected] = set()
    for ref in refs:
        for kind, namespace, labels in COMPANIONS.get(ref.kind, ()):
            found.add((kind, ref.namespace if namespace == OWN else namespace, labels))
    for item in expected:
        found.update(_selections_of(item))
    return tuple(sorted(item for item in found if not any(_holds(other, item) for other in found if other != item)))


def _selections_of(item: Expectation) -> tuple[Selected, ...]:
    match item:
        case Allocatable() | NodeLabel():
            return ((kinds.NODE, "", ""),)
        case PodsReady():
            return ((kinds.DAEMON_SET, item.namespace, ""), (kinds.POD, item.namespace, ""))
        case NadPresent():
            return ((kinds.NETWORK_ATTACHMENT_DEFINITION, item.namespace, ""),)
        case PoolUpdated():
            kubelet: tuple[Selected, ...] = ((kinds.KUBELET_CONFIG, "", ""),) if item.kubelet_config else ()
            return ((kinds.MACHINE_CONFIG_POOL, "", ""), (kinds.NODE, "", ""), *kubelet)
        case RailUp() | DriverLoaded() | MemoryLockable() | VfsManaged():
            return ()


def _holds(wide: Selected, narrow: Selected) -> bool:
    """Whether one selection holds everything of another."""
    same_place = wide[1] in {"", narrow[1]}
    return wide[0] == narrow[0] and same_place and wide[2] in {"", narrow[2]}
