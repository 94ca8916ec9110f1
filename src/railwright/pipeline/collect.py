"""
Read everything that discover, plan, status and the doctor read, and what else explains a failure: events and logs.

Nothing is kept here: the world that is handed in records what is read through it. What of an object goes into an
archive is decided by `collect_keep.py`.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from railwright.core import kinds
from railwright.core.errors import ClusterUnreachable, LoginExpired, RailwrightError
from railwright.core.marks import LEDGER_NAMESPACE
from railwright.core.objects import KubeObject, Ref, dig, ref_of
from railwright.facts.cluster import operator_namespaces
from railwright.facts.discover import discover
from railwright.facts.model import Scope, Snapshot
from railwright.pipeline.collect_keep import keep
from railwright.ports import progress as events
from railwright.ports.cluster import Cluster, Selection
from railwright.ports.progress import Progress
from railwright.ports.world import World

LOG_LINES = 5000
_NODE_EVENTS = "default"
"""Events of objects without a namespace, as nodes, are there. Source: Kubernetes documentation, Event v1."""

EVERYWHERE = (
    kinds.NAMESPACE,
    kinds.DAEMON_SET,
    kinds.DEPLOYMENT,
    kinds.SERVICE_ACCOUNT,
    kinds.ROLE,
    kinds.ROLE_BINDING,
    kinds.CLUSTER_ROLE,
    kinds.CLUSTER_ROLE_BINDING,
)
"""Read beside what discover reads: plan compares with them, status judges by them."""


async def keeper(cluster: Cluster) -> Callable[[KubeObject], KubeObject]:
    """Decide what of objects is kept, once it is known in which namespaces Subscriptions put the operators."""
    found: dict[Ref, KubeObject] = {}
    with suppress(RailwrightError):  # what can't be read is noted when it is read into the archive
        async for obj in cluster.list(Selection(kinds.SUBSCRIPTION)):
            found[ref_of({"apiVersion": kinds.SUBSCRIPTION.api_version, "kind": kinds.SUBSCRIPTION.kind, **obj})] = obj
    return partial(keep, namespaces=operator_namespaces(found))


async def gather(world: World, scope: Scope, missed: Callable[[str, str], None], progress: Progress) -> Snapshot:
    """
    Read it all; what cannot be read is for the world to note.

    Args:
        missed: takes what was asked for by name and is not there to be read: a node of another cluster.

    Raises:
        ClusterUnreachable: the API server does not answer (any more).
        LoginExpired: it does not know us (any more).
    """
    snapshot = await discover(world.cluster, world.node, scope, progress, world.clock)
    asked = {f"Node {name}" for name in scope.nodes}
    for unseen in snapshot.cluster.unseen:
        if unseen.what in asked:
            missed(unseen.what, unseen.why)
    namespaces = operator_namespaces(snapshot.cluster.objects)
    selections = tuple(_selections(snapshot, namespaces))
    for number, selection in enumerate(selections):
        progress.emit(events.Reading("lists", number, len(selections)))
        await _read(world, selection)
    progress.emit(events.Reading("lists", len(selections), len(selections)))
    await _read_logs(world, namespaces, progress)
    return snapshot


def _selections(snapshot: Snapshot, namespaces: frozenset[str]) -> Iterator[Selection]:
    served = {item.kind for item in snapshot.cluster.served_kinds}
    yield from (Selection(kind) for kind in EVERYWHERE if not served or kind in served)
    yield Selection(kinds.CONFIG_MAP, namespace=LEDGER_NAMESPACE)
    used = {pod.namespace for pod in snapshot.cluster.pods}
    yield from (Selection(kinds.EVENT, namespace=name) for name in sorted({*namespaces, *used, _NODE_EVENTS}))


async def _read(world: World, selection: Selection) -> None:
    try:
        async for _ in world.cluster.list(selection):
            pass
    except (ClusterUnreachable, LoginExpired):
        raise
    except RailwrightError:
        return  # the recording world has noted it


async def _read_logs(world: World, namespaces: frozenset[str], progress: Progress) -> None:
    """Read logs of the operators' pods: of those in trouble first, since there is an end to the room for them."""
    pods = [pod async for pod in _pods(world, namespaces)]
    pods.sort(key=lambda pod: (not _is_in_trouble(pod), str(dig(pod, "metadata", "name"))))
    for number, pod in enumerate(pods):
        progress.emit(events.Reading("logs", number, len(pods)))
        namespace, name = str(dig(pod, "metadata", "namespace")), str(dig(pod, "metadata", "name"))
        for container, previous in logs_of(pod):
            with suppress(RailwrightError):  # the recording world has noted it
                await world.cluster.logs(namespace, name, container, tail_lines=LOG_LINES, previous=previous)
    progress.emit(events.Reading("logs", len(pods), len(pods)))


async def _pods(world: World, namespaces: Iterable[str]) -> Any:
    for namespace in sorted(namespaces):
        with suppress(RailwrightError):
            async for pod in world.cluster.list(Selection(kinds.POD, namespace=namespace)):
                yield pod


def logs_of(pod: KubeObject) -> tuple[tuple[str, bool], ...]:
    """Name the logs that a pod has: containers that ran, and their previous run where they were restarted."""
    found: list[tuple[str, bool]] = []
    for key in ("initContainerStatuses", "containerStatuses"):
        for status in dig(pod, "status", key, default=()):
            name = str(dig(status, "name", default=""))
            if dig(status, "state", "running") is not None or dig(status, "state", "terminated") is not None:
                found.append((name, False))
            if dig(status, "restartCount", default=0) or dig(status, "lastState", "terminated") is not None:
                found.append((name, True))
    return tuple(found)


def _is_in_trouble(pod: KubeObject) -> bool:
    statuses = [
        status
        for key in ("initContainerStatuses", "containerStatuses")
        for status in dig(pod, "status", key, default=())
    ]
    return dig(pod, "status", "phase") != "Running" or any(
        dig(status, "restartCount", default=0) or dig(status, "state", "waiting") is not None for status in statuses
    )
