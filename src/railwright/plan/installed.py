"""
Operators of others: whether OLM can run them as they are installed, before anything is built on them.

Source: operator-framework/operator-lifecycle-manager 0.46.0 against kube-apiserver 1.36.3 (a CSV under an OperatorGroup
that it does not support stands in Failed, UnsupportedOperatorGroup, and its Subscription in AtLatestKnown), 2026-11-30.
"""

from railwright.catalog.model import OperatorEntry
from railwright.core.kinds import CLUSTER_SERVICE_VERSION
from railwright.core.objects import KubeObject, Ref, dig
from railwright.facts.model import ClusterFacts
from railwright.plan.notes import Notes

_SEVERAL, _ALL = "MultiNamespace", "AllNamespaces"
_FAILED = "Failed"
_FOR_A_MOMENT = "InstallCheckFailed"
"""Stands for under a second after five minutes, then the installation starts again."""


def check_group(entry: OperatorEntry, group: KubeObject, namespace: str, csv: KubeObject | None, notes: Notes) -> bool:
    """
    Refuse an OperatorGroup that the operator does not run under.

    Args:
        csv: of the installed version, which says itself what it runs under; None where there is none yet.
    """
    targets = _targets(group)
    if targets == [namespace] or (namespace in targets and _supports(entry, csv, _SEVERAL)):
        return True
    if not targets and _supports(entry, csv, _ALL):
        return True
    seen = ", ".join(targets) or "all namespaces"
    notes.refuse(
        "operator-group-has-other-targets",
        f"the OperatorGroup of {namespace} is for {seen}",
        expected=namespace,
        seen=seen,
        hint=f"{entry.package} supports only its own namespace: set spec.targetNamespaces to [{namespace}]",
    )
    return False


def installed_csv(subscription: KubeObject, namespace: str, cluster: ClusterFacts) -> KubeObject | None:
    """Find what a Subscription installed; None where it has installed nothing, or what it names is not there."""
    name = str(dig(subscription, "status", "installedCSV", default=""))
    return cluster.objects.get(Ref(CLUSTER_SERVICE_VERSION, namespace, name)) if name else None


def check_installed(subscription: KubeObject, namespace: str, cluster: ClusterFacts, notes: Notes) -> None:
    """Warn where an operator that is there is not well: the stage that waits for it comes after nodes are prepared."""
    name = str(dig(subscription, "status", "installedCSV", default=""))
    csv = installed_csv(subscription, namespace, cluster)
    if name and csv is None:
        notes.warn(
            "operator-csv-missing", f"Subscription says {name} is installed, and there is no such CSV", namespace
        )
    reason = str(dig(csv, "status", "reason", default=""))
    if dig(csv, "status", "phase") == _FAILED and reason != _FOR_A_MOMENT:
        said = str(dig(csv, "status", "message", default=""))
        notes.warn(
            "operator-failed",
            f"{name} of others stands in Failed ({reason}: {said}): what needs it waits until its owner has mended it",
            namespace,
        )


def _targets(group: KubeObject) -> list[str]:
    """Namespaces that a group is for, in the words of its spec, else as OLM worked them out; empty for all."""
    named = dig(group, "spec", "targetNamespaces", default=[]) or dig(group, "status", "namespaces", default=[])
    return [str(name) for name in named if name]


def _supports(entry: OperatorEntry, csv: KubeObject | None, mode: str) -> bool:
    modes = dig(csv, "spec", "installModes", default=[])
    if not modes:
        return mode in entry.install_modes
    return any(item.get("type") == mode and item.get("supported") is True for item in modes)
