"""
Operators that are there without a Subscription: from a chart, from manifests, or a version that was left behind.

Another one beside it would act on the same objects, and OLM resolves no Subscription whose version is there already.
Source: operator-framework/operator-lifecycle-manager issue 3114 ("exists and is not referenced by a subscription").
"""

from railwright.catalog.model import OperatorEntry
from railwright.core.kinds import CLUSTER_SERVICE_VERSION, DEPLOYMENT, SUBSCRIPTION
from railwright.core.objects import KubeObject, dig
from railwright.facts.model import ClusterFacts
from railwright.plan.notes import Notes

_FOUND_BY_ITS_WORKERS = "node-feature-discovery-master"
"""Brought by charts of others with its workers, by which labelling.py finds it, in every namespace."""


def check_unsubscribed(entry: OperatorEntry, subscribed_in: str, cluster: ClusterFacts, notes: Notes) -> bool:
    """
    Refuse an operator that is there without the Subscription that we adopt or would make.

    Args:
        subscribed_in: namespace of its one Subscription; "" when there is none.

    Returns:
        Whether none is there; true too where Subscriptions could not be read, which a warning of its own says.
    """
    if any(f"{item.what} ".startswith(f"{SUBSCRIPTION} ") for item in cluster.unseen):
        return True
    if not subscribed_in and _refuse_versions(entry, cluster, notes):
        return False
    return not _refuse_controllers(entry, subscribed_in, cluster, notes)


def _refuse_versions(entry: OperatorEntry, cluster: ClusterFacts, notes: Notes) -> bool:
    found = [item for item in cluster.of_kind(CLUSTER_SERVICE_VERSION) if _name(item).startswith(entry.csv_prefix)]
    for csv in found:
        notes.refuse(
            "operator-csv-without-subscription",
            f"{_name(csv)} is installed in {_namespace(csv)}, and no Subscription refers to it: OLM resolves no"
            f" Subscription for {entry.package} beside it",
            where=f"ClusterServiceVersion {_namespace(csv)}/{_name(csv)}",
            expected=f"a Subscription for {entry.package}, or none of its versions",
            seen=f"{_name(csv)} alone",
            hint=f"oc delete csv {_name(csv)} -n {_namespace(csv)}: its resources and their definitions stay, and apply"
            " installs the operator with a Subscription",
        )
    return bool(found)


def _refuse_controllers(entry: OperatorEntry, subscribed_in: str, cluster: ClusterFacts, notes: Notes) -> bool:
    found = [
        item
        for item in cluster.of_kind(DEPLOYMENT)
        if entry.has_controller(_name(item))
        and not _name(item).endswith(_FOUND_BY_ITS_WORKERS)
        and _namespace(item) != subscribed_in
        and CLUSTER_SERVICE_VERSION.kind not in {dig(owner, "kind") for owner in _owners(item)}
    ]
    for item in found:
        place = f"{_namespace(item)}/{_name(item)}"
        beside = f"the one subscribed to in {subscribed_in}" if subscribed_in else "the one that apply would install"
        notes.refuse(
            "operator-installed-otherwise",
            f"the operator of package {entry.package} runs as Deployment {place} without a Subscription, from a chart or"
            f" from manifests: {beside} would act on the same objects",
            where=f"Deployment {place}",
            expected=f"one operator, through OLM (package {entry.package})",
            seen=place,
            hint="take it away with what brought it (helm list -A names a chart's release), at a time when its nodes can be"
            " without their drivers, then plan again",
        )
    return bool(found)


def _owners(obj: KubeObject) -> list[KubeObject]:
    """Name what made it: OLM's Deployments belong to a version, and outlive it for some seconds."""
    owners: list[KubeObject] = dig(obj, "metadata", "ownerReferences", default=[])
    return owners


def _name(obj: KubeObject) -> str:
    return str(obj["metadata"]["name"])


def _namespace(obj: KubeObject) -> str:
    return str(obj["metadata"].get("namespace", ""))
