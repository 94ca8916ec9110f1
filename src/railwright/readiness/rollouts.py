"""DaemonSets and Deployments: whether the pods of their newest form run everywhere they should."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from railwright.core import kinds
from railwright.core.objects import KubeObject, dig, labels_of
from railwright.readiness.answers import condition, failed, message_of, progressing, ready
from railwright.readiness.model import Companions, Judgement
from railwright.readiness.pods import is_pod_ready, pods_of, trouble_of
from railwright.readiness.selectors import is_cordoned, name_of

UPGRADE_DONE = "upgrade-done"
_UPGRADE_FAILED = "upgrade-failed"
_REVISION = "controller-revision-hash"


@dataclass(frozen=True)
class DriverRoll:
    """
    How an operator replaces a driver's pods: `driver` is "ofed" or "gpu".

    Source: NVIDIA/k8s-operator-libs 1090aef, pkg/upgrade/consts.go.
    """

    driver: str

    @property
    def state(self) -> str:
        """Label that holds a node's state."""
        return f"nvidia.com/{self.driver}-driver-upgrade-state"

    @property
    def skip(self) -> str:
        """Label that keeps a node out."""
        return f"nvidia.com/{self.driver}-driver-upgrade.skip"

    @staticmethod
    def is_by_hand(section: Any) -> bool:
        """Whether a policy's section of the driver leaves pods of an old form to a person."""
        return dig(section or {}, "upgradePolicy", "autoUpgrade", default=False) is not True

    def is_held(self, node: KubeObject) -> bool:
        """Whether a node keeps its old pod until its turn."""
        return labels_of(node).get(self.skip) == "true"

    def held_back(self, daemon_set: KubeObject, companions: Companions) -> int:
        """Count the pods of a DaemonSet that may be of an old form."""
        held = {name_of(node) for node in companions.of_kind(kinds.NODE) if self.is_held(node)}
        metadata = daemon_set["metadata"]
        pods = pods_of(companions, str(metadata.get("namespace", "")), str(metadata["name"])) if held else ()
        return sum(dig(pod, "spec", "nodeName") in held for pod in pods)

    def judge_nodes(self, nodes: Iterable[KubeObject], policy: str, *, cordons: bool = False) -> Iterator[Judgement]:
        """
        Judge the end of a roll-out: a policy is ready before the last node is back.

        Args:
            cordons: whether a cordoned node counts, whatever its state: one that a roll-out left behind has none.
        """
        for node in nodes:
            state = labels_of(node).get(self.state)
            if self.is_held(node):
                continue
            if state == _UPGRADE_FAILED:
                yield failed(f"node {name_of(node)}: the driver's roll-out failed ({self.state}={state})")
            elif state not in {None, UPGRADE_DONE}:
                yield progressing(f"{policy}: node {name_of(node)} is in a driver roll-out: {state}")
            elif cordons and is_cordoned(node):
                yield progressing(f"{policy}: node {name_of(node)} is cordoned")


def judge_daemon_set(
    daemon_set: KubeObject, companions: Companions, *, held_back: int = 0, by_hand: bool = False
) -> Judgement:
    """
    Judge one DaemonSet; one that wants no pods is not ready.

    Args:
        held_back: so many of its pods may be of an old form: their nodes' turn has not come.
        by_hand: whether no operator replaces pods of an old form.

    Measured: Network Operator 26.4.1 controllers, 2026-11 (desired = available = updated, not 0).
    """
    metadata = daemon_set["metadata"]
    name = f"DaemonSet {metadata['name']}"
    status = dig(daemon_set, "status", default={})
    if int(status.get("observedGeneration", 0)) < int(metadata.get("generation", 0)):
        return progressing(f"{name}: its newest form is not taken up yet")
    desired = int(status.get("desiredNumberScheduled", 0))
    if desired == 0:
        wanted = selector_of(daemon_set)
        return progressing(
            f"{name} wants no pods: no node matches {wanted}, or those that do have taints it does not bear"
        )
    available, updated = int(status.get("numberAvailable", 0)), int(status.get("updatedNumberScheduled", 0))
    if desired == available and desired - held_back <= updated:
        return ready(f"{name}: {desired} of {desired} pods available")
    trouble = _pod_trouble(daemon_set, companions, name)
    if trouble:
        return trouble
    if updated < desired - held_back and dig(daemon_set, "spec", "updateStrategy", "type") == "OnDelete":
        said = f"{name}: {desired - held_back - updated} of {desired} pods still have the old form and"
        if by_hand:
            return progressing(f"{said} nothing replaces them (autoUpgrade is off)", _by_hand(daemon_set, companions))
        return progressing(f"{said} are replaced one by one")
    return progressing(f"{name}: {available} of {desired} pods available, {updated} of the newest form")


def _by_hand(daemon_set: KubeObject, companions: Companions) -> str:
    """Say whose pods somebody has to delete; which are of the old form is told by their revision where it can be."""
    namespace, name = str(daemon_set["metadata"].get("namespace", "")), str(daemon_set["metadata"]["name"])
    pods = pods_of(companions, namespace, name)
    updated = int(dig(daemon_set, "status", "updatedNumberScheduled", default=0))
    revisions = [labels_of(pod).get(_REVISION) for pod in pods]
    newest = {revision for revision in revisions if revisions.count(revision) == updated}
    if updated and len(newest) != 1:
        return f"somebody to delete the pods of DaemonSet {namespace}/{name} that have the old form"
    old = (pod for pod, revision in zip(pods, revisions, strict=True) if not updated or revision not in newest)
    named = sorted(f"{namespace}/{name_of(pod)} on {dig(pod, 'spec', 'nodeName', default='no node')}" for pod in old)
    return f"somebody to delete pod {', '.join(named)}"


def judge_deployment(deployment: KubeObject, companions: Companions) -> Judgement:
    """Judge one Deployment by its Available condition and its newest form."""
    metadata = deployment["metadata"]
    name = f"Deployment {metadata['name']}"
    status = dig(deployment, "status", default={})
    if int(status.get("observedGeneration", 0)) < int(metadata.get("generation", 0)):
        return progressing(f"{name}: its newest form is not taken up yet")
    available = condition(deployment, "Available")
    if available is not None and available.get("status") == "True":
        return ready(f"{name}: available")
    trouble = _pod_trouble(deployment, companions, name)
    return trouble or progressing(f"{name}: {message_of(available) or 'no status yet'}")


def selector_of(daemon_set: KubeObject) -> str:
    """Write the node selector of a DaemonSet's pods, as on a command line."""
    wanted = dig(daemon_set, "spec", "template", "spec", "nodeSelector", default={})
    affinity = dig(daemon_set, "spec", "template", "spec", "affinity", "nodeAffinity", default=None)
    text = ",".join(f"{key}={value}" for key, value in sorted(wanted.items())) or "its selector"
    return f"{text} and its node affinity" if affinity else text


def _pod_trouble(owner: KubeObject, companions: Companions, name: str) -> Judgement | None:
    metadata = owner["metadata"]
    pods = pods_of(companions, str(metadata.get("namespace", "")), str(metadata["name"]))
    troubles = [trouble for pod in pods if not is_pod_ready(pod) and (trouble := trouble_of(pod))]
    for trouble in sorted(troubles, key=lambda item: not item.final):
        text = f"{name}: {trouble.text}"
        return failed(text, text) if trouble.final else progressing(text)
    return None
