"""Operators of others: what of their installation is refused, what is a warning, and that they are waited for."""

import pytest
from unit.plan.clusters import a_cluster, a_node, a_subscription, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.plan.model import OPERATORS_INSTALLED
from railwright.plan.plan import plan

CATALOG = load_catalog()
NAMESPACE, CSV = "openshift-nfd", "nfd.v4.20.0-202511191710"
OWN = {"targetNamespaces": [NAMESPACE]}


def modes(*supported):
    return [
        {"type": name, "supported": name in supported} for name in ("OwnNamespace", "MultiNamespace", "AllNamespaces")
    ]


def adopted(*, group=None, csv=None):
    """Plan beside an NFD of others; `group` and `csv` are spec and status of its OperatorGroup and CSV."""
    subscription = a_subscription("theirs") | {"status": {"installedCSV": CSV}}
    objects = [subscription, an_object(kinds.OPERATOR_GROUP, "theirs", NAMESPACE, **(group or {"spec": OWN}))]
    if csv is not None:
        objects.append(an_object(kinds.CLUSTER_SERVICE_VERSION, CSV, NAMESPACE, **csv))
    return plan((an_intent(),), a_cluster((a_node(0, hardware()),), tuple(objects)), CATALOG)


@pytest.mark.parametrize(
    ("group", "csv", "refused"),
    [
        ({"spec": OWN}, None, False),
        ({"spec": {}}, None, True),
        ({}, {"spec": {"installModes": modes("OwnNamespace")}}, True),
        ({"spec": {}}, {"spec": {"installModes": modes("AllNamespaces")}}, False),
        ({"spec": {"selector": {}}, "status": {"namespaces": [""]}}, None, True),
        ({"spec": {"selector": {}}, "status": {"namespaces": [NAMESPACE]}}, None, False),
        ({"spec": {"targetNamespaces": ["other"]}}, {"spec": {"installModes": modes("AllNamespaces")}}, True),
        ({"spec": {"targetNamespaces": [NAMESPACE, "b"]}}, {"spec": {"installModes": modes("OwnNamespace")}}, True),
        ({"spec": {"targetNamespaces": [NAMESPACE, "b"]}}, {"spec": {"installModes": modes("MultiNamespace")}}, False),
    ],
)
def test_a_group_that_the_installed_version_does_not_run_under_is_refused(group, csv, refused):
    made = adopted(group=group or {"spec": {}}, csv=csv)
    assert ("operator-group-has-other-targets" in {item.code for item in made.refusals}) == refused


@pytest.mark.parametrize(
    ("csv", "codes"),
    [
        (None, {"operator-csv-missing"}),
        ({"status": {"phase": "Succeeded"}}, set()),
        ({"status": {"phase": "Failed", "reason": "InterOperatorGroupOwnerConflict"}}, {"operator-failed"}),
        ({"status": {"phase": "Failed", "reason": "InstallCheckFailed"}}, set()),
        ({"status": {"phase": "Installing", "reason": "InstallSucceeded"}}, set()),
    ],
)
def test_an_installation_that_is_not_well_is_named_before_nodes_are_prepared(csv, codes):
    seen = {item.code for item in adopted(csv=csv).warnings}
    assert seen & {"operator-csv-missing", "operator-failed"} == codes


def test_operators_that_are_all_of_others_are_waited_for_all_the_same():
    packages = ("nfd", "sriov-network-operator", "nvidia-network-operator", "gpu-operator-certified")
    objects = [a_subscription("theirs", package, package) for package in packages]
    objects += [an_object(kinds.OPERATOR_GROUP, "theirs", name, spec={"targetNamespaces": [name]}) for name in packages]
    made = plan((an_intent(),), a_cluster((a_node(0, hardware()),), tuple(objects)), CATALOG)
    assert made.stage(OPERATORS_INSTALLED).applies
