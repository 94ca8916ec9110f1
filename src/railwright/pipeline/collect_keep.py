"""
What of an object may be in an archive at all, redacted or not. Pure.

Left out is what holds secrets of others, and what is large and judged by nobody: contents of the cluster's own
MachineConfigs, commands and environments of users' pods, rules of others' roles, manifests inside InstallPlans.
"""

from collections.abc import Callable, Mapping
from typing import Any

from railwright.core import kinds
from railwright.core.marks import is_ours
from railwright.core.objects import KubeObject, dig
from railwright.facts.cluster import OPERATOR_NAMESPACES, is_made_by_cluster, is_olms_copy
from railwright.facts.packages import PACKAGES
from railwright.facts.pods import pod_matters

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""The object again, as text, with all that is cut out of it."""
_PRIVATE = ("env", "envFrom", "args", "command", "volumeMounts", "lifecycle")


def keep(obj: KubeObject, namespaces: frozenset[str] = OPERATOR_NAMESPACES) -> KubeObject:
    """
    Cut an object down to what may be in an archive; the very object when all of it may.

    Args:
        namespaces: where the operators live, whose pods and DaemonSets are kept whole.
    """
    kind = str(dig(obj, "kind", default=""))
    kept = obj
    if kind in _RUNNING:
        kept = _RUNNING[kind](obj, namespaces)
    elif kind in _CUT:
        kept = _CUT[kind](obj)
    if _LAST_APPLIED not in dig(kept, "metadata", "annotations", default={}):
        return kept
    annotations = _without(kept["metadata"]["annotations"], _LAST_APPLIED)
    return {**kept, "metadata": {**kept["metadata"], "annotations": annotations}}


def _machine_config(obj: KubeObject) -> KubeObject:
    if not is_made_by_cluster(obj):
        return obj
    return {**obj, "spec": _without(dig(obj, "spec", default={}), "config")}


def _access(obj: KubeObject) -> KubeObject:
    """Keep rules of what is ours; of others that it is there."""
    if is_ours(obj) or "railwright" in _name(obj):
        return obj
    return {key: obj[key] for key in ("apiVersion", "kind", "metadata") if key in obj}


def _pod(pod: KubeObject, namespaces: frozenset[str]) -> KubeObject:
    if pod_matters(pod, namespaces):
        return pod
    metadata = _without(pod["metadata"], "annotations", "managedFields")
    return {**pod, "metadata": metadata, "spec": _reduced_spec(dig(pod, "spec", default={}))}


def _workload(obj: KubeObject, namespaces: frozenset[str]) -> KubeObject:
    if dig(obj, "metadata", "namespace") in namespaces:
        return obj
    spec = dig(obj, "spec", default={})
    template = dig(spec, "template", default={})
    reduced = {**template, "spec": _reduced_spec(dig(template, "spec", default={}))}
    metadata = _without(obj["metadata"], "annotations", "managedFields")
    return {**obj, "metadata": metadata, "spec": {**spec, "template": reduced}}


def _reduced_spec(spec: KubeObject) -> KubeObject:
    """Leave out what may hold anything: commands, environments, volumes."""
    reduced = _without(spec, "volumes")
    for key in ("containers", "initContainers", "ephemeralContainers"):
        if key in spec:
            reduced[key] = [_without(container, *_PRIVATE) for container in spec[key]]
    return reduced


def _package(obj: KubeObject) -> KubeObject:
    """Keep what catalogs offer of the four operators; icons and descriptions are most of the rest."""
    if _name(obj) in PACKAGES:
        return obj
    return {**obj, "status": {"packageName": dig(obj, "status", "packageName", default=_name(obj))}}


def _csv(obj: KubeObject) -> KubeObject:
    """Leave out examples, icon and description; of OLM's copies in other namespaces keep that they are there."""
    metadata = {**obj["metadata"]}
    if "annotations" in metadata:
        metadata["annotations"] = _without(metadata["annotations"], "alm-examples")
    spec = dig(obj, "spec", default={})
    return {**obj, "metadata": metadata, "spec": {} if is_olms_copy(obj) else _without(spec, "icon", "description")}


def _install_plan(obj: KubeObject) -> KubeObject:
    """Leave out the manifests of a bundle: they are the objects that are there, once more."""
    status = dig(obj, "status", default={})
    if "plan" not in status:
        return obj
    steps = [{**step, "resource": _without(dig(step, "resource", default={}), "manifest")} for step in status["plan"]]
    return {**obj, "status": {**_without(status, "bundleLookups"), "plan": steps}}


def _name(obj: KubeObject) -> str:
    return str(dig(obj, "metadata", "name", default=""))


def _without(value: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key not in keys}


_CUT: Mapping[str, Callable[[KubeObject], KubeObject]] = {
    kinds.MACHINE_CONFIG.kind: _machine_config,
    kinds.SERVICE_ACCOUNT.kind: _access,
    kinds.ROLE.kind: _access,
    kinds.ROLE_BINDING.kind: _access,
    kinds.CLUSTER_ROLE.kind: _access,
    kinds.CLUSTER_ROLE_BINDING.kind: _access,
    kinds.PACKAGE_MANIFEST.kind: _package,
    kinds.CLUSTER_SERVICE_VERSION.kind: _csv,
    kinds.INSTALL_PLAN.kind: _install_plan,
}
_RUNNING: Mapping[str, Callable[[KubeObject, frozenset[str]], KubeObject]] = {
    kinds.POD.kind: _pod,
    kinds.DAEMON_SET.kind: _workload,
    kinds.DEPLOYMENT.kind: _workload,
}
