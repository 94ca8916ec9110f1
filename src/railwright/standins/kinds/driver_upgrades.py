"""
How NVIDIA's two operators replace the driver pods of a DaemonSet: a state a node, kept in a label.

Both use one library for it. A node that is marked to be skipped waits at `upgrade-required`; so many nodes as the policy
allows are cordoned, emptied, get their new pod and are given back.

Measured: the states and their order, Network Operator 26.4.1 and GPU Operator 26.7.0 controllers against
kube-apiserver 1.36.3, 2026-11 (recordings of a driver's version changed, and of peermem switched on).
Source: NVIDIA/k8s-operator-libs 1090aef, pkg/upgrade/consts.go (keys and states), pkg/upgrade/upgrade_inplace.go (slots,
skipped nodes); 0da5def, pkg/upgrade/pod_manager.go (pods that nobody would make again).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from railwright.core.kinds import NODE, POD
from railwright.core.objects import KubeObject, dig, labels_of
from railwright.standins.kinds.daemonsets import REVISION_LABEL, revision
from railwright.standins.model import Objects, Write
from railwright.standins.view import delete, find, is_pod_ready, merge, node_of, nodes, of_kind, pods_of

REQUIRED, RESTART, UNCORDON, DONE = "upgrade-required", "pod-restart-required", "uncordon-required", "upgrade-done"
FAILED = "upgrade-failed"
_CORDON, _JOBS, _VALIDATE = "cordon-required", "wait-for-jobs-required", "validation-required"
_WORKS = frozenset({_CORDON, _JOBS, "drain-required", "pod-deletion-required", RESTART, _VALIDATE, UNCORDON, FAILED})
"""A failed node keeps its slot: with one slot, nothing else is begun."""


@dataclass(frozen=True)
class Upgrade:
    """
    One driver's roll-out.

    Attributes:
        driver: "ofed" or "gpu", as in the labels.
        policy: the section `upgradePolicy`; empty when there is none, or no policy any more.
        sets: the driver's DaemonSets.
    """

    driver: str
    policy: Mapping[str, Any]
    sets: tuple[KubeObject, ...]

    @property
    def state_label(self) -> str:
        """Where a node's state is kept."""
        return f"nvidia.com/{self.driver}-driver-upgrade-state"

    @property
    def skip_label(self) -> str:
        """What keeps a node out."""
        return f"nvidia.com/{self.driver}-driver-upgrade.skip"

    @property
    def emptying(self) -> str:
        """The state in which pods are taken off a node."""
        return "drain-required" if self.driver == "ofed" else "pod-deletion-required"


def roll(world: Objects, upgrade: Upgrade) -> list[Write]:
    """Bring every node one state on; take the labels off where nothing is upgraded by itself."""
    if not upgrade.policy.get("autoUpgrade"):
        return [
            write
            for node in nodes(world)
            if upgrade.state_label in labels_of(node)
            for write in merge(node, {"metadata": {"labels": {upgrade.state_label: None}}})
        ]
    writes: list[Write] = []
    slots = _slots(world, upgrade)
    for item in upgrade.sets:
        newest = revision(item)
        for pod in sorted(pods_of(world, item), key=node_of):
            node = find(world, NODE, node_of(pod))
            if node is None:
                continue
            done = _step(world, upgrade, node, pod, is_old=labels_of(pod).get(REVISION_LABEL) != newest, slots=slots)
            slots -= any(dig(write.body, "metadata", "labels", upgrade.state_label) == _CORDON for write in done)
            writes += done
    return writes


def _slots(world: Objects, upgrade: Upgrade) -> int:
    at_most = int(upgrade.policy.get("maxParallelUpgrades", 1))
    at_work = sum(labels_of(node).get(upgrade.state_label) in _WORKS for node in nodes(world))
    return at_most - at_work if at_most else len(nodes(world))


def _step(
    world: Objects, upgrade: Upgrade, node: KubeObject, pod: KubeObject, *, is_old: bool, slots: int
) -> tuple[Write, ...]:
    """Bring one node one state on."""
    state = labels_of(node).get(upgrade.state_label, "")
    if state in {"", DONE}:
        return _to(upgrade, node, REQUIRED if is_old else DONE)
    if state == REQUIRED:
        waits = labels_of(node).get(upgrade.skip_label) == "true" or slots <= 0
        return () if waits else _to(upgrade, node, _CORDON)
    if state == upgrade.emptying:
        return _emptied(world, upgrade, node)
    if state in {RESTART, FAILED}:
        return _restarted(upgrade, node, pod, is_old=is_old, failed=state == FAILED)
    simple = {
        _CORDON: (_JOBS, True),
        _JOBS: (upgrade.emptying, True),
        _VALIDATE: (UNCORDON, True),
        UNCORDON: (DONE, None),
    }
    following, cordoned = simple[state]
    return (*merge(node, {"spec": {"unschedulable": cordoned}}), *_to(upgrade, node, following))


def _restarted(upgrade: Upgrade, node: KubeObject, pod: KubeObject, *, is_old: bool, failed: bool) -> tuple[Write, ...]:
    """Let the DaemonSet make a new pod, and wait for it; a node that failed goes on once its pod is well."""
    if is_old:
        return () if failed else (delete(pod),)
    after = UNCORDON if failed or upgrade.driver == "ofed" else _VALIDATE
    return _to(upgrade, node, after) if is_pod_ready(pod) else ()


def _to(upgrade: Upgrade, node: KubeObject, state: str) -> tuple[Write, ...]:
    return merge(node, {"metadata": {"labels": {upgrade.state_label: state}}})


def _emptied(world: Objects, upgrade: Upgrade, node: KubeObject) -> tuple[Write, ...]:
    """Take pods off a node: every one for the NIC's driver where it drains, those that have GPUs for the GPU's."""
    here = [pod for pod in of_kind(world, POD) if node_of(pod) == node["metadata"]["name"] and not _is_of_a_set(pod)]
    if upgrade.driver == "ofed":
        leave = here if dig(upgrade.policy, "drain", "enable", default=False) else []
        forced = dig(upgrade.policy, "drain", "force", default=False)
    else:
        leave = [pod for pod in here if _has_gpus(pod)]
        forced = dig(upgrade.policy, "podDeletion", "force", default=False)
    if not forced and any(not dig(pod, "metadata", "ownerReferences") for pod in leave):
        return _to(upgrade, node, FAILED)
    return (*map(delete, leave), *_to(upgrade, node, RESTART))


def _is_of_a_set(pod: KubeObject) -> bool:
    return any(owner.get("kind") == "DaemonSet" for owner in dig(pod, "metadata", "ownerReferences", default=()))


def _has_gpus(pod: KubeObject) -> bool:
    wanted = (dig(item, "resources", "limits", default={}) for item in dig(pod, "spec", "containers", default=()))
    return any(name.startswith("nvidia.com/gpu") for limits in wanted for name in limits)
