"""A rule about what a cluster has none of has not passed, and one that could not look is not excused by it."""

from dataclasses import replace

import pytest
from support.doctoring import CATALOG, asked, snapshot_of, without_inside

from railwright.core import kinds
from railwright.doctor.diagnose import diagnose
from railwright.doctor.registry import RULES
from railwright.facts.model import NodeHardware, Snapshot, Unseen

GPUS, PORTS = "NVIDIA GPU", "ConnectX port"
OF_RAILS = "rail-far-from-gpu"


def without(snapshot: Snapshot, *absent: str) -> Snapshot:
    """Take GPUs, or ConnectX ports, out of every node."""

    def cut(hardware: NodeHardware) -> NodeHardware:
        gpus = () if GPUS in absent else hardware.gpus
        ports = tuple(item for item in hardware.ports if PORTS not in absent or item.vendor_id != "15b3")
        return replace(hardware, gpus=gpus, ports=ports)

    nodes = tuple(replace(node, hardware=node.hardware and cut(node.hardware)) for node in snapshot.nodes)
    return replace(snapshot, nodes=nodes)


@pytest.mark.parametrize("world", ["h200-roce", "vanilla"])
@pytest.mark.parametrize(
    ("rule", "absent", "why"),
    [
        (OF_RAILS, (GPUS,), "no node has an NVIDIA GPU"),
        (OF_RAILS, (PORTS,), "no node has a ConnectX port"),
        (OF_RAILS, (GPUS, PORTS), "no node has an NVIDIA GPU or a ConnectX port"),
        ("roce-address-missing", (PORTS,), "no node has a ConnectX port"),
        ("infiniband-port-not-managed", (), "no rail speaks InfiniBand"),
        ("gpu-driver-held-in-use", (GPUS,), "no node has an NVIDIA GPU"),
        ("node-unlike-its-group", (GPUS,), "no node has an NVIDIA GPU"),
        ("rdma-stack-held-by-modules", (PORTS,), "no node has a ConnectX port"),
        ("hardware-not-labelled", (GPUS, PORTS), "no node has an NVIDIA GPU or a ConnectX port"),
    ],
)
def test_a_rule_about_what_is_not_there_does_not_pass(world: str, rule: str, absent: tuple[str, ...], why: str) -> None:
    said = asked(without(snapshot_of(world), *absent), rule)
    assert ([item.why for item in said.inapplicable], said.passed, said.unknown) == ([why], (), ())


def test_rules_about_ethernet_do_not_pass_on_infiniband() -> None:
    said = asked(snapshot_of("h200-ib"), "roce-priority-not-lossless")
    assert ([item.why for item in said.inapplicable], said.passed) == (["no rail speaks Ethernet"], ())


@pytest.mark.parametrize(
    ("rule", "absent"), [("hardware-not-labelled", (GPUS,)), ("node-unlike-its-group", (PORTS,)), (OF_RAILS, ())]
)
def test_a_rule_with_something_to_judge_passes(rule: str, absent: tuple[str, ...]) -> None:
    said = asked(without(snapshot_of("h200-roce"), *absent), rule)
    assert (said.passed, said.inapplicable) == ((rule,), ())


def test_devices_of_a_node_that_was_not_read_are_not_taken_for_absent() -> None:
    said = asked(without_inside(without(snapshot_of("h200-roce"), GPUS), "worker-1"), OF_RAILS)
    assert ([item.nodes for item in said.unknown], said.inapplicable) == ([("worker-1",)], ())


def test_devices_are_not_taken_for_absent_where_the_pci_tree_was_not_read() -> None:
    snapshot = without(snapshot_of("h200-roce"), GPUS)
    nodes = tuple(
        replace(node, hardware=node.hardware and replace(node.hardware, unseen=(Unseen("pci", "cut short"),)))
        for node in snapshot.nodes
    )
    said = asked(replace(snapshot, nodes=nodes), OF_RAILS)
    assert (bool(said.unknown), said.inapplicable) == (True, ())


@pytest.mark.parametrize(("node", "unknown"), [("master-0", 0), ("worker-0", 1)])
def test_what_was_not_read_of_a_node_matters_where_it_may_have_a_rail(node: str, unknown: int) -> None:
    snapshot = snapshot_of("h200-roce")
    nodes = tuple(
        replace(item, hardware=item.hardware and replace(item.hardware, unseen=(Unseen("route4", "cut short"),)))
        if item.name == node
        else item
        for item in snapshot.nodes
    )
    said = asked(replace(snapshot, nodes=nodes), OF_RAILS)
    assert (len(said.unknown), len(said.passed)) == (unknown, 1 - unknown)


NO_DRIVER = "no driver container here: give -f FILE to judge by a wanted state"
NO_RDMA = "nobody asks for RDMA here: give -f FILE to judge by a wanted state"


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("kernel-has-no-driver", NO_DRIVER),
        ("rdma-stack-held-by-modules", NO_DRIVER),
        ("driver-not-available-for-node", NO_DRIVER),
        ("nic-driver-cuts-node-uplink", NO_DRIVER),
        ("container-memlock-limited", NO_RDMA),
        ("rdma-devices-missing", NO_RDMA),
        ("vfs-not-as-wanted", "no SR-IOV policy was made"),
        ("resource-not-allocatable", "no policy was made"),
        ("network-attachment-unusable", "no network was made"),
        ("operator-controller-down", "none of the four operators is here"),
        ("operator-not-installed", "no operator has a Subscription"),
        ("operand-crashes", "no operator has pods here"),
        ("pod-settings-hinder-rdma", "no pod asks for a device or a rail's network"),
    ],
)
def test_a_rule_about_objects_that_nobody_made_does_not_pass(rule: str, why: str) -> None:
    said = asked(snapshot_of("h200-roce+stale-driver-build"), rule)
    assert ([item.why for item in said.inapplicable], said.passed, said.unknown) == ([why], (), ())


@pytest.mark.parametrize("rule", ["kernel-has-no-driver", "resource-not-allocatable", "operator-controller-down"])
def test_a_rule_about_objects_that_are_there_passes(rule: str) -> None:
    said = asked(snapshot_of("adopt"), rule)
    assert (said.passed, said.inapplicable) == ((rule,), ())


def test_objects_that_were_not_listed_are_not_taken_for_absent() -> None:
    snapshot = snapshot_of("h200-roce")
    hidden = (*snapshot.cluster.unseen, Unseen(str(kinds.SRIOV_NETWORK_NODE_POLICY), "permission-missing: cannot list"))
    said = asked(replace(snapshot, cluster=replace(snapshot.cluster, unseen=hidden)), "vfs-not-as-wanted")
    assert (bool(said.unknown), said.inapplicable) == (True, ())


def test_every_rule_is_counted_once() -> None:
    said = diagnose(without(snapshot_of("h200-roce"), GPUS, PORTS), CATALOG, words=())
    names = [*said.passed, *(item.rule for item in (*said.inapplicable, *said.unknown, *said.findings))]
    assert sorted(names) == sorted(rule.info.name for rule in RULES)
