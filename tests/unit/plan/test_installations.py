"""Operators that came another way than by a Subscription: no second one is put beside them."""

import pytest
from unit.plan.clusters import a_cluster, a_node, a_subscription, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.core.ids import NodeName
from railwright.facts.model import Platform, PodFacts
from railwright.plan.plan import plan
from railwright.ports.cluster import ServedKind

CATALOG = load_catalog()
HELM = tuple(
    ServedKind(kind, "", namespaced=False)
    for kind in (kinds.NIC_CLUSTER_POLICY, kinds.CLUSTER_POLICY, kinds.NETWORK_ATTACHMENT_DEFINITION)
)
NFD = an_object(kinds.NODE_FEATURE_DISCOVERY, "theirs", "openshift-nfd", spec={})


def planned(*objects, **cluster):
    return plan((an_intent(),), a_cluster((a_node(0, hardware()),), objects, **cluster), CATALOG)


def said(made, code):
    return [f"{item.message} {item.hint}" for item in made.refusals if item.code == code]


def a_controller(name, namespace):
    return an_object(kinds.DEPLOYMENT, name, namespace)


def workers(name, namespace):
    return an_object(kinds.DAEMON_SET, name, namespace)


def a_pod(owner, namespace, node="worker-0"):
    return PodFacts(namespace, f"{owner}-x", NodeName(node), "Running", f"DaemonSet/{owner}", {}, "")


def subscribed(package, namespace):
    group = an_object(kinds.OPERATOR_GROUP, "theirs", namespace, spec={"targetNamespaces": [namespace]})
    return a_subscription("theirs", package, namespace), group


@pytest.mark.parametrize(
    ("name", "namespace", "package"),
    [
        ("gpu-operator", "gpu-operator", "gpu-operator-certified"),
        ("gpu-operator", "nvidia-gpu-operator", "gpu-operator-certified"),
        ("network-operator", "network-operator", "nvidia-network-operator"),
        ("network-operator-sriov-network-operator", "network-operator", "sriov-network-operator"),
        ("nfd-controller-manager", "node-feature-discovery", "nfd"),
    ],
)
def test_an_operator_of_a_chart_gets_no_second_one_beside_it(name, namespace, package):
    (text,) = said(planned(a_controller(name, namespace)), "operator-installed-otherwise")
    assert f"{namespace}/{name}" in text
    assert package in text


@pytest.mark.parametrize(
    ("namespace", "refused"), [("nvidia-gpu-operator", False), ("gpu-operator", True), ("elsewhere", True)]
)
def test_a_controller_of_a_subscription_is_its_own_and_one_beside_it_is_not(namespace, refused):
    made = planned(
        *subscribed("gpu-operator-certified", "nvidia-gpu-operator"), a_controller("gpu-operator", namespace)
    )
    assert bool(said(made, "operator-installed-otherwise")) == refused


def test_a_version_that_nobody_subscribes_to_is_named_with_the_command():
    csv = an_object(kinds.CLUSTER_SERVICE_VERSION, "nvidia-network-operator.v26.4.1", "nvidia-network-operator")
    beside = a_controller("nvidia-network-operator-controller-manager", "nvidia-network-operator")
    made = planned(csv, beside)
    (text,) = said(made, "operator-csv-without-subscription")
    assert "oc delete csv nvidia-network-operator.v26.4.1 -n nvidia-network-operator" in text
    assert said(made, "operator-installed-otherwise") == []


def test_a_version_that_is_subscribed_to_is_no_leftover():
    csv = an_object(kinds.CLUSTER_SERVICE_VERSION, "nfd.v4.20.0-1", "openshift-nfd")
    assert said(planned(*subscribed("nfd", "openshift-nfd"), csv), "operator-csv-without-subscription") == []


@pytest.mark.parametrize(
    ("found", "refused"),
    [
        ((NFD, workers("nfd-worker", "openshift-nfd")), False),
        ((workers("nfd-worker", "openshift-nfd"),), False),
        ((workers("gpu-operator-node-feature-discovery-worker", "nvidia-gpu-operator"),), True),
        ((NFD, workers("gpu-operator-node-feature-discovery-worker", "nvidia-gpu-operator")), True),
        ((NFD, workers("node-feature-discovery-worker", "openshift-nfd")), True),
        ((NFD, workers("nfd-worker", "tools")), True),
        ((NFD, workers("nvidia-device-plugin-daemonset", "tools")), False),
    ],
)
def test_workers_of_another_nfd_are_a_second_nfd(found, refused):
    assert bool(said(planned(*found), "second-nfd")) == refused


@pytest.mark.parametrize(
    ("pods", "refused"),
    [
        ((a_pod("nfd-worker", "one"), a_pod("nfd-worker", "two")), True),
        ((a_pod("nfd-worker", "one"), a_pod("nfd-worker", "two", "worker-1")), False),
        ((a_pod("nfd-worker", "one"),), False),
    ],
)
def test_on_plain_kubernetes_two_workers_on_one_node_are_a_second_nfd(pods, refused):
    both = (workers("nfd-worker", "one"), workers("nfd-worker", "two"))
    made = planned(*both, platform=Platform.KUBERNETES, openshift_version="", served_kinds=HELM, pods=pods)
    assert bool(said(made, "second-nfd")) == refused
