"""
What NVIDIA's Network Operator does to NicClusterPolicy: operands, wait labels, the twelve applied states.

Measured: Network Operator 26.4.1 controllers against kube-apiserver 1.36.3, 2026-11.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from railwright.core.kinds import CONFIG_MAP, DAEMON_SET, NIC_CLUSTER_POLICY
from railwright.core.objects import KubeObject, Ref, dig, labels_of, ref_of
from railwright.standins.kinds.driver_upgrades import Upgrade, roll
from railwright.standins.kinds.nfd import PREFIX
from railwright.standins.model import Objects, Write
from railwright.standins.operators import NETWORK, running_namespace
from railwright.standins.view import (
    create,
    delete,
    differs,
    ensure,
    is_openshift,
    is_owned_by,
    merge,
    name_of,
    node_of,
    nodes,
    of_kind,
    pods_of,
    set_status,
    short_hash,
)
from railwright.standins.workloads import config_map, daemon_set, definition, deployment

POLICY_NAME = "nic-cluster-policy"
WAIT_LABEL = "network.nvidia.com/operator.mofed.wait"
STATE_LABEL = "nvidia.network-operator.state"
NIC_LABEL = f"{PREFIX}pci-15b3.present"
OSTREE_LABEL = f"{PREFIX}system-os_release.OSTREE_VERSION"

STATES = (
    ("state-multus-cni", ("secondaryNetwork", "multus")),
    ("state-container-networking-plugins", ("secondaryNetwork", "cniPlugins")),
    ("state-ipoib-cni", ("secondaryNetwork", "ipoib")),
    ("state-OFED", ("ofedDriver",)),
    ("state-SRIOV-device-plugin", ("sriovDevicePlugin",)),
    ("state-RDMA-device-plugin", ("rdmaSharedDevicePlugin",)),
    ("state-ib-kubernetes", ("ibKubernetes",)),
    ("state-nv-ipam-cni", ("nvIpam",)),
    ("state-nic-feature-discovery", ("nicFeatureDiscovery",)),
    ("state-doca-telemetry-service", ("docaTelemetryService",)),
    ("state-nic-configuration-operator", ("nicConfigurationOperator",)),
    ("state-spectrum-x-operator", ("spectrumXOperator",)),
)
"""Applied states in the order of the operator, and the section of the policy that asks for each."""

_SIMPLE = {
    "state-multus-cni": ("kube-multus-ds", "kube-multus", ""),
    "state-container-networking-plugins": ("cni-plugins-ds", "cni-plugins", ""),
    "state-ipoib-cni": ("kube-ipoib-cni-ds", "ipoib-cni", ""),
    "state-nv-ipam-cni": ("nv-ipam-node", "node", ""),
    "state-nic-feature-discovery": ("nic-feature-discovery-ds", "nic-feature-discovery", ""),
    "state-doca-telemetry-service": ("doca-telemetry-service", "doca-telemetry-service", ""),
    "state-RDMA-device-plugin": ("rdma-shared-dp-ds", "rdma-shared-dp", "rdma-devices"),
    "state-SRIOV-device-plugin": (
        "network-operator-sriov-device-plugin",
        "kube-sriovdp",
        "network-operator-sriovdp-config",
    ),
}
"""State -> its DaemonSet, that one's container, and the ConfigMap that its `config` goes into."""

_GPU_TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
_WAITS_FOR_DRIVER = {"state-RDMA-device-plugin", "state-SRIOV-device-plugin", "state-doca-telemetry-service"}


def react(world: Objects, now: datetime) -> tuple[Write, ...]:
    """Bring operands, labels and status of the policy one step on; nothing while the operator does not run."""
    del now
    namespace = running_namespace(world, NETWORK)
    if namespace is None:
        return ()
    policies = of_kind(world, NIC_CLUSTER_POLICY)
    policy = next((item for item in policies if name_of(item) == POLICY_NAME), None)
    writes: list[Write] = []
    for other in policies:
        if other is not policy:
            reason = f"Unsupported NicClusterPolicy instance {name_of(other)}. Only instance with name {POLICY_NAME} is supported"
            writes += set_status(other, {"state": "ignore", "reason": reason})
    writes += _wait_labels(world, namespace, policy)
    if policy is not None:
        writes += _policy(world, namespace, policy)
    return tuple(writes)


# --- wait labels -----------------------------------------------------------------------------------------------------


def driver_sets(world: Objects, namespace: str) -> tuple[KubeObject, ...]:
    """Driver DaemonSets, one an operating system and kernel."""
    found = of_kind(world, DAEMON_SET, namespace)
    return tuple(item for item in found if labels_of(item).get(STATE_LABEL) == "state-OFED")


def _wait_labels(world: Objects, namespace: str, policy: KubeObject | None) -> list[Write]:
    wants_driver = policy is not None and dig(policy, "spec", "ofedDriver") is not None
    pods = {node_of(pod): pod for item in driver_sets(world, namespace) for pod in pods_of(world, item)}
    writes: list[Write] = []
    for node in nodes(world):
        labels = labels_of(node)
        if labels.get(NIC_LABEL) != "true":
            continue
        pod = pods.get(name_of(node))
        if pod is not None:
            value = "false" if wants_driver and _driver_ready(pod) else "true"
        elif wants_driver:
            continue
        else:
            value = "false"
        change = {WAIT_LABEL: value}
        if not dig(policy, "spec", "nicConfigurationOperator"):
            change["network.nvidia.com/operator.nic-configuration.wait"] = "false"
        writes += merge(node, {"metadata": {"labels": change}})
    return writes


def _driver_ready(pod: KubeObject) -> bool:
    """Whether mofed-container is ready; the toolkit container does not count."""
    states = dig(pod, "status", "containerStatuses", default=())
    return any(item["name"] == "mofed-container" and item["ready"] for item in states)


# --- operands --------------------------------------------------------------------------------------------------------


def _policy(world: Objects, namespace: str, policy: KubeObject) -> list[Write]:
    writes: list[Write] = []
    states: list[dict[str, str]] = []
    for state, path in STATES:
        section = dig(policy, "spec", *path)
        wanted, problem = ([], "") if section is None else _wanted(world, namespace, policy, state, section)
        if not problem:
            writes += _converge(world, namespace, policy, state, wanted)
        states.append(_judge(world, namespace, state, section, problem))
    good = all(item["state"] in {"ready", "ignore"} for item in states)
    known = {item["name"]: item.get("message") for item in dig(policy, "status", "appliedStates", default=())}
    for item in states:
        if item["state"] == "error" and item["name"] not in known:
            item.pop("message", None)
    status = {"state": "ready" if good else "notReady", "appliedStates": states}
    return [*writes, *set_status(policy, status)]


def _judge(world: Objects, namespace: str, state: str, section: Any, problem: str) -> dict[str, str]:
    mine = [item for item in of_kind(world, DAEMON_SET, namespace) if labels_of(item).get(STATE_LABEL) == state]
    if section is None:
        return {"name": state, "state": "notReady" if mine else "ignore"}
    if problem:
        return {"name": state, "state": "error", "message": problem}
    ready = bool(mine) and all(_set_ready(item) for item in mine)
    if state in {"state-ib-kubernetes", "state-nic-configuration-operator", "state-spectrum-x-operator"}:
        ready = True
    return {"name": state, "state": "ready" if ready else "notReady"}


def _set_ready(item: KubeObject) -> bool:
    status = dig(item, "status", default={})
    desired = status.get("desiredNumberScheduled", 0)
    return bool(desired and desired == status.get("numberAvailable") == status.get("updatedNumberScheduled"))


def _without_owner(item: KubeObject) -> KubeObject:
    """Leave the owner out, whose uid differs from one cluster to the next: what is rendered is the same."""
    metadata = {key: value for key, value in item["metadata"].items() if key != "ownerReferences"}
    return {**item, "metadata": metadata}


def _converge(world: Objects, namespace: str, policy: KubeObject, state: str, wanted: list[KubeObject]) -> list[Write]:
    """Create what is missing, change what was rendered anew, delete what is not wanted; leave hand edits alone."""
    writes: list[Write] = []
    keep: set[Ref] = set()
    for item in wanted:
        revision = short_hash(_without_owner(item))
        item["metadata"].setdefault("annotations", {})["nvidia.network-operator.revision"] = revision
        item["metadata"].setdefault("labels", {})[STATE_LABEL] = state
        keep.add(ref_of(item))
        live = world.objects.get(ref_of(item))
        if live is None:
            writes.append(create(item))
        elif dig(live, "metadata", "annotations", "nvidia.network-operator.revision") != revision:
            change = {key: value for key, value in item.items() if key in {"spec", "data"}}
            meta = {"annotations": item["metadata"]["annotations"]}
            if differs(live, change | {"metadata": meta}):
                writes += merge(live, change | {"metadata": meta})
    kinds = (DAEMON_SET, CONFIG_MAP)
    for live in (item for kind in kinds for item in of_kind(world, kind, namespace)):
        if labels_of(live).get(STATE_LABEL) == state and ref_of(live) not in keep and is_owned_by(live, policy):
            writes.append(delete(live))
    if state == "state-nv-ipam-cni" and wanted:
        for kind, plural in (("IPPool", "ippools"), ("CIDRPool", "cidrpools")):
            body = definition("nv-ipam.nvidia.com", "v1alpha1", kind, plural, namespaced=True, owner=policy)
            writes += ensure(world, body)
        writes += ensure(
            world,
            deployment(
                "nv-ipam-controller", namespace, policy, wanted[0]["spec"]["template"]["spec"]["containers"][0]["image"]
            ),
        )
    return writes


def _image(section: Mapping[str, Any]) -> str:
    return f"{section.get('repository', '')}/{section.get('image', '')}:{section.get('version', '')}"


def _wanted(
    world: Objects, namespace: str, policy: KubeObject, state: str, section: Mapping[str, Any]
) -> tuple[list[KubeObject], str]:
    if state == "state-OFED":
        return _driver(world, namespace, policy, section)
    if state not in _SIMPLE:
        return [], ""
    name, container, settings = _SIMPLE[state]
    if not section.get("version"):
        return [], f"failed to create k8s objects from manifest: failed to render objects: {state} version is required"
    selector = {NIC_LABEL: "true", WAIT_LABEL: "false"} if state in _WAITS_FOR_DRIVER else {}
    text = section.get("config", "")
    made: list[KubeObject] = []
    if settings and "config" in section:
        made.append(config_map(settings, namespace, policy, {"config.json": text}))
    made.append(
        daemon_set(
            name,
            namespace,
            policy,
            containers=[(container, _image(section))],
            node_selector=selector,
            template_annotations={"nvidia.network-operator.config-hash": short_hash(text)} if settings else {},
            affinity=_affinity(policy),
            tolerations=[_GPU_TOLERATION, *dig(policy, "spec", "tolerations", default=[])],
        )
    )
    return made, ""


def kernel_hash(kernel: str) -> str:
    """
    Spell the part of a driver DaemonSet's name that stands for a kernel: FNV-1a, its digits as safe letters.

    "5.14.0-570.62.1.el9_6.x86_64" gives "75cdcb5967", as recorded.
    """
    value = 0x811C9DC5
    for byte in kernel.encode():
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    alphabet = "bcdfghjklmnpqrstvwxz2456789"
    return "".join(alphabet[ord(digit) % len(alphabet)] for digit in str(value))


def _affinity(policy: KubeObject) -> Mapping[str, Any] | None:
    wanted = dig(policy, "spec", "nodeAffinity")
    return {"nodeAffinity": wanted} if wanted else None


def _driver(
    world: Objects, namespace: str, policy: KubeObject, section: Mapping[str, Any]
) -> tuple[list[KubeObject], str]:
    on_openshift = is_openshift(world)
    made: dict[str, KubeObject] = {}
    for node in nodes(world):
        labels = labels_of(node)
        os_id, version, kernel = (
            labels.get(f"{PREFIX}{key}")
            for key in ("system-os_release.ID", "system-os_release.VERSION_ID", "kernel-version.full")
        )
        if labels.get(NIC_LABEL) != "true" or not (os_id and version and kernel):
            continue
        ostree = labels.get(OSTREE_LABEL)
        if on_openshift and not ostree:
            return (
                [],
                f"failed to create k8s objects from manifest: failed to render objects: required NFD Label missing: {OSTREE_LABEL}",
            )
        name = f"mofed-{os_id}{version}-{kernel_hash(kernel)}-ds"
        selector = {
            NIC_LABEL: "true",
            f"{PREFIX}system-os_release.ID": os_id,
            f"{PREFIX}system-os_release.VERSION_ID": version,
            f"{PREFIX}kernel-version.full": kernel,
        }
        architecture = labels.get("kubernetes.io/arch", "amd64")
        containers = [("mofed-container", f"{_image(section)}-{os_id}{version}-{architecture}")]
        if on_openshift and ostree:
            selector[OSTREE_LABEL] = ostree
            containers.append(
                ("openshift-driver-toolkit-ctr", "quay.io/openshift-release-dev/ocp-v4.0-art-dev:driver-toolkit")
            )
        environment = {item["name"]: str(item.get("value", "")) for item in section.get("env", ())}
        made[name] = daemon_set(
            name,
            namespace,
            policy,
            containers=containers,
            node_selector=selector,
            labels={"nvidia.com/ofed-driver": "", STATE_LABEL: "state-OFED", "ds-owner": "NicClusterPolicy"},
            environment=environment,
            affinity=_affinity(policy),
            tolerations=[_GPU_TOLERATION, *dig(policy, "spec", "tolerations", default=[])],
            on_delete=True,
        )
    return list(made.values()), ""


def react_driver_upgrade(world: Objects, now: datetime) -> tuple[Write, ...]:
    """Replace outdated driver pods as the policy says; its labels go with it."""
    del now
    namespace = running_namespace(world, NETWORK)
    if namespace is None:
        return ()
    policy = world.objects.get(Ref(NIC_CLUSTER_POLICY, "", POLICY_NAME))
    rules = dig(policy, "spec", "ofedDriver", "upgradePolicy", default={})
    return tuple(roll(world, Upgrade("ofed", rules, driver_sets(world, namespace))))
