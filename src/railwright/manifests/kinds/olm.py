"""Namespace, OperatorGroup and Subscription of one operator; nothing for an operator that is there already."""

from railwright.core.kinds import NAMESPACE, OPERATOR_GROUP, SUBSCRIPTION
from railwright.manifests.assemble import a_manifest, an_object, plain, without_empty
from railwright.manifests.model import Manifest
from railwright.plan.model import OperatorShare


def operator(share: OperatorShare) -> tuple[Manifest, ...]:
    """
    Render what OLM needs to install exactly the planned version; which one that is, is open where no catalog was read.

    Without an OperatorGroup OLM writes nothing at all: no condition, no event, no InstallPlan. A second one stops it
    too, so none is made where one is.

    Measured: OLM 0.46.0 against kube-apiserver 1.36.3, 2026-11.
    """
    if share.adopted:
        return ()
    namespace = an_object(
        NAMESPACE, share.namespace, labels=share.namespace_labels, annotations=share.namespace_annotations
    )
    group = an_object(
        OPERATOR_GROUP,
        share.operator_group,
        namespace=share.namespace,
        spec={"targetNamespaces": plain(share.target_namespaces)} if share.target_namespaces else {},
    )
    subscription = an_object(
        SUBSCRIPTION,
        share.subscription,
        namespace=share.namespace,
        spec={
            "name": share.package,
            "channel": share.channel,
            "source": share.catalog,
            "sourceNamespace": share.catalog_namespace,
            **without_empty({"startingCSV": share.csv}),
            "installPlanApproval": share.approval,
        },
    )
    objects = (namespace, subscription) if share.has_operator_group else (namespace, group, subscription)
    return tuple(a_manifest(obj, share.stage) for obj in objects)
