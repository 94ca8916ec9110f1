"""Traffic of addresses that the node holds on a device without a port: Services' and routed hosts'."""

from pathlib import Path

import pytest

from railwright.facts.model import NodeHardware
from railwright.facts.node_record import parse_node_record
from railwright.facts.uplinks import Surroundings

CASE = Path(__file__).parents[2] / "cases/facts/node-record/macvlan-parent-and-a-second-table.txt"
SERVICE, ROUTED = "10.96.0.7", "10.255.0.4"
SERVICE_6 = "fd00:96::7"
LOCAL_ROUTE_6 = f"{'fd000096' + '0' * 23}7 80 {'0' * 32} 00 {'0' * 32} 00000000 00000002 00000000 80200001 kube-ipvs0"
DEFAULT_6 = f"{'0' * 32} 00 {'0' * 32} 00 fe80{'0' * 27}1 00000400 00000002 00000000 00000003 mac0"
OF_ANOTHER_TABLE = (
    "default table 100 \\\tnexthop via 10.1.0.1 dev ens3f0np0 weight 1\\\tnexthop via 10.1.0.2 dev ens3f1np1 weight 1\n"
)
KINDS = {
    "kube-ipvs0": "type=1\tmtu=1500\taddress=02:00:00:00:00:07\toperstate=down\tkind=dummy",
    "dummy0": "type=1\tmtu=1500\taddress=02:00:00:00:00:08\toperstate=up\tkind=dummy",
    "lo": "type=772\tmtu=65536\taddress=00:00:00:00:00:00\toperstate=unknown\tcarrier=1\tkind=virtual",
}


def a_node(
    device: str,
    address: str,
    *,
    socket: str = "",
    around: Surroundings | None = None,
    ports: tuple[tuple[str, str], ...] = (),
    routes: tuple[str, ...] | None = None,
) -> NodeHardware:
    """
    Read a node whose default route is mac0's, with one more address, and more of those at ports.

    Args:
        routes: in the place of the default route of another table.
    """
    text = CASE.read_text().replace("=== railwright net\n", f"=== railwright net\n{device}\t{KINDS[device]}\n")
    family = "inet6" if ":" in address else "inet"
    text = text.replace(
        "=== railwright addr\n", f"=== railwright addr\n9: {device}    {family} {address} scope global x\n"
    )
    more = "".join(f"8: {name}    {own} scope link x\n" for name, own in ports)
    text = text.replace("=== railwright addr\n", f"=== railwright addr\n{more}")
    if routes is not None:
        text = text.replace(OF_ANOTHER_TABLE, "\n".join((*routes, "")))
    text = text.replace("=== railwright sockets\n", f"=== railwright sockets\n{socket}\n")
    text = text.replace("=== railwright route6\n", f"=== railwright route6\n{LOCAL_ROUTE_6}\n{DEFAULT_6}\n")
    return parse_node_record(text, around or Surroundings())


@pytest.mark.parametrize("address", [SERVICE, SERVICE_6])
def test_a_connection_to_a_service_follows_the_route_to_it(address):
    hardware = a_node("kube-ipvs0", address, socket=f"{address}\t6789")
    assert hardware.uplinks_problem == ""
    carried = {item.path[-1] for item in hardware.carried if item.what == f"Ceph (TCP 6789) at {address}"}
    assert "eno1" in carried


@pytest.mark.parametrize("device", ["lo", "dummy0"])
def test_an_address_of_a_routed_host_lies_on_no_port_so_that_its_ports_are_unknown(device):
    traffic = a_node(device, f"{ROUTED}/32", socket=f"{ROUTED}\t3260")
    assert f"iSCSI (TCP 3260) at {ROUTED}" in traffic.uplinks_problem
    node = a_node(device, f"{ROUTED}/32", around=Surroundings((ROUTED,)))
    assert f"node address {ROUTED}" in node.uplinks_problem


def test_an_address_of_lo_that_nothing_uses_is_no_problem():
    assert a_node("lo", f"{ROUTED}/32").uplinks_problem == ""


PEERS = (("eno1", "inet 169.254.7.2/30"), ("ens3f0np0", "inet6 fe80::e42:a1ff:fe00:1/64"))
OVER_ENO1, OVER_ENS3 = "169.254.7.2\t179", "FE80:0000:0000:0000:0E42:A1FF:FE00:0001\t179"
FABRIC = "10.255.0.5 proto bgp src 10.255.0.4 metric 20 \\\tnexthop via 169.254.0.1 dev {} weight 1 onlink"


@pytest.mark.parametrize("device", ["lo", "dummy0"])
@pytest.mark.parametrize(
    ("sockets", "routes", "ports"),
    [
        ((OVER_ENO1,), (), {"eno1"}),
        ((OVER_ENO1, OVER_ENS3), (), {"eno1", "ens3f0np0"}),
        ((OVER_ENO1,), (FABRIC.format("ens3f1np1"),), {"eno1", "ens3f1np1"}),
        ((OVER_ENO1,), ("10.9.0.0/16 via 10.1.0.1 dev eno1 proto static",), {"eno1"}),
        ((OVER_ENO1,), ("10.9.0.0/16 via 10.1.0.1 dev mac0",), {"eno1"}),
        ((OVER_ENO1,), ("10.1.0.0/24 dev ens3f1np1 proto kernel scope link",), {"eno1"}),
        ((OVER_ENO1,), ("10.9.0.0/16 via 10.1.0.1 dev ens3f1np1 proto 196",), {"eno1", "ens3f1np1"}),
        ((OVER_ENO1,), ("10.244.0.7 dev ens3f1np1 proto 80 scope link",), {"eno1"}),
    ],
    ids=[
        "one-session",
        "two",
        "a-route-over-another",
        "by-hand-over-the-same-port",
        "over-a-device-on-it",
        "the-port's-own-network",
        "by-a-daemon-without-a-name",
        "to-no-router",
    ],
)
def test_an_address_of_a_routed_host_goes_over_the_ports_of_its_sessions_and_of_the_routes_that_they_brought(
    device, sockets, routes, ports
):
    around = Surroundings((ROUTED,))
    node = a_node(device, f"{ROUTED}/32", socket="\n".join(sockets), around=around, ports=PEERS, routes=routes)
    assert node.uplinks_problem == ""
    assert {item.path[-1] for item in node.carried if item.what == f"node address {ROUTED}"} == ports
    assert {item.path[-1] for item in node.carried if item.what.startswith("BGP")} <= ports


@pytest.mark.parametrize(
    ("routes", "network", "netdev"),
    [
        (("10.9.0.0/16 via 10.1.0.1 dev ens3f1np1 proto static",), "10.9.0.0/16", "ens3f1np1"),
        (("10.9.0.0/16 via 10.1.0.1 dev ens3f1np1",), "10.9.0.0/16", "ens3f1np1"),
        (("default dev ens3f1np1 table 9 scope link",), "0.0.0.0/0", "ens3f1np1"),
        (("10.9.0.0/16 via 10.1.0.1 dev tunnel7",), "10.9.0.0/16", "tunnel7"),
        (None, "0.0.0.0/0", "ens3f0np0"),
    ],
    ids=["by-hand", "by-nobody-known", "a-default-route", "a-device-that-nobody-knows", "of-another-table"],
)
def test_a_route_over_another_port_than_the_sessions_leaves_the_ports_of_a_routed_host_unknown(routes, network, netdev):
    around = Surroundings((ROUTED,))
    node = a_node("lo", f"{ROUTED}/32", socket=OVER_ENO1, around=around, ports=PEERS, routes=routes)
    said = (
        f"node address {ROUTED} belongs to lo, and the route to {network} through {netdev} is none of its BGP sessions'"
    )
    assert said in node.uplinks_problem


@pytest.mark.parametrize(
    ("sockets", "said"),
    [
        ((), f"node address {ROUTED} belongs to lo"),
        ((f"{ROUTED}\t179",), f"BGP (TCP 179) at {ROUTED} belongs to lo"),
        (("FE80:0000:0000:0000:0E42:A1FF:FE00:0002\t179",), f"node address {ROUTED} belongs to lo"),
    ],
    ids=["no-session", "one-over-several-hops", "one-of-an-address-that-nobody-has"],
)
def test_without_a_session_at_a_port_nothing_says_over_which_ports_a_routed_host_is_reached(sockets, said):
    routes = (FABRIC.format("eno1"),)
    node = a_node(
        "lo", f"{ROUTED}/32", socket="\n".join(sockets), around=Surroundings((ROUTED,)), ports=PEERS, routes=routes
    )
    assert said in node.uplinks_problem


def test_a_port_over_which_routers_are_told_of_pods_carries_the_nodes_own_traffic():
    """A network plugin that routes pods by BGP has sessions, whatever address the node has."""
    node = a_node("dummy0", "10.255.9.9/32", socket=OVER_ENS3, ports=PEERS)
    assert ("BGP (TCP 179) at fe80::e42:a1ff:fe00:1", ("ens3f0np0",)) in {(i.what, i.path) for i in node.carried}
