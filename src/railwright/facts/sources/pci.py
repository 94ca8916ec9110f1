r"""
The `pci` section: devices of the PCI tree, from sysfs.

Sample: "0000:1a:00.0\tvendor=15b3\tdevice=1021\tclass=020700\tnuma=0\tdriver=mlx5_core\tpath=pci0000:16/0000:16:01.0/0000:1a:00.0"
"""

import re
from dataclasses import dataclass

from railwright.core.ids import PciAddress
from railwright.facts.model import Unseen
from railwright.facts.record import (
    Record,
    fields_of,
    hex_digits,
    leading_decimal,
    pci_address,
    whole_number,
    wrong_line,
)

_ROOT = re.compile(r"pci[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}")


@dataclass(frozen=True)
class PciDevice:
    """One device; ids are hex digits without 0x, `pci_class` has six ("020700"), `numa` None when the kernel has none."""

    address: PciAddress
    vendor: str
    device: str
    pci_class: str
    numa: int | None
    driver: str
    root: str
    path: tuple[PciAddress, ...]
    link_speed_gts: float | None
    link_width_lanes: int | None
    max_link_speed_gts: float | None
    max_link_width_lanes: int | None
    sriov_total_vfs: int
    sriov_vfs: int
    parent: PciAddress | None
    subsystem_id: str = ""
    """"15b3:0051"; empty when not shown."""
    iommu_group: int | None = None
    bar_bytes: tuple[int, ...] = ()


def parse_pci(record: Record) -> tuple[tuple[PciDevice, ...], tuple[Unseen, ...]]:
    """Read every device; one whose address, ids or path can't be read is named and left out."""
    devices: dict[PciAddress, PciDevice] = {}
    unseen: list[Unseen] = []
    for line in record.lines("pci"):
        first, *rest = line.split("\t")
        address = pci_address(first)
        fields = fields_of(rest)
        if address is None:
            unseen.append(wrong_line("pci", line, "does not begin with a PCI address"))
            continue
        device = _device(address, fields)
        if not device.vendor or not device.device or not device.pci_class:
            unseen.append(wrong_line("pci", line, "vendor, device or class is missing"))
        elif not device.path:
            unseen.append(wrong_line("pci", line, "its place in the PCI tree is missing"))
        else:
            devices[address] = device
            unseen.extend(_doubtful(address, fields))
    return tuple(devices[address] for address in sorted(devices)), tuple(unseen)


def _device(address: PciAddress, fields: dict[str, str]) -> PciDevice:
    root, path = _place(address, fields.get("path", ""))
    numa = whole_number(fields.get("numa"))
    pci_class = hex_digits(fields.get("class"))
    return PciDevice(
        address=address,
        vendor=hex_digits(fields.get("vendor")),
        device=hex_digits(fields.get("device")),
        pci_class=pci_class.zfill(6) if len(pci_class) in {5, 6} else pci_class,
        numa=numa if numa is not None and numa >= 0 else None,
        driver=fields.get("driver", ""),
        root=root,
        path=path,
        link_speed_gts=leading_decimal(fields.get("link_speed")),
        link_width_lanes=_lanes(fields.get("link_width")),
        max_link_speed_gts=leading_decimal(fields.get("max_link_speed")),
        max_link_width_lanes=_lanes(fields.get("max_link_width")),
        sriov_total_vfs=whole_number(fields.get("sriov_totalvfs")) or 0,
        sriov_vfs=whole_number(fields.get("sriov_numvfs")) or 0,
        parent=pci_address(fields.get("physfn")),
        subsystem_id=_subsystem(fields),
        iommu_group=whole_number(fields.get("iommu_group")),
        bar_bytes=tuple(size for text in fields.get("bars", "").split(",") if (size := whole_number(text))),
    )


def _subsystem(fields: dict[str, str]) -> str:
    vendor, device = hex_digits(fields.get("subsystem_vendor")), hex_digits(fields.get("subsystem_device"))
    return f"{vendor}:{device}" if vendor and device else ""


def _place(address: PciAddress, text: str) -> tuple[str, tuple[PciAddress, ...]]:
    """Read host bridge and bridges; ("", ()) when the path does not lead from a host bridge to this device."""
    root, *steps = text.strip("/").split("/")
    path = [pci_address(step) for step in steps]
    known = tuple(step for step in path if step is not None)
    if not _ROOT.fullmatch(root) or len(known) != len(path) or not known or known[-1] != address:
        return "", ()
    return root.lower(), known


def _lanes(text: str | None) -> int | None:
    """Link width; sysfs says 0 or 255 where the device has no link of its own (a virtual function)."""
    lanes = whole_number(text)
    return lanes if lanes is not None and 0 < lanes <= 64 else None


def _doubtful(address: PciAddress, fields: dict[str, str]) -> list[Unseen]:
    """Name numbers that are there but make no sense, where their absence would read as a fact."""
    return [
        Unseen(f"pci {address}: {key}", f"not a number: {fields[key][:40]!r}")
        for key in ("sriov_totalvfs", "sriov_numvfs", "numa")
        if fields.get(key) and whole_number(fields[key]) is None
    ] + (
        [Unseen(f"pci {address}: physfn", f"not a PCI address: {fields['physfn'][:40]!r}")]
        if fields.get("physfn") and pci_address(fields["physfn"]) is None
        else []
    )
