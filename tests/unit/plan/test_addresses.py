"""Who gives pods their addresses, which routers and routes rails have, and which ports are one rail."""

import pytest
from unit.plan.clusters import a_cluster, a_node, an_intent, an_object, hardware, two_nodes

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.core.objects import dig
from railwright.intent.model import GroupOverride, Ipam, NetworkIntent, NodeSelection, RailSelector, Route
from railwright.manifests.render import render
from railwright.plan.plan import plan

CATALOG = load_catalog()
OURS = {"app.kubernetes.io/managed-by": "railwright"}


def planned(network=None, objects=(), nodes=2, **intent):
    snapshot = a_cluster(tuple(a_node(number, hardware()) for number in range(nodes)), objects)
    return plan((an_intent(network=network or NetworkIntent(), **intent),), snapshot, CATALOG)


def specs(made, kind):
    return {item.ref.name: item.obj["spec"] for item in render(made).items if item.ref.kind == kind}


def ipam(made, rail=0):
    return dig(specs(made, kinds.MACVLAN_NETWORK), f"east-west-rail{rail}", "ipam")


def codes(made):
    return {item.code for item in (*made.refusals, *made.warnings)}


def test_a_subnet_a_node_has_a_router_and_a_way_to_the_other_nodes():
    made = planned(NetworkIntent(("10.64.0.0/13",), ipam=Ipam.NV_IPAM_CIDR), pods_per_rail=20)
    assert not made.refusals
    assert not specs(made, kinds.NV_IPAM_IP_POOL)
    pools = specs(made, kinds.NV_IPAM_CIDR_POOL)
    assert list(pools) == [f"east-west-rail{number}" for number in range(8)]
    terms = pools["east-west-rail1"].pop("nodeSelector")
    assert dig(terms["nodeSelectorTerms"][0], "matchExpressions")[0]["key"] == "railwright.dev/fabric.east-west"
    assert pools["east-west-rail1"] == {
        "cidr": "10.65.0.0/16",
        "perNodeNetworkPrefix": 26,
        "gatewayIndex": 1,
        "routes": [{"dst": "10.65.0.0/16"}],
    }
    assert ipam(made) == '{"poolName": "east-west-rail0", "poolType": "cidrpool", "type": "nv-ipam"}'


@pytest.mark.parametrize(
    ("subnets", "pods", "asked", "nodes", "prefix"),
    [
        ("10.64.0.0/13", 63, None, 2, 25),
        ("10.64.0.0/13", 63, 24, 2, 24),
        ("10.64.0.0/22", 8, None, 2, 26),
        ("10.64.0.0/22", 8, None, 5, 28),
        ("fd00:1::/48", 63, None, 2, 121),
    ],
)
def test_a_nodes_subnet_has_room_for_its_pods_and_the_rails_for_its_nodes(subnets, pods, asked, nodes, prefix):
    wish = NetworkIntent((subnets,), ipam=Ipam.NV_IPAM_CIDR, per_node_prefix=asked)
    made = planned(wish, nodes=nodes, pods_per_rail=pods)
    assert {pool["perNodeNetworkPrefix"] for pool in specs(made, kinds.NV_IPAM_CIDR_POOL).values()} == {prefix}


@pytest.mark.parametrize(
    ("subnets", "asked", "code"),
    [("10.64.0.0/23", None, "subnet-too-small"), ("10.64.0.0/16", 19, "subnet-too-small")],
)
def test_nodes_for_which_no_subnet_is_left_are_refused(subnets, asked, code):
    wish = NetworkIntent((subnets,), ipam=Ipam.NV_IPAM_CIDR, per_node_prefix=asked)
    assert code in codes(planned(wish, pods_per_rail=63))


def test_a_subnet_that_is_asked_for_and_holds_fewer_pods_is_said():
    wish = NetworkIntent(("10.64.0.0/13",), ipam=Ipam.NV_IPAM_CIDR, per_node_prefix=29)
    assert "node-subnet-small" in codes(planned(wish, pods_per_rail=63))


def test_nodes_keep_their_subnets_when_it_is_planned_again():
    def live(prefix):
        spec = {"cidr": "10.64.0.0/16", "perNodeNetworkPrefix": prefix}
        pool = an_object(kinds.NV_IPAM_CIDR_POOL, "east-west-rail0", "nvidia-network-operator", spec=spec)
        return pool | {"metadata": pool["metadata"] | {"labels": OURS}}

    wish = NetworkIntent(("10.64.0.0/13",), ipam=Ipam.NV_IPAM_CIDR)
    kept = planned(wish, (live(22),))
    assert specs(kept, kinds.NV_IPAM_CIDR_POOL)["east-west-rail0"]["perNodeNetworkPrefix"] == 22
    assert "address-blocks-change" not in codes(kept)
    changed = NetworkIntent(("10.64.0.0/13",), ipam=Ipam.NV_IPAM_CIDR, per_node_prefix=24)
    assert "address-blocks-change" in codes(planned(changed, (live(22),)))


def test_both_families_take_a_pool_each():
    made = planned(NetworkIntent(("10.64.0.0/16", "fd00:1::/48"), gateway=True))
    assert not made.refusals
    pools = specs(made, kinds.NV_IPAM_IP_POOL)
    assert pools["east-west-rail0-v4"]["gateway"] == "10.64.0.1"
    assert pools["east-west-rail0-v6"]["subnet"] == "fd00:1::/51"
    assert '"poolName": "east-west-rail0-v4,east-west-rail0-v6"' in ipam(made)


FAR = "172.16.0.0/12"


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        (
            Ipam.WHEREABOUTS,
            '"exclude": ["10.64.0.1/32"], "range": "10.64.0.0/19", "routes": [{"dst": "FAR", "gw": "10.64.0.1"}]',
        ),
        (Ipam.STATIC, '"routes": [{"dst": "FAR", "gw": "10.64.0.1"}]'),
        (Ipam.NV_IPAM, '"poolName": "east-west-rail0"'),
    ],
)
def test_a_route_has_the_router_of_its_rail(way, expected):
    made = planned(NetworkIntent(("10.64.0.0/16",), ipam=way, gateway=True, routes=(Route(FAR),)))
    assert expected.replace("FAR", FAR) in ipam(made)
    assert "route-over-several-rails" in codes(made)
    for pool in specs(made, kinds.NV_IPAM_IP_POOL).values():
        assert pool["routes"] == [{"dst": FAR}]


@pytest.mark.parametrize("way", [Ipam.WHEREABOUTS, Ipam.NV_IPAM])
def test_a_route_is_made_only_on_the_rail_that_reaches_its_router(way):
    made = planned(NetworkIntent(("10.64.0.0/16",), ipam=way, routes=(Route(FAR, "10.64.32.7"),)))
    pools = specs(made, kinds.NV_IPAM_IP_POOL)
    on = [number for number in range(8) if FAR in (ipam(made, number) + str(pools.get(f"east-west-rail{number}")))]
    assert on == [1]
    assert not made.refusals
    if pools:
        assert pools["east-west-rail1"]["gateway"] == "10.64.32.7"
    else:
        assert "10.64.32.7/32" in ipam(made, 1)


def a_rail(name, number, **changes):
    return RailSelector(name, netdev=f"ens{number}f0np0", **changes)


def test_the_name_says_which_rail_a_port_of_a_group_is():
    wish = (a_rail("left", 0), a_rail("right", 1))
    group = GroupOverride(NodeSelection(names=("worker-1",)), (a_rail("right", 2), a_rail("left", 3)))
    made = plan((an_intent(rails=wish, groups=(group,)),), two_nodes(), CATALOG)
    ports = {(rail.name, port.node): port.netdev for rail in made.rails for port in rail.ports}
    assert ports["left", "worker-1"] == "ens3f0np0"
    assert ports["right", "worker-1"] == "ens2f0np0"


def test_a_rail_that_only_a_group_has_comes_last():
    group = GroupOverride(NodeSelection(names=("worker-1",)), (a_rail("extra", 2), a_rail("left", 3)))
    made = plan((an_intent(rails=(a_rail("left", 0),), groups=(group,)),), two_nodes(), CATALOG)
    assert [(rail.name, len(rail.ports)) for rail in made.rails] == [("left", 2), ("extra", 1)]
    assert "fewer-rails" in codes(made)


@pytest.mark.parametrize(
    ("gpu", "refused"), [("7", False), ("8", True), ("0000:13:00.0", False), ("0000:99:00.0", True)]
)
def test_a_gpu_that_no_node_has_is_refused(gpu, refused):
    made = plan((an_intent(rails=(a_rail("rail0", 0, gpu=gpu),)),), two_nodes(), CATALOG)
    found = {item.code for node in made.nodes for item in node.refused}
    assert ("rail-gpu-not-there" in found) == refused


def test_groups_claim_nodes_once_and_not_none():
    snapshot = a_cluster((a_node(0, hardware(), labels={"rack": "7", "row": "1"}), a_node(1, hardware())))
    groups = tuple(
        GroupOverride(NodeSelection(labels=labels), (a_rail("rail0", 0),))
        for labels in ({"rack": "7"}, {"row": "1"}, {"row": "2"})
    )
    made = plan((an_intent(rails=(a_rail("rail0", 0),), groups=groups),), snapshot, CATALOG)
    assert {item.code for node in made.nodes for item in node.refused} == {"node-in-two-groups"}
    assert [item.message for item in made.warnings if item.code == "group-without-nodes"] == [
        "spec.groups[2] fits no node of east-west"
    ]


def test_without_nodes_groups_are_refused():
    group = GroupOverride(NodeSelection(names=("worker-1",)), (a_rail("rail0", 2),))
    made = plan((an_intent(rails=(a_rail("rail0", 0),), groups=(group,)),), a_cluster(()), CATALOG)
    assert "groups-need-nodes" in codes(made)
