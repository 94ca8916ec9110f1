"""What the node-record cases do not say of single parsers."""

import ipaddress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from railwright.facts.node_record import OPTIONAL_SECTIONS, SECTIONS, parse_node_record
from railwright.facts.record import split_record
from railwright.facts.sources.network_status import parse_network_status
from railwright.facts.sources.routes import default_routes, parse_routes, routes_to
from railwright.facts.sources.storage import parse_storage


def a_record(section, *lines):
    return split_record("\n".join([f"=== railwright {section}", *lines, "=== railwright end", ""]))


@pytest.mark.parametrize(
    ("line", "servers"),
    [
        ("10.1.0.9:/e /d nfs4 rw,clientaddr=10.9.9.9,addr=10.1.0.9 0 0", ["10.1.0.9"]),
        ("[fd00::9]:/e /d nfs4 rw,addr=fd00::9 0 0", ["fd00::9"]),
        ("nas.example.com:/e /d nfs rw 0 0", []),
        ("admin@0123.fs=/ /d ceph rw,mon_addr=10.2.0.5:3300/10.2.0.6:3300 0 0", ["10.2.0.5", "10.2.0.6"]),
        ("[fd00::5]:6789,[fd00::6]:6789:/ /d ceph rw 0 0", ["fd00::5", "fd00::6"]),
        ("10.1.0.7@o2ib,10.1.0.8@o2ib:/fs1 /d lustre rw 0 0", ["10.1.0.7", "10.1.0.8"]),
        ("//10.1.0.3/share /d cifs rw,addr=10.1.0.3 0 0", ["10.1.0.3"]),
        ("beegfs_nodev /d beegfs rw 0 0", []),
    ],
)
def test_servers_of_a_mount_are_told_or_admitted_to_be_unknown(line, servers):
    (item,), unseen = parse_storage(a_record("mounts", line))
    assert [str(server) for server in item.servers] == servers
    assert unseen == ()


@pytest.mark.parametrize(
    "line", ["/dev/sda1 / xfs rw 0 0", "share /d 9p rw,trans=virtio 0 0", "overlay / overlay rw 0 0"]
)
def test_local_filesystems_need_no_network(line):
    assert parse_storage(a_record("mounts", line)) == ((), ())


def test_local_nvme_needs_no_network_and_a_fabric_one_without_address_is_unknown():
    (item,), _ = parse_storage(a_record("nvme", "nvme0\tpcie\t0000:03:00.0", "nvme1\ttcp\t"))
    assert (item.what, item.servers) == ("NVMe-oF nvme1 (tcp)", ())


def test_nvme_over_fibre_channel_is_carried_by_no_nic_port():
    line = "nvme4\tfc\ttraddr=nn-0x20000090fac0a1b2:pn-0x10000090fac0a1b2,host_traddr=nn-0x2000:pn-0x1000"
    assert parse_storage(a_record("nvme", line)) == ((), ())


def test_every_equally_good_route_counts_and_a_longer_prefix_wins_within_its_table():
    routes, unseen = parse_routes(
        a_record(
            "route4_tables",
            "default via 10.0.0.1 dev br-ex",
            "10.1.0.0/16 dev ens1 metric 100",
            "10.1.0.0/16 dev ens2 table 7",
            "unicast 10.1.2.0/24 dev ens3",
            "blackhole 10.3.0.0/16",
        )
    )
    assert unseen == ()

    def devices(address):
        return [route.netdev for route in routes_to(ipaddress.ip_address(address), routes)]

    assert devices("10.1.0.9") == ["ens1", "ens2"]
    assert devices("10.1.2.9") == ["ens2", "ens3"], "a rule may send it to the other table"
    assert devices("10.3.0.1") == ["br-ex"]
    assert [route.netdev for route in default_routes(routes, 4)] == ["br-ex"]
    assert default_routes(routes, 6) == ()


@pytest.mark.parametrize("line", ["unicast", "\\", "10.1.0.0/99 dev ens1", "default nhid 12 proto bgp"])
def test_a_route_that_is_none_is_named(line):
    routes, unseen = parse_routes(a_record("route4_tables", line))
    assert (routes, len(unseen)) == ((), 1)


lines = st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=("Cs",)), max_size=60), max_size=6)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(SECTIONS), lines))
def test_no_text_makes_the_parsers_raise(sections):
    text = "".join(
        f"=== railwright {name}\n" + "".join(f"{line}\n" for line in body) for name, body in sections.items()
    )
    hardware = parse_node_record(text + "=== railwright end\n")
    missing = set(SECTIONS) - set(sections)
    assert missing <= {item.what for item in hardware.unseen}


FIELDS = st.sampled_from(
    ["eth0", "0000:1a:00.0", "pci=0000:1a:00.0", "type=1", "mtu=1500", "lowers=eth0,eth0", "master=eth0", "vendor=10de",
     "device=2335", "class=030200", "path=pci0000:16/0000:1a:00.0", "physfn=x", "1", "IB", "-", "0x", "00000000",
     "ffffffff", "inet", "10.0.0.1/99", "dev", "default"]
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.sampled_from((*SECTIONS, *OPTIONAL_SECTIONS)), st.lists(FIELDS, max_size=11), st.sampled_from(["\t", " "]))
def test_lines_that_nearly_fit_make_no_parser_raise(section, fields, between):
    parse_node_record(f"=== railwright {section}\n{between.join(fields)}\n=== railwright end\n")


JOINED = '{"name": "training/rail0", "interface": "net1", "ips": ["192.168.0.1", "fd00::1"], "dns": {}}'
OWN = '{"name": "default", "interface": "eth0", "ips": ["10.244.1.3"], "default": true, "dns": {}}'


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        (f"[{OWN}, {JOINED}]", [("default", "eth0", 1, True), ("training/rail0", "net1", 2, False)]),
        ('[{"name": "training/ib0", "interface": "net1", "dns": {}}]', [("training/ib0", "net1", 0, False)]),
        ('[{"ips": null}, 7, "x"]', [("", "", 0, False)]),
        *((text, []) for text in ("", "[]", "{}", "null", "7", '"x"', "[{", "not json")),
    ],
)
def test_networks_that_a_pod_joined_are_read_from_what_multus_wrote(text, joined):
    found = parse_network_status(text)
    assert [(item.name, item.interface, len(item.addresses), item.is_default) for item in found] == joined
