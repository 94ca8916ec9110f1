"""Node labels that operators select by: NFD's own where they are enough, a rule of ours where they are not."""

import pytest
from unit.plan.clusters import a_cluster, a_node, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.core.objects import dig
from railwright.facts.model import Platform
from railwright.intent.model import Method
from railwright.manifests.render import render
from railwright.plan.plan import plan
from railwright.ports.cluster import ServedKind

CATALOG = load_catalog()
PREFIX = "feature.node.kubernetes.io/"
OURS, UPSTREAM = kinds.NODE_FEATURE_RULE, kinds.NODE_FEATURE_RULE_UPSTREAM
LABELS = {f"{PREFIX}pci-{vendor}.present": "true" for vendor in ("15b3", "10de")}
HELM = tuple(
    ServedKind(kind, "", namespaced=False)
    for kind in (kinds.NIC_CLUSTER_POLICY, kinds.CLUSTER_POLICY, kinds.NETWORK_ATTACHMENT_DEFINITION)
)


def planned(*objects, served=(), labels=None, method=Method.SHARED, **cluster):
    node = a_node(0, hardware(), labels=labels or {})
    rules = tuple(ServedKind(kind, "nodefeaturerules", namespaced=kind == OURS) for kind in served)
    kubernetes = {"served_kinds": rules} | cluster
    return plan((an_intent(method),), a_cluster((node,), objects, **kubernetes), CATALOG)


def an_nfd(config):
    return an_object(
        kinds.NODE_FEATURE_DISCOVERY, "theirs", "openshift-nfd", spec={"workerConfig": {"configData": config}}
    )


def of_kind(made, *wanted):
    return [item.obj for item in render(made).items if item.ref.kind in wanted]


CLASS_AND_VENDOR = "sources: {pci: {deviceClassWhitelist: ['02'], deviceLabelFields: [class, vendor]}}"
VENDOR = "sources: {pci: {deviceClassWhitelist: ['0200'], deviceLabelFields: [vendor]}}"


@pytest.mark.parametrize(
    ("config", "served", "kind"),
    [
        (CLASS_AND_VENDOR, (OURS,), OURS),
        (CLASS_AND_VENDOR, (OURS, UPSTREAM), UPSTREAM),
        ("", (OURS,), OURS),
        ("sources: {usb: {}}", (OURS,), OURS),
        ("{", (OURS,), OURS),
        (VENDOR, (OURS,), None),
    ],
)
def test_an_nfd_of_others_keeps_its_label_names(config, served, kind):
    made = planned(an_nfd(config), served=served)
    rules, discoveries = of_kind(made, OURS, UPSTREAM), of_kind(made, kinds.NODE_FEATURE_DISCOVERY)
    assert not made.refusals
    if kind is None:
        assert rules == []
        assert "deviceLabelFields" in dig(discoveries[0], "spec", "workerConfig", "configData")
        return
    (rule,) = rules
    assert (rule["apiVersion"], rule["metadata"].get("namespace")) == (
        kind.api_version,
        "openshift-nfd" if kind == OURS else None,
    )
    assert [list(item["labels"]) for item in rule["spec"]["rules"]] == [
        [f"{PREFIX}pci-15b3.present"],
        [f"{PREFIX}pci-10de.present"],
    ]
    assert discoveries == []


def test_a_rule_says_which_device_it_means():
    made = planned(an_nfd(CLASS_AND_VENDOR), served=(OURS,), method=Method.SRIOV)
    (rule,) = of_kind(made, OURS)
    assert rule["spec"]["rules"][2] == {
        "name": "pci-15b3.sriov.capable",
        "labels": {f"{PREFIX}pci-15b3.sriov.capable": "true"},
        "matchFeatures": [
            {
                "feature": "pci.device",
                "matchExpressions": {
                    "sriov_totalvfs": {"op": "Gt", "value": ["0"]},
                    "vendor": {"op": "In", "value": ["15b3"]},
                },
            }
        ],
    }


def test_a_bare_cluster_gets_no_rule():
    made = planned(served=(OURS,))
    assert of_kind(made, OURS, UPSTREAM) == []
    assert len(of_kind(made, kinds.NODE_FEATURE_DISCOVERY)) == 1


@pytest.mark.parametrize(
    ("labels", "served", "rules", "refused"),
    [(LABELS, (UPSTREAM,), 0, False), ({}, (UPSTREAM,), 1, False), ({}, (), 0, True), (LABELS, (), 0, False)],
)
def test_plain_kubernetes_gets_a_rule_only_where_labels_lack(labels, served, rules, refused):
    there = (*HELM, *(ServedKind(kind, "nodefeaturerules", namespaced=False) for kind in served))
    made = planned(labels=labels, platform=Platform.KUBERNETES, served_kinds=there, pools=())
    assert len(of_kind(made, OURS, UPSTREAM)) == rules
    assert ("node-labels-lacking" in {item.code for item in made.refusals}) == refused


@pytest.mark.parametrize(("owner", "rules"), [("railwright", 1), ("somebody", 0)])
def test_a_rule_of_ours_stays_planned_once_its_labels_are_there(owner, rules):
    rule = an_object(UPSTREAM, "railwright")
    rule["metadata"]["labels"] = {"app.kubernetes.io/managed-by": owner}
    there = (*HELM, ServedKind(UPSTREAM, "nodefeaturerules", namespaced=False))
    made = planned(rule, labels=LABELS, platform=Platform.KUBERNETES, served_kinds=there, pools=())
    assert len(of_kind(made, OURS, UPSTREAM)) == rules


@pytest.mark.parametrize(("version", "expected"), [("4.18.3", False), ("4.20.4", True)])
def test_tolerations_of_workers_stand_only_where_the_definition_has_them(version, expected):
    wish = an_intent(tolerations=({"key": "gpu", "operator": "Exists"},))
    made = plan((wish,), a_cluster((a_node(0, hardware()),), openshift_version=version), CATALOG)
    (discovery,) = of_kind(made, kinds.NODE_FEATURE_DISCOVERY)
    assert ("workerTolerations" in discovery["spec"]["operand"]) == expected
