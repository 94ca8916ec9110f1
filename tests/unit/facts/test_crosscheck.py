"""What nvidia-smi and NCCL say of a node, against our own reading of the same node."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from railwright.facts.crosscheck import cross_check
from railwright.facts.model import NodeHardware
from railwright.facts.node_record import parse_node_record
from railwright.facts.sources.nccl_topology import parse_nccl_topology
from railwright.facts.sources.nvidia_smi_topo import parse_topo_matrix

RECORD = Path(__file__).parents[2] / "cases" / "facts" / "node-record" / "hgx-eight-gpus-eight-nics.txt"


def hardware() -> NodeHardware:
    return parse_node_record(RECORD.read_text())


def matrix(node: NodeHardware, **other: str) -> str:
    """Print what nvidia-smi would, in the words of our own reading, but for the cells in `other` ("0:mlx5_1")."""
    from railwright.facts.pci import distance

    ports = [port for port in node.ports if port.rdma and port.parent is None]
    header = ["", *(f"GPU{number}" for number, _ in enumerate(node.gpus)), *(f"NIC{n}" for n, _ in enumerate(ports))]
    lines = ["\x1b[4m" + "\t".join([*header, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"]) + "\x1b[0m"]
    for number, gpu in enumerate(node.gpus):
        cells = [" X " if number == column else "NV18" for column, _ in enumerate(node.gpus)]
        cells += [other.get(f"gpu{number}_{port.rdma}", distance(gpu, port).value) for port in ports]
        lines.append("\t".join([f"GPU{number}", *cells, "0-55", "0", "N/A"]))
    lines += [f"NIC{number}\t" + "\t".join(["SYS"] * len(node.gpus)) for number, _ in enumerate(ports)]
    return "\n".join([*lines, "", "NIC Legend:", "", *(f"  NIC{n}: {port.rdma}" for n, port in enumerate(ports)), ""])


def test_a_table_that_says_the_same_differs_in_nothing():
    node = hardware()
    parsed = parse_topo_matrix(matrix(node))
    assert parsed.gpus == len(node.gpus) == 8
    assert len(parsed.distances) == 64
    assert cross_check(node, matrix(node), "") == ()


def test_a_distance_that_differs_is_named_with_both_words():
    node = hardware()
    (difference,) = cross_check(node, matrix(node, gpu0_mlx5_1="PHB"), "")
    assert "mlx5_1" in difference.what
    assert node.gpus[0].pci in difference.what
    assert (difference.ours != "PHB", difference.theirs) == (True, "PHB")


def test_a_nic_that_only_one_of_both_sees_is_named():
    node = hardware()
    text = matrix(node).replace("NIC3: mlx5_3", "NIC3: mlx5_77")
    assert {(item.what, item.ours) for item in cross_check(node, text, "")} == {
        ("NIC mlx5_77", "not there"),
        ("NIC mlx5_3", "there"),
    }


def test_a_text_without_a_table_is_a_difference_and_no_agreement():
    (difference,) = cross_check(hardware(), "Failed to initialize NVML", "")
    assert difference.theirs == "no table in its output"
    (difference,) = cross_check(hardware(), "", "<system></system>")
    assert difference.theirs == "no GPU in its file"


def nccl(*devices: str) -> str:
    return f'<system version="1"><cpu numaid="0" arch="x86_64">{"".join(devices)}</cpu></system>'


def switch(busid: str, *inside: str) -> str:
    return f'<pci busid="{busid}" class="0x060400" link_width="16">{"".join(inside)}</pci>'


def gpu(busid: str) -> str:
    return (
        f'<pci busid="{busid}" class="0x030200"><gpu dev="0" sm="90" rank="0" gdr="1"><nvlink count="18"/></gpu></pci>'
    )


def net(busid: str, name: str, gdr: int = 1) -> str:
    return f'<pci busid="{busid}" class="0x020000"><nic><net name="{name}" dev="0" port="1" gdr="{gdr}"/></nic></pci>'


def test_nccl_s_tree_is_read_by_nesting():
    topology = parse_nccl_topology(nccl(switch("0000:17:00.0", gpu("0000:19:00.0"), net("0000:1a:00.0", "mlx5_0"))))
    assert [(item.pci, item.above, item.cpu) for item in topology.gpus] == [("0000:19:00.0", ("0000:17:00.0",), 0)]
    assert [(item.pci, item.name, item.above) for item in topology.nets] == [
        ("0000:1a:00.0", "mlx5_0", ("0000:17:00.0",))
    ]


def test_nccl_agrees_where_a_switch_is_shared_and_differs_where_it_is_not():
    node = hardware()
    first, port = node.gpus[0], next(item for item in node.ports if item.rdma == "mlx5_0")
    same = nccl(switch("0000:17:00.0", gpu(first.pci), net(port.pci, "mlx5_0")))
    apart = nccl(switch("0000:17:00.0", gpu(first.pci)), switch("0000:aa:00.0", net(port.pci, "mlx5_0")))
    found = {cross_check(node, "", text) for text in (same, apart)}
    assert () in found
    ((difference,),) = found - {()}
    assert {difference.ours, difference.theirs} in ({"PIX", "PHB"}, {"SYS", "PIX"}, {"NODE", "PIX"})


def test_a_nic_without_gpudirect_in_nccl_is_named():
    node = hardware()
    port = next(item for item in node.ports if item.rdma == "mlx5_0")
    text = nccl(switch("0000:17:00.0", gpu(node.gpus[0].pci)), net(port.pci, "mlx5_0", gdr=0))
    assert "NCCL will not use it" in [item.theirs for item in cross_check(node, "", text)]


@pytest.mark.parametrize("text", ["<pci busid='x'><gpu/></pci>", "<gpu/></pci></cpu>", "<pci><pci><pci>" * 200])
def test_a_broken_picture_gives_nothing(text):
    assert parse_nccl_topology(text).gpus == ()


PIECES = st.sampled_from(
    [
        '<pci busid="0000:1a:00.0">',
        "<pci>",
        "</pci>",
        "<cpu",
        'numaid="0"',
        ">",
        "<gpu/>",
        "<net",
        'name="a"',
        "/>",
        "\t",
        "GPU0",
        "NIC0",
        "PIX",
        "\n",
        "\x1b[4m",
        "NIC0: mlx5_0",
        "mlx5_1",
        " X ",
    ]
)


@settings(max_examples=100, deadline=None)
@given(st.lists(PIECES, max_size=40))
def test_pieces_in_any_order_raise_nothing(pieces):
    cross_check(hardware(), "".join(pieces), "".join(pieces))


def test_nvidia_smi_and_our_reading_of_a_real_machine_agree():
    cases = RECORD.parents[1]
    node = parse_node_record((cases / "node-record" / "measured-h200-format-2.txt").read_text())
    text = (cases / "topo" / "one-h200.txt").read_text()
    assert parse_topo_matrix(text).gpus == 1
    assert cross_check(node, text, "") == ()
