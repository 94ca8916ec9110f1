"""Wishes that something adopted does not carry out are said, one by one."""

import pytest
from unit.plan.clusters import a_cluster, a_node, a_subscription, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.facts.model import Platform
from railwright.intent.model import DriverIntent, OperatorsIntent, ProxyIntent, UpgradePolicy
from railwright.manifests.render import render
from railwright.plan.plan import plan

CATALOG = load_catalog()
NIC = an_object(kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", spec={"ofedDriver": {"version": "24.10"}})
GPU = an_object(
    kinds.CLUSTER_POLICY,
    "theirs",
    spec={"driver": {"version": "580.1.1", "kernelModuleType": "open"}, "gds": {"enabled": True}},
)
GROUP = an_object(kinds.OPERATOR_GROUP, "theirs", "openshift-nfd", spec={"targetNamespaces": ["openshift-nfd"]})
TAINT = {"key": "gpu", "operator": "Exists"}


def planned(*objects, cluster=None, **intent):
    return plan((an_intent(**intent),), a_cluster((a_node(0, hardware()),), objects, **(cluster or {})), CATALOG)


def undone(made):
    return [item.message.partition(" is not")[0] for item in made.warnings if item.code == "wish-not-carried-out"]


@pytest.mark.parametrize(
    ("objects", "wish", "expected"),
    [
        ((NIC,), {"driver": DriverIntent(nic_version="25.01")}, ["spec.driver.nicVersion 25.01"]),
        ((NIC,), {"driver": DriverIntent(nic_version="24.10")}, []),
        ((), {"driver": DriverIntent(nic_version="25.01")}, []),
        ((GPU,), {"driver": DriverIntent(gpu_version="580.2.2")}, ["spec.driver.gpuVersion 580.2.2"]),
        ((GPU,), {"driver": DriverIntent(gds=False)}, ["spec.driver.gds false"]),
        ((GPU,), {"driver": DriverIntent(gdrcopy=False)}, []),
        ((GPU,), {"pull_secret": "login"}, ["spec.pullSecret login"]),
        ((NIC,), {"image_registry": "mirror"}, ["spec.imageRegistry mirror"]),
        ((NIC,), {"proxy": ProxyIntent(https="http://p")}, ["spec.proxy {'HTTPS_PROXY': 'http://p'}"]),
        ((NIC,), {"upgrade": UpgradePolicy(max_parallel=4)}, ["spec.upgrade.maxParallel 4"]),
        ((), {"upgrade": UpgradePolicy(max_parallel=4)}, []),
        (
            (a_subscription("theirs"), GROUP),
            {"operators": OperatorsIntent("Manual", {"nfd": "v9"}, {"nfd": "mirror"})},
            ["spec.operators.approval Manual", "spec.operators.channels v9", "spec.operators.catalogs mirror"],
        ),
        ((a_subscription("theirs"), GROUP), {"operators": OperatorsIntent("Automatic", {"nfd": "stable"})}, []),
    ],
)
def test_a_wish_about_something_of_others_is_said_to_stay_undone(objects, wish, expected):
    assert undone(planned(*objects, **wish)) == expected


def test_plain_kubernetes_has_nobody_for_operators_or_kubelets():
    kubernetes = {"platform": Platform.KUBERNETES, "pools": ()}
    made = planned(cluster=kubernetes, operators=OperatorsIntent("Automatic"), numa_aligned=True)
    assert undone(made) == ["spec.operators.approval Automatic"]
    assert "numa-alignment-needs-openshift" in {item.code for item in made.refusals}


def test_tolerations_come_beside_those_of_an_adopted_policy():
    theirs = {**GPU, "spec": {**GPU["spec"], "daemonsets": {"tolerations": [{"key": "old"}]}}}
    made = planned(theirs, tolerations=(TAINT,))
    policy = next(item.obj for item in render(made).items if item.ref.kind == kinds.CLUSTER_POLICY)
    assert policy["spec"]["daemonsets"] == {"tolerations": [{"key": "old"}, TAINT]}


def test_a_value_in_force_is_spelled_as_in_the_file():
    values = {item.key.rpartition(": ")[2]: item.value for item in planned().decisions}
    assert (values["spec.driver.gds"], values["spec.upgrade.auto"]) == ("false", "true")
    assert values["spec.upgrade.drainTimeoutSeconds"] == "300"
