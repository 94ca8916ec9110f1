"""What nodes need of their own system: planned once and kept, one KubeletConfig a pool, NMState by group."""

from dataclasses import replace

import pytest
from unit.plan.clusters import a_cluster, a_node, a_port, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.core.ids import NetDevice, NodeName
from railwright.facts.model import PoolFacts
from railwright.intent.model import Method, NetworkIntent
from railwright.manifests.render import render
from railwright.plan.model import (
    NIC_DRIVER_READY,
    NODES_PREPARED,
    HostNetworkShare,
    KubeletShare,
    MemoryLockable,
    PoolUpdated,
    RailUp,
)
from railwright.plan.plan import plan
from railwright.ports.cluster import ServedKind

CATALOG = load_catalog()
OURS = {"app.kubernetes.io/managed-by": "railwright"}
POOL = {"pools.operator.machineconfiguration.openshift.io/worker": ""}
NMSTATE = ServedKind(kinds.NODE_NETWORK_CONFIGURATION_POLICY, "nodenetworkconfigurationpolicies", namespaced=False)


def narrow(names=None, mtu_bytes=1500):
    """A node whose ports have an MTU; `names` renames the first ones."""
    ports = [a_port(number, mtu_bytes=mtu_bytes) for number in range(8)]
    for index, name in enumerate(names or ()):
        ports[index] = replace(ports[index], netdev=NetDevice(name))
    return hardware(ports=tuple(ports))


def labelled(obj, **labels):
    return {**obj, "metadata": {**obj["metadata"], "labels": labels}}


def planned(*nodes, objects=(), method=Method.SHARED, served=(NMSTATE,), **intent):
    cluster = a_cluster(tuple(a_node(number, inside) for number, inside in enumerate(nodes)), objects)
    cluster = replace(cluster, cluster=replace(cluster.cluster, served_kinds=served))
    return plan((an_intent(method, **intent),), cluster, CATALOG)


def host_networks(made):
    return [share for share in made.shares if isinstance(share, HostNetworkShare)]


def test_nmstate_sets_the_mtu_with_the_batch_of_each_node():
    made = planned(narrow(), narrow())
    (share,) = host_networks(made)
    assert share.stage == NIC_DRIVER_READY
    assert share.node_labels == {"railwright.dev/fabric.east-west": "admitted"}
    assert set(share.mtu_by_netdev) == {f"ens{number}f0np0" for number in range(8)}
    assert {item.mtu_bytes for item in made.stage(NIC_DRIVER_READY).expectations if isinstance(item, RailUp)} == {9000}


def test_nmstate_names_only_interfaces_that_a_group_has():
    made = planned(narrow(), narrow(["enp1", "enp2"]), method=Method.HOST_DEVICE)
    first, second = host_networks(made)
    assert first.node_labels["railwright.dev/group.east-west"] == "g1"
    assert "enp1" not in first.mtu_by_netdev
    assert {"enp1", "enp2"} <= set(second.mtu_by_netdev)
    assert "ens0f0np0" not in second.mtu_by_netdev


def test_an_mtu_that_we_set_earlier_is_still_wanted_once_ports_have_it():
    live = labelled(an_object(kinds.NODE_NETWORK_CONFIGURATION_POLICY, "railwright-east-west"), **OURS)
    assert len(host_networks(planned(narrow(mtu_bytes=9000), objects=(live,)))) == 1
    assert host_networks(planned(narrow(mtu_bytes=9000))) == []


def test_the_sriov_operator_sets_the_mtu_of_its_ports_itself():
    made = planned(narrow(), method=Method.SRIOV)
    assert host_networks(made) == []
    assert {item.mtu_bytes for item in made.stage(NIC_DRIVER_READY).expectations if isinstance(item, RailUp)} == {None}


@pytest.mark.parametrize(
    ("mtu_bytes", "at_rest", "refused"), [(9000, False, False), (4200, False, True), (4200, True, False)]
)
def test_a_machine_config_of_ours_changes_only_on_a_pool_at_rest(mtu_bytes, at_rest, refused):
    first = planned(narrow(), served=(), network=NetworkIntent(mtu_bytes=9000))
    (live,) = [labelled(item.obj, **OURS) for item in render(first).items if item.ref.kind == kinds.MACHINE_CONFIG]
    pool = PoolFacts("worker", (NodeName("worker-0"),), not at_rest, at_rest, not at_rest, degraded=False, message="")
    snapshot = a_cluster((a_node(0, narrow()),), (live,), pools=(pool,))
    made = plan((an_intent(network=NetworkIntent(mtu_bytes=mtu_bytes)),), snapshot, CATALOG)
    assert ("pool-not-ready" in {item.code for item in made.refusals}) == refused


def test_nodes_whose_limit_of_locked_memory_is_lifted_are_looked_into():
    made = planned(hardware(memlock_limit="8192"), hardware())
    found = [item.node for item in made.stage(NODES_PREPARED).expectations if isinstance(item, MemoryLockable)]
    assert found == ["worker-0", "worker-1"]
    assert not planned(hardware()).stage(NODES_PREPARED).expectations


def test_numa_alignment_reboots_its_pool_and_is_waited_for():
    made = planned(hardware(), numa_aligned=True)
    assert [share.name for share in made.shares if isinstance(share, KubeletShare)] == ["railwright-worker"]
    assert PoolUpdated("worker", "", "railwright-worker") in made.stage(NODES_PREPARED).expectations
    (reach,) = [item for item in made.reaches if item.what.startswith("KubeletConfig")]
    assert reach.nodes == ("worker-0",)


def test_a_second_kubelet_config_of_a_pool_is_refused():
    selector = {"machineConfigPoolSelector": {"matchLabels": POOL}}
    theirs = an_object(kinds.KUBELET_CONFIG, "max-pods", spec=selector)
    made = planned(hardware(), objects=(theirs,), numa_aligned=True)
    assert [(item.code, item.seen) for item in made.refusals] == [("kubelet-config-is-there", "max-pods")]
    elsewhere = {"machineConfigPoolSelector": {"matchLabels": {"custom": "infra"}}}
    other = an_object(kinds.KUBELET_CONFIG, "max-pods", spec=elsewhere)
    assert planned(hardware(), objects=(other,), numa_aligned=True).refusals == ()
    ours = labelled(an_object(kinds.KUBELET_CONFIG, "railwright-worker", spec=selector), **OURS)
    assert planned(hardware(), objects=(ours,), numa_aligned=True).refusals == ()


def test_a_kubelet_config_is_not_put_on_a_pool_that_rolls_out_already():
    cluster = a_cluster((a_node(0, hardware()),))
    busy = PoolFacts("worker", ("worker-0",), paused=False, updated=False, updating=True, degraded=False, message="")
    cluster = replace(cluster, cluster=replace(cluster.cluster, pools=(busy,)))
    assert plan((an_intent(numa_aligned=True),), cluster, CATALOG).refusals[0].code == "pool-not-ready"


def test_a_wish_for_small_packets_changes_no_port():
    assert host_networks(planned(narrow(), network=NetworkIntent(mtu_bytes=1500))) == []


def test_the_plan_says_what_a_machine_config_holds_for_each_reason():
    made = planned(narrow(), served=())
    held = [item.value for item in made.decisions if item.key.startswith("MachineConfig ")]
    assert held
    assert all(value.startswith("/etc/") for value in held)
    assert len(set(held)) == len(held)
