"""
How server-side apply sees lists and maps: which are merged, by which keys, and which are one value.

What is known: the live object's managedFields show it for everything that somebody owns; the tables below are for
what nobody owns yet. Every other list is one value, every other map is merged.

Measured: server-side apply of kube-apiserver 1.36.3, 2026-11. Source: x-kubernetes-list-type, -list-map-keys and
-map-type of the custom resource definitions in use (read 2026-11-30), and of the built-in types of Kubernetes 1.33.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from railwright.core import kinds
from railwright.core.objects import Kind

Steps = tuple[str, ...]
"""A path without the keys of list items: ("spec", "template", "spec", "containers", "env")."""

_POD_LISTS: Mapping[str, tuple[str, ...]] = {
    "containers": ("name",),
    "initContainers": ("name",),
    "ephemeralContainers": ("name",),
    "env": ("name",),
    "ports": ("containerPort", "protocol"),
    "volumes": ("name",),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "imagePullSecrets": ("name",),
    "hostAliases": ("ip",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "schedulingGates": ("name",),
    "resourceClaims": ("name",),
}
_POD_KINDS = frozenset({kinds.POD, kinds.JOB, kinds.DAEMON_SET, kinds.DEPLOYMENT})

_KEYED_LISTS: Mapping[tuple[Kind, Steps], tuple[str, ...]] = {
    (kinds.SERVICE_ACCOUNT, ("secrets",)): ("name",),
    (kinds.MACHINE_CONFIG_POOL, ("spec", "pinnedImageSets")): ("name",),
}
_SET_LISTS: frozenset[tuple[Kind, Steps]] = frozenset({(kinds.OPERATOR_GROUP, ("spec", "targetNamespaces"))})

_ATOMIC_MAPS: frozenset[tuple[Kind, Steps]] = frozenset(
    {
        (kinds.OPERATOR_GROUP, ("spec", "selector")),
        (kinds.SUBSCRIPTION, ("spec", "config", "selector")),
        (kinds.SRIOV_NETWORK_POOL_CONFIG, ("spec", "nodeSelector")),
        (kinds.MACHINE_CONFIG_POOL, ("spec", "nodeSelector")),
        (kinds.MACHINE_CONFIG_POOL, ("spec", "machineConfigSelector")),
        (kinds.KUBELET_CONFIG, ("spec", "machineConfigPoolSelector")),
        (kinds.NV_IPAM_IP_POOL, ("spec", "nodeSelector")),
        (kinds.NV_IPAM_CIDR_POOL, ("spec", "nodeSelector")),
        (kinds.DAEMON_SET, ("spec", "selector")),
        (kinds.DEPLOYMENT, ("spec", "selector")),
        (kinds.JOB, ("spec", "selector")),
    }
)

_DEFAULTS_IN_KEYS: Mapping[str, str] = {"protocol": "TCP"}
"""Key fields that the server fills in before it merges."""


@dataclass(frozen=True)
class Shapes:
    """What is known of one object's lists and maps; `seen_*` come from its managedFields and win."""

    kind: Kind
    seen_keys: Mapping[Steps, tuple[str, ...]] = field(default_factory=dict)
    seen_sets: frozenset[Steps] = frozenset()
    seen_whole: frozenset[Steps] = frozenset()
    """Paths that some manager owns as one value."""

    def keys_of(self, steps: Steps) -> tuple[str, ...]:
        """Key fields of the items of a list, sorted; empty when it is no keyed list."""
        if steps in self.seen_keys:
            return self.seen_keys[steps]
        if steps in self.seen_whole or steps in self.seen_sets:
            return ()
        known = _KEYED_LISTS.get((self.kind, steps), ())
        if not known and self.kind in _POD_KINDS and "metadata" not in steps:
            known = _POD_LISTS.get(steps[-1], ())
        if not known and steps == ("metadata", "ownerReferences"):
            known = ("uid",)
        return tuple(sorted(known))

    def is_set(self, steps: Steps) -> bool:
        """Whether a list is merged by its values."""
        if steps in self.seen_whole:
            return False
        return steps in self.seen_sets or (self.kind, steps) in _SET_LISTS or steps == ("metadata", "finalizers")

    def is_whole(self, steps: Steps) -> bool:
        """Whether a map is one value."""
        return steps in self.seen_whole or (self.kind, steps) in _ATOMIC_MAPS


def item_step(item: Any, keys: tuple[str, ...]) -> str | None:
    """Name an item of a keyed list, "[name=x]"; None when it lacks a key field."""
    if not isinstance(item, Mapping):
        return None
    parts = []
    for key in keys:
        value = item.get(key, _DEFAULTS_IN_KEYS.get(key))
        if value is None:
            return None
        parts.append(f"{key}={value}")
    return f"[{','.join(parts)}]"


def without_items(path: tuple[str, ...]) -> Steps:
    """Leave out the steps that name items: what the tables are keyed by."""
    return tuple(step for step in path if not is_item(step))


def is_item(step: str) -> bool:
    """Whether a step names an item of a list."""
    return step.startswith("[") and step.endswith("]")


def key_names(step: str) -> frozenset[str]:
    """Name the key fields in the step of a keyed list's item; empty for any other step."""
    if not is_item(step) or step.startswith("[="):
        return frozenset()
    return frozenset(part.partition("=")[0] for part in step[1:-1].split(","))


def is_entry(step: str) -> bool:
    """Whether a step names an entry inside a string."""
    return step.startswith("{") and step.endswith("}")
