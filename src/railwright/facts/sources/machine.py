r"""
The `cpu`, `numa`, `hugepages`, `dmi` and `iommu` sections: the machine around its devices.

Samples: "model\tIntel(R) Xeon(R) Platinum 8480C", "0\tcpus=0-55\tmemory_kib=1056469220\tdistances=10 21",
"2048\t0\t0", "product_name\tPowerEdge XE9680", "group\t17\tDMA-FQ".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from railwright.facts.model import Unseen
from railwright.facts.node_model import Chassis, HugePages, NumaNode, Processor
from railwright.facts.record import Record, fields_of, whole_number, wrong_line


@dataclass(frozen=True)
class MachineFacts:
    """What the sections say; `group_types` None when sysfs has no IOMMU at all to ask."""

    processor: Processor = field(default_factory=Processor)
    numa_nodes: tuple[NumaNode, ...] = ()
    huge_pages: tuple[HugePages, ...] = ()
    chassis: Chassis = field(default_factory=Chassis)
    group_types: Mapping[int, str] = field(default_factory=dict)
    has_iommu: bool | None = None


def parse_machine(record: Record) -> tuple[MachineFacts, tuple[Unseen, ...]]:
    """Read the machine; a line that can't be read is named and left out."""
    unseen: list[Unseen] = []
    cpu, dmi = _pairs(record, "cpu"), _pairs(record, "dmi")
    groups = _groups(record, unseen)
    return MachineFacts(
        processor=Processor(
            vendor=cpu.get("vendor", ""),
            model=cpu.get("model", ""),
            count=whole_number(cpu.get("count")),
            under_hypervisor={"true": True, "false": False}.get(cpu.get("hypervisor", "")),
        ),
        numa_nodes=_numa_nodes(record, unseen),
        huge_pages=_huge_pages(record, unseen),
        chassis=Chassis(
            vendor=dmi.get("sys_vendor", ""),
            product=dmi.get("product_name", ""),
            product_version=dmi.get("product_version", ""),
            sku=dmi.get("product_sku", ""),
            board=dmi.get("board_name", ""),
            board_vendor=dmi.get("board_vendor", ""),
            board_version=dmi.get("board_version", ""),
            bios_vendor=dmi.get("bios_vendor", ""),
            bios_version=dmi.get("bios_version", ""),
            bios_date=dmi.get("bios_date", ""),
            controller_version=dmi.get("ec_firmware_release", ""),
        ),
        group_types=groups,
        has_iommu=None if record.missing("iommu") else bool(groups or record.lines("iommu")),
    ), tuple(unseen)


def _pairs(record: Record, section: str) -> dict[str, str]:
    rows = (line.partition("\t") for line in record.lines(section))
    return {key.strip(): value.strip() for key, found, value in rows if found}


def _numa_nodes(record: Record, unseen: list[Unseen]) -> tuple[NumaNode, ...]:
    nodes: dict[int, NumaNode] = {}
    for line in record.lines("numa"):
        first, *rest = line.split("\t")
        index, fields = whole_number(first), fields_of(rest)
        if index is None:
            unseen.append(wrong_line("numa", line, "begins with no number"))
            continue
        distances = [whole_number(word) for word in fields.get("distances", "").split()]
        nodes[index] = NumaNode(
            index=index,
            cpus=fields.get("cpus", ""),
            distances=tuple(word for word in distances if word is not None),
        )
    return tuple(nodes[index] for index in sorted(nodes))


def _huge_pages(record: Record, unseen: list[Unseen]) -> tuple[HugePages, ...]:
    found: list[HugePages] = []
    for line in record.lines("hugepages"):
        numbers = [whole_number(word) for word in line.split("\t")]
        if len(numbers) != 3 or None in numbers:
            unseen.append(wrong_line("hugepages", line, "not size, total, free"))
            continue
        size, total, free = (number or 0 for number in numbers)
        found.append(HugePages(size * 1024, total, free))
    return tuple(found)


def _groups(record: Record, unseen: list[Unseen]) -> dict[int, str]:
    groups: dict[int, str] = {}
    for line in record.lines("iommu"):
        parts = line.split("\t")
        number = whole_number(parts[1]) if len(parts) > 2 else None
        if parts[0] == "group" and number is not None:
            groups[number] = parts[2].strip()
        elif parts[0] != "unit":
            unseen.append(wrong_line("iommu", line, "is neither group nor unit"))
    return groups
