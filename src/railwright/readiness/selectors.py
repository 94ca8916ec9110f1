"""Which nodes a selector means."""

from collections.abc import Mapping
from typing import Any

from railwright.core import kinds
from railwright.core.objects import KubeObject, dig, labels_of
from railwright.readiness.model import Companions


def nodes_with(companions: Companions, wanted: Mapping[str, str]) -> tuple[KubeObject, ...]:
    """Find nodes that carry all of these labels."""
    return tuple(
        node
        for node in companions.of_kind(kinds.NODE)
        if all(labels_of(node).get(key) == value for key, value in wanted.items())
    )


def matches(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether labels match a Kubernetes label selector; an empty one matches everything."""
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_expression(item, labels) for item in selector.get("matchExpressions") or [])


def _expression(item: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = str(item.get("key", "")), item.get("values") or []
    answers = {
        "In": key in labels and labels[key] in values,
        "NotIn": labels.get(key) not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }
    return answers.get(str(item.get("operator", "")), False)


def is_cordoned(node: KubeObject) -> bool:
    """Whether a node takes no new pods."""
    return bool(dig(node, "spec", "unschedulable", default=False))


def name_of(obj: KubeObject) -> str:
    """Name of an object."""
    return str(obj["metadata"]["name"])
