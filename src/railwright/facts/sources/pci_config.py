r"""
The `pci-config` section: registers of PCI functions, as 32-bit words in hex, as far as the script was let to read.

Sample: "0000:18:01.0\tsize=4096\texp=0162b010,10008022,00102930,...\tacs=1001000d,001d005f\tats=..."; `exp` are the
first five words of the PCI Express capability, `acs` and `ats` the two words of those extended capabilities.

Source: Linux include/uapi/linux/pci_regs.h (PCI_EXP_*, PCI_ACS_*, PCI_ATS_*), Linux 6.12.
"""

import re
from collections.abc import Mapping

from railwright.core.ids import PciAddress
from railwright.facts.model import Unseen
from railwright.facts.node_model import AcsState, PciConfig
from railwright.facts.record import Record, fields_of, pci_address, whole_number, wrong_line

_WORDS = re.compile(r"[0-9a-f]{8}(?:,[0-9a-f]{8})*")
_EXTENDED_FROM_BYTES = 256
"""All that a conventional PCI device has; of a PCI Express device it is less than all."""
_EXPRESS_WORDS = 5
_PORT_TYPES = {
    0x0: "endpoint",
    0x1: "legacy-endpoint",
    0x4: "root-port",
    0x5: "switch-upstream",
    0x6: "switch-downstream",
    0x7: "pcie-to-pci-bridge",
    0x8: "pci-to-pcie-bridge",
    0x9: "root-complex-endpoint",
    0xA: "root-complex-event-collector",
}
_SPEEDS_GTS = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0, 6: 64.0}
_SMALLEST_BYTES = 128
_HAS_LINK = frozenset({"endpoint", "legacy-endpoint", "root-port", "switch-upstream", "switch-downstream"})


def parse_pci_config(record: Record) -> tuple[Mapping[PciAddress, PciConfig], tuple[Unseen, ...]]:
    """Read the registers of every function that has a line; a line that can't be read is named and left out."""
    configs: dict[PciAddress, PciConfig] = {}
    unseen: list[Unseen] = []
    for line in record.lines("pci-config"):
        first, *rest = line.split("\t")
        address, fields = pci_address(first), fields_of(rest)
        size = whole_number(fields.get("size"))
        words = {key: _words(fields.get(key, "")) for key in ("exp", "acs", "ats")}
        if address is None or size is None:
            unseen.append(wrong_line("pci-config", line, "address or size can't be read"))
        elif any(value is None for value in words.values()):
            unseen.append(wrong_line("pci-config", line, "its registers can't be read"))
        elif size < _EXTENDED_FROM_BYTES:
            unseen.append(Unseen(f"pci-config {address}", f"only the first {size} bytes could be read"))
        else:
            configs[address] = _config(size, words["exp"] or (), words["acs"] or (), words["ats"] or ())
    return configs, tuple(unseen)


def _words(text: str) -> tuple[int, ...] | None:
    """Read words; () for none, None for something else."""
    if not text:
        return ()
    return tuple(int(word, 16) for word in text.split(",")) if _WORDS.fullmatch(text) else None


def _config(size: int, express: tuple[int, ...], acs: tuple[int, ...], ats: tuple[int, ...]) -> PciConfig:
    extended_read = size > _EXTENDED_FROM_BYTES
    services = AcsState(acs[1] & 0xFFFF, acs[1] >> 16) if len(acs) > 1 else None
    ats_enabled = bool(ats[1] >> 31) if len(ats) > 1 else None
    if len(express) < _EXPRESS_WORDS:
        return PciConfig(extended_read=extended_read, acs=services, ats_enabled=ats_enabled)
    header, capability, control, link_capability, link = express[:_EXPRESS_WORDS]
    port_type = _PORT_TYPES.get(header >> 20 & 0xF, f"type-{header >> 20 & 0xF:x}")
    has_link = port_type in _HAS_LINK
    return PciConfig(
        extended_read=extended_read,
        acs=services,
        ats_enabled=ats_enabled,
        relaxed_ordering=bool(control & 0x10),
        no_snoop=bool(control & 0x800),
        max_payload_bytes=_SMALLEST_BYTES << (control >> 5 & 7),
        max_payload_supported_bytes=_SMALLEST_BYTES << (capability & 7),
        max_read_request_bytes=_SMALLEST_BYTES << (control >> 12 & 7),
        link_speed_gts=_SPEEDS_GTS.get(link >> 16 & 0xF) if has_link else None,
        link_width_lanes=_lanes(link >> 20 & 0x3F) if has_link else None,
        max_link_speed_gts=_SPEEDS_GTS.get(link_capability & 0xF) if has_link else None,
        max_link_width_lanes=_lanes(link_capability >> 4 & 0x3F) if has_link else None,
    )


def _lanes(width: int) -> int | None:
    """Give the width; a link that is down says 0."""
    return width or None
