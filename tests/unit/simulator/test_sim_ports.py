"""The ports of a simulated world beyond applying: node records, logs, selectors, refusals."""

from dataclasses import replace

import pytest
from unit.simulator.walk import gpu_policy, install_operators, nic_policy

from railwright.core.errors import NotFound, ObjectRefused, UsageError
from railwright.core.ids import NodeName
from railwright.core.kinds import NODE, POD
from railwright.core.objects import Ref
from railwright.ports.cluster import Selection
from railwright.simulator.consistency import check
from railwright.simulator.hardware import BRIDGE, Virtual
from railwright.simulator.open import draft_of, open_simulator, parse_specification

SCRIPT = "# railwright node script"


async def record(world, node="worker-0"):
    answer = await world.node.read(NodeName(node), SCRIPT, timeout_s=5)
    sections = {}
    for line in answer.text.splitlines():
        if line.startswith("=== railwright "):
            lines = sections.setdefault(line.removeprefix("=== railwright "), [])
        else:
            lines.append(line)
    return sections


async def test_gpu_and_nic_pairs_share_a_switch_and_are_numbered_apart():
    sections = await record(open_simulator("h200-roce"))
    devices = [dict(field.split("=", 1) for field in line.split("\t")[1:]) for line in sections["pci"]]
    switches = [
        {item["path"].rsplit("/", 2)[0] for item in devices if item["vendor"] == vendor} for vendor in ("10de", "15b3")
    ]
    assert switches[0] == switches[1]
    order = [line.split("\t")[0] for line in sorted(sections["infiniband"], key=lambda line: line.split("pci=")[1])]
    assert order != sorted(order)


async def test_drivers_show_in_the_record_once_their_pods_are_ready():
    world = open_simulator("h200-roce")
    before = await record(world)
    assert "mlx5_version\t" in before["values"]
    assert before["nvidia-version"] == []
    await install_operators(world)
    await world.cluster.apply(nic_policy())
    await world.cluster.apply(gpu_policy(rdma={"enabled": True}, kernelModuleType="proprietary"))
    await world.clock.sleep(600)
    after = await record(world)
    assert "mlx5_version\t26.04-1.1.0" in after["values"]
    assert "nvidia_peermem\t1" in after["values"]
    assert "NVIDIA UNIX x86_64 Kernel Module" in after["nvidia-version"][0]


async def test_memlock_follows_the_container_runtime_of_a_machine_config():
    world = open_simulator("h200-roce")
    assert "memlock\t8192" in (await record(world))["values"]
    source = "data:,%5Bcrio.runtime%5D%0Adefault_ulimits%20%3D%20%5B%22memlock=-1:-1%22%5D"
    file = {"path": "/etc/crio/crio.conf.d/10-memlock", "contents": {"source": source}}
    body = {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfig",
        "metadata": {"name": "99-memlock", "labels": {"machineconfiguration.openshift.io/role": "worker"}},
        "spec": {"config": {"ignition": {"version": "3.4.0"}, "storage": {"files": [file]}}},
    }
    await world.cluster.apply(body)
    await world.clock.sleep(700)
    assert "memlock\tunlimited" in (await record(world))["values"]


async def test_infiniband_ports_without_a_subnet_manager_wait_in_init():
    lines = (await record(open_simulator("h200-ib+no-sm")))["infiniband"]
    assert all("state=2: INIT" in line and "sm_lid=0x0" in line for line in lines)


async def test_a_rail_without_carrier_is_down_on_one_node_only():
    world = open_simulator("h200-roce+rail-no-carrier")
    down = [line for line in (await record(world, "worker-1"))["infiniband"] if "state=1: DOWN" in line]
    assert len(down) == 1
    assert not [line for line in (await record(world))["infiniband"] if "DOWN" in line]


async def test_a_record_without_routes_says_that_they_could_not_be_read():
    sections = await record(open_simulator("h200-roce+uplink-unknown"))
    assert "route4" not in sections
    assert sections["problems"] == ["route4\t/proc/net/route: permission denied"]


async def test_a_node_that_cannot_be_entered_is_an_answer():
    world = open_simulator("h200-roce+node-unreadable")
    answer = await world.node.read(NodeName("worker-1"), SCRIPT, timeout_s=5)
    assert (answer.text, answer.via) == ("", "")
    assert "no answer" in answer.problem
    assert "there is no node" in (await world.node.read(NodeName("nobody"), SCRIPT, timeout_s=5)).problem


async def test_a_script_it_was_not_taught_is_answered_with_a_problem():
    answer = await open_simulator("h200-roce").node.read(NodeName("worker-0"), "rm -rf /", timeout_s=5)
    assert "not taught" in answer.problem


async def test_a_command_it_was_not_taught_is_refused():
    world = open_simulator("h200-roce")
    pods = [pod async for pod in world.cluster.list(Selection(POD))]
    name = pods[0]["metadata"]["name"]
    place = "openshift-machine-config-operator"
    with pytest.raises(ObjectRefused, match="not taught to run 'ls'"):
        await world.cluster.exec(place, name, "", ["ls"], timeout_s=5)
    with pytest.raises(NotFound):
        await world.cluster.exec(place, "nobody", "", ["ls"], timeout_s=5)


async def test_the_log_of_a_failing_container_says_why():
    world = open_simulator("h200-roce+image-pull-fails")
    await install_operators(world)
    await world.cluster.apply(nic_policy())
    await world.clock.sleep(60)
    pods = [pod async for pod in world.cluster.list(Selection(POD)) if pod["metadata"]["name"].startswith("mofed")]
    meta = pods[0]["metadata"]
    text = await world.cluster.logs(meta["namespace"], meta["name"], "mofed-container", tail_lines=5)
    assert "Back-off pulling image" in text
    with pytest.raises(NotFound):
        await world.cluster.logs(meta["namespace"], meta["name"], "nobody", tail_lines=5)


@pytest.mark.parametrize(
    ("labels", "count"),
    [
        ("node-role.kubernetes.io/worker", 2),
        ("!node-role.kubernetes.io/worker", 3),
        ("kubernetes.io/hostname=worker-0", 1),
        ("kubernetes.io/hostname==worker-0", 1),
        ("kubernetes.io/hostname!=worker-0,node-role.kubernetes.io/worker", 1),
    ],
)
async def test_label_selectors_as_on_a_command_line(labels, count):
    world = open_simulator("h200-roce")
    assert len([node async for node in world.cluster.list(Selection(NODE, labels=labels))]) == count


async def test_a_label_selector_it_was_not_taught_is_refused():
    world = open_simulator("h200-roce")
    with pytest.raises(ObjectRefused, match="label selector"):
        [node async for node in world.cluster.list(Selection(NODE, labels="a in (b)"))]


async def test_objects_are_found_by_name():
    world = open_simulator("h200-roce")
    assert [node async for node in world.cluster.list(Selection(NODE, name="worker-0"))] == [
        await world.cluster.get(Ref(NODE, "", "worker-0"))
    ]


# --- impossible worlds -----------------------------------------------------------------------------------------------


def a_draft():
    return draft_of(parse_specification("h200-roce"))


def with_first_worker(**changes):
    draft = a_draft()
    machines = tuple(replace(item, **changes) if item.name == "worker-0" else item for item in draft.machines)
    return replace(draft, machines=machines)


def the_worker():
    return next(item for item in a_draft().machines if item.name == "worker-0")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"nics": (the_worker().nics[0], *the_worker().nics)}, "PCI address 0000:18:00.0 is there twice"),
        (
            {"nics": (replace(the_worker().nics[0], path="pci0000:15/0000:99:00.0"), *the_worker().nics[1:])},
            "does not end at",
        ),
        ({"nics": (replace(the_worker().nics[0], master="bond9"), *the_worker().nics[1:])}, "master bond9"),
        ({"nics": (replace(the_worker().nics[0], netdev="a" * 16), *the_worker().nics[1:])}, "longer than 15"),
        (
            {"nics": (replace(the_worker().nics[0], carrier=False, lid=3), *the_worker().nics[1:])},
            "LID without carrier",
        ),
        ({"virtuals": (Virtual("br-ex", "openvswitch", lowers=("nobody",)),)}, "lies on nobody"),
        ({"default_route": "nobody"}, "goes through nobody"),
        ({"name": "worker-1"}, "node worker-1 is there twice"),
        ({"bridges": (("0000:f9:00.0", BRIDGE),)}, "there is no bridge 0000:f9:00.0"),
        ({"bridges": (("0000:15:01.0", replace(BRIDGE, link_width_lanes=32)),)}, "more lanes than it can have"),
        ({"bridges": (("0000:15:01.0", replace(BRIDGE, link_speed_gts=64.0)),)}, "faster than it can be"),
        ({"bridges": (("0000:15:01.0", replace(BRIDGE, link_speed_gts=3.0)),)}, "does not know"),
        ({"bridges": (("0000:15:01.0", replace(BRIDGE, acs_control=0x80)),)}, "ACS bits on"),
        ({"bridges": (("0000:15:01.0", replace(BRIDGE, max_payload_bytes=1024)),)}, "larger payload"),
        ({"bridges": (("0000:15:01.0", replace(BRIDGE, max_read_request_bytes=300)),)}, "payload or request size"),
    ],
)
def test_an_impossible_world_is_refused(changes, text):
    with pytest.raises(UsageError, match=text):
        check(with_first_worker(**changes))
