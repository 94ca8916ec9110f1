"""What nodes print: each section against its parser, the whole record, and what collect makes of it."""

import asyncio
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from fuzz.model import Target, text_target

from railwright.core.ids import NodeName
from railwright.core.redactor import Redactor
from railwright.facts.node_record import DEPTH_SECTIONS, parse_node_record
from railwright.facts.record import Record, split_record
from railwright.facts.sources.counters import parse_counters
from railwright.facts.sources.identity import parse_identity
from railwright.facts.sources.infiniband import parse_infiniband
from railwright.facts.sources.kernel import parse_system
from railwright.facts.sources.machine import parse_machine
from railwright.facts.sources.net import parse_net
from railwright.facts.sources.pci import parse_pci
from railwright.facts.sources.pci_config import parse_pci_config
from railwright.facts.sources.qos import parse_qos
from railwright.facts.sources.routes import parse_routes
from railwright.facts.sources.rules import parse_rules
from railwright.facts.sources.settings import parse_runtime, parse_settings
from railwright.facts.sources.sockets import parse_sockets
from railwright.facts.sources.storage import parse_storage
from railwright.facts.sources.virtual_functions import parse_virtual_functions
from railwright.simulator.open import open_simulator

RECORDS = Path(__file__).parents[2] / "cases" / "facts" / "node-record"
_LONGEST = 12_000
_LINES = 12
SECTIONS_BY_PARSER: dict[str, tuple[Callable[[Record], object], tuple[str, ...]]] = {
    "pci": (parse_pci, ("pci",)),
    "pci-config": (parse_pci_config, ("pci-config",)),
    "identity": (parse_identity, ("vpd", "nvidia-gpus")),
    "net": (parse_net, ("net", "addr")),
    "infiniband": (parse_infiniband, ("infiniband", "gids", "pkeys")),
    "virtual-functions": (parse_virtual_functions, ("vf-links", "sriov", "eswitch")),
    "counters": (parse_counters, ("counters", "ethtool")),
    "qos": (parse_qos, ("qos",)),
    "routes": (parse_routes, ("route4", "route6", "route4_tables")),
    "rules": (parse_rules, ("rules",)),
    "sockets": (parse_sockets, ("sockets",)),
    "storage": (parse_storage, ("mounts", "nvme", "iscsi")),
    "system": (parse_system, ("meta", "os-release", "cmdline", "modules", "lockdown", "nvidia-version", "values")),
    "machine": (parse_machine, ("cpu", "numa", "hugepages", "dmi", "iommu")),
    "settings": (partial(parse_settings, gpu_driver="open 580.95.05"), ()),
    "runtime": (parse_runtime, ("runtime",)),
}
"""Parser and its sections by name; no sections stands for those of the depth, which one parser reads together."""


@cache
def _records() -> tuple[str, ...]:
    """Texts to begin with: the cases, and the record of a simulated node with what its world has not."""
    world = open_simulator("h200-ib")
    simulated = asyncio.run(world.node.read(NodeName("worker-0"), "# railwright", timeout_s=1)).text
    extra = "=== railwright sriov\n0000:1a:00.0\t0\t\tnode=00:11:22:33:44:55:66:77\tpolicy=Follow\n"
    extra += "=== railwright vf-links\n4: ens3f0np0: <UP>\\    vf 0     link/ether 02:00:00:00:00:01, link-state auto\n"
    extra += "=== railwright qos\nens3f0np0\tpfc\tprio-pfc 0:off 3:on\nens3f0np0\tapp\tdscp-prio 24:3 26:3\n"
    extra += "=== railwright sockets\n10.1.0.4\t6801\nFD00:0000:0000:0000:0000:0000:0000:0004\t3260\n"
    extra += "=== railwright rules\n0:\tfrom all lookup local\n32765:\tfrom 10.1.0.4 lookup 100\n"
    return (simulated + extra, *(path.read_text(errors="replace") for path in sorted(RECORDS.glob("*.txt"))))


def _bodies(sections: tuple[str, ...]) -> tuple[str, ...]:
    """The first lines of some sections, of every record that has any."""
    found = []
    for text in _records():
        record = split_record(text)
        parts = [
            f"=== railwright {name}\n" + "\n".join(record.lines(name)[:_LINES])
            for name in sections
            if record.lines(name)
        ]
        if parts:
            found.append("\n".join(parts) + "\n=== railwright end\n")
    return tuple(dict.fromkeys(found))


def _whole(text: str) -> None:
    hardware = parse_node_record.__wrapped__(text)
    assert hardware.uplinks_known is not bool(hardware.uplinks_problem)


def _short_records() -> tuple[str, ...]:
    return tuple(text for text in _records() if len(text) < _LONGEST)


def _section_target(name: str) -> Target:
    parse, sections = SECTIONS_BY_PARSER[name]
    return text_target(
        f"node-{name}", lambda: _bodies(sections or DEPTH_SECTIONS), lambda text: parse(split_record(text))
    )


_REDACTOR = Redactor(b"k" * 32)
TARGETS = (
    *(_section_target(name) for name in SECTIONS_BY_PARSER),
    text_target("node-record", _short_records, _whole, short=40),
    text_target("node-record-redacted", _short_records, _REDACTOR.node_record, short=40),
)
