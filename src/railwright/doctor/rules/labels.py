"""Node Feature Discovery: labels that say what hardware a node has, and that everything else selects."""

from collections.abc import Iterable, Iterator

import yaml

from railwright.core import kinds
from railwright.core.ids import NodeName, RuleId
from railwright.core.objects import KubeObject, dig, ref_of
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
from railwright.doctor.needs import INSIDE, objects
from railwright.doctor.seen import Seen

_NIC_LABEL = "feature.node.kubernetes.io/pci-15b3.present"
_GPU_LABEL = "feature.node.kubernetes.io/pci-10de.present"
_WANTS_LABELS = (kinds.NODE_FEATURE_DISCOVERY, kinds.NIC_CLUSTER_POLICY, kinds.CLUSTER_POLICY)

HARDWARE_NOT_LABELLED = RuleInfo(
    name=RuleId("hardware-not-labelled"),
    title="Nodes have NVIDIA hardware that Node Feature Discovery does not label",
    layer=Layer.LABELS,
    severity=Severity.ERROR,
    text="The operators of NVIDIA put nothing on a node without the label pci-15b3.present (NIC) or pci-10de.present "
    "(GPU). The label is missing when there is no NodeFeatureDiscovery, when its worker does not run on the node, or "
    "when its configuration leaves out the PCI class (02 for NICs, 03 for GPUs) or names labels by more than the "
    "vendor. Silent while nothing on the cluster needs the labels.",
    source="node-feature-discovery v0.17, documentation of sources.pci.deviceClassWhitelist and deviceLabelFields; "
    "NVIDIA Network Operator v26.4.1, NodeFeatureRule and selectors of its DaemonSets (2026-08-22)",
    needs=(INSIDE, objects(*_WANTS_LABELS, kinds.DAEMON_SET)),
    covers=("B013",),
    leads_to=(Condition.LABELS_MISSING,),
)


def judge_hardware_not_labelled(seen: Seen) -> Iterator[Finding | Unknown]:
    """Compare what nodes have inside with how they are labelled."""
    if not any(seen.of_kind(kind) for kind in _WANTS_LABELS):
        return
    missing: list[tuple[NodeName, str]] = []
    for name, hardware in seen.inside.items():
        labels = seen.node_by_name[name].labels
        has_nic = any(port.vendor_id == "15b3" for port in hardware.ports)
        missing += [(name, _NIC_LABEL)] if has_nic and labels.get(_NIC_LABEL) != "true" else []
        missing += [(name, _GPU_LABEL)] if hardware.gpus and labels.get(_GPU_LABEL) != "true" else []
    if missing:
        cause, evidence, remedy = _why(seen)
        yield conclude(
            HARDWARE_NOT_LABELLED,
            cause,
            evidence=(
                *(Evidence(f"node {node}", "label", f"{label} is not there", node) for node, label in missing),
                *evidence,
            ),
            remedy=remedy,
            nodes=(node for node, _ in missing),
        )


def _why(seen: Seen) -> tuple[str, tuple[Evidence, ...], Remedy]:
    found = seen.of_kind(kinds.NODE_FEATURE_DISCOVERY)
    if not found:
        return (
            "There is no NodeFeatureDiscovery: installed by itself, its operator labels nothing.",
            (Evidence("cluster", "NodeFeatureDiscovery", "none"),),
            Remedy(
                "Create one that lists the PCI classes 0200, 0207 and 0300, 0302 and labels by vendor.",
                ("railwright apply --until hardware-labelled",),
            ),
        )
    first = found[0]
    wrong = tuple(_wrong_settings(first))
    if wrong:
        name, namespace = dig(first, "metadata", "name"), dig(first, "metadata", "namespace", default="")
        return (
            f"The worker configuration of {ref_of(first)} leaves the hardware out.",
            wrong,
            Remedy(
                "Set sources.pci.deviceClassWhitelist to hold 02 and 03, and deviceLabelFields to [vendor].",
                (f"oc -n {namespace} edit nodefeaturediscovery {name}",),
            ),
        )
    return (
        "Node Feature Discovery is there, and these nodes carry none of its labels: its worker does not reach them.",
        (Evidence(str(ref_of(first)), "kind", "is there"),),
        Remedy("Look at its worker's pods on these nodes.", ("oc get pods -A -o wide | grep nfd-worker",)),
    )


def _wrong_settings(discovery: KubeObject) -> Iterable[Evidence]:
    text = dig(discovery, "spec", "workerConfig", "configData", default="")
    try:
        config = yaml.safe_load(text) if isinstance(text, str) else None
    except yaml.YAMLError:
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


RULES = (Rule(HARDWARE_NOT_LABELLED, judge_hardware_not_labelled),)
