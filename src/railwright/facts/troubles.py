"""What the cluster says of its troubles: events, and the ends of the operators' logs; both read only when asked for."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from railwright.core.kinds import EVENT
from railwright.core.objects import KubeObject
from railwright.facts.model import Unseen
from railwright.facts.pod_model import ContainerFacts, EventFacts, LogRef, PodFacts
from railwright.facts.pods import event_of
from railwright.facts.reading import Reading, together
from railwright.ports.cluster import Selection

MOST_EVENTS = 5_000
"""A cluster in trouble writes more; the newest tell what is wrong now."""
MOST_LOGS = 200
_TAIL_LINES = 2_000
_OF_NODES = "default"
"""Events about nodes are kept there. Source: Kubernetes client-go tools/record, events of cluster-scoped objects."""


async def read_events(
    reading: Reading, namespaces: Iterable[str], pods: tuple[PodFacts, ...]
) -> tuple[EventFacts, ...]:
    """Read events of the operators' namespaces, of the namespaces of pods that matter, and of nodes; oldest first."""
    found: list[EventFacts] = []
    wanted = {*namespaces, *(pod.namespace for pod in pods), _OF_NODES}
    seen = 0

    def take(obj: KubeObject) -> None:
        nonlocal seen
        seen += 1
        found.append(event_of(obj))
        if len(found) > 2 * MOST_EVENTS:
            found[:] = _newest(found)

    await together(reading.each(Selection(EVENT, namespace=name), take) for name in sorted(wanted))
    if seen > MOST_EVENTS:
        why = f"there are {seen:,} of them, and only the newest {MOST_EVENTS:,} were kept"
        reading.unseen.append(Unseen("older events", why))
    return tuple(_newest(found))


def _newest(found: list[EventFacts]) -> list[EventFacts]:
    return sorted(found, key=lambda event: (event.last_at, event.namespace, event.name, event.message))[-MOST_EVENTS:]


async def read_logs(reading: Reading, pods: Iterable[PodFacts], limit_bytes: int) -> Mapping[LogRef, str]:
    """Read the ends of the logs of these pods' containers that have something to tell; at most MOST_LOGS."""
    every = sorted(_wanted(pods), key=lambda pair: (not pair[0], pair[1]))
    wanted = every[:MOST_LOGS]
    if left_out := every[MOST_LOGS:]:
        troubled = sum(in_trouble for in_trouble, _ in left_out)
        why = (
            f"there are {len(every)}, and only {MOST_LOGS} were read; of containers in trouble {troubled} are left out"
        )
        reading.unseen.append(Unseen("further logs of operators' pods", why))
    texts = await together(_read_log(reading, ref, limit_bytes) for _, ref in wanted)
    return {ref: text for (_, ref), text in zip(wanted, texts, strict=True) if text}


async def _read_log(reading: Reading, ref: LogRef, limit_bytes: int) -> str:
    read = partial(
        reading.cluster.logs, ref.namespace, ref.pod, ref.container, tail_lines=_TAIL_LINES, previous=ref.previous
    )
    which = ", the run before" if ref.previous else ""
    text = await reading.attempt(f"log of {ref.namespace}/{ref.pod} {ref.container}{which}", read, "")
    return text.encode()[-limit_bytes:].decode(errors="replace") if limit_bytes > 0 else ""


def _wanted(pods: Iterable[PodFacts]) -> Iterator[tuple[bool, LogRef]]:
    """Choose logs, and say of each whether its container is in trouble; of healthy pods one of each owner is enough."""
    healthy: set[tuple[str, str]] = set()
    for pod in pods:
        in_trouble = [item for item in pod.containers if _is_in_trouble(item)]
        if not in_trouble and pod.is_ready and (pod.namespace, pod.owner) in healthy:
            continue
        if not in_trouble and pod.is_ready:
            healthy.add((pod.namespace, pod.owner))
        for container in pod.containers:
            ref = LogRef(pod.namespace, pod.name, container.name)
            troubled = _is_in_trouble(container)
            if container.state == "running" or (container.state == "terminated" and troubled):
                yield troubled, ref
            if container.last_ending is not None:
                yield troubled, LogRef(ref.namespace, ref.pod, ref.container, previous=True)


def _is_in_trouble(container: ContainerFacts) -> bool:
    if container.state == "terminated":
        return container.exit_code not in {0, None}
    return container.restarts > 0 or container.last_ending is not None or not (container.ready or container.is_init)
