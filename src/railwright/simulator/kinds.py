"""The kinds that a simulated API server serves from the start; operators add theirs as CustomResourceDefinitions."""

from collections.abc import Iterable, Mapping

from railwright.core import kinds
from railwright.core.kinds import CUSTOM_RESOURCE_DEFINITION
from railwright.core.objects import Kind, KubeObject, Ref
from railwright.ports.cluster import ServedKind


def _served(kind: Kind, plural: str, *, namespaced: bool) -> ServedKind:
    return ServedKind(kind, plural, namespaced)


KUBERNETES = (
    _served(kinds.NAMESPACE, "namespaces", namespaced=False),
    _served(kinds.NODE, "nodes", namespaced=False),
    _served(kinds.POD, "pods", namespaced=True),
    _served(kinds.EVENT, "events", namespaced=True),
    _served(kinds.CONFIG_MAP, "configmaps", namespaced=True),
    _served(kinds.SECRET, "secrets", namespaced=True),
    _served(kinds.SERVICE_ACCOUNT, "serviceaccounts", namespaced=True),
    _served(kinds.DAEMON_SET, "daemonsets", namespaced=True),
    _served(kinds.DEPLOYMENT, "deployments", namespaced=True),
    _served(kinds.JOB, "jobs", namespaced=True),
    _served(kinds.NETWORK_POLICY, "networkpolicies", namespaced=True),
    _served(kinds.PRIORITY_CLASS, "priorityclasses", namespaced=False),
    _served(kinds.ROLE, "roles", namespaced=True),
    _served(kinds.ROLE_BINDING, "rolebindings", namespaced=True),
    _served(kinds.CLUSTER_ROLE, "clusterroles", namespaced=False),
    _served(kinds.CLUSTER_ROLE_BINDING, "clusterrolebindings", namespaced=False),
    _served(CUSTOM_RESOURCE_DEFINITION, "customresourcedefinitions", namespaced=False),
    _served(kinds.NETWORK_ATTACHMENT_DEFINITION, "network-attachment-definitions", namespaced=True),
)

OPENSHIFT = (
    _served(kinds.CLUSTER_VERSION, "clusterversions", namespaced=False),
    _served(kinds.INFRASTRUCTURE, "infrastructures", namespaced=False),
    _served(kinds.PROXY, "proxies", namespaced=False),
    _served(kinds.NETWORK_CONFIG, "networks", namespaced=False),
    _served(kinds.NETWORK_OPERATOR, "networks", namespaced=False),
    _served(kinds.SECURITY_CONTEXT_CONSTRAINTS, "securitycontextconstraints", namespaced=False),
    _served(kinds.IMAGE_STREAM, "imagestreams", namespaced=True),
    _served(kinds.MACHINE_CONFIG, "machineconfigs", namespaced=False),
    _served(kinds.MACHINE_CONFIG_POOL, "machineconfigpools", namespaced=False),
    _served(kinds.KUBELET_CONFIG, "kubeletconfigs", namespaced=False),
    _served(kinds.OPERATOR_GROUP, "operatorgroups", namespaced=True),
    _served(kinds.SUBSCRIPTION, "subscriptions", namespaced=True),
    _served(kinds.INSTALL_PLAN, "installplans", namespaced=True),
    _served(kinds.CLUSTER_SERVICE_VERSION, "clusterserviceversions", namespaced=True),
    _served(kinds.CATALOG_SOURCE, "catalogsources", namespaced=True),
    _served(kinds.PACKAGE_MANIFEST, "packagemanifests", namespaced=True),
)

MACHINE_CONFIG_KINDS = (kinds.MACHINE_CONFIG, kinds.MACHINE_CONFIG_POOL, kinds.KUBELET_CONFIG)
"""Not served where the control plane is hosted."""

WITHOUT_GENERATION = frozenset(
    {kinds.NODE, kinds.CONFIG_MAP, kinds.SECRET, kinds.NAMESPACE, kinds.EVENT, kinds.SERVICE_ACCOUNT}
)


def definitions(objects: Mapping[Ref, KubeObject]) -> Iterable[ServedKind]:
    """Give the kinds that CustomResourceDefinitions add."""
    for ref, obj in sorted(objects.items()):
        if ref.kind != CUSTOM_RESOURCE_DEFINITION:
            continue
        spec = obj["spec"]
        for version in spec["versions"]:
            kind = Kind(f"{spec['group']}/{version['name']}", spec["names"]["kind"])
            yield ServedKind(kind, spec["names"]["plural"], spec["scope"] == "Namespaced")
