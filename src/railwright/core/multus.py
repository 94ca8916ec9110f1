"""
How pods and networks find each other: names of annotations, each once, and what is written in them.

Source: Network Plumbing Working Group, "Kubernetes Network Custom Resource Definition De-facto Standard" 1.3, sections 4
and 5; k8snetworkplumbingwg/multus-cni 28e3dc0, pkg/k8sclient/k8sclient.go, its constants.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from railwright.core.foreign_text import parse_json

PREFIX = "k8s.v1.cni.cncf.io/"
NETWORKS = PREFIX + "networks"
"""On a pod: the networks that it asks for."""
NETWORK_STATUS = PREFIX + "network-status"
"""On a pod: what Multus gave it (facts/sources/network_status.py reads it)."""
RESOURCE_NAME = PREFIX + "resourceName"
"""On a NetworkAttachmentDefinition: the resource that a pod has to ask for with it."""


@cache
def networks_of(annotation: str, namespace: str) -> tuple[tuple[str, str], ...]:
    """
    Read the networks annotation of a pod: namespace and name of each NAD, in order.

    Both spellings: `ns/a@net1, b` and a JSON list of {"name", "namespace"}.
    """
    text = annotation.strip()
    if text.startswith("["):
        try:
            items = parse_json(text)
        except ValueError:
            return ()
        return tuple(
            (str(item.get("namespace") or namespace), str(item.get("name")))
            for item in items
            if isinstance(item, dict) and item.get("name")
        )
    return tuple(_split(part.strip(), namespace) for part in text.split(",") if part.strip())


def _split(part: str, namespace: str) -> tuple[str, str]:
    place, slash, name = part.partition("@")[0].rpartition("/")
    return (place if slash else namespace, name)


@cache
def plugins_of(text: str) -> tuple[Mapping[str, Any], ...]:
    """Read the config of a NAD: its plugins, the one that makes the interface first; none when it cannot be read."""
    try:
        config = parse_json(text)
    except ValueError:
        return ()
    if not isinstance(config, dict):
        return ()
    plugins = config.get("plugins", [config])
    return tuple(item for item in plugins if isinstance(item, dict)) if isinstance(plugins, list) else ()
