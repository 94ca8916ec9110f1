"""Node Feature Discovery: labels that say what hardware a node has, and that everything else selects."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from railwright.core import kinds
from railwright.core.foreign_text import parse_yaml
from railwright.core.ids import FabricName, NodeName, RuleId
from railwright.core.objects import KubeObject, dig, ref_of
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
from railwright.doctor.needs import INSIDE, NODES, objects, reads
from railwright.doctor.nic_policy import NIC_LABEL, WAIT_LABEL
from railwright.doctor.operators import NETWORK
from railwright.doctor.pace import PACE, is_driver_new, is_new, moving
from railwright.doctor.pods import USUAL_LIMIT_S, age_s
from railwright.doctor.seen import Seen
from railwright.doctor.subjects import GPUS_OR_CONNECTX
from railwright.facts.model import NodeFacts, PodFacts
from railwright.plan.model import fabric_label

_GPU_LABEL = "feature.node.kubernetes.io/pci-10de.present"
_WORKERS = ("nfd-worker", "node-feature-discovery-worker")
_WANTS_LABELS = (kinds.NODE_FEATURE_DISCOVERY, kinds.NIC_CLUSTER_POLICY, kinds.CLUSTER_POLICY)

HARDWARE_NOT_LABELLED = RuleInfo(
    name=RuleId("hardware-not-labelled"),
    title="Nodes have NVIDIA hardware that Node Feature Discovery does not label",
    layer=Layer.LABELS,
    severity=Severity.ERROR,
    text="The operators of NVIDIA put nothing on a node without the label pci-15b3.present (NIC) or pci-10de.present "
    "(GPU). The label is missing when there is no NodeFeatureDiscovery, when its configuration leaves out the PCI class "
    "(02 for NICs, 03 for GPUs) or names labels by more than the vendor, or when its worker has no ready pod on the node. "
    "Where its worker runs there and all of this is right, its own logs tell. Silent while nothing needs the labels.",
    source="node-feature-discovery v0.17, documentation of sources.pci.deviceClassWhitelist and deviceLabelFields; "
    "NVIDIA Network Operator v26.4.1, NodeFeatureRule and selectors of its DaemonSets (2026-08-22)",
    needs=(INSIDE, reads("pci"), objects(*_WANTS_LABELS)),
    uses=(PACE,),
    covers=("B013",),
    leads_to=(Condition.LABELS_MISSING,),
    shows=(Condition.LABELS_MISSING, Condition.OPERATOR_MISSING),
    subject=GPUS_OR_CONNECTX,
)


def judge_hardware_not_labelled(seen: Seen) -> Iterator[Finding | Unknown]:
    """Compare what nodes have inside with how they are labelled."""
    if not any(seen.of_kind(kind) for kind in _WANTS_LABELS):
        return
    missing: list[tuple[NodeName, str]] = []
    for name, hardware in seen.inside.items():
        labels = seen.node_by_name[name].labels
        has_nic = any(port.vendor_id == "15b3" for port in hardware.ports)
        missing += [(name, NIC_LABEL)] if has_nic and labels.get(NIC_LABEL) != "true" else []
        missing += [(name, _GPU_LABEL)] if hardware.gpus and labels.get(_GPU_LABEL) != "true" else []
    if missing:
        cause, evidence, remedy = _why(seen, tuple(dict.fromkeys(node for node, _ in missing)))
        yield conclude(
            HARDWARE_NOT_LABELLED,
            cause,
            evidence=(
                *(Evidence(f"node {node}", "label", f"{label} is not there", node) for node, label in missing),
                *evidence,
            ),
            remedy=remedy,
            nodes=(node for node, _ in missing),
            severity=Severity.WARNING if _begins(seen) else None,
        )


def _begins(seen: Seen) -> bool:
    """Whether Node Feature Discovery was set up a short time ago, or its workers have just been made."""
    ages = [age_s(pod, seen.now) for pod in seen.pods if pod.owner.endswith(_WORKERS)]
    is_young = any(age is not None and age < USUAL_LIMIT_S for age in ages)
    return is_young or any(is_new(seen, item) for item in seen.of_kind(kinds.NODE_FEATURE_DISCOVERY))


def _why(seen: Seen, nodes: tuple[NodeName, ...]) -> tuple[str, tuple[Evidence, ...], Remedy]:
    found = seen.of_kind(kinds.NODE_FEATURE_DISCOVERY)
    workers = [pod for pod in seen.pods if pod.owner.endswith(_WORKERS)]
    if not found and not workers and seen.is_whole(kinds.NODE_FEATURE_DISCOVERY):
        return (
            "There is no NodeFeatureDiscovery: installed by itself, its operator labels nothing.",
            (Evidence("cluster", "NodeFeatureDiscovery", "none"),),
            Remedy(
                "Create one that lists the PCI classes 0200, 0207 and 0300, 0302 and labels by vendor.",
                ("railwright apply --until hardware-labelled",),
            ),
        )
    wrong = tuple(item for discovery in found[:1] for item in _wrong_settings(discovery))
    if wrong:
        ref = ref_of(found[0])
        return (
            f"The worker configuration of {ref} leaves the hardware out.",
            wrong,
            Remedy(
                "Set sources.pci.deviceClassWhitelist to hold 02 and 03, and deviceLabelFields to [vendor].",
                (oc(ref, "edit"),),
            ),
        )
    return _of_workers(seen, nodes, workers)


def _of_workers(
    seen: Seen, nodes: tuple[NodeName, ...], workers: list[PodFacts]
) -> tuple[str, tuple[Evidence, ...], Remedy]:
    """Tell a worker that does not run on these nodes from one that runs and writes nothing."""
    ready = {pod.node for pod in workers if pod.is_ready}
    without = [node for node in nodes if node not in ready]
    look = ("oc get pods -A -o wide | grep -e nfd-worker -e node-feature-discovery-worker",)
    if without and seen.is_whole(kinds.POD):
        return (
            "Node Feature Discovery has no ready worker on these nodes, so nobody looks at their hardware.",
            tuple(Evidence(f"node {node}", "nfd-worker", "no pod that is ready", node) for node in without[:6]),
            Remedy("Mend what keeps its worker from these nodes: taints, its selector, its image.", look),
        )
    return (
        "Nodes carry no labels of Node Feature Discovery for hardware that they have"
        + ("." if without else ", though its worker runs there."),
        tuple(
            Evidence(f"pod {pod.namespace}/{pod.name}", "ready", "yes", pod.node)
            for pod in workers
            if pod.node in nodes
        )[:6],
        Remedy("Read the logs of its worker on these nodes, and of its master or garbage collector.", look),
    )


def _wrong_settings(discovery: KubeObject) -> Iterable[Evidence]:
    text = dig(discovery, "spec", "workerConfig", "configData", default="")
    try:
        config = parse_yaml(text) if isinstance(text, str) else None
    except ValueError:
        yield Evidence(str(ref_of(discovery)), "spec.workerConfig.configData", "is not YAML")
        return
    classes = dig(config, "sources", "pci", "deviceClassWhitelist")
    fields = dig(config, "sources", "pci", "deviceLabelFields")
    if isinstance(classes, list) and not all(_has_class(classes, wanted) for wanted in ("02", "03")):
        yield Evidence(str(ref_of(discovery)), "sources.pci.deviceClassWhitelist", str(classes))
    if fields is not None and fields != ["vendor"]:
        yield Evidence(str(ref_of(discovery)), "sources.pci.deviceLabelFields", str(fields))


def _has_class(classes: list[object], wanted: str) -> bool:
    return any(str(item).startswith(wanted) for item in classes)


SELECTOR_FITS_NOTHING = RuleInfo(
    name=RuleId("selector-fits-no-node"),
    title="A policy or DaemonSet selects nodes, and no node fits",
    layer=Layer.LABELS,
    severity=Severity.WARNING,
    text="A node selector that no node carries all labels of, or taints that are not tolerated on any that do: SR-IOV "
    "policies, node affinity of NicClusterPolicy, node selectors of address pools, and DaemonSets that put something on nodes which then does not run at "
    "all (the worker of Node Feature Discovery, drivers, device plugins, the SR-IOV config daemon). DaemonSets for options "
    "that no node has (MPS, MIG, vGPU) are left out. A warning while its nodes may still come: it is new, apply has not "
    "admitted them, or their NIC driver is being loaded.",
    source="Measured: Network Operator 26.4.1 (a DaemonSet that wants 0 pods is not ready), GPU Operator 26.7.0 (it counts "
    "as ready), SR-IOV network operator 1.6.0, 2026-11",
    needs=(NODES, objects(kinds.SRIOV_NETWORK_NODE_POLICY, kinds.NIC_CLUSTER_POLICY, kinds.DAEMON_SET)),
    uses=(PACE, objects(kinds.NV_IPAM_IP_POOL, kinds.NV_IPAM_CIDR_POOL)),
    covers=("B013",),
    leads_to=(Condition.VFS_MISSING, Condition.RESOURCE_MISSING, Condition.NIC_DRIVER_NOT_READY),
    shows=(Condition.LABELS_MISSING, Condition.NIC_DRIVER_NOT_READY),
)
_MATTERS = (
    "mofed-",
    "rdma-shared-dp",
    "network-operator-sriov-device-plugin",
    "sriov-network-config-daemon",
    "nfd-worker",
)
_ADDRESS_POOLS = (kinds.NV_IPAM_IP_POOL, kinds.NV_IPAM_CIDR_POOL)
_GPU_MATTERS = ("nvidia-driver-daemonset", "nvidia-device-plugin-daemonset")


def judge_selectors(seen: Seen) -> Iterator[Finding | Unknown]:
    """Match selectors with the labels that nodes have."""
    policy = seen.get(kinds.NIC_CLUSTER_POLICY, nic_policy.NAME)
    if policy is not None and not any(nic_policy.passes_affinity(policy, node) for node in seen.nodes):
        yield _affinity(policy)
    for policy in seen.of_kind(kinds.SRIOV_NETWORK_NODE_POLICY):
        selector = dig(policy, "spec", "nodeSelector", default={})
        if selector and policy["metadata"]["name"] != "default" and not seen.selected(selector):
            yield _no_node(seen, f"SriovNetworkNodePolicy {policy['metadata']['name']}", selector, Severity.ERROR)
    yield from _address_pools(seen)
    for daemon_set in seen.of_kind(kinds.DAEMON_SET):
        name = str(daemon_set["metadata"]["name"])
        status = dig(daemon_set, "status", default={})
        selector = dig(daemon_set, "spec", "template", "spec", "nodeSelector", default={})
        is_one = name.startswith((*_MATTERS, *_GPU_MATTERS)) and "observedGeneration" in status
        if is_one and not status.get("desiredNumberScheduled") and not _has_sibling(seen, daemon_set):
            severity = Severity.WARNING if _waits(seen, daemon_set, selector) else Severity.ERROR
            found = _kept_out(seen, daemon_set) or _no_node(seen, f"DaemonSet {name}", selector, severity)
            yield _linked(found, name, selector)


def _address_pools(seen: Seen) -> Iterator[Finding]:
    """Address pools of nv-ipam whose selector no node passes: no node is given a block."""
    for pool in (item for kind in _ADDRESS_POOLS for item in seen.of_kind(kind)):
        if any(nic_policy.is_meant(dig(pool, "spec", "nodeSelector"), node.labels) for node in seen.nodes):
            continue
        ref = ref_of(pool)
        yield conclude(
            SELECTOR_FITS_NOTHING,
            f"No node passes the node selector of {ref}: it gives no addresses, and pods with its networks do not start.",
            evidence=(Evidence(str(ref), "spec.nodeSelector", str(dig(pool, "spec", "nodeSelector"))[:300]),),
            remedy=Remedy(
                "Label the nodes that are meant, or correct the selector.",
                ("oc get nodes --show-labels", oc(ref, "edit")),
            ),
            about=(f"object:{ref}",),
            severity=Severity.ERROR,
        )


def _waits(seen: Seen, daemon_set: KubeObject, selector: Mapping[str, str]) -> bool:
    """Whether its nodes may still come: it is new, apply has not admitted any yet, or their NIC driver is being loaded."""
    ours = {key: value for key, value in selector.items() if key.startswith(fabric_label(FabricName("")))}
    if is_driver_new(seen, daemon_set) or (ours and not seen.selected(ours)):
        return True
    return WAIT_LABEL in selector and any(moving(seen, node.name) for node in seen.nodes)


def _affinity(policy: KubeObject) -> Finding:
    terms = dig(policy, "spec", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", default={})
    return conclude(
        SELECTOR_FITS_NOTHING,
        f"No node passes the node affinity of {ref_of(policy)}: nothing that it brings runs anywhere.",
        evidence=(Evidence(str(ref_of(policy)), "spec.nodeAffinity", str(terms)),),
        remedy=Remedy(
            "Label the nodes that are meant, or correct the affinity.",
            ("oc get nodes --show-labels", oc(ref_of(policy), "edit")),
            risk=Risk.DRIVER_RELOAD,
            disrupts="what the policy brings begins on the nodes that it then selects",
        ),
        about=(f"operator:{NETWORK}",),
        severity=Severity.ERROR,
    )


def _kept_out(seen: Seen, daemon_set: KubeObject) -> Finding | None:
    """Say which taints keep a DaemonSet off every node that it selects; None when it is not taints."""
    spec = dig(daemon_set, "spec", "template", "spec", default={})
    selected = seen.selected(spec.get("nodeSelector") or {})
    stopped = {node.name: _not_tolerated(node, spec.get("tolerations") or ()) for node in selected}
    if not selected or not all(stopped.values()):
        return None
    name = str(daemon_set["metadata"]["name"])
    # Nodes that no workload is meant for, control planes above all, are not worth a word.
    meant = [node for node in selected if not node.is_control_plane] or list(selected)
    taints = sorted({taint for node in meant for taint in stopped[node.name]})
    return conclude(
        SELECTOR_FITS_NOTHING,
        f"DaemonSet {name} runs nowhere: every node that it selects has a taint which it does not tolerate "
        f"({', '.join(taints)}).",
        evidence=[
            Evidence(f"node {node.name}", "taints", ", ".join(stopped[node.name]), node.name) for node in meant[:6]
        ],
        remedy=Remedy(
            "Add a toleration for it to the policy that the DaemonSet comes of (tolerations of NicClusterPolicy, "
            "daemonsets.tolerations of ClusterPolicy, workerTolerations of NodeFeatureDiscovery), or take the taint away.",
            ("oc get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints",),
        ),
        nodes=(node.name for node in meant),
        about=(f"workload:{name}",),
        severity=Severity.ERROR,
    )


def _not_tolerated(node: NodeFacts, tolerations: Iterable[KubeObject]) -> tuple[str, ...]:
    allowed = tuple(tolerations)
    return tuple(
        taint
        for taint in node.taints
        if taint.endswith((":NoSchedule", ":NoExecute"))
        and not taint.startswith("node.kubernetes.io/")
        and not any(_tolerates(item, taint) for item in allowed)
    )


def _tolerates(toleration: KubeObject, taint: str) -> bool:
    head, _, effect = taint.rpartition(":")
    key, _, value = head.partition("=")
    if toleration.get("effect") not in {None, "", effect}:
        return False
    if toleration.get("operator") == "Exists":
        return toleration.get("key") in {None, "", key}
    return toleration.get("key") == key and (toleration.get("value") or "") == value


def _linked(finding: Finding, name: str, selector: Mapping[str, str]) -> Finding:
    """Say what it brings about: without its worker NFD labels nothing; what waits for the NIC driver is its effect."""
    if name.startswith("nfd-worker"):
        return replace(finding, leads_to=(Condition.LABELS_MISSING,), shows=(Condition.OPERATOR_MISSING,))
    return replace(finding, about=()) if WAIT_LABEL in selector else finding


def _has_sibling(seen: Seen, daemon_set: KubeObject) -> bool:
    """Whether another driver DaemonSet, for another release of the nodes' system, has pods, or may have."""
    name, namespace = str(daemon_set["metadata"]["name"]), str(daemon_set["metadata"].get("namespace", ""))
    stem = next((item for item in ("mofed-", "nvidia-driver-daemonset") if name.startswith(item)), "")
    if not stem:
        return False
    return not seen.is_whole(kinds.DAEMON_SET, namespace) or any(
        str(other["metadata"]["name"]).startswith(stem) and dig(other, "status", "desiredNumberScheduled", default=0)
        for other in seen.of_kind(kinds.DAEMON_SET)
    )


def _no_node(seen: Seen, what: str, selector: dict[str, str], severity: Severity) -> Finding:
    lacking = [
        f"{key}={value}"
        for key, value in selector.items()
        if not any(node.labels.get(key) == value for node in seen.nodes)
    ]
    near = max(seen.nodes, key=lambda node: sum(node.labels.get(key) == value for key, value in selector.items()))
    missing = [
        f"{key}={near.labels.get(key, '(absent)')}" for key, value in selector.items() if near.labels.get(key) != value
    ]
    said = f"no node carries {', '.join(lacking)}" if lacking else "no node carries all of its labels at once"
    return conclude(
        SELECTOR_FITS_NOTHING,
        f"{what} runs nowhere: {said}."
        if selector
        else f"{what} runs nowhere: its node affinity or tolerations leave all out.",
        evidence=(
            Evidence(what, "nodeSelector", ", ".join(f"{key}={value}" for key, value in selector.items()) or "none"),
            Evidence(f"node {near.name}", "nearest by labels", ", ".join(missing) or "fits", near.name),
        ),
        remedy=Remedy(
            "Label the nodes that are meant, or correct the selector; labels of hardware come from Node Feature Discovery, and "
            "operator.mofed.wait=false from a NIC driver that is ready.",
            ("oc get nodes --show-labels", "railwright doctor --only hardware-not-labelled"),
        ),
        about=(f"workload:{what.partition(' ')[2]}",) if what.startswith("DaemonSet") else (),
        severity=severity,
    )


RULES = (
    Rule(HARDWARE_NOT_LABELLED, judge_hardware_not_labelled),
    Rule(SELECTOR_FITS_NOTHING, judge_selectors),
)
