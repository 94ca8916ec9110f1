"""What the cluster last complained of about a pod that does not start."""

from railwright.core.errors import PermissionMissing, RailwrightError
from railwright.core.kinds import EVENT
from railwright.facts.pods import event_of
from railwright.ports.cluster import Cluster, Selection

_MOST_CHARACTERS = 200
"""The end of a message is kept: whoever passes an error on writes before it, and its cause comes last."""


async def last_complaint(cluster: Cluster, namespace: str, pod: str) -> str:
    """Give the newest warning about a pod; where events cannot be read, which right is missing; "" without any."""
    try:
        events = [event_of(obj) async for obj in cluster.list(Selection(EVENT, namespace=namespace))]
    except PermissionMissing:
        return f"why it does not start is in events, and listing events in namespace {namespace} is not allowed"
    except RailwrightError as error:
        return f"events were not read: {error.message}"
    warnings = [event for event in events if event.type == "Warning" and (event.kind, event.name) == ("Pod", pod)]
    if not warnings:
        return ""
    newest = max(warnings, key=lambda event: event.last_at)
    said = " ".join(newest.message.split())
    return f"{newest.reason}: {said if len(said) <= _MOST_CHARACTERS else '...' + said[-_MOST_CHARACTERS:]}"
