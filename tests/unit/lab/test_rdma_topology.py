"""Nodes and pods: every name once, every rail in every pod, and each method's own wiring."""

import re
from pathlib import Path

import pytest

from railwright.core.errors import UsageError
from railwright.lab.rdma.faults import FAULTS, check_fault, no_fault
from railwright.lab.rdma.topology import METHODS, Shape, build_script, emulator_arguments, pods

SHAPES = [Shape(method, nodes, rails) for method in METHODS for nodes, rails in ((2, 1), (6, 2))]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_pod_holds_every_rail_with_names_of_its_own(shape: Shape) -> None:
    made = pods(shape)
    assert len(made) == shape.nodes
    devices = [held.device for pod in made for held in pod.rails]
    addresses = [held.address for pod in made for held in pod.rails] + [pod.meeting_address for pod in made]
    assert len(set(devices)) == len(devices) == shape.nodes * shape.rails
    assert len(set(addresses)) == len(addresses)
    assert all([held.netdev for held in pod.rails] == [f"net{rail + 1}" for rail in range(shape.rails)] for pod in made)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_script_gives_each_rail_its_rdma_device(shape: Shape) -> None:
    script = build_script(shape)
    for pod in pods(shape):
        for held in pod.rails:
            assert f"rdma link add {held.device} type rxe netdev {held.netdev}" in script
            assert f"addr add {held.address}/24 dev {held.netdev}" in script
    assert script.count("<<'END'") == len(re.findall(r"^END$", script, re.MULTILINE))


def test_shared_pods_get_children_of_the_nodes_device() -> None:
    script = build_script(Shape("shared"))
    assert "link add link rail1 name net1 mtu 4200 netns rw-pod-1 type macvlan mode bridge" in script
    assert "netns add rw-node-1" in script


def test_host_device_pods_get_the_device_itself() -> None:
    script = build_script(Shape("host-device"))
    assert "peer name net1 mtu 4200 netns rw-pod-1" in script
    assert "macvlan" not in script


def test_sriov_pods_get_a_vf_once_the_pf_has_carrier() -> None:
    script = build_script(Shape("sriov", rails=1))
    assert script.index("carrier") < script.index("sriov_numvfs")
    assert "ip link set $vf netns rw-pod-2 name net1\n" in script


def test_sriov_has_one_card_a_node_and_rail_on_a_hub_a_rail() -> None:
    arguments = " ".join(emulator_arguments(Shape("sriov", nodes=2, rails=2)))
    assert len(re.findall(r"-device igb,", arguments)) == 4
    assert {number: arguments.count(f"hubid={number},") for number in (1, 2)} == {1: 2, 2: 2}
    slots = re.findall(r"slot=(\d+)", arguments)
    assert len(set(slots)) == 4


@pytest.mark.parametrize("method", ["shared", "host-device"])
def test_other_methods_need_no_card(method: str) -> None:
    assert emulator_arguments(Shape(method)) == ()  # type: ignore[arg-type]


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_breaks_something(name: str) -> None:
    assert FAULTS[name].breaking(Shape("shared")) != no_fault()


@pytest.mark.parametrize("name", ["", *FAULTS])
def test_two_nodes_with_two_rails_have_all_that_a_fault_breaks(name: str) -> None:
    check_fault(name, Shape("shared"))


@pytest.mark.parametrize(
    ("name", "shape", "says"),
    [
        ("rain", Shape("shared"), "no fault 'rain'"),
        ("swapped-rails", Shape("shared", rails=1), "needs 2 rails"),
        ("mtu", Shape("sriov", rails=1), "inside the emulator"),
        ("slow-node", Shape("shared", nodes=1), "needs 2 nodes"),
    ],
)
def test_a_fault_that_has_nothing_to_break_is_refused(name: str, shape: Shape, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        check_fault(name, shape)


def test_the_page_tells_of_every_fault_in_the_same_words() -> None:
    page = (Path(__file__).parents[3] / "docs" / "lab.md").read_text()
    table = dict(
        re.findall(
            r"^\| `([a-z][a-z-]*)` \| ([^|]+?) \|", page.partition("## Faults")[2].partition("\n## ")[0], re.MULTILINE
        )
    )
    assert table == {name: fault.meaning for name, fault in FAULTS.items()}
