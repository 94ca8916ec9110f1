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
KINDS = {
    "kube-ipvs0": "type=1\tmtu=1500\taddress=02:00:00:00:00:07\toperstate=down\tkind=dummy",
    "dummy0": "type=1\tmtu=1500\taddress=02:00:00:00:00:08\toperstate=up\tkind=dummy",
    "lo": "type=772\tmtu=65536\taddress=00:00:00:00:00:00\toperstate=unknown\tcarrier=1\tkind=virtual",
}


def a_node(device: str, address: str, *, socket: str = "", around: Surroundings | None = None) -> NodeHardware:
    """Read a node whose default route is mac0's, with one more address."""
    text = CASE.read_text().replace("=== railwright net\n", f"=== railwright net\n{device}\t{KINDS[device]}\n")
    family = "inet6" if ":" in address else "inet"
    text = text.replace(
        "=== railwright addr\n", f"=== railwright addr\n9: {device}    {family} {address} scope global x\n"
    )
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
