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
from railwright.doctor.needs import objects
from railwright.doctor.nic_policy import HOST, SHARED, Pool
from railwright.doctor.operators import GPU, NETWORK
from railwright.doctor.promises import sriov_policies
from railwright.doctor.seen import Seen
from railwright.readiness.answers import condition, holds, message_of

POLICY_NOT_CARRIED_OUT = RuleInfo(
    name=RuleId("policy-not-carried-out"),
    title="An operator says that it cannot carry out its resource",
    layer=Layer.DRIVERS,
    severity=Severity.ERROR,
    text="An error that an operator writes into its resource's status: an applied state of NicClusterPolicy or a "
    "network in state error, or not ready with a message that something failed; ClusterPolicy with reason "
    "ReconcileFailed; NVIDIADriver with two objects for one node. The whole policy waits meanwhile, for rendering stops "
    "at the first error. A state that is merely not ready says nothing here.",
    source="Measured: Network Operator 26.4.1 and GPU Operator 26.3.3 and 26.7.0 against kube-apiserver 1.36.3, 2026-11",
    needs=(objects(kinds.NIC_CLUSTER_POLICY, kinds.CLUSTER_POLICY),),
    covers=("B041", "B089"),
    leads_to=(
        Condition.NIC_DRIVER_NOT_READY,
        Condition.GPU_DRIVER_NOT_READY,
        Condition.RESOURCE_MISSING,
        Condition.NETWORK_MISSING,
    ),
    shows=(Condition.LABELS_MISSING, Condition.OPERATOR_MISSING),
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


POOL_UNUSABLE = RuleInfo(
    name=RuleId("device-pool-unusable"),
    title="A device plugin's configuration cannot be used as it is written",
    layer=Layer.DEVICES,
    severity=Severity.ERROR,
    text="The Network Operator hands a device plugin's configuration on without looking into it: text that is no JSON, a "
    "resource name with a character that the plugin refuses, a link type that no port ever has (IB, eth), 0 devices to "
    "share, a resource that two pools offer, a criterion that the plugin does not know, RDMA left out for a pool of the "
    "host-device plugin. The policy says ready, or the plugin's pod crashes, and the resource is not there.",
    source="Mellanox/k8s-rdma-shared-dev-plugin 410b0f3, pkg/resources/resources_manager.go; "
    "k8snetworkplumbingwg/sriov-network-device-plugin 40b6f507, docs; Measured: webhook of Network Operator 26.4.1, "
    "2026-11",
    needs=(objects(kinds.NIC_CLUSTER_POLICY),),
    covers=("B047", "B055", "B113"),
    leads_to=(Condition.RESOURCE_MISSING, Condition.POD_CRASHES),
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


def judge_pools(seen: Seen) -> Iterator[Finding | Unknown]:
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
        for problem, severity in _problems(pool):
            yield _pool(policy, pool.section, (pool.resource,), problem, severity)
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
        POOL_UNUSABLE,
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


SRIOV_POLICY_UNUSABLE = RuleInfo(
    name=RuleId("sriov-policy-unusable"),
    title="A SR-IOV policy asks for what cannot give RDMA to pods",
    layer=Layer.DEVICES,
    severity=Severity.ERROR,
    text="For RDMA a policy on a Mellanox port needs deviceType netdevice and isRdma true: vfio-pci takes the VF away "
    "from its kernel driver. A policy for InfiniBand needs linkType ib, and fewer than 16 VFs a port: with more, the "
    "kernel's answer about them does not fit into one message and the config daemon cannot finish. Two policies with one "
    "resource name must have one device type, and two policies on one port need ranges that do not overlap.",
    source="openshift/sriov-network-operator 44199ad5, pkg/webhook/validate.go; Mellanox/network-operator-docs 0c0ecad, "
    "release notes (known limitations: VFs of an InfiniBand port)",
    needs=(objects(kinds.SRIOV_NETWORK_NODE_POLICY),),
    covers=("B049", "B055", "B060", "B105"),
    leads_to=(Condition.VFS_MISSING, Condition.RESOURCE_MISSING),
)
_MELLANOX = "15b3"
_MAX_IB_VFS = 15


def judge_sriov_policies(seen: Seen) -> Iterator[Finding | Unknown]:
    """Judge each policy by itself, then those that share a resource or a port."""
    policies = sriov_policies(seen)
    for policy in policies:
        for problem, severity in _sriov_problems(policy, seen):
            yield _sriov(policy, problem, severity)
    by_resource: dict[str, list[KubeObject]] = defaultdict(list)
    for policy in policies:
        by_resource[str(dig(policy, "spec", "resourceName", default=""))].append(policy)
    for resource, group in by_resource.items():
        types = {str(dig(item, "spec", "deviceType", default="netdevice")) for item in group}
        if len(types) > 1:
            names = ", ".join(str(item["metadata"]["name"]) for item in group)
            yield _sriov(
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


def _sriov(policy: KubeObject, problem: str, severity: Severity) -> Finding:
    ref: Ref = ref_of(policy)
    resource = str(dig(policy, "spec", "resourceName", default=""))
    fields = ("deviceType", "isRdma", "linkType", "numVfs", "nicSelector")
    return conclude(
        SRIOV_POLICY_UNUSABLE,
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
        about=(f"resource:openshift.io/{resource}", f"object:{ref}"),
        severity=severity,
    )


RULES = (
    Rule(POLICY_NOT_CARRIED_OUT, judge_carried_out),
    Rule(POOL_UNUSABLE, judge_pools),
    Rule(SRIOV_POLICY_UNUSABLE, judge_sriov_policies),
)
