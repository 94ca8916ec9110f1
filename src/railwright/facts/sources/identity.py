r"""
The `vpd` and `nvidia-gpus` sections: what cards and GPUs call themselves.

Samples: "0000:1a:00.0\tname=4e5649444941...\tpart=3930302d...\trevision=4135" (letters as hex digits, padded with blanks
or zeros by some vendors) and "0000:06:00.0\tmodel=NVIDIA H200\tvbios=96.00.a5.00.1a\tfirmware=580.159.04".

Source: PCI Local Bus 3.0, appendix I (identifier string; PN part number, EC engineering change level); NVIDIA driver
README, "/proc/driver/nvidia": /proc/driver/nvidia/gpus/ADDRESS/information.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from railwright.core.ids import PciAddress
from railwright.facts.model import Unseen
from railwright.facts.record import Record, fields_of, pci_address, wrong_line

_HEX = re.compile(r"(?:[0-9a-f]{2}){0,1024}")
_NOT_ASKED = re.compile(r"[?.]+|N/A")
"""What the driver writes in place of a version that it has not read from the GPU yet: "??.??.??.??.??"."""


@dataclass(frozen=True)
class Card:
    """What a NIC's vital product data says; empty for what it does not say."""

    name: str = ""
    part_number: str = ""
    revision: str = ""


@dataclass(frozen=True)
class GpuWords:
    """What NVIDIA's driver says of a GPU; empty for what it does not say."""

    model: str = ""
    vbios: str = ""
    firmware: str = ""


@dataclass(frozen=True)
class Identity:
    """Both, by PCI address."""

    cards: Mapping[PciAddress, Card] = field(default_factory=dict)
    gpus: Mapping[PciAddress, GpuWords] = field(default_factory=dict)


def parse_identity(record: Record) -> tuple[Identity, tuple[Unseen, ...]]:
    """Read the names; a line that can't be read is named and left out."""
    unseen: list[Unseen] = []
    cards: dict[PciAddress, Card] = {}
    for line in record.lines("vpd"):
        first, *rest = line.split("\t")
        address, fields = pci_address(first), fields_of(rest)
        if address is None or not all(_HEX.fullmatch(value) for value in fields.values()):
            unseen.append(wrong_line("vpd", line, "address or letters can't be read"))
            continue
        words = {key: _letters(value) for key, value in fields.items()}
        cards[address] = Card(words.get("name", ""), words.get("part", ""), words.get("revision", ""))
    gpus: dict[PciAddress, GpuWords] = {}
    for line in record.lines("nvidia-gpus"):
        first, *rest = line.split("\t")
        address, fields = pci_address(first), fields_of(rest)
        if address is None:
            unseen.append(wrong_line("nvidia-gpus", line, "address can't be read"))
            continue
        known = {key: value for key, value in fields.items() if not _NOT_ASKED.fullmatch(value)}
        gpus[address] = GpuWords(known.get("model", ""), known.get("vbios", ""), known.get("firmware", ""))
    return Identity(cards, gpus), tuple(unseen)


def _letters(digits: str) -> str:
    """Turn hex digits into one line of text: what is no printable ASCII counts as a blank, of which one is kept."""
    text = "".join(chr(byte) if 0x20 < byte < 0x7F else " " for byte in bytes.fromhex(digits))
    return " ".join(text.split())
