"""Everything that a plan refuses, by code: of one node (the plan goes on without it) or of the whole."""

from dataclasses import replace

import pytest
from unit.plan.clusters import (
    a_cluster,
    a_node,
    a_port,
    a_subscription,
    an_intent,
    an_object,
    carries,
    hardware,
    two_nodes,
)

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.facts.model import LinkLayer, Platform, Topology, Unseen
from railwright.intent.model import (
    DriverIntent,
    Fabric,
    GpuMemory,
    GroupOverride,
    Intent,
    Method,
    NetworkIntent,
    NicDriver,
    NodeSelection,
    OperatorsIntent,
    RailSelector,
    Route,
)
from railwright.plan.plan import plan

CATALOG = load_catalog()
IB = Fabric.INFINIBAND
SUBNETS = NetworkIntent(subnets=("10.128.0.0/16",))


def a_group(*nodes):
    return GroupOverride(NodeSelection(names=nodes), (RailSelector("rail0", netdev="ens0f0np0"),))


def _second(method=Method.SHARED, fabric=Fabric.ROCE, *, driver=None, **changes):
    """Plan for two nodes of which the second's hardware is changed; its refusals by code."""
    wish = replace(an_intent(method, fabric), driver=driver or DriverIntent())
    made = plan((wish,), two_nodes(fabric, **changes), CATALOG)
    node = next(item for item in made.nodes if item.node == "worker-1")
    assert "worker-1" not in made.admitted or not node.refused
    return made, {refusal.code for refusal in node.refused}


def _ports(number, fabric=Fabric.ROCE, **changes):
    return tuple(a_port(n, fabric, **(changes if n == number else {})) for n in range(8))


@pytest.mark.parametrize(
    ("code", "method", "fabric", "changes"),
    [
        ("uplink-would-be-cut", Method.SHARED, Fabric.ROCE, {"carried": carries(3)}),
        ("uplink-would-be-cut", Method.SRIOV, Fabric.ROCE, {"carried": carries(3, "NFS mount /data")}),
        ("uplink-unknown", Method.SHARED, Fabric.ROCE, {"uplinks_known": False, "uplinks_problem": "no routes"}),
        ("rail-down", Method.SHARED, Fabric.ROCE, {"ports": _ports(2, state="DOWN", carrier=False)}),
        ("rail-state-unknown", Method.SHARED, Fabric.ROCE, {"ports": _ports(2, state="", carrier=None)}),
        ("no-subnet-manager", Method.SHARED, IB, {"ports": _ports(2, IB, state="INIT", sm_lid=0)}),
        ("no-virtual-functions", Method.SRIOV, Fabric.ROCE, {"ports": _ports(2, sriov_total_vfs=0)}),
        ("rdma-mode-exclusive", Method.SHARED, Fabric.ROCE, {"rdma_netns_mode": "exclusive"}),
        pytest.param("doca-with-secure-boot", Method.SHARED, Fabric.ROCE, {"secure_boot": True}),
        pytest.param("sriov-with-secure-boot", Method.SRIOV, Fabric.ROCE, {"lockdown": "integrity"}),
        ("no-driver-image", Method.SHARED, Fabric.ROCE, {"os_release": {"ID": "rhcos", "VERSION_ID": "4.20"}}),
    ],
)
def test_only_the_bad_node_is_refused(code, method, fabric, changes):
    made, codes = _second(method, fabric, **changes)
    assert code in codes
    assert made.admitted == ("worker-0",)
    assert not made.is_refused


def test_peermem_with_large_pages_is_refused():
    _, codes = _second(driver=DriverIntent(memory=GpuMemory.PEERMEM), page_size_bytes=65536)
    assert "peermem-with-64k-pages" in codes


def test_the_path_of_the_uplink_is_shown():
    made, _ = _second(carried=carries(3))
    refusal = made.nodes[1].refused[0]
    assert "br-ex" in refusal.seen + refusal.message
    assert refusal.hint


def test_in_box_leaves_a_port_that_is_no_rail_alone():
    other = a_port(0, pci="0000:f0:00.0", root="pci0000:f0", numa=1, pci_path=("0000:f0:00.0",), netdev="eno1")
    more = hardware(ports=(*_ports(0), other), carried=(replace(carries(0)[0], pci=other.pci),))
    wish = an_intent(driver=DriverIntent(nic=NicDriver.IN_BOX))
    assert plan((wish,), a_cluster((a_node(0, more),)), CATALOG).admitted == ("worker-0",)
    doca = plan((an_intent(),), a_cluster((a_node(0, more),)), CATALOG)
    assert "in-box" in doca.nodes[0].refused[0].hint


def test_a_node_that_was_not_read_is_refused():
    made = plan((an_intent(),), a_cluster((a_node(0, hardware()), a_node(1, None))), CATALOG)
    assert [refusal.code for refusal in made.nodes[1].refused] == ["node-not-read"]


def _codes(*intents: Intent, snapshot=None):
    return {refusal.code for refusal in plan(intents, snapshot or two_nodes(), CATALOG).refusals}


def test_a_node_that_does_not_exist_is_refused():
    assert "node-does-not-exist" in _codes(an_intent(nodes=NodeSelection(names=("worker-0", "worker-9"))))


def test_a_cluster_without_a_fit_node_is_refused():
    assert "no-node-admitted" in _codes(an_intent(), snapshot=a_cluster((a_node(0, hardware(carried=carries(0))),)))


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("hosted-control-plane", {"topology": Topology.HOSTED}),
        ("topology-unknown", {"topology": Topology.UNKNOWN}),
        ("operators-missing", {"platform": Platform.KUBERNETES, "openshift_version": ""}),
        ("package-not-offered", {"packages": ()}),
    ],
)
def test_a_cluster_of_this_kind_is_refused(code, changes):
    snapshot = two_nodes()
    assert code in _codes(an_intent(), snapshot=replace(snapshot, cluster=replace(snapshot.cluster, **changes)))


def test_a_hosted_control_plane_is_told_what_is_supported():
    snapshot = two_nodes()
    hosted = replace(snapshot, cluster=replace(snapshot.cluster, topology=Topology.HOSTED))
    refusals = plan((an_intent(),), hosted, CATALOG).refusals
    (refusal,) = [item for item in refusals if item.code == "hosted-control-plane"]
    assert "plain Kubernetes" in refusal.hint


@pytest.mark.parametrize("change", [{"paused": True}, {"updated": False}, {"degraded": True}])
def test_a_pool_that_is_not_at_rest_is_refused(change):
    snapshot = two_nodes(modules={"irdma": 0})
    pool = replace(snapshot.cluster.pools[0], **change)
    assert "pool-not-ready" in _codes(
        an_intent(), snapshot=replace(snapshot, cluster=replace(snapshot.cluster, pools=(pool,)))
    )


@pytest.mark.parametrize(
    ("code", "wish"),
    [
        ("subnet-overlaps", an_intent(network=SUBNETS)),
        ("subnets-do-not-fit-rails", an_intent(network=NetworkIntent(subnets=("192.168.0.0/24", "192.168.1.0/24")))),
        ("subnet-too-small", an_intent(network=NetworkIntent(subnets=("192.168.0.0/29",)))),
        ("node-does-not-exist", an_intent(groups=(a_group("worker-7"),))),
        ("route-reaches-no-rail", an_intent(network=NetworkIntent(routes=(Route("10.9.0.0/16", "10.1.0.1"),)))),
        ("route-reaches-no-rail", an_intent(network=NetworkIntent(routes=(Route("fd00::/48"),), gateway=True))),
        (
            "several-routers",
            an_intent(
                network=NetworkIntent(("192.168.0.0/16",), gateway=True, routes=(Route("10.9.0.0/16", "192.168.0.9"),))
            ),
        ),
        ("channel-not-offered", an_intent(operators=OperatorsIntent(channels={"nfd": "v9"}))),
        pytest.param(
            "peermem-needs-doca",
            an_intent(driver=DriverIntent(nic=NicDriver.IN_BOX, memory=GpuMemory.PEERMEM)),
        ),
    ],
)
def test_a_wish_that_cannot_be_met_is_refused(code, wish):
    assert code in _codes(wish)


@pytest.mark.parametrize(
    ("code", "objects"),
    [
        ("operator-subscribed-twice", (a_subscription("nfd"), a_subscription("nfd-2"))),
        (
            "operator-groups-collide",
            tuple(an_object(kinds.OPERATOR_GROUP, name, "openshift-nfd") for name in ("one", "two")),
        ),
        ("operator-group-missing", (a_subscription("nfd"),)),
        ("operator-group-has-other-targets", (an_object(kinds.OPERATOR_GROUP, "all", "openshift-nfd", spec={}),)),
        ("second-nfd", tuple(an_object(kinds.NODE_FEATURE_DISCOVERY, n, "openshift-nfd") for n in ("one", "two"))),
        ("nic-policy-misnamed", (an_object(kinds.NIC_CLUSTER_POLICY, "other", spec={}),)),
        ("second-cluster-policy", tuple(an_object(kinds.CLUSTER_POLICY, name, spec={}) for name in ("one", "two"))),
    ],
)
def test_what_is_there_already_collides(code, objects):
    snapshot = two_nodes()
    assert code in _codes(an_intent(), snapshot=a_cluster(snapshot.nodes, objects))


def test_fabrics_that_want_different_drivers_are_refused_with_both_sides():
    second = replace(an_intent(Method.SRIOV), name="north", driver=DriverIntent(nic=NicDriver.IN_BOX))
    refusals = plan((an_intent(), second), two_nodes(), CATALOG).refusals
    found = next(refusal for refusal in refusals if refusal.code == "fabrics-contradict")
    assert found.seen == "doca and in-box"


@pytest.mark.parametrize(
    ("first", "second", "contradicts"),
    [(True, False, True), (True, True, False), (True, None, False), (None, False, False)],
)
def test_only_what_two_fabrics_wrote_about_moving_operators_can_contradict(first, second, contradicts):
    one, other = (
        an_intent(name=name, operators=OperatorsIntent(upgrade=asked))
        for name, asked in (("one", first), ("other", second))
    )
    refusals = plan((one, other), two_nodes(), CATALOG).refusals
    about = [item for item in refusals if item.message.endswith("differ in spec.operators.upgrade")]
    assert bool(about) is contradicts


def test_one_port_in_two_fabrics_is_refused():
    assert "port-in-two-fabrics" in _codes(an_intent(), replace(an_intent(Method.SRIOV), name="north"))


def test_a_selector_that_fits_no_port_refuses_the_node():
    made = plan((an_intent(rails=(RailSelector("rail0", netdev="eth9"),)),), two_nodes(), CATALOG)
    assert {refusal.code for refusal in made.nodes[0].refused} >= {"rail-selector-fits-no-port"}


def test_a_port_that_was_asked_for_and_is_no_rail_is_refused_with_the_reason():
    ports = _ports(2, link_layer=LinkLayer.INFINIBAND)
    wish = an_intent(rails=(RailSelector("rail0", netdev="ens2f0np0"),))
    refused = plan((wish,), a_cluster((a_node(0, hardware(ports=ports)),)), CATALOG).nodes[0].refused[0]
    assert "(ens2f0np0: infiniband, and the fabric is roce)" in refused.message


def test_more_vfs_than_the_firmware_offers_is_a_warning_of_a_reboot():
    made = plan((an_intent(Method.SRIOV, vfs_per_rail=32),), two_nodes(), CATALOG)
    assert any(item.code == "firmware-virtual-functions" and "reboots" in item.message for item in made.warnings)


def test_a_master_with_two_names_is_refused():
    ports = _ports(2, netdev="eth2")
    snapshot = two_nodes(ports=ports)
    assert "rail-names-differ" in _codes(an_intent(), snapshot=snapshot)


def test_sriov_takes_nodes_that_name_a_rail_differently():
    made = plan((an_intent(Method.SRIOV),), two_nodes(ports=_ports(2, netdev="eth2")), CATALOG)
    assert made.refusals == ()
    assert len(made.admitted) == 2


def test_a_virtual_function_counts_as_its_port():
    child = a_port(3, pci="0000:44:00.2", parent=a_port(3).pci, netdev="ens3f0v0")
    made, codes = _second(ports=(*_ports(0), child), carried=(replace(carries(3)[0], pci=child.pci),))
    assert codes == {"uplink-would-be-cut"}
    assert made.admitted == ("worker-0",)


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("openshift-older-than-supported", {"openshift_version": "4.16.1"}),
        ("openshift-version-unknown", {"openshift_version": "4.99.0"}),
        ("catalog-not-read", {"packages": (), "packages_problem": "forbidden"}),
        ("facts-not-readable", {"unseen": (Unseen("Pod", "permission-missing: u may not list pods"),)}),
        ("facts-not-readable", {"unseen": (Unseen("Pod", "cluster: HTTP 500: etcd is gone"),)}),
        ("facts-not-readable", {"unseen": (Unseen("NicClusterPolicy", "cluster-busy: HTTP 503"),)}),
        ("facts-not-readable", {"unseen": (Unseen("served kinds", "cluster-busy: HTTP 503"),)}),
    ],
)
def test_what_is_not_known_for_sure_is_a_warning(code, changes):
    snapshot = two_nodes()
    made = plan((an_intent(),), replace(snapshot, cluster=replace(snapshot.cluster, **changes)), CATALOG)
    assert code in {warning.code for warning in made.warnings}


@pytest.mark.parametrize("what", ["Event in default", "older events", "log of a/b c", str(kinds.PACKAGE_MANIFEST)])
def test_what_no_plan_is_made_by_is_not_missed(what):
    snapshot = two_nodes()
    unseen = replace(snapshot.cluster, unseen=(Unseen(what, "cluster-busy: HTTP 503"),))
    made = plan((an_intent(),), replace(snapshot, cluster=unseen), CATALOG)
    assert "facts-not-readable" not in {warning.code for warning in made.warnings}


def test_without_a_cluster_rails_must_be_named():
    offline = a_cluster((), pools=(), packages=(), packages_problem="no cluster was read")
    assert "rails-not-named" in _codes(an_intent(), snapshot=offline)
    assert _codes(an_intent(rails=(RailSelector("rail0", netdev="ens1f0np0"),)), snapshot=offline) == set()
