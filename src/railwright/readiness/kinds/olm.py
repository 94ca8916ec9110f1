"""
Judges of OLM's kinds.

No status of OLM carries observedGeneration; what tells old from new is names: installedCSV, installPlanRef.

Measured: OLM 0.46.0 against kube-apiserver 1.36.3, 2026-11-30.
"""

from datetime import datetime

from railwright.core import kinds
from railwright.core.objects import KubeObject, dig, ref_of
from railwright.plan.versions import is_newer_csv
from railwright.readiness.answers import (
    condition,
    failed,
    holds,
    may_be_stale,
    message_of,
    progressing,
    ready,
    unknown,
    worst_of,
)
from railwright.readiness.model import Companions, Judgement, Receipt
from railwright.readiness.rollouts import judge_deployment
from railwright.readiness.selectors import name_of

_RESOLVE_S = 30.0
"""How long OLM may keep an old ResolutionFailed after we changed a Subscription: it carries no time of its own."""
_BAD_GROUP = frozenset({"UnsupportedOperatorGroup", "TooManyOperatorGroups", "NoOperatorGroup"})
_INSTALL_TIMEOUT = "InstallCheckFailed"
"""Stands for under a second after five minutes, then the installation starts again: never final."""
_RUNNING = frozenset({"", "Planning", "Installing"})


def judge_operator_group(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    """Judge an OperatorGroup: the only one of its namespace, and OLM has seen it."""
    del receipt, now
    several = _several_groups(obj, companions)
    if several:
        return several
    if condition(obj, "MultipleOperatorGroup") and holds(obj, "MultipleOperatorGroup"):
        return failed(f"{ref_of(obj)}: OLM sees another OperatorGroup in the same namespace")
    if dig(obj, "status", "namespaces") is None:
        return progressing(f"{ref_of(obj)}: OLM has not looked at it yet")
    return ready("OLM watches its namespaces")


def judge_subscription(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    """Judge a Subscription by the CSV that it installed; `AtLatestKnown` comes before that one has succeeded."""
    groups = companions.of_kind(kinds.OPERATOR_GROUP, _namespace(obj))
    if not groups:
        return failed(
            f"namespace {_namespace(obj)} has no OperatorGroup: OLM installs nothing there, and writes nothing about it"
        )
    several = _several_groups(groups[0], companions)
    if several:
        return several
    installed = str(dig(obj, "status", "installedCSV", default=""))
    current = str(dig(obj, "status", "currentCSV", default=""))
    install_plan = _install_plan(obj, companions)
    running = (
        install_plan is not None and bool(dig(install_plan, "spec", "approved")) and _phase(install_plan) in _RUNNING
    )
    if holds(obj, "ResolutionFailed") and not running:
        return _unresolved(obj, companions, stale=may_be_stale(receipt, now, _RESOLVE_S))
    csv = companions.get(kinds.CLUSTER_SERVICE_VERSION, installed, _namespace(obj)) if installed else None
    waiting = holds(obj, "InstallPlanPending") and not running
    if csv is not None and not running:
        judgement = judge_csv(csv, companions, None, now)
        if is_newer_csv(str(dig(obj, "spec", "startingCSV", default="")), installed):
            return worst_of([judgement], _moves(obj, installed, current))
        if current and current != installed and waiting:
            return worst_of([judgement], ready(f"{judgement.reason}; an upgrade to {current} waits for approval"))
        return judgement
    if install_plan is not None and not running and _phase(install_plan) != "Complete":
        return judge_install_plan(install_plan, companions, None, now)
    if not current:
        return progressing(f"{ref_of(obj)}: OLM has not chosen a version yet", _catalog_trouble(obj))
    found = companions.get(kinds.CLUSTER_SERVICE_VERSION, current, _namespace(obj)) or csv
    if found is None:
        return progressing(f"{ref_of(obj)}: {current} is being installed")
    judgement = judge_csv(found, companions, None, now)
    return worst_of([judgement], progressing(f"{ref_of(obj)}: {current} is being installed"))


def _moves(obj: KubeObject, installed: str, current: str) -> Judgement:
    """Say how far an operator is on its way to a newer version, which may go over others that nobody planned."""
    wanted = str(dig(obj, "spec", "startingCSV", default=""))
    if current in {"", installed, wanted}:
        return progressing(f"{ref_of(obj)}: {installed} is installed, {wanted} is wanted")
    plan = str(dig(obj, "status", "installPlanRef", "name", default="")) or "its InstallPlan"
    return progressing(
        f"{ref_of(obj)}: {wanted} is wanted, and OLM goes from {installed} to {current} first, which is not planned",
        f"somebody to approve {plan} in {_namespace(obj)}, which installs {current}",
    )


def judge_csv(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    """Judge a CSV by its phase and its Deployments; `reason` says InstallSucceeded in phase Installing too."""
    del receipt, now
    name, phase, reason = name_of(obj), _phase(obj), str(dig(obj, "status", "reason", default=""))
    deployments = _deployments(obj, companions)
    if phase == "Succeeded":
        answers = [judge_deployment(item, companions) for item in deployments]
        return worst_of(answers, ready(f"{name} has succeeded"))
    message = str(dig(obj, "status", "message", default=""))
    said = f"{name}: {phase or 'no phase yet'}" + (f" ({reason}: {message})" if reason else "")
    if phase == "Failed" and reason != _INSTALL_TIMEOUT:
        return failed(said)
    if reason in _BAD_GROUP:
        return failed(said)
    if phase == "Unknown":
        return unknown(said)
    answers = [item for item in (judge_deployment(found, companions) for found in deployments) if item.waiting_for]
    return worst_of(answers, progressing(said))


def judge_install_plan(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    """Judge an InstallPlan by its phase."""
    del companions, receipt, now
    phase = _phase(obj)
    csvs = ", ".join(dig(obj, "spec", "clusterServiceVersionNames", default=[]))
    if phase == "Complete":
        return ready(f"{csvs} installed")
    if phase == "Failed":
        bad = [
            message_of(item) for item in dig(obj, "status", "conditions", default=[]) if item.get("status") == "False"
        ]
        return failed(
            f"{ref_of(obj)} for {csvs} failed: {'; '.join(bad) or dig(obj, 'status', 'message', default='no reason given')}"
        )
    if phase == "RequiresApproval":
        return progressing(f"{ref_of(obj)} for {csvs} waits for approval")
    if phase not in _RUNNING:
        return unknown(f"{ref_of(obj)} has phase {phase!r}")
    return progressing(f"{ref_of(obj)} for {csvs}: {phase or 'just made'}")


def _unresolved(obj: KubeObject, companions: Companions, *, stale: bool) -> Judgement:
    reason = f"{ref_of(obj)}: {message_of(condition(obj, 'ResolutionFailed'))}"
    package = dig(obj, "spec", "name")
    twins = [
        name_of(other)
        for other in companions.of_kind(kinds.SUBSCRIPTION, _namespace(obj))
        if dig(other, "spec", "name") == package and name_of(other) != name_of(obj)
    ]
    if twins:
        reason = f"{ref_of(obj)}: Subscription {', '.join(twins)} is for the same package {package}; OLM then installs neither"
    return progressing(reason) if stale else failed(reason)


def _several_groups(obj: KubeObject, companions: Companions) -> Judgement | None:
    names = sorted(
        {name_of(item) for item in companions.of_kind(kinds.OPERATOR_GROUP, _namespace(obj))} | {name_of(obj)}
    )
    if len(names) == 1:
        return None
    return failed(
        f"namespace {_namespace(obj)} has {len(names)} OperatorGroups ({', '.join(names)}): OLM installs nothing there"
    )


def _catalog_trouble(obj: KubeObject) -> str:
    found = condition(obj, "CatalogSourcesUnhealthy")
    return message_of(found) if found and found.get("status") == "True" else ""


def _install_plan(obj: KubeObject, companions: Companions) -> KubeObject | None:
    name = str(dig(obj, "status", "installPlanRef", "name", default=""))
    return companions.get(kinds.INSTALL_PLAN, name, _namespace(obj)) if name else None


def _deployments(obj: KubeObject, companions: Companions) -> list[KubeObject]:
    names = [str(item["name"]) for item in dig(obj, "spec", "install", "spec", "deployments", default=[])]
    found = (companions.get(kinds.DEPLOYMENT, name, _namespace(obj)) for name in names)
    return [item for item in found if item is not None]


def _namespace(obj: KubeObject) -> str:
    return str(dig(obj, "metadata", "namespace", default=""))


def _phase(obj: KubeObject) -> str:
    return str(dig(obj, "status", "phase", default=""))
