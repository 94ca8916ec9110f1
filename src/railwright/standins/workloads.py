"""Spell the workloads that operators make: complete enough for a real API server, and nothing more."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from railwright.core.objects import KubeObject
from railwright.standins.view import owned_by


def daemon_set(
    name: str,
    namespace: str,
    owner: KubeObject,
    *,
    containers: Sequence[tuple[str, str]],
    node_selector: Mapping[str, str],
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    template_annotations: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    affinity: Mapping[str, Any] | None = None,
    tolerations: Iterable[Mapping[str, Any]] = (),
    on_delete: bool = False,
) -> KubeObject:
    """Spell a DaemonSet; `containers` are (name, image), `environment` goes into each."""
    variables = [{"name": key, "value": value} for key, value in (environment or {}).items()]
    pod_labels = {"app": name, **(labels or {})}
    spec: dict[str, Any] = {
        "nodeSelector": dict(node_selector),
        "tolerations": [dict(item) for item in tolerations],
        "containers": [{"name": item, "image": image, "env": variables} for item, image in containers],
    }
    if affinity:
        spec["affinity"] = affinity
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": pod_labels,
            "annotations": dict(annotations or {}),
            "ownerReferences": owned_by(owner),
        },
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "updateStrategy": {"type": "OnDelete" if on_delete else "RollingUpdate"},
            "template": {
                "metadata": {"labels": pod_labels, "annotations": dict(template_annotations or {})},
                "spec": spec,
            },
        },
    }


def deployment(name: str, namespace: str, owner: KubeObject, image: str) -> KubeObject:
    """Spell a Deployment with one replica."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}, "ownerReferences": owned_by(owner)},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "manager", "image": image}]},
            },
        },
    }


def config_map(name: str, namespace: str, owner: KubeObject, data: Mapping[str, str]) -> KubeObject:
    """Spell a ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "ownerReferences": owned_by(owner)},
        "data": dict(data),
    }


def definition(
    group: str, version: str, kind: str, plural: str, *, namespaced: bool, owner: KubeObject | None = None
) -> KubeObject:
    """Spell a CustomResourceDefinition that keeps every field and has a status."""
    metadata: dict[str, Any] = {"name": f"{plural}.{group}"}
    if owner is not None:
        metadata["ownerReferences"] = owned_by(owner)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": group,
            "scope": "Namespaced" if namespaced else "Cluster",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {
                        "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                    },
                }
            ],
        },
    }
