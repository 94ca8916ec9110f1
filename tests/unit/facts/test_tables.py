"""Which routing tables the node's own traffic comes to, by the rules in a node record."""

from pathlib import Path

import pytest

from railwright.facts.node_record import parse_node_record

CASE = Path(__file__).parents[2] / "cases/facts/node-record/macvlan-parent-and-a-second-table.txt"
RULES = "0:\tfrom all lookup local", "32766:\tfrom all lookup main", "32767:\tfrom all lookup default"
RAIL, NODE, FREE = "10.1.0.4", "10.0.0.20", "10.9.9.9"


def defaults(*rules: str, table: str = "default via 10.1.0.1 dev ens3f0np0 table 101", problem: str = "") -> list[str]:
    """Devices that carry a default route, on a node whose rail has a table of its own."""
    text = CASE.read_text()
    at = text.index("default table 100"), text.index("unreachable default")
    text = text[: at[0]] + f"{table}\n10.1.0.0/24 dev ens3f0np0 table 101 scope link\n" + text[at[1] :]
    text = text.replace(
        "=== railwright addr\n",
        f"=== railwright addr\n2: mac0    inet {NODE}/24 scope global mac0\n3: ens3f0np0    inet {RAIL}/24 scope global x\n",
    )
    section = "".join(f"4\t{rule}\n" for rule in rules)
    text = text.replace("=== railwright storage\n", f"=== railwright rules\n{section}=== railwright storage\n")
    text = text.replace("=== railwright problems\n", f"=== railwright problems\n{problem}")
    hardware = parse_node_record(text)
    lost = ["unknown"] if not hardware.uplinks_known else []
    return [item.path[-1] for item in hardware.carried if item.what == "default route (IPv4)"] + lost


@pytest.mark.parametrize(
    "rule",
    [
        f"100:\tfrom {RAIL} lookup 101",
        f"100:\tfrom {RAIL} lookup 101 proto static",
        "100:\tfrom 10.1.0.0/24 lookup 101",
        f"100:\tfrom {RAIL} to 10.1.0.0/16 lookup 101",
        f"100:\tfrom {FREE} lookup 101",
        f"100:\tfrom {NODE} unreachable",
    ],
)
def test_a_rails_own_table_carries_nothing_of_the_node(rule):
    assert defaults(RULES[0], rule, *RULES[1:]) == ["eno1"]


@pytest.mark.parametrize(
    "rule",
    [
        f"100:\tfrom {NODE} lookup 101",
        "100:\tfrom 10.0.0.0/8 lookup 101",
        "100:\tfrom all lookup 101",
        "100:\tfrom all to 10.9.0.0/16 lookup 101",
        f"100:\tnot from {RAIL} lookup 101",
        f"100:\tfrom {RAIL} fwmark 0x1 lookup 101",
        "100:\tfrom all fwmark 0xa00/0xf00 lookup 101",
        "100:\tfrom all iif lo lookup 101",
        "100:\tfrom all uidrange 0-0 lookup 101",
        "100:\tfrom all lookup [l3mdev-table]",
        f"100:\tfrom {RAIL} lookup compat",
        "100:\tfrom nonsense lookup 101",
    ],
)
def test_a_table_that_other_traffic_may_come_to_counts(rule):
    assert defaults(RULES[0], rule, *RULES[1:]) == ["eno1", "ens3f0np0"]


def test_a_table_with_another_ports_route_counts():
    table = "default table 101 \\\tnexthop via 10.1.0.1 dev ens3f0np0 weight 1\\\tnexthop via 10.2.0.1 dev ens3f1np1"
    assert defaults(f"100:\tfrom {RAIL} lookup 101", *RULES, table=table) == ["eno1", "ens3f1np1"]


def test_a_table_that_no_rule_names_is_never_come_to_and_the_main_one_always():
    assert defaults(*RULES) == ["eno1"]
    assert defaults(*RULES, table="default via 10.1.0.1 dev ens3f0np0 metric 200") == ["eno1", "ens3f0np0"]


@pytest.mark.parametrize(
    ("rules", "problem"),
    [((), ""), ((f"100:\tfrom {RAIL} lookup 101",), ""), (RULES, "rules\tip -4 rule show failed\n"), (("x",), "")],
)
def test_rules_that_are_not_known_let_every_table_count(rules, problem):
    assert defaults(*rules, problem=problem) == ["eno1", "ens3f0np0"]


def test_the_way_from_ciliums_proxy_back_into_cilium_is_no_way_out():
    marked = "10:\tfrom all fwmark 0xa00/0xf00 lookup 2005 proto kernel"
    table = "default via 10.244.0.1 dev cilium_host table 2005 proto kernel mtu 1450"
    assert defaults(marked, *RULES, table=table) == ["eno1"]
    assert defaults("10:\tfrom all lookup 2005", *RULES, table=table) == ["eno1", "unknown"]
