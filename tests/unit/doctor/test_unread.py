"""What could not be read of a node: the rule that goes by it finds what it finds, or is UNKNOWN; it never passes or errs."""

from collections.abc import Iterable

import pytest
from support.doctoring import CATALOG
from support.unread import emptied, gpu_nodes, read_again, rewritten, without_sections

from railwright.core.ids import NodeName, RuleId
from railwright.core.node_record import HEADER, SECTIONS
from railwright.doctor.diagnose import diagnose
from railwright.doctor.model import Diagnosis, Need, Rule
from railwright.doctor.registry import RULES
from railwright.doctor.sections import SECURE_BOOT, TOLD
from railwright.facts.model import Snapshot
from railwright.facts.node_record import DEPTH_SECTIONS

EVERY = (*SECTIONS, *DEPTH_SECTIONS)
BROKEN = {
    "h200-roce": "acs-redirect pcie-half-width nic-wrong-slot proprietary-gpu-driver rail-half-rate link-flaps no-ipv6 "
    "mtu-unlike one-subnet wrong-traffic-class odd-node renamed-by-pod",
    "vanilla": "acs-redirect iommu-translates gpu-half-width packets-lost cables-swapped odd-node",
    "h200-ib": "iommu-translates virtual-machine relaxed-ordering-off rail-no-carrier no-sm second-sm link-flaps "
    "limited-partition",
    "gb200": "pcie-half-width qos-unlike",
    "adopt": "storage-over-rdma host-ofed realtime-kernel stale-driver-build rdma-stack-absent memlock-64k "
    "gdrdrv-loaded rail-no-carrier mlx5-uplink mlx5-storage secure-boot nfsrdma-with-nvme rdma-exclusive "
    "whole-and-sliced no-nfd-labels pool-old-names plugin-finds-nothing vfs-in-lockdown "
    "network-old-master network-without-device pod-without-network pod-over-tcp pod-foreign-lists addresses-doubled",
}
WORLDS = [f"{world}+{fault}" for world, faults in BROKEN.items() for fault in faults.split()]

Found = frozenset[tuple[RuleId, tuple[str, ...], NodeName | None]]


def needs_of(rule: Rule) -> tuple[Need, ...]:
    return (*rule.info.needs, *rule.info.uses)


def sections_of(rule: Rule) -> frozenset[str]:
    named = {section for need in needs_of(rule) for section in need.sections}
    return frozenset(named | ({"values"} if SECURE_BOOT in named else set()))


def ask(snapshot: Snapshot, rules: Iterable[Rule]) -> Diagnosis:
    return diagnose(snapshot, CATALOG, None, rules=tuple(rules), words=())


def found_in(said: Diagnosis) -> Found:
    """What is wrong where; wording and severity may know less."""
    return frozenset((item.rule, item.about, node) for item in said.findings for node in item.nodes or (None,))


def unknown_of(said: Diagnosis) -> frozenset[RuleId]:
    return frozenset(item.rule for item in said.unknown)


def that_find(world: str) -> tuple[tuple[Rule, ...], Found]:
    """Rules that look into nodes and find something in a world."""
    found = found_in(ask(read_again(world), RULES))
    names = {rule for rule, _, _ in found}
    return tuple(rule for rule in RULES if rule.info.name in names and sections_of(rule)), found


def test_every_rule_that_looks_into_nodes_names_the_sections_that_it_goes_by() -> None:
    silent = [
        rule.info.name
        for rule in RULES
        if any(need.is_inside for need in needs_of(rule)) is not bool(sections_of(rule))
        or not sections_of(rule) <= TOLD.keys()
    ]
    assert silent == []


@pytest.mark.parametrize("world", WORLDS)
def test_what_a_fault_broke_is_found_or_unknown_without_any_section_that_its_rule_reads(world: str) -> None:
    rules, found = that_find(world)
    assert rules
    for section in sorted({section for rule in rules for section in sections_of(rule)} & set(EVERY)):
        said = ask(without_sections(world, [section]), rules)
        mine = {rule.info.name for rule in rules}
        lost = {item for item in found if item[0] in mine} - found_in(said)
        assert {item for item in lost if item[0] not in unknown_of(said)} == set(), section
        assert found_in(said) <= found, section


@pytest.mark.parametrize("world", WORLDS)
def test_a_rule_says_the_same_without_all_that_it_does_not_name(world: str) -> None:
    for rule in that_find(world)[0]:
        rest = set(EVERY) - sections_of(rule) - {"meta"}
        assert found_in(ask(without_sections(world, rest), [rule])) == found_in(ask(read_again(world), [rule]))


@pytest.mark.parametrize("section", EVERY)
@pytest.mark.parametrize("world", ["adopt", "h200-ib", "vanilla"])
def test_nothing_is_found_and_no_rule_passes_that_reads_what_is_missing(world: str, section: str) -> None:
    said = ask(without_sections(world, [section]), RULES)
    readers = {rule.info.name for rule in RULES for need in rule.info.needs if section in need.sections}
    assert found_in(said) <= found_in(ask(read_again(world), RULES))
    assert readers & set(said.passed) == set()
    nodes = {item.rule: set(item.nodes) for item in said.unknown if item.nodes}
    assert all(nodes[name] >= set(gpu_nodes(world)) for name in readers)


@pytest.mark.parametrize("world", ["h200-roce+rail-no-carrier", "h200-roce+acs-redirect", "h200-ib+no-sm"])
@pytest.mark.parametrize("netns", ["other", "unknown"])
def test_another_network_than_the_nodes_gives_no_pass(world: str, netns: str) -> None:
    changed = rewritten(world, lambda record: record.replace("netns\thost", f"netns\t{netns}"), gpu_nodes(world))
    said = ask(changed, RULES)
    assert {"rail-port-not-up", "roce-address-missing", "rails-share-a-subnet"} <= unknown_of(said)
    assert {rule.info.name for rule in RULES for need in rule.info.needs if "net" in need.sections} & set(
        said.passed
    ) == set()


def test_a_record_that_is_cut_short_is_unknown_to_every_rule_that_reads_it() -> None:
    world, first = "h200-roce", gpu_nodes("h200-roce")[:1]
    said = ask(rewritten(world, lambda record: record.partition(f"{HEADER}mounts")[0], first), RULES)
    readers = {rule.info.name for rule in RULES if any(need.sections for need in rule.info.needs)}
    assert readers <= unknown_of(said)
    assert not said.findings


def test_an_unread_section_is_named_with_its_nodes_its_reason_and_how_to_get_it() -> None:
    world, first = "h200-roce", gpu_nodes("h200-roce")[:1]
    said = ask(without_sections(world, ["qos"], first), RULES)
    assert [(item.rule, item.missing, item.why, item.nodes) for item in said.unknown] == [
        ("roce-priority-not-lossless", "in nodes: flow control and priorities (qos)", "qos: permission denied", first)
    ]
    assert "dcb" in said.unknown[0].how


def test_modules_that_could_not_be_read_are_not_missing() -> None:
    """A real machine's record said that /proc/modules could not be read, and modprobe was advised."""
    rules = [rule for rule in RULES if rule.info.name == "rdma-devices-missing"]
    for section in ("modules", "infiniband"):
        said = ask(without_sections("adopt", [section]), rules)
        assert (said.findings, unknown_of(said)) == ((), {"rdma-devices-missing"})


def test_one_line_that_is_not_understood_does_not_hide_what_is_found_beside_it() -> None:
    world = "h200-roce+acs-redirect"
    rules = [rule for rule in RULES if rule.info.name == "pcie-acs-redirects-gpu-nic-path"]
    odd = rewritten(world, lambda record: record.replace(f"{HEADER}net\n", f"{HEADER}net\n?\n"), gpu_nodes(world))
    said = ask(odd, rules)
    assert found_in(said) == found_in(ask(read_again(world), rules))
    assert unknown_of(said) == {"pcie-acs-redirects-gpu-nic-path"}


def test_secure_boot_that_is_hidden_hides_nothing_else() -> None:
    def hidden(record: str) -> str:
        return record.replace(
            f"{HEADER}problems", f"{HEADER}problems\nvalues\tsecure_boot: EFI variables can't be read"
        )

    said = ask(rewritten("adopt", hidden, gpu_nodes("adopt")), RULES)
    assert unknown_of(said) == {"driver-settings-do-not-combine"}


def test_a_node_that_lacks_a_section_hides_nothing_on_the_others() -> None:
    world, first = "h200-roce+acs-redirect", gpu_nodes("h200-roce+acs-redirect")[:1]
    said = ask(without_sections(world, ["pci"], first), RULES)
    nodes = {node for rule, _, node in found_in(said) if rule == "pcie-acs-redirects-gpu-nic-path"}
    assert nodes == set(gpu_nodes(world)) - set(first)


def test_the_record_that_these_tests_empty_says_why() -> None:
    assert emptied(f"{HEADER}net\na\n{HEADER}problems\n{HEADER}end\n", ["net"]).splitlines() == [
        f"{HEADER}net",
        f"{HEADER}problems",
        "net\tpermission denied",
        f"{HEADER}end",
    ]
