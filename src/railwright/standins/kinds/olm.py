"""
What OLM does to Subscriptions: InstallPlan, CSV, the Deployments and kinds of the package.

Measured: OLM 0.46.0 against kube-apiserver 1.36.3, 2026-11-30.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from railwright.core.kinds import (
    CATALOG_SOURCE,
    CLUSTER_SERVICE_VERSION,
    DEPLOYMENT,
    INSTALL_PLAN,
    OPERATOR_GROUP,
    PACKAGE_MANIFEST,
    SUBSCRIPTION,
)
from railwright.core.objects import KubeObject, dig
from railwright.standins.model import Objects, Write
from railwright.standins.operators import OPERATORS, Operator
from railwright.standins.view import (
    age_s,
    condition,
    create,
    created,
    delete,
    differs,
    ensure,
    find,
    is_owned_by,
    merge,
    name_of,
    of_kind,
    owned_by,
    rfc3339,
    set_status,
    suffix,
)
from railwright.standins.workloads import definition, deployment

RESOLVE_S = 2
REQUIREMENTS_S = 5
COPY_S = 8


def react(world: Objects, now: datetime) -> tuple[Write, ...]:
    """Move every Subscription, InstallPlan and CSV one step on; nothing at all without exactly one OperatorGroup."""
    writes: list[Write] = []
    for group in of_kind(world, OPERATOR_GROUP):
        writes += _group(world, group, now)
    for subscription in of_kind(world, SUBSCRIPTION):
        writes += _subscription(world, subscription, now)
    for csv in of_kind(world, CLUSTER_SERVICE_VERSION):
        writes += _csv(world, csv, now)
    return tuple(writes)


def _groups(world: Objects, namespace: str) -> tuple[KubeObject, ...]:
    return of_kind(world, OPERATOR_GROUP, namespace)


def _group(world: Objects, group: KubeObject, now: datetime) -> tuple[Write, ...]:
    many = len(_groups(world, group["metadata"]["namespace"])) > 1
    targets = dig(group, "spec", "targetNamespaces", default=[""])
    status: dict[str, Any] = {"namespaces": list(targets)}
    if not many and not condition(group, "MultipleOperatorGroup"):
        return _stamped(group, status, now) if dig(group, "status", "namespaces") is None else ()
    wanted = "True" if many else "False"
    if condition(group, "MultipleOperatorGroup").get("status") == wanted:
        return ()
    status["conditions"] = [
        {
            "type": "MultipleOperatorGroup",
            "status": wanted,
            "reason": "MultipleOperatorGroupsFound" if many else "SingleOperatorGroup",
            "message": "Multiple OperatorGroup found in the same namespace" if many else "",
            "lastTransitionTime": rfc3339(now),
        }
    ]
    return _stamped(group, status, now)


def _stamped(obj: KubeObject, status: Mapping[str, Any], now: datetime) -> tuple[Write, ...]:
    """Merge into a status that says when it was updated last; nothing when the rest holds already."""
    if not differs(dig(obj, "status", default={}), status):
        return ()
    return set_status(obj, {**status, "lastUpdated": rfc3339(now)})


def _subscription(world: Objects, subscription: KubeObject, now: datetime) -> tuple[Write, ...]:
    metadata, spec = subscription["metadata"], subscription["spec"]
    namespace = metadata["namespace"]
    if len(_groups(world, namespace)) != 1 or age_s(created(subscription), now) < RESOLVE_S:
        return ()
    twins = [item for item in of_kind(world, SUBSCRIPTION, namespace) if item["spec"]["name"] == spec["name"]]
    if len(twins) > 1:
        text = f"@existing/{namespace}//{spec['name']} originates from more than one subscription"
        return _unresolved(subscription, text, now)
    if find(world, CATALOG_SOURCE, spec["source"], spec["sourceNamespace"]) is None:
        text = f"no operators found from catalog {spec['source']} in namespace {spec['sourceNamespace']}"
        return _unresolved(subscription, text, now)
    installed = dig(subscription, "status", "installedCSV", default="")
    csv, problem = _head(world, spec, installed)
    if problem:
        return _unresolved(subscription, problem, now)
    if installed == csv:
        return _without_replaced(world, csv, namespace)
    plan_name = f"install-{suffix(metadata['uid'], csv)}"
    plan = find(world, INSTALL_PLAN, plan_name, namespace)
    if plan is None:
        return (create(_plan(subscription, plan_name, csv)),)
    if not dig(plan, "spec", "approved", default=False):
        return (
            *set_status(plan, _plan_status("RequiresApproval")),
            *_pending(subscription, plan, csv, "RequiresApproval", now),
        )
    if find(world, CLUSTER_SERVICE_VERSION, csv, namespace) is None:
        if dig(plan, "status", "phase") == "Complete":
            return ()
        made = _install(world, subscription, csv, installed)
        return (
            *set_status(plan, _plan_status("Installing")),
            *_pending(subscription, plan, csv, "Installing", now),
            *made,
        )
    done = {
        "state": "AtLatestKnown",
        "installedCSV": csv,
        "currentCSV": csv,
        "lastUpdated": rfc3339(now),
        "conditions": _HEALTHY,
    }
    finished = _plan_status("Complete") | {"conditions": [{"type": "Installed", "status": "True"}]}
    return (*set_status(plan, finished), *set_status(subscription, done))


_HEALTHY = [{"type": "CatalogSourcesUnhealthy", "status": "False", "reason": "AllCatalogSourcesHealthy"}]


def _without_replaced(world: Objects, csv: str, namespace: str) -> tuple[Write, ...]:
    """Delete the CSV that the installed one replaces, once that has succeeded; its Deployments go on under the new."""
    live = find(world, CLUSTER_SERVICE_VERSION, csv, namespace)
    before = find(world, CLUSTER_SERVICE_VERSION, str(dig(live, "spec", "replaces", default="")), namespace)
    if live is None or before is None or dig(live, "status", "phase") != "Succeeded":
        return ()
    taken = (item for item in of_kind(world, DEPLOYMENT, namespace) if is_owned_by(item, before))
    owner = {"metadata": {"ownerReferences": owned_by(live)}}
    return (*(write for item in taken for write in merge(item, owner)), delete(before))


def _head(world: Objects, spec: Mapping[str, Any], installed: str) -> tuple[str, str]:
    """Give the CSV that a Subscription asks for, or why there is none; where it starts says nothing of upgrades."""
    package = next(
        (
            item
            for item in of_kind(world, PACKAGE_MANIFEST)
            if dig(item, "status", "packageName") == spec["name"]
            and dig(item, "status", "catalogSource") == spec["source"]
        ),
        None,
    )
    where = f"the catalog referenced by subscription {spec['name']}"
    if package is None:
        return "", f"constraints not satisfiable: no operators found in package {spec['name']} in {where}"
    name = spec.get("channel") or dig(package, "status", "defaultChannel")
    channel = next((item for item in dig(package, "status", "channels", default=()) if item["name"] == name), None)
    if channel is None:
        return (
            "",
            f"constraints not satisfiable: no operators found in channel {name} of package {spec['name']} in {where}",
        )
    if installed:
        return str(channel["currentCSV"]), ""
    starting = spec.get("startingCSV", "")
    entries = [entry["name"] for entry in channel.get("entries", ())] or [channel["currentCSV"]]
    if starting and starting not in entries:
        return (
            "",
            f"constraints not satisfiable: no operators found with name {starting} in channel {name} of package {spec['name']} in {where}",
        )
    return str(starting or channel["currentCSV"]), ""


def _unresolved(subscription: KubeObject, text: str, now: datetime) -> tuple[Write, ...]:
    failed = {"type": "ResolutionFailed", "status": "True", "reason": "ConstraintsNotSatisfiable", "message": text}
    return _stamped(subscription, {"conditions": [*_HEALTHY, failed]}, now)


def _pending(subscription: KubeObject, plan: KubeObject, csv: str, reason: str, now: datetime) -> tuple[Write, ...]:
    namespace, name = subscription["metadata"]["namespace"], name_of(plan)
    reference = {"apiVersion": INSTALL_PLAN.api_version, "kind": "InstallPlan", "name": name}
    waiting = {"type": "InstallPlanPending", "status": "True", "reason": reason}
    status = {
        "state": "UpgradePending",
        "currentCSV": csv,
        "installPlanRef": {**reference, "namespace": namespace},
        "installplan": {**reference, "uuid": plan["metadata"]["uid"]},
        "conditions": [*_HEALTHY, waiting],
    }
    return _stamped(subscription, status, now)


def _plan(subscription: KubeObject, name: str, csv: str) -> KubeObject:
    approval = dig(subscription, "spec", "installPlanApproval", default="Automatic")
    return {
        "apiVersion": INSTALL_PLAN.api_version,
        "kind": "InstallPlan",
        "metadata": {
            "name": name,
            "namespace": subscription["metadata"]["namespace"],
            "ownerReferences": owned_by(subscription, controller=False),
        },
        "spec": {
            "approval": approval,
            "approved": approval != "Manual",
            "clusterServiceVersionNames": [csv],
            "generation": 1,
        },
    }


def _plan_status(phase: str) -> dict[str, Any]:
    return {"phase": phase, "catalogSources": []}


def operator_of(csv: str) -> Operator | None:
    """Find the package that a CSV's name belongs to."""
    return next((operator for operator in OPERATORS if csv.startswith(f"{operator.package}.v")), None)


def _install(world: Objects, subscription: KubeObject, csv: str, replaces: str) -> tuple[Write, ...]:
    operator = operator_of(csv)
    if operator is None:
        return ()
    namespace, version = subscription["metadata"]["namespace"], csv.partition(".v")[2]
    spec: dict[str, Any] = {
        "displayName": operator.package,
        "version": version,
        "installModes": [
            {"type": "OwnNamespace", "supported": True},
            {"type": "SingleNamespace", "supported": True},
            {"type": "MultiNamespace", "supported": False},
            {"type": "AllNamespaces", "supported": False},
        ],
        "install": {
            "strategy": "deployment",
            "spec": {
                "deployments": [
                    {"name": item, "spec": deployment(item, namespace, subscription, operator.image)["spec"]}
                    for item in operator.deployments
                ]
            },
        },
    }
    if replaces:
        spec["replaces"] = replaces
    body = {
        "apiVersion": CLUSTER_SERVICE_VERSION.api_version,
        "kind": "ClusterServiceVersion",
        "metadata": {
            "name": csv,
            "namespace": namespace,
            "labels": {f"operators.coreos.com/{operator.package}.{namespace}": ""},
        },
        "spec": spec,
    }
    kinds = [
        definition(item.group, item.version, item.kind, item.plural, namespaced=item.namespaced)
        for item in operator.definitions
    ]
    return (*(write for kind in kinds for write in ensure(world, kind)), create(body))


def _csv(world: Objects, csv: KubeObject, now: datetime) -> tuple[Write, ...]:
    namespace, name = csv["metadata"]["namespace"], name_of(csv)
    operator = operator_of(name)
    groups = _groups(world, namespace)
    if operator is None:
        return ()
    if len(groups) > 1:
        return _phase(
            csv,
            now,
            "Failed",
            "TooManyOperatorGroups",
            "csv created in namespace with multiple operatorgroups, can't pick one automatically",
        )
    if groups and not dig(groups[0], "spec", "targetNamespaces"):
        return _phase(
            csv,
            now,
            "Failed",
            "UnsupportedOperatorGroup",
            "AllNamespaces InstallModeType not supported, cannot configure to watch all namespaces",
        )
    age = age_s(created(csv), now)
    if age < REQUIREMENTS_S:
        return _phase(csv, now, "Pending", "RequirementsNotMet", "one or more requirements couldn't be found")
    if age < COPY_S:
        return _phase(csv, now, "InstallReady", "AllRequirementsMet", "all requirements found, attempting install")
    missing = [item for item in operator.deployments if find(world, DEPLOYMENT, item, namespace) is None]
    if missing:
        made = tuple(create(deployment(item, namespace, csv, operator.image)) for item in missing)
        return (
            *made,
            *_phase(csv, now, "Installing", "InstallSucceeded", "waiting for install components to report healthy"),
        )
    live = [find(world, DEPLOYMENT, item, namespace) for item in operator.deployments]
    if all(dig(item, "status", "availableReplicas", default=0) for item in live):
        return _phase(csv, now, "Succeeded", "InstallSucceeded", "install strategy completed with no errors")
    text = f'installing: waiting for deployment {operator.deployments[0]} to become ready: deployment "{operator.deployments[0]}" not available: Deployment does not have minimum availability.'
    return _phase(csv, now, "Installing", "InstallWaiting", text)


def _phase(csv: KubeObject, now: datetime, phase: str, reason: str, message: str) -> tuple[Write, ...]:
    have = dig(csv, "status", default={})
    if have.get("phase") == phase and have.get("reason") == reason:
        return ()
    stamp = rfc3339(now)
    return set_status(
        csv,
        {"phase": phase, "reason": reason, "message": message, "lastTransitionTime": stamp, "lastUpdateTime": stamp},
    )
