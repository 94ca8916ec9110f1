"""Every case is a node record (.txt, its first line says where it comes from) and what must be read from it (.json)."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from railwright.facts.model import NodeHardware
from railwright.facts.node_record import parse_node_record
from railwright.facts.pci import distance
from railwright.facts.uplinks import Surroundings

CASES = Path(__file__).parents[2] / "cases" / "facts" / "node-record"
NAMES = sorted(path.stem for path in CASES.glob("*.txt"))


def read(name: str) -> tuple[NodeHardware, dict]:
    expected = json.loads((CASES / f"{name}.json").read_text())
    around = expected.get("around", {})
    surroundings = Surroundings(tuple(around.get("node_addresses", ())), tuple(around.get("api_servers", ())))
    return parse_node_record((CASES / f"{name}.txt").read_text(), surroundings), expected


@pytest.mark.parametrize("name", NAMES)
def test_the_record_says_what_carries_the_nodes_own_traffic(name):
    hardware, expected = read(name)
    assert hardware.uplinks_known is expected["uplinks_known"], hardware.uplinks_problem
    assert expected["problem"] in hardware.uplinks_problem
    assert bool(hardware.uplinks_problem) is not hardware.uplinks_known
    if "carried" in expected:
        assert [[item.what, list(item.path), item.pci] for item in hardware.carried] == expected["carried"]


@pytest.mark.parametrize("name", NAMES)
def test_the_record_names_what_could_not_be_read(name):
    hardware, expected = read(name)
    if expected["unseen"] is None:
        assert len(hardware.unseen) >= expected["unseen_count_at_least"]
    else:
        assert [item.what for item in hardware.unseen] == expected["unseen"]


@pytest.mark.parametrize("name", NAMES)
def test_the_record_says_what_is_in_the_node(name):
    hardware, expected = read(name)
    assert len(hardware.gpus) == expected.get("gpus", len(hardware.gpus))
    assert len(hardware.ports) == expected.get("ports", len(hardware.ports))
    for key in ("page_size_bytes", "architecture", "nvidia_driver"):
        assert getattr(hardware, key) == expected.get(key, getattr(hardware, key))
    if wanted := expected.get("port"):
        port = asdict(next(port for port in hardware.ports if port.pci == wanted["pci"]))
        assert {key: port[key] for key in wanted} == wanted
    if wanted := expected.get("gpu"):
        gpu = asdict(next(gpu for gpu in hardware.gpus if gpu.pci == wanted["pci"]))
        assert {key: gpu[key] for key in wanted} == wanted
    gpus = {gpu.pci: gpu for gpu in hardware.gpus}
    ports = {port.pci: port for port in hardware.ports}
    for gpu, port, wanted in expected.get("distances", ()):
        assert distance(gpus[gpu], ports[port]) == wanted, (gpu, port)


def test_every_case_says_where_it_comes_from():
    assert NAMES
    for name in NAMES:
        assert (CASES / f"{name}.txt").read_text().startswith("# Origin: "), name


@pytest.mark.parametrize("name", NAMES)
def test_a_record_cut_anywhere_never_raises_and_never_claims_to_know_the_uplinks(name):
    text = (CASES / f"{name}.txt").read_text()
    end = text.rstrip("\n")
    for at in range(0, len(end), max(1, len(end) // 40)):
        hardware = parse_node_record(text[:at])
        assert not hardware.uplinks_known
        assert hardware.unseen


def test_gids_of_an_ethernet_port_are_roce_and_of_an_infiniband_port_ib():
    roce, _ = read("hgx-eight-gpus-eight-nics")
    port = next(port for port in roce.ports if port.rdma == "mlx5_0")
    assert [(gid.index, gid.type, gid.netdev) for gid in port.gids] == [
        (0, "RoCE v1", "ens0np0"),
        (3, "RoCE v2", "ens0np0"),
    ]
    infiniband, _ = read("infiniband-port-with-storage")
    port = next(port for port in infiniband.ports if port.rdma == "mlx5_0")
    assert [gid.type for gid in port.gids] == ["IB"]


def test_a_port_without_netdev_and_rdma_device_has_an_unknown_link_layer():
    text = (CASES / "br-ex-over-vlan-over-bond.txt").read_text()
    bare = "\n".join(line for line in text.splitlines() if not line.startswith("ens3f1np1\t"))
    port = next(port for port in parse_node_record(bare).ports if port.pci == "0000:1a:00.1")
    assert (port.netdev, port.rdma, port.link_layer, port.carrier) == (None, None, "unknown", None)


@pytest.mark.parametrize(
    ("text", "driver"),
    [
        (
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs-builder)",
            "open 580.95.05",
        ),
        (
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.172.08  Tue Jul  8 18:29:00 UTC 2025",
            "proprietary 570.172.08",
        ),
        ("NVRM version: something else", ""),
    ],
)
def test_the_gpu_driver_is_told_open_from_proprietary(text, driver):
    record = f"=== railwright meta\nrecord_version\t1\n=== railwright nvidia-version\n{text}\n=== railwright end\n"
    hardware = parse_node_record(record)
    assert hardware.nvidia_driver == driver
    assert bool(driver) is not any(item.what.startswith("nvidia-version") for item in hardware.unseen)


def test_the_kernels_own_mlx5_driver_has_no_version_of_its_own():
    def version(value):
        record = f"=== railwright values\nmlx5_version\t{value}\n=== railwright end\n"
        return parse_node_record(record).mlx5_driver

    assert [version(value) for value in ("", "5.0-0", "26.04-1.1.0")] == ["", "", "26.04-1.1.0"]


def test_values_that_make_no_sense_are_not_known():
    record = "=== railwright values\nsecure_boot\tmaybe\nmemlock\tlots\nrdma_netns_mode\tX\n=== railwright end\n"
    hardware = parse_node_record(record)
    assert (hardware.secure_boot, hardware.memlock_limit, hardware.rdma_netns_mode) == (None, None, None)


def test_an_unknown_record_version_is_named():
    hardware = parse_node_record("=== railwright meta\nrecord_version\t9\n=== railwright end\n")
    assert any("format 9" in item.why for item in hardware.unseen)
