"""
Node labels that the operators select by: the one NodeFeatureDiscovery, and a rule of ours only where it is not enough.

The operators look for `pci-15b3.present` and `pci-10de.present`. An NFD whose label fields are others than `vendor`
(its own default is class and vendor) writes other names, and changing its fields would rename everybody's labels: then
a NodeFeatureRule adds the few that are lacking.
Source: Mellanox/network-operator b06827e0, pkg/nodeinfo/attributes.go:27-32; kubernetes-sigs/node-feature-discovery
76e6cc8c, source/pci (defaults of deviceClassWhitelist and deviceLabelFields; a rule sees every device), deployment/helm;
openshift/cluster-nfd-operator 0e25cc10, assets/worker; NVIDIA/gpu-operator a22dbf67, deployments/gpu-operator/values.yaml
(nfd.enabled). Measured: Node Feature Discovery 0.18.3 against kube-apiserver 1.36.3, 2026-11 (two of them).
"""

from typing import Any

from railwright.catalog.model import Catalog, minor_of
from railwright.core.foreign_text import parse_yaml
from railwright.core.ids import NodeName
from railwright.core.kinds import DAEMON_SET, NODE_FEATURE_DISCOVERY, NODE_FEATURE_RULE, NODE_FEATURE_RULE_UPSTREAM
from railwright.core.marks import is_ours
from railwright.core.objects import Kind, KubeObject, dig
from railwright.facts.model import ClusterFacts, NodeFacts, Platform
from railwright.intent.model import Intent, Method
from railwright.plan.adopted import tolerations_beside
from railwright.plan.defaults import words
from railwright.plan.model import FeatureLabel, FeatureRuleShare, NfdShare
from railwright.plan.notes import Notes
from railwright.plan.operands import tolerations_of
from railwright.plan.version_numbers import version_numbers

PRESENT = ("pci-15b3.present", "pci-10de.present")
NFD_WORKERS = ("nfd-worker", "node-feature-discovery-worker")
"""DaemonSets of its workers as operator and manifests call them, and as the chart does, after its release's name."""
_PREFIX = "feature.node.kubernetes.io/"
_RULE_NAME = "railwright"
_UNTOLD_FIELDS = ["class", "vendor"]
_HAS_TOLERATIONS_FROM = (4, 20)
"""
OpenShift release whose NodeFeatureDiscovery has tolerations of its workers; before, they put up with every NoSchedule.
Source: openshift/cluster-nfd-operator 0e25cc10, manifests/stable; assets/worker/0700_worker_daemonset.yaml.
"""

_CONNECTX = FeatureLabel("pci-15b3.present", {"vendor": ("In", ("15b3",)), "class": ("InRegexp", ("^02",))})
_GPU = FeatureLabel("pci-10de.present", {"vendor": ("In", ("10de",)), "class": ("InRegexp", ("^03",))})
_SRIOV = FeatureLabel("pci-15b3.sriov.capable", {"vendor": ("In", ("15b3",)), "sriov_totalvfs": ("Gt", ("0",))})


def labelling_shares(
    cluster: ClusterFacts,
    namespace: str,
    intents: tuple[Intent, ...],
    nodes: tuple[NodeFacts, ...],
    catalog: Catalog,
    notes: Notes,
) -> tuple[NfdShare | FeatureRuleShare, ...]:
    """
    Plan what labels nodes.

    Args:
        namespace: where NFD's operator is, or will be.
        nodes: that some fabric admits.
    """
    sriov = any(intent.method is Method.SRIOV for intent in intents)
    if _refuse_second_workers(cluster, namespace, notes):
        return ()
    if cluster.platform is not Platform.OPENSHIFT:
        return _on_kubernetes(cluster, nodes, notes, sriov=sriov)
    found = cluster.of_kind(NODE_FEATURE_DISCOVERY)
    if len(found) > 1:
        names = ", ".join(f"{item['metadata']['namespace']}/{item['metadata']['name']}" for item in found)
        notes.refuse(
            "second-nfd",
            f"there are {len(found)} NodeFeatureDiscovery instances ({names}); they overwrite each other's labels",
            hint="delete all but one",
        )
        return ()
    live = found[0] if found else None
    others = live is not None and _label_fields(live) != list(words(catalog, "nfd_label_fields"))
    nfd = _nfd(live, cluster, namespace, intents, catalog, notes, by_rule=others)
    if live is None or not others:
        return (nfd,)
    fields = ", ".join(_label_fields(live))
    reason = f"the NFD that is there names labels after {fields}, and other fields would rename everybody's"
    return (nfd, *_rule(cluster, nfd.namespace, reason, notes, sriov=sriov))


def _refuse_second_workers(cluster: ClusterFacts, namespace: str, notes: Notes) -> bool:
    """
    Refuse an NFD that runs beside the one that is, or will be, ours to use: charts of NVIDIA's operators bring one.

    On OpenShift ours is on every node, so any other is a second one; elsewhere two that share a node are.
    """
    if cluster.platform is Platform.OPENSHIFT:
        homes = {namespace, *(item["metadata"]["namespace"] for item in cluster.of_kind(NODE_FEATURE_DISCOVERY))}
        found = [item["metadata"] for item in cluster.of_kind(DAEMON_SET)]
        workers = sorted((item["namespace"], item["name"]) for item in found if is_nfd_worker(item["name"]))
        second = [place for place in workers if place[1] != NFD_WORKERS[0] or place[0] not in homes]
    else:
        second = _sharing_a_node(cluster)
    if not second:
        return False
    names = ", ".join(f"{place}/{name}" for place, name in second)
    notes.refuse(
        "second-nfd",
        f"another Node Feature Discovery labels nodes: DaemonSet {names}; two overwrite each other's labels",
        expected="one Node Feature Discovery",
        seen=names,
        hint="take it away with what brought it: nfd.enabled=false in the values of NVIDIA's charts",
    )
    return True


def is_nfd_worker(daemon_set: str) -> bool:
    """Whether a DaemonSet of this name labels nodes."""
    return any(daemon_set == name or daemon_set.endswith(f"-{name}") for name in NFD_WORKERS)


def _sharing_a_node(cluster: ClusterFacts) -> list[tuple[str, str]]:
    """Find DaemonSets of workers that have a pod where another one has: (namespace, name), sorted."""
    on_node: dict[NodeName, set[tuple[str, str]]] = {}
    for pod in cluster.pods:
        kind, _, name = pod.owner.partition("/")
        if pod.node is not None and kind == DAEMON_SET.kind and is_nfd_worker(name):
            on_node.setdefault(pod.node, set()).add((pod.namespace, name))
    return sorted({place for places in on_node.values() if len(places) > 1 for place in places})


def _nfd(
    live: KubeObject | None,
    cluster: ClusterFacts,
    namespace: str,
    intents: tuple[Intent, ...],
    catalog: Catalog,
    notes: Notes,
    *,
    by_rule: bool,
) -> NfdShare:
    whitelist, classes = catalog.default("nfd_class_whitelist"), words(catalog, "nfd_class_whitelist")
    if not by_rule:
        source = f"{whitelist.source} ({whitelist.date})"
        notes.decide("nfd deviceClassWhitelist", ", ".join(classes), "catalog", whitelist.reason, source)
    if live is not None:
        notes.decide(
            "nfd", live["metadata"]["name"], "cluster", "the instance that is there is used; its other entries stay"
        )
    has_tolerations = version_numbers(minor_of(cluster.openshift_version)) >= _HAS_TOLERATIONS_FROM
    ours = tolerations_of(intents) if has_tolerations else ()
    return NfdShare(
        name=str(live["metadata"]["name"]) if live else "nfd-instance",
        namespace=str(live["metadata"]["namespace"]) if live else namespace,
        class_whitelist=() if by_rule else classes,
        label_fields=() if by_rule else words(catalog, "nfd_label_fields"),
        operand_image="",
        adopted=live is not None,
        tolerations=tolerations_beside(live, ours, "operand", "workerTolerations"),
    )


def _label_fields(live: KubeObject) -> list[str]:
    """Read what an NFD names PCI labels after; text that cannot be read counts as its default."""
    text = str(dig(live, "spec", "workerConfig", "configData", default="") or "")
    try:
        config: Any = parse_yaml(text)
    except ValueError:
        return _UNTOLD_FIELDS
    fields = dig(config, "sources", "pci", "deviceLabelFields") if isinstance(config, dict) else None
    return [str(field) for field in fields] if isinstance(fields, list) and fields else _UNTOLD_FIELDS


def _on_kubernetes(
    cluster: ClusterFacts, nodes: tuple[NodeFacts, ...], notes: Notes, *, sriov: bool
) -> tuple[FeatureRuleShare, ...]:
    """
    Make the rule where the NFD that somebody installed leaves nodes without the labels.

    Once ours is there no node lacks them, because of it; leaving it out then would take them from every node.
    """
    lacking = [node.name for node in nodes if any(f"{_PREFIX}{label}" not in node.labels for label in PRESENT)]
    if lacking:
        reason = f"{lacking[0]} lacks labels that the operators select by, and NFD does not write them by itself"
    elif _is_there(cluster):
        reason = "the rule is there, and the labels that the operators select by may come from it alone"
    else:
        return ()
    return _rule(cluster, "", reason, notes, sriov=sriov)


def _rule(
    cluster: ClusterFacts, namespace: str, reason: str, notes: Notes, *, sriov: bool
) -> tuple[FeatureRuleShare, ...]:
    kind = _served(cluster)
    if kind is None:
        notes.refuse(
            "node-labels-lacking",
            f"no operator would find its nodes: {reason}",
            expected=f"labels {', '.join(PRESENT)}, or an NFD that takes NodeFeatureRules",
            seen="neither",
            hint="install Node Feature Discovery, with sources.pci.deviceLabelFields [vendor]",
        )
        return ()
    labels = (_CONNECTX, _GPU, _SRIOV) if sriov else (_CONNECTX, _GPU)
    notes.decide("NodeFeatureRule", ", ".join(label.name for label in labels), "cluster", reason)
    namespaced = next(item.namespaced for item in cluster.served_kinds if item.kind == kind)
    return (FeatureRuleShare(_RULE_NAME, namespace if namespaced else "", kind, labels),)


def _is_there(cluster: ClusterFacts) -> bool:
    found = (*cluster.of_kind(NODE_FEATURE_RULE_UPSTREAM), *cluster.of_kind(NODE_FEATURE_RULE))
    return any(is_ours(item) and item["metadata"]["name"] == _RULE_NAME for item in found)


def _served(cluster: ClusterFacts) -> Kind | None:
    """Choose the rule's kind: newer releases of OpenShift's NFD serve both groups and follow the upstream one."""
    return next((kind for kind in (NODE_FEATURE_RULE_UPSTREAM, NODE_FEATURE_RULE) if cluster.serves(kind)), None)
