"""
Gate Jobs for GitOps: a Job a folder that ends well once what the folder made is really there.

They ask the API server only, and only read. `railwright apply` looks further (inside nodes, at status that is older
than the write); a gate Job is what can be said in a shell script.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from railwright.core import kinds
from railwright.core.ids import FabricName
from railwright.core.objects import Kind, KubeObject
from railwright.manifests.assemble import an_object
from railwright.manifests.model import Manifest
from railwright.plan.model import ADMITTED, Allocatable, Plan, StagePlan, fabric_label

NAMESPACE = "railwright-gates"
ACCOUNT = "gate"
CLI_IMAGE = "image-registry.openshift-image-registry.svc:5000/openshift/cli:latest"
"""The platform's own image stream inside the cluster: nothing is pulled from outside, and its version fits."""

_READ = ("get", "list", "watch")
_READABLE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("", ("nodes",)),
    ("k8s.cni.cncf.io", ("network-attachment-definitions",)),
    ("machineconfiguration.openshift.io", ("kubeletconfigs", "machineconfigpools")),
    ("mellanox.com", ("hostdevicenetworks", "ipoibnetworks", "macvlannetworks", "nicclusterpolicies")),
    ("nmstate.io", ("nodenetworkconfigurationpolicies",)),
    ("nvidia.com", ("clusterpolicies",)),
    ("operators.coreos.com", ("clusterserviceversions", "subscriptions")),
    ("sriovnetwork.openshift.io", ("sriovnetworknodestates",)),
)
"""Everything that a gate may read."""

_PROLOGUE = """\
set -u
until_is() {
  expected="$1"; shift
  echo "waiting for $expected: oc $*"
  until [ "$(oc "$@" 2>/dev/null)" = "$expected" ]; do sleep 10; done
}
until_found() {
  echo "waiting for oc $*"
  until [ -n "$(oc "$@" -o name 2>/dev/null)" ]; do sleep 10; done
}
until_installed() {
  echo "waiting until OLM has installed a version for Subscription $1 in $2"
  until csv="$(oc get subscriptions.operators.coreos.com "$1" -n "$2" -o jsonpath='{.status.installedCSV}' 2>/dev/null)" \
    && [ -n "$csv" ] \
    && [ "$(oc get clusterserviceversion "$csv" -n "$2" -o jsonpath='{.status.phase}' 2>/dev/null)" = Succeeded ]
  do sleep 10; done
}
vfs_are_there() {
  nodes="$(oc get nodes -l "$3" -o jsonpath='{.items[*].metadata.name}' 2>/dev/null)"
  [ -n "$nodes" ] || return 1
  path="{.status.syncStatus} {.status.interfaces[?(@.name==\"$2\")].numVfs}"
  for node in $nodes; do
    said="$(oc get sriovnetworknodestates "$node" -n "$4" -o jsonpath="$path" 2>/dev/null)"
    [ "${said%% *}" = Succeeded ] && [ "${said##* }" -ge "$1" ] 2>/dev/null || return 1
  done
}
until_vfs() {
  echo "waiting for $1 virtual functions of $2 on every node with $3"
  until vfs_are_there "$@"; do sleep 10; done
}
until_at_least() {
  count="$1"; shift
  echo "waiting for at least $count on every node: oc $*"
  until [ "$(oc "$@" 2>/dev/null | sort -n | head -n 1)" -ge "$count" ] 2>/dev/null; do sleep 10; done
}
"""


def access_objects() -> tuple[KubeObject, ...]:
    """Render what gate Jobs run under: a namespace and an account that may read what they look at."""
    rules = [{"apiGroups": [group], "resources": list(names), "verbs": list(_READ)} for group, names in _READABLE]
    name = "railwright-gate-reader"
    return (
        an_object(kinds.NAMESPACE, NAMESPACE, labels={"pod-security.kubernetes.io/enforce": "restricted"}),
        an_object(kinds.SERVICE_ACCOUNT, ACCOUNT, namespace=NAMESPACE),
        an_object(kinds.CLUSTER_ROLE, name, rules=rules),
        an_object(
            kinds.CLUSTER_ROLE_BINDING,
            name,
            roleRef={"apiGroup": kinds.CLUSTER_ROLE.group, "kind": kinds.CLUSTER_ROLE.kind, "name": name},
            subjects=[{"kind": kinds.SERVICE_ACCOUNT.kind, "name": ACCOUNT, "namespace": NAMESPACE}],
        ),
    )


def gate_job(folder: str, stage: StagePlan, items: tuple[Manifest, ...], plan: Plan) -> KubeObject | None:
    """
    Render the gate of one folder; None when there is nothing that a shell could wait for.

    The name ends in a digest of the script: a Job cannot be changed, so another script is another Job.
    """
    checks = [line for item in items for line in _lines(item)]
    if not any(item.ref.kind == kinds.SUBSCRIPTION for item in items):
        checks += _allocatable(stage, plan)
    if not checks:
        return None
    script = _PROLOGUE + "\n".join(dict.fromkeys(checks)) + f'\necho "{folder} is ready"\n'
    digest = hashlib.sha256(script.encode()).hexdigest()[:8]
    return an_object(
        kinds.JOB,
        f"gate-{folder}-{digest}",
        namespace=NAMESPACE,
        spec={
            "activeDeadlineSeconds": int(stage.limit_s),
            "backoffLimit": 0,
            "template": {"spec": {"restartPolicy": "Never", "serviceAccountName": ACCOUNT, **_containers(script)}},
        },
    )


def _containers(script: str) -> dict[str, Any]:
    container = {
        "name": "gate",
        "image": CLI_IMAGE,
        "command": ["/bin/sh", "-c", script],
        "securityContext": {
            "runAsNonRoot": True,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}},
    }
    return {"containers": [container]}


def _lines(item: Manifest) -> tuple[str, ...]:
    check = _CHECKS.get(item.ref.kind)
    return check(item.obj) if check else ()


def _csv(obj: KubeObject) -> tuple[str, ...]:
    """Ask for the planned version; where none is named, for the one that OLM says is installed."""
    csv, namespace = obj["spec"].get("startingCSV", ""), obj["metadata"]["namespace"]
    if not csv:
        return (f"until_installed {obj['metadata']['name']} {namespace}",)
    return (f"until_is Succeeded get clusterserviceversion {csv} -n {namespace} -o jsonpath='{{.status.phase}}'",)


def _labelled(_: KubeObject) -> tuple[str, ...]:
    return tuple(
        f"until_found get nodes -l feature.node.kubernetes.io/pci-{vendor}.present=true" for vendor in ("15b3", "10de")
    )


def _state(resource: str) -> Callable[[KubeObject], tuple[str, ...]]:
    def check(obj: KubeObject) -> tuple[str, ...]:
        return (f"until_is ready get {resource} {obj['metadata']['name']} -o jsonpath='{{.status.state}}'",)

    return check


def _vfs(obj: KubeObject) -> tuple[str, ...]:
    """
    Count the VFs of each port on each node that the policy selects.

    A state says Succeeded from before, until its daemon has seen the policy; and nodes that are not selected may say
    what they like.
    """
    spec, where = obj["spec"], obj["metadata"]["namespace"]
    labels = ",".join(f"{key}={value}" for key, value in spec["nodeSelector"].items())
    ports = dict.fromkeys(str(name).partition("#")[0] for name in spec["nicSelector"]["pfNames"])
    return tuple(f"until_vfs {spec['numVfs']} {port} {labels} {where}" for port in ports)


def _nad(obj: KubeObject) -> tuple[str, ...]:
    namespace = obj["spec"].get("networkNamespace", obj["metadata"].get("namespace"))
    return (f"until_found get network-attachment-definitions {obj['metadata']['name']} -n {namespace}",)


def _pool(obj: KubeObject) -> tuple[str, ...]:
    """Ask for our part first: a pool says Updated until it has seen the new MachineConfig."""
    pool = obj["metadata"]["labels"]["machineconfiguration.openshift.io/role"]
    name = obj["metadata"]["name"]
    part = f'{{.status.configuration.source[?(@.name=="{name}")].name}}'
    updated = '{.status.conditions[?(@.type=="Updated")].status}'
    return (
        f"until_is {name} get machineconfigpool {pool} -o jsonpath='{part}'",
        f"until_is True get machineconfigpool {pool} -o jsonpath='{updated}'",
    )


def _condition(resource: str, condition: str) -> Callable[[KubeObject], tuple[str, ...]]:
    def check(obj: KubeObject) -> tuple[str, ...]:
        path = f'{{.status.conditions[?(@.type=="{condition}")].status}}'
        return (f"until_is True get {resource} {obj['metadata']['name']} -o jsonpath='{path}'",)

    return check


def _allocatable(stage: StagePlan, plan: Plan) -> list[str]:
    """Ask every admitted node of a fabric for each resource: the smallest number that the plan expects."""
    counts: dict[str, int] = {}
    for item in stage.expectations:
        if isinstance(item, Allocatable):
            counts[item.resource] = min(item.count, counts.get(item.resource, item.count))
    fabric_by_resource = {rail.resource: rail.fabric for rail in plan.rails}
    lines = []
    for resource in sorted(counts):
        for fabric in _fabrics(resource, fabric_by_resource, plan):
            path = resource.replace(".", "\\.")
            column = f"jsonpath='{{range .items[*]}}{{.status.allocatable.{path}}}{{\"\\n\"}}{{end}}'"
            label = f"{fabric_label(fabric)}={ADMITTED}"
            lines.append(f"until_at_least {counts[resource]} get nodes -l {label} -o {column}")
    return lines


def _fabrics(resource: str, by_resource: Mapping[str, FabricName], plan: Plan) -> Iterable[FabricName]:
    return [by_resource[resource]] if resource in by_resource else [fabric.name for fabric in plan.fabrics]


_CHECKS: Mapping[Kind, Callable[[KubeObject], tuple[str, ...]]] = {
    kinds.SUBSCRIPTION: _csv,
    kinds.NODE_FEATURE_DISCOVERY: _labelled,
    kinds.NIC_CLUSTER_POLICY: _state("nicclusterpolicies.mellanox.com"),
    kinds.MACVLAN_NETWORK: _state("macvlannetworks.mellanox.com"),
    kinds.IPOIB_NETWORK: _state("ipoibnetworks.mellanox.com"),
    kinds.HOST_DEVICE_NETWORK: _state("hostdevicenetworks.mellanox.com"),
    kinds.CLUSTER_POLICY: _state("clusterpolicies.nvidia.com"),
    kinds.SRIOV_NETWORK_NODE_POLICY: _vfs,
    kinds.SRIOV_NETWORK: _nad,
    kinds.SRIOV_IB_NETWORK: _nad,
    kinds.NETWORK_ATTACHMENT_DEFINITION: _nad,
    kinds.MACHINE_CONFIG: _pool,
    kinds.KUBELET_CONFIG: _condition("kubeletconfigs", "Success"),
    kinds.NODE_NETWORK_CONFIGURATION_POLICY: _condition("nodenetworkconfigurationpolicies", "Available"),
}
"""What a shell waits for, by kind; the other kinds are there as soon as they are applied."""
