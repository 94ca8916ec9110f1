"""Addresses that network plugins announce, and that uplinks follow them to the NIC that has them."""

import pytest

from railwright.facts.announced import announced_by
from railwright.facts.node_record import parse_node_record
from railwright.facts.uplinks import Surroundings

GATEWAY = (
    '{"default":{"mode":"shared","bridge-id":"br-ex","interface-id":"br-ex_w","mac-address":"0c:42:a1:00:00:01",'
    '"ip-addresses":["10.0.0.20/24","fd01::20/64"],"ip-address":"10.0.0.20/24","next-hops":["10.0.0.1"],'
    '"next-hop":"10.0.0.1","node-port-enable":"true","vlan-id":"0","exgw-ip-addresses":["10.3.0.4/24"]}}'
)


@pytest.mark.parametrize(
    ("key", "value", "addresses"),
    [
        ("k8s.ovn.org/node-encap-ips", '["10.1.0.4","10.2.0.4"]', ["10.1.0.4", "10.2.0.4"]),
        ("k8s.ovn.org/node-primary-ifaddr", '{"ipv4":"10.0.0.20/24","ipv6":"fd01::20/64"}', ["10.0.0.20", "fd01::20"]),
        ("k8s.ovn.org/l3-gateway-config", GATEWAY, ["10.0.0.20", "fd01::20", "10.3.0.4"]),
        ("k8s.ovn.org/secondary-host-egress-ips", "[]", []),
        ("projectcalico.org/IPv4Address", "10.1.0.4/24", ["10.1.0.4"]),
        ("flannel.alpha.coreos.com/public-ip", "10.1.0.4", ["10.1.0.4"]),
        ("k8s.ovn.org/host-cidrs", '["192.168.1.4/24"]', []),
        ("k8s.ovn.org/node-encap-ips", '["10.1.0.4"', [""]),
        ("k8s.ovn.org/node-encap-ips", "[" * 100_000, [""]),
    ],
)
def test_what_an_annotation_announces_is_read(key, value, addresses):
    assert [item.address for item in announced_by({key: value})] == addresses


RECORD = """=== railwright net
eno1	type=1	mtu=1500	pci=0000:29:00.0
ens3f0np0	type=1	mtu=1500	pci=0000:1a:00.0
=== railwright addr
3: ens3f0np0    inet 10.1.0.4/24 scope global ens3f0np0
=== railwright end
"""


def test_tunnels_that_start_at_another_nic_make_it_an_uplink():
    announced = announced_by({"k8s.ovn.org/node-encap-ips": '["10.1.0.4"]'})
    hardware = parse_node_record(RECORD, Surroundings(announced=announced))
    (item,) = hardware.carried
    assert (item.what, item.path, item.pci) == (
        "cluster network (OVN tunnels) at 10.1.0.4",
        ("ens3f0np0",),
        "0000:1a:00.0",
    )


def test_an_annotation_that_cannot_be_read_makes_uplinks_unknown():
    announced = announced_by({"k8s.ovn.org/node-encap-ips": "10.1.0.4"})
    problem = parse_node_record(RECORD, Surroundings(announced=announced)).uplinks_problem
    assert "annotation k8s.ovn.org/node-encap-ips can't be read" in problem
