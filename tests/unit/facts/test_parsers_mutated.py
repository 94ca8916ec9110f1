"""
Every parser of a node record against mutations of real and simulated records: none raises, none hangs.

`RAILWRIGHT_MUTATIONS=100000` runs so many a parser (minutes); the number here is for every run of the tests.
"""

import asyncio
import os
import random
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import pytest

from railwright.core.ids import NodeName
from railwright.facts.node_record import DEPTH_SECTIONS, OPTIONAL_SECTIONS, SECTIONS, parse_node_record
from railwright.facts.record import Record, split_record
from railwright.facts.sources.counters import parse_counters
from railwright.facts.sources.infiniband import parse_infiniband
from railwright.facts.sources.kernel import parse_system
from railwright.facts.sources.machine import parse_machine
from railwright.facts.sources.nccl_topology import parse_nccl_topology
from railwright.facts.sources.net import parse_net
from railwright.facts.sources.nvidia_smi_topo import parse_topo_matrix
from railwright.facts.sources.pci import parse_pci
from railwright.facts.sources.pci_config import parse_pci_config
from railwright.facts.sources.qos import parse_qos
from railwright.facts.sources.routes import parse_routes
from railwright.facts.sources.settings import parse_runtime, parse_settings
from railwright.facts.sources.storage import parse_storage
from railwright.facts.sources.virtual_functions import parse_virtual_functions
from railwright.simulator.open import open_simulator

CASES = Path(__file__).parents[2] / "cases" / "facts"
MUTATIONS = int(os.environ.get("RAILWRIGHT_MUTATIONS", "150"))
PIECES = (
    "\t", " ", "=", ",", ":", "/", "\\", "-1", "0x", "0xffffffffffffffffffff", "99999999999999999999", "é", "\0",
    "\x1b[4m", "pci=", "path=pci0000:00/", "0000:1a:00.0", "vf 0 ", "exp=", "acs=1,2", "inet ", "1e999", "NaN", "=== ",
)  # fmt: skip
NCCL = (
    '<system version="1"><cpu numaid="0"><pci busid="0000:17:00.0"><pci busid="0000:19:00.0"><gpu dev="0"/></pci>'
    '<pci busid="0000:1a:00.0"><nic><net name="mlx5_0" gdr="1"/></nic></pci></pci></cpu></system>'
)
BY_SECTION: dict[Callable[[Record], object], tuple[str, ...]] = {
    parse_pci: ("pci",),
    parse_pci_config: ("pci-config",),
    parse_net: ("net", "addr"),
    parse_infiniband: ("infiniband", "gids", "pkeys"),
    parse_virtual_functions: ("vf-links", "sriov", "eswitch"),
    parse_counters: ("counters", "ethtool"),
    parse_qos: ("qos",),
    parse_routes: ("route4", "route6", "route4_tables"),
    parse_storage: ("mounts", "nvme", "iscsi"),
    parse_system: ("meta", "os-release", "cmdline", "modules", "lockdown", "nvidia-version", "values"),
    parse_machine: ("cpu", "numa", "hugepages", "dmi", "iommu"),
    partial(parse_settings, gpu_driver="open 580.95.05"): DEPTH_SECTIONS,
    parse_runtime: ("runtime",),
}


@cache
def records() -> tuple[str, ...]:
    """Texts to begin with: the cases, and the record of a simulated node."""
    world = open_simulator("h200-ib")
    simulated = asyncio.run(world.node.read(NodeName("worker-0"), "# railwright", timeout_s=1)).text
    extra = "=== railwright sriov\n0000:1a:00.0\t0\t\tnode=00:11:22:33:44:55:66:77\tpolicy=Follow\n"
    extra += "=== railwright vf-links\n4: ens3f0np0: <UP>\\    vf 0     link/ether 02:00:00:00:00:01, link-state auto\n"
    extra += "=== railwright qos\nens3f0np0\tpfc\tprio-pfc 0:off 3:on\nens3f0np0\tapp\tdscp-prio 24:3 26:3\n"
    cases = tuple(path.read_text(errors="replace") for path in sorted((CASES / "node-record").glob("*.txt")))
    return (simulated + extra, *cases)


def mutated(text: str, chance: random.Random) -> str:
    """Change a text a little: cut, double, swap and put in pieces."""
    for _ in range(chance.randint(1, 4)):
        at, to = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
        to = min(to, at + chance.choice((1, 3, 20, 200)))
        what = chance.random()
        if what < 0.3:
            text = text[:at] + text[to:]
        elif what < 0.5:
            text = text[:to] + text[at:]
        elif what < 0.9:
            text = text[:at] + chance.choice(PIECES) + text[to:]
        else:
            text = text[:at] + text[at:to][::-1] + text[to:]
    return text


@cache
def bodies(sections: tuple[str, ...]) -> tuple[str, ...]:
    """The lines of some sections, of every record that has any."""
    found = []
    for text in records():
        record = split_record(text)
        parts = [
            f"=== railwright {name}\n" + "\n".join(record.lines(name)[:12]) for name in sections if record.lines(name)
        ]
        if parts:
            found.append("\n".join(parts) + "\n=== railwright end\n")
    return tuple(dict.fromkeys(found))


@pytest.mark.parametrize(("parse", "sections"), BY_SECTION.items(), ids=[item[0] for item in BY_SECTION.values()])
def test_no_mutation_of_its_sections_makes_a_parser_raise(parse, sections):
    chance = random.Random(5)
    texts = bodies(sections)
    assert texts
    for _ in range(MUTATIONS):
        parse(split_record(mutated(chance.choice(texts), chance)))


def test_no_mutation_makes_the_whole_record_s_parser_raise():
    chance = random.Random(5)
    texts = [text for text in records() if len(text) < 12_000]
    for _ in range(max(40, MUTATIONS // 20)):
        hardware = parse_node_record.__wrapped__(mutated(chance.choice(texts), chance))
        assert hardware.uplinks_known is not bool(hardware.uplinks_problem)


@pytest.mark.parametrize(
    ("parse", "text"),
    [(parse_topo_matrix, (CASES / "topo" / "one-h200.txt").read_text()), (parse_nccl_topology, NCCL)],
    ids=["nvidia-smi topo", "NCCL topology"],
)
def test_no_mutation_of_another_tools_output_raises(parse, text):
    chance = random.Random(5)
    for _ in range(MUTATIONS):
        parse(mutated(text, chance))


def test_every_section_has_a_parser_that_is_mutated():
    covered = {section for sections in BY_SECTION.values() for section in sections}
    assert {*SECTIONS, *DEPTH_SECTIONS, *OPTIONAL_SECTIONS} - {"problems"} <= covered
