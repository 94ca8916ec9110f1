"""What a workload namespace needs before a pod may lock memory: namespace, ServiceAccount, SCC, Role, binding."""

from typing import Any

from railwright.core.kinds import NAMESPACE, ROLE, ROLE_BINDING, SECURITY_CONTEXT_CONSTRAINTS, SERVICE_ACCOUNT
from railwright.core.objects import KubeObject
from railwright.manifests.assemble import a_manifest, an_object
from railwright.manifests.model import Manifest
from railwright.plan.model import AccessShare

NAMESPACE_LABELS = {
    "pod-security.kubernetes.io/enforce": "privileged",
    "security.openshift.io/scc.podSecurityLabelSync": "false",
}
"""The baseline level forbids IPC_LOCK; the SCC is what holds pods back. Source: Kubernetes, Pod Security Standards."""

VOLUMES = (
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
)
"""No volume of the host: RDMA devices come from the device plugin."""


def access(share: AccessShare) -> tuple[Manifest, ...]:
    """Render it; an SCC and its Role only where the platform has SCCs, a namespace only where there is none."""
    objects: list[KubeObject] = []
    if share.create_namespace:
        objects.append(an_object(NAMESPACE, share.namespace, labels=NAMESPACE_LABELS))
    objects.append(an_object(SERVICE_ACCOUNT, share.service_account, namespace=share.namespace))
    if share.scc:
        objects += [_scc(share.scc), _role(share), _binding(share)]
    return tuple(a_manifest(obj, share.stage, share.fabrics) for obj in objects)


def _scc(name: str) -> KubeObject:
    """
    Allow the one capability that memory registration needs.

    The user is free because IPC_LOCK takes effect for UID 0 only; everything else is as tight as restricted-v2.
    Source: capabilities(7); OpenShift 4.22 docs, Hardware accelerators 5.9 (IPC_LOCK). That it is enough is inferred.
    """
    fields: dict[str, Any] = {
        "allowHostDirVolumePlugin": False,
        "allowHostIPC": False,
        "allowHostNetwork": False,
        "allowHostPID": False,
        "allowHostPorts": False,
        "allowPrivilegeEscalation": False,
        "allowPrivilegedContainer": False,
        "allowedCapabilities": ["IPC_LOCK"],
        "defaultAddCapabilities": [],
        "requiredDropCapabilities": ["ALL"],
        "priority": 0,
        "readOnlyRootFilesystem": False,
        "fsGroup": {"type": "MustRunAs"},
        "runAsUser": {"type": "RunAsAny"},
        "seLinuxContext": {"type": "MustRunAs"},
        "seccompProfiles": ["runtime/default"],
        "supplementalGroups": {"type": "RunAsAny"},
        "volumes": list(VOLUMES),
    }
    return an_object(SECURITY_CONTEXT_CONSTRAINTS, name, **fields)


def _role(share: AccessShare) -> KubeObject:
    rule = {
        "apiGroups": [SECURITY_CONTEXT_CONSTRAINTS.group],
        "resources": ["securitycontextconstraints"],
        "resourceNames": [share.scc],
        "verbs": ["use"],
    }
    return an_object(ROLE, _use_name(share), namespace=share.namespace, rules=[rule])


def _binding(share: AccessShare) -> KubeObject:
    subject = {"kind": SERVICE_ACCOUNT.kind, "name": share.service_account, "namespace": share.namespace}
    return an_object(
        ROLE_BINDING,
        _use_name(share),
        namespace=share.namespace,
        roleRef={"apiGroup": ROLE.group, "kind": ROLE.kind, "name": _use_name(share)},
        subjects=[subject],
    )


def _use_name(share: AccessShare) -> str:
    return f"use-scc-{share.scc}"
