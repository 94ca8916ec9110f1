"""Policies that their operator accepts and cannot carry out, and settings that select or do nothing."""

from collections import defaultdict
from collections.abc import Iterator

from railwright.core import kinds
from railwright.core.ids import RuleId
from railwright.core.objects import KubeObject, Ref, dig, ref_of
from railwright.core.risk import Risk
from railwright.doctor import nic_policy
from railwright.doctor.commands import oc
from railwright.doctor.model import (
    Condition,
    Evidence,
    Finding,
    Layer,
    Remedy,
    Rule,
    RuleInfo,
    Severity,
    Unknown,
    conclude,
)
from railwright.doctor.needs import BY_OPERATORS, SRIOV_POLICIES, objects
from railwright.doctor.nic_policy import HOST, SHARED, Pool
from railwright.doctor.operators import GPU, NETWORK
from railwright.doctor.promises import sriov_policies, sriov_prefix
from railwright.doctor.seen import Seen
from railwright.doctor.subjects import DEVICE_POLICIES, POLICIES
from railwright.readiness.answers import condition, holds, message_of

POLICY_NOT_CARRIED_OUT = RuleInfo(
    name=RuleId("policy-not-carried-out"),
    title="An operator does not carry out its resource as it is written",
    layer=Layer.DRIVERS,
    severity=Severity.ERROR,
    text="An error that an operator writes into its resource's status: an applied state of NicClusterPolicy in state error, or "
    "not ready with a message that something failed; ClusterPolicy with reason ReconcileFailed; two NVIDIADrivers for one "
    "node. The whole policy waits meanwhile, for rendering stops at the first error. And one that it does not write: a "
    "ConfigMap with repositories or certificates that the policy names and the container that builds the driver does not "
    "mount, or that does not exist. A state that is merely not ready says nothing here.",
    source="Measured: Network Operator 26.4.1 and GPU Operator 26.3.3 and 26.7.0 against kube-apiserver 1.36.3, 2026-11; "
    "Mellanox/network-operator #845; NVIDIA/gpu-operator #2811",
    needs=(
        objects(
            kinds.NIC_CLUSTER_POLICY, kinds.CLUSTER_POLICY, kinds.NVIDIA_DRIVER, kinds.DAEMON_SET, kinds.CONFIG_MAP
        ),
    ),
    covers=("B010", "B041", "B046", "B089"),
    leads_to=(
        Condition.NIC_DRIVER_NOT_READY,
        Condition.GPU_DRIVER_NOT_READY,
        Condition.RESOURCE_MISSING,
        Condition.POD_CRASHES,
    ),
    shows=(Condition.LABELS_MISSING, Condition.OPERATOR_MISSING),
    subject=POLICIES,
)
_FAILED_WORDS = ("failed to", "could not", "unable to", "error", "missing", "not supported", "invalid")


def judge_carried_out(seen: Seen) -> Iterator[Finding | Unknown]:
    """Collect what operators say of their own resources."""
    for policy in seen.of_kind(kinds.NIC_CLUSTER_POLICY):
        for state in dig(policy, "status", "appliedStates", default=()):
            message = str(state.get("message") or "")
            said_so = state.get("state") == "error" or (state.get("state") == "notReady" and _failed(message))
            if said_so:
                field = f"status.appliedStates[{state.get('name')}]"
                yield _said(policy, field, message or "error, without a message", NETWORK)
    for policy in seen.of_kind(kinds.CLUSTER_POLICY):
        error = condition(policy, "Error")
        if holds(policy, "Error") and (error or {}).get("reason") == "ReconcileFailed":
            yield _said(policy, "condition Error", message_of(error), GPU)
    for driver in seen.of_kind(kinds.NVIDIA_DRIVER):
        error = condition(driver, "Error")
        if holds(driver, "Error") and (error or {}).get("reason") in {"ConflictingNodeSelector", "ReconcileFailed"}:
            yield _said(driver, "condition Error", message_of(error), GPU)
    yield from _mounts(seen)


def _failed(message: str) -> bool:
    lower = message.lower()
    return any(word in lower for word in _FAILED_WORDS)


def _said(obj: KubeObject, field: str, message: str, key: str) -> Finding:
    ref = ref_of(obj)
    return conclude(
        POLICY_NOT_CARRIED_OUT,
        f"{ref}: {message}",
        evidence=(Evidence(str(ref), field, message),),
        remedy=Remedy(
            "Mend what the message names: a label of nodes, an object that does not exist, a value of the policy.",
            (oc(ref, "get", "-o yaml"),),
        ),
        about=(f"operator:{key}", f"object:{ref}"),
    )


_TOOLKIT = "openshift-driver-toolkit-ctr"


def _mounts(seen: Seen) -> Iterator[Finding]:
    """Follow each named ConfigMap into the driver's DaemonSets, and there into the containers that build."""
    nic = seen.get(kinds.NIC_CLUSTER_POLICY, nic_policy.NAME)
    for section in ("repoConfig", "certConfig"):
        name = str(dig(nic, "spec", "ofedDriver", section, "name", default=""))
        if nic is not None and name:
            yield from _mounted(seen, nic, f"ofedDriver.{section}", name, "mofed-")
    for policy in seen.of_kind(kinds.CLUSTER_POLICY):
        for section in ("repoConfig", "certConfig"):
            name = str(dig(policy, "spec", "driver", section, "configMapName", default="")) or str(
                dig(policy, "spec", "driver", section, "name", default="")
            )
            if name:
                yield from _mounted(seen, policy, f"driver.{section}", name, "nvidia-driver-daemonset")


def _mounted(seen: Seen, policy: KubeObject, field: str, name: str, prefix: str) -> Iterator[Finding]:
    for daemon_set in seen.of_kind(kinds.DAEMON_SET):
        if not str(daemon_set["metadata"]["name"]).startswith(prefix):
            continue
        spec = dig(daemon_set, "spec", "template", "spec", default={})
        volumes = {item.get("name") for item in spec.get("volumes") or () if dig(item, "configMap", "name") == name}
        namespace = str(daemon_set["metadata"].get("namespace", ""))
        without = [
            str(item.get("name"))
            for item in spec.get("containers") or ()
            if (item.get("name") == _TOOLKIT or "driver" in str(item.get("name")) or "mofed" in str(item.get("name")))
            and not any(mount.get("name") in volumes for mount in item.get("volumeMounts") or ())
        ]
        problem = ""
        if seen.get(kinds.CONFIG_MAP, name, namespace) is None and seen.is_whole(kinds.CONFIG_MAP, namespace):
            problem = f"there is no ConfigMap {name} in {namespace}"
        elif not volumes:
            problem = f"{ref_of(daemon_set)} does not mount it"
        elif without:
            problem = f"container {without[0]} of {ref_of(daemon_set)} does not mount it"
        if problem:
            yield conclude(
                POLICY_NOT_CARRIED_OUT,
                f"{ref_of(policy)} names ConfigMap {name} in {field}, and {problem}.",
                evidence=(
                    Evidence(str(ref_of(policy)), f"spec.{field}", name),
                    Evidence(str(ref_of(daemon_set)), "mounts", problem),
                ),
                remedy=Remedy(
                    "Create the ConfigMap in the operator's namespace, or update the operator where it does not pass it on.",
                    (f"oc -n {namespace} get configmap {name}", oc(ref_of(daemon_set), "get", "-o yaml")),
                    risk=Risk.DRIVER_RELOAD,
                    disrupts="driver pods are made anew, node by node",
                ),
                about=(f"workload:{daemon_set['metadata']['name']}",),
            )


DEVICE_POLICY_UNUSABLE = RuleInfo(
    name=RuleId("device-policy-unusable"),
    title="A device policy is accepted, and asks for what cannot give RDMA devices to pods",
    layer=Layer.DEVICES,
    severity=Severity.ERROR,
    text="The Network Operator hands a device plugin's configuration on without looking into it: text that is no JSON, a "
    "resource name with a character that the plugin refuses, a link type that no port ever has, 0 devices to share, a resource "
    "that two pools offer, a criterion that the plugin does not know, RDMA left out. A SR-IOV policy for RDMA needs deviceType "
    "netdevice and isRdma; on InfiniBand linkType ib and fewer than 16 VFs a port (with more, the kernel's answer about them "
    "does not fit into one message); policies that offer one resource need one device type.",
    source="Mellanox/k8s-rdma-shared-dev-plugin 410b0f3, pkg/resources/resources_manager.go; "
    "k8snetworkplumbingwg/sriov-network-device-plugin 40b6f507, docs; openshift/sriov-network-operator 44199ad5, "
    "pkg/webhook/validate.go; Mellanox/network-operator-docs 0c0ecad, release notes (VFs of an InfiniBand port)",
    needs=(objects(kinds.NIC_CLUSTER_POLICY, *SRIOV_POLICIES),),
    uses=(objects(kinds.SRIOV_NETWORK_NODE_STATE), BY_OPERATORS),
    covers=("B047", "B049", "B055", "B060", "B105", "B113"),
    leads_to=(Condition.RESOURCE_MISSING, Condition.VFS_MISSING, Condition.POD_CRASHES),
    subject=DEVICE_POLICIES,
)
_KNOWN = {
    SHARED: {"vendors", "deviceIDs", "drivers", "ifNames", "linkTypes"},
    HOST: {
        "vendors",
        "devices",
        "drivers",
        "pciAddresses",
        "acpiIndexes",
        "pfNames",
        "rootDevices",
        "linkTypes",
        "ddpProfiles",
        "isRdma",
        "needVhostNet",
        "vdpaType",
        "pKeys",
        "auxTypes",
        "pkeys",
    },
}
_LINK_TYPES = ("ether", "infiniband")


def judge_device_policies(seen: Seen) -> Iterator[Finding | Unknown]:
    """Judge the pools of both device plugins, then the policies of the SR-IOV operator."""
    yield from _plugin_pools(seen)
    yield from _vf_policies(seen)


def _plugin_pools(seen: Seen) -> Iterator[Finding | Unknown]:
    """Read both plugins' configurations as the plugins do."""
    policy = seen.get(kinds.NIC_CLUSTER_POLICY, nic_policy.NAME)
    if policy is None:
        return
    for section in (SHARED, HOST):
        problem = _text_problem(policy, section)
        if problem:
            yield _pool(policy, section, (), problem, Severity.ERROR)
    by_resource: dict[str, list[Pool]] = defaultdict(list)
    for pool in nic_policy.pools_of(policy):
        by_resource[pool.resource].append(pool)
        problems = tuple(_problems(pool))
        if problems:
            worst = max((severity for _, severity in problems), key=lambda severity: severity.rank)
            yield _pool(policy, pool.section, (pool.resource,), "; ".join(text for text, _ in problems), worst)
    for resource, twins in by_resource.items():
        if len(twins) > 1:
            problem = f"{len(twins)} pools offer {resource}: only one is kept"
            yield _pool(policy, twins[0].section, (resource,), problem, Severity.ERROR)


def _text_problem(policy: KubeObject, section: str) -> str:
    """Say what is wrong with the configuration as a whole; empty when it can be read, or is not wanted."""
    text = nic_policy.config_text(policy, section)
    if text is None:
        is_set = dig(policy, "spec", section) is not None
        return f"{section} has no config: its pods wait for a ConfigMap for ever" if is_set else ""
    problem = nic_policy.read_config(text)[1]
    if problem:
        return f"the config of {section} is {problem}"
    return f"the config of {section} holds a single quote, which breaks its rendering" if "'" in text else ""


def _problems(pool: Pool) -> Iterator[tuple[str, Severity]]:
    name = str(pool.entry.get("resourceName", ""))
    if not name.replace("_", "").isalnum():
        yield (
            f"resourceName {name!r} has other characters than letters, digits and _: the plugin refuses it",
            Severity.ERROR,
        )
    if pool.section == SHARED and (pool.share_count is None or pool.share_count <= 0):
        yield f"{pool.resource}: rdmaHcaMax is {pool.share_count}: so many pods may share a device", Severity.ERROR
    for way in pool.selectors:
        unknown = sorted(set(way) - _KNOWN[pool.section])
        if unknown:
            yield f"{pool.resource}: {pool.section} knows no selector {', '.join(unknown)}", Severity.ERROR
        types = way.get("linkTypes")
        wrong = [item for item in types or () if item not in _LINK_TYPES] if isinstance(types, list) else []
        if wrong:
            yield (
                f"{pool.resource}: linkTypes {wrong} fits no port; the plugin says {' or '.join(_LINK_TYPES)}",
                Severity.ERROR,
            )
        if pool.section == HOST and way.get("isRdma") is not True and pool.entry.get("deviceType") != "accelerator":
            yield (
                f"{pool.resource}: isRdma is not true, so pods get the port without its RDMA devices",
                Severity.WARNING,
            )


def _pool(policy: KubeObject, section: str, resources: tuple[str, ...], problem: str, severity: Severity) -> Finding:
    ref = ref_of(policy)
    return conclude(
        DEVICE_POLICY_UNUSABLE,
        f"{ref}: {problem}.",
        evidence=(Evidence(str(ref), f"spec.{section}.config", resources[0] if resources else "the whole text"),),
        remedy=Remedy(
            "Correct the entry in the policy (never in the ConfigMap: the operator does not repair or keep that).",
            (oc(ref, "edit"), "railwright plan   # shows the difference to what apply would write"),
            disrupts="device plugin pods restart; pods that run keep their devices",
        ),
        about=tuple(f"resource:{resource}" for resource in resources) or (f"operator:{NETWORK}",),
        severity=severity,
    )


_MELLANOX = "15b3"
_MAX_IB_VFS = 15


def _vf_policies(seen: Seen) -> Iterator[Finding | Unknown]:
    """Judge each policy by itself, then those that share a resource or a port."""
    policies = sriov_policies(seen)
    for policy in policies:
        for problem, severity in _sriov_problems(policy, seen):
            yield _sriov(seen, policy, problem, severity)
    by_resource: dict[str, list[KubeObject]] = defaultdict(list)
    for policy in policies:
        by_resource[str(dig(policy, "spec", "resourceName", default=""))].append(policy)
    for resource, group in by_resource.items():
        types = {str(dig(item, "spec", "deviceType", default="netdevice")) for item in group}
        if len(types) > 1:
            names = ", ".join(str(item["metadata"]["name"]) for item in group)
            yield _sriov(
                seen,
                group[0],
                f"policies {names} offer {resource} with device types {', '.join(sorted(types))}",
                Severity.ERROR,
            )


def _sriov_problems(policy: KubeObject, seen: Seen) -> Iterator[tuple[str, Severity]]:
    spec = dig(policy, "spec", default={})
    selector = spec.get("nicSelector") or {}
    is_rdma, is_infiniband = bool(spec.get("isRdma")), str(spec.get("linkType", "")).lower() == "ib"
    device_type = str(spec.get("deviceType") or "netdevice")
    is_mellanox = selector.get("vendor") == _MELLANOX or is_infiniband or _is_mellanox(policy, seen)
    if is_rdma and device_type != "netdevice":
        yield f"isRdma with deviceType {device_type}: such a VF has no RDMA device", Severity.ERROR
    elif is_mellanox and device_type == "vfio-pci":
        yield "deviceType vfio-pci takes the VF from mlx5_core: pods get no RDMA device", Severity.WARNING
    elif is_mellanox and not is_rdma:
        yield "isRdma is not set: pods get the VF's network device without its RDMA devices", Severity.WARNING
    count = int(spec.get("numVfs") or 0)
    if is_infiniband and count > _MAX_IB_VFS:
        yield (
            f"{count} VFs on an InfiniBand port: the config daemon fails from 16 on (message too long)",
            Severity.ERROR,
        )
    if count == 0 and not spec.get("externallyManaged"):
        yield "numVfs is 0: it makes no VF", Severity.WARNING
    if not any(selector.get(key) for key in ("vendor", "deviceID", "pfNames", "rootDevices", "netFilter")):
        yield "nicSelector is empty: the webhook refuses it, and without the webhook it selects nothing", Severity.ERROR


def _is_mellanox(policy: KubeObject, seen: Seen) -> bool:
    """Whether the ports that a policy names are Mellanox ports, by the node states."""
    names = {str(item).partition("#")[0] for item in dig(policy, "spec", "nicSelector", "pfNames", default=())}
    addresses = set(dig(policy, "spec", "nicSelector", "rootDevices", default=()))
    return any(
        port.get("vendor") == _MELLANOX and (port.get("name") in names or port.get("pciAddress") in addresses)
        for state in seen.node_states.values()
        for port in dig(state, "status", "interfaces", default=())
    )


def _sriov(seen: Seen, policy: KubeObject, problem: str, severity: Severity) -> Finding:
    ref: Ref = ref_of(policy)
    resource, prefix = str(dig(policy, "spec", "resourceName", default="")), sriov_prefix(seen)
    fields = ("deviceType", "isRdma", "linkType", "numVfs", "nicSelector")
    return conclude(
        DEVICE_POLICY_UNUSABLE,
        f"{ref}: {problem}.",
        evidence=[
            Evidence(str(ref), f"spec.{name}", str(dig(policy, "spec", name, default="not set"))) for name in fields
        ],
        remedy=Remedy(
            "Make a policy with the right values; the operator sets the VFs of its nodes anew.",
            (oc(ref, "edit"),),
            risk=Risk.DRAIN,
            disrupts="each node that it selects is drained while its VFs are made anew",
        ),
        about=(*([f"resource:{prefix}/{resource}"] if prefix else []), f"object:{ref}"),
        severity=severity,
    )


RULES = (
    Rule(POLICY_NOT_CARRIED_OUT, judge_carried_out),
    Rule(DEVICE_POLICY_UNUSABLE, judge_device_policies),
)
