"""What facts say of a seat: what speaks for a direct path, what against, and what could not be read."""

from dataclasses import replace

import pytest

from railwright.core.ids import FabricName, NetDevice, NodeName, PciAddress, RailName, RdmaDevice
from railwright.facts.model import NodeHardware, Unseen
from railwright.facts.node_record import parse_node_record
from railwright.facts.uplinks import Surroundings
from railwright.intent.model import GpuMemory
from railwright.plan.model import Rail, RailPort
from railwright.simulator.hardware import BRIDGE, PciRegisters
from railwright.simulator.record import node_record
from railwright.simulator.worlds.machines import worker
from railwright.standins.model import Objects
from railwright.verify.model import MemoryKind, Says, Seat, Way
from railwright.verify.seats import seat_of
from railwright.verify.witnesses import capability

WAY = Way(NodeName("worker-0"), RailName("rail0"), NodeName("worker-1"), RailName("rail0"))


def hardware(registers: PciRegisters = BRIDGE) -> NodeHardware:
    """Give a worker's inside with every bridge as given, and an open GPU driver."""
    machine = worker(0, rails=1)
    bridges = tuple((path.rpartition("/")[2], registers) for path in machine.bridge_paths)
    text = node_record(replace(machine, bridges=bridges), Objects({}))
    return replace(parse_node_record(text, Surroundings()), nvidia_driver="open 580.95.05")


def seat(inside: NodeHardware | None, memory: GpuMemory = GpuMemory.DMA_BUF, node: str = "worker-0") -> Seat:
    nic = next(nic for nic in worker(0, rails=1).nics if nic.is_rail)
    (gpu, *_) = worker(0, rails=1).gpus
    port = RailPort(
        NodeName(node),
        PciAddress(nic.pci),
        NetDevice(nic.netdev),
        RdmaDevice(nic.rdma),
        PciAddress(gpu.pci),
        None,
        400.0,
        "",
    )
    rail = Rail(RailName("rail0"), FabricName("east-west"), 0, (port,), "rdma/rail0", "rail0", ())
    return seat_of(rail, port, inside, memory)


REDIRECTS = replace(BRIDGE, acs_control=0x1D)


def test_a_seat_that_was_read_whole_has_nothing_against_it_and_nothing_unread() -> None:
    found = seat(hardware())
    assert (found.obstacles, found.unread, found.capability) == ((), (), ("GPU driver: open 580.95.05",))
    assert found.switch.startswith("0000:")


def test_a_redirecting_bridge_where_the_paths_part_is_an_obstacle() -> None:
    (text,) = seat(hardware(REDIRECTS)).obstacles
    assert text.startswith("ACS sends requests between GPU and NIC up to the root complex at 0000:")


def test_bridges_that_could_not_be_read_are_unread_and_not_free_of_acs() -> None:
    found = seat(hardware(replace(BRIDGE, readable=False)))
    assert found.obstacles == ()
    assert found.unread[0].startswith("ACS at 0000:")


def test_translated_requests_pass_a_redirecting_bridge_only_where_the_nic_sends_them() -> None:
    inside = hardware(replace(BRIDGE, acs_control=0x5D))
    nic = next(port for port in inside.ports if port.rdma)
    assert nic.config is not None
    for ats, obstacles in ((True, 0), (False, 1), (None, 1)):
        ports = tuple(
            replace(port, config=replace(nic.config, ats_enabled=ats)) if port is nic else port for port in inside.ports
        )
        assert len(seat(replace(inside, ports=ports)).obstacles) == obstacles


@pytest.mark.parametrize(
    ("changes", "loaded"),
    [
        ({"modules": {"mlx5_core": 1, "nvidia_peermem": 0}}, True),
        ({"modules": {"mlx5_core": 1}}, False),
        ({"modules": {}}, None),
        ({"modules": {"mlx5_core": 1}, "unseen": (Unseen("modules", "cut short"),)}, None),
    ],
    ids=["loaded", "not-loaded", "no-list", "part-of-a-list"],
)
def test_a_list_of_modules_that_was_not_read_whole_leaves_peermem_open(changes, loaded) -> None:
    found = seat(replace(hardware(), **changes), GpuMemory.PEERMEM)
    assert found.peermem is loaded
    assert (found.obstacles != (), found.unread != ()) == (loaded is False, loaded is None)


def test_a_node_that_was_not_read_says_nothing_and_that_is_said() -> None:
    found = seat(None)
    assert (found.capability, found.obstacles, found.peermem) == ((), (), None)
    assert found.unread == ("the node's inside",)


# --- what the witness makes of it ------------------------------------------------------------------------------------


def said(source: Seat | None, target: Seat | None) -> Says:
    return capability.testify(WAY, source, target).says


def test_facts_agree_only_where_both_ends_were_read_whole() -> None:
    well, other = seat(hardware()), seat(hardware(), node="worker-1")
    assert said(well, other) is Says.AGREES
    unread = seat(hardware(replace(BRIDGE, readable=False)), node="worker-1")
    for one, two in ((well, unread), (unread, well), (well, seat(None, node="worker-1")), (well, None)):
        assert said(one, two) is Says.UNCLEAR
    assert said(well, seat(hardware(REDIRECTS), node="worker-1")) is Says.UNCLEAR
    assert said(None, None) is Says.ABSENT
    assert capability.testify(WAY, well, unread).memory is MemoryKind.GPU


def test_where_no_gpu_is_meant_nothing_is_missed_of_one() -> None:
    machine = worker(0, rails=1)
    nic = next(item for item in machine.nics if item.is_rail)
    port = RailPort(NodeName("worker-0"), PciAddress(nic.pci), NetDevice(nic.netdev), None, None, None, 400.0, "")
    rail = Rail(RailName("rail0"), FabricName("east-west"), 0, (port,), "rdma/rail0", "rail0", ())
    found = seat_of(rail, port, replace(hardware(), nvidia_driver=""), GpuMemory.DMA_BUF)
    assert (found.unread, found.obstacles) == ((), ())


def test_what_is_not_among_what_was_read_is_named() -> None:
    inside = hardware()
    assert any(text.startswith("GPU 0000:") for text in seat(replace(inside, gpus=())).unread)
    assert any(text.startswith("NIC 0000:") for text in seat(replace(inside, ports=())).unread)
    assert seat(replace(inside, nvidia_driver="")).unread == ("which GPU driver is loaded",)
