"""What a simulated node is made of reaches the facts, whole; what a fault changes reaches them too."""

from dataclasses import replace

import pytest

from railwright.core.ids import NodeName
from railwright.facts.model import NodeHardware
from railwright.facts.node_record import parse_node_record
from railwright.simulator.hardware import BRIDGE, Machine
from railwright.simulator.open import draft_of, open_simulator, parse_specification
from railwright.simulator.record import node_record
from railwright.simulator.worlds import WORLDS
from railwright.standins.model import Objects


def the_worker(world: str = "h200-roce") -> Machine:
    return next(item for item in draft_of(parse_specification(world)).machines if item.gpus)


def facts(machine: Machine) -> NodeHardware:
    return parse_node_record(node_record(machine, Objects({})))


@pytest.mark.parametrize("world", [world.name for world in WORLDS])
async def test_every_node_of_every_world_is_read_without_gaps(world):
    opened = open_simulator(world)
    for machine in draft_of(parse_specification(world)).machines[:5]:
        answer = await opened.node.read(NodeName(machine.name), "# railwright", timeout_s=1)
        hardware = parse_node_record(answer.text)
        assert hardware.unseen == ()
        assert {step for gpu in hardware.gpus for step in gpu.pci_path[:-1]} <= {item.pci for item in hardware.bridges}
        assert all(item.config is not None for item in (*hardware.gpus, *hardware.ports, *hardware.bridges))


def test_a_healthy_node_redirects_nothing_and_runs_at_full_width():
    hardware = facts(the_worker())
    assert not any(item.config.acs.request_redirect for item in hardware.bridges)
    ends = (*hardware.gpus, *hardware.ports)
    assert all(item.config.relaxed_ordering for item in ends)
    assert all((item.link_width_lanes, item.link_speed_gts) == (16, 32.0) for item in ends)
    assert (hardware.iommu.present, hardware.runtime.memlock) == (False, "8192")


def test_registers_of_a_bridge_come_out_as_they_were_put_in():
    registers = replace(BRIDGE, acs_control=0x1D, link_width_lanes=8, max_read_request_bytes=512, ats=True)
    hardware = facts(replace(the_worker(), bridges=(("0000:16:00.0", registers),)))
    config = hardware.bridge("0000:16:00.0").config
    assert (config.acs.control, config.ats_enabled) == (0x1D, True)
    assert (config.link_width_lanes, config.max_link_width_lanes, config.max_read_request_bytes) == (8, 16, 512)


def test_an_iommu_shows_its_groups_and_their_type():
    iommu = facts(replace(the_worker(), iommu="DMA-FQ")).iommu
    assert (iommu.present, iommu.default_type) == (True, "DMA-FQ")
    assert len(set(iommu.groups.values())) == len(iommu.groups)


def test_how_a_port_is_set_reaches_the_facts():
    worker = the_worker()
    odd = replace(
        worker.nics[0],
        pfc_priorities=(),
        trust="pcp",
        traffic_class=106,
        counters=(("link_downed", 9),),
        ethtool=(("rx_discards_phy", 4),),
        carrier_changes=12,
        alias="net1",
        state="INIT",
    )
    hardware = facts(replace(worker, nics=(odd, *worker.nics[1:])))
    port = next(port for port in hardware.ports if port.pci == odd.pci)
    netdev = next(item for item in hardware.netdevs if item.name == odd.netdev)
    assert (port.qos.pfc_priorities, port.qos.trust, port.qos.traffic_class) == ((), "pcp", 106)
    assert (port.counters, port.ethtool, port.state) == ({"link_downed": 9}, {"rx_discards_phy": 4}, "INIT")
    assert (netdev.carrier_changes, netdev.alias) == (12, "net1")


@pytest.mark.parametrize(("guids", "zero"), [(True, False), (False, True)])
def test_guids_of_infiniband_functions_are_there_unless_nobody_set_them(guids, zero):
    worker = the_worker("h200-ib")
    nic = replace(worker.nics[0], vf_guids=guids)
    vf = {"pciAddress": "0000:18:00.2", "name": "ibp24s0v0", "mac": "00:11", "mtu": 2044}
    state = {
        "apiVersion": "sriovnetwork.openshift.io/v1",
        "kind": "SriovNetworkNodeState",
        "metadata": {"name": worker.name, "namespace": "openshift-sriov-network-operator"},
        "status": {"interfaces": [{"pciAddress": nic.pci, "name": nic.netdev, "Vfs": [vf]}]},
    }
    from railwright.core.objects import ref_of

    machine = replace(worker, nics=(nic, *worker.nics[1:]))
    hardware = parse_node_record(node_record(machine, Objects({ref_of(state): state})))
    port = next(port for port in hardware.ports if port.pci == nic.pci)
    (function,) = port.vfs
    assert (function.node_guid == "00:00:00:00:00:00:00:00") is zero
    own = next(item for item in hardware.ports if item.parent == nic.pci)
    assert (own.state == "ACTIVE") is not zero
