"""
The node record cut into its sections, and the small readings that several sources share.

Pure: text in, frozen values out. What can't be read is None here; the sources name it as Unseen.
The format is described in facts/sources/__init__.py.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from railwright.core.ids import PciAddress, parse_pci_address
from railwright.core.node_record import HEADER
from railwright.facts.model import Unseen

MAX_RECORD_CHARACTERS = 8 * 1024 * 1024
"""A node with 1,000 virtual functions prints about 0.5 MiB; what is longer is treated as cut short."""

_NUMBER = re.compile(r"-?(?:0[xX][0-9a-fA-F]{1,32}|[0-9]{1,32})")
"""What is longer counts nothing, and Python refuses to read more than some thousand digits."""
_DECIMAL = re.compile(r"[0-9]+(?:\.[0-9]+)?")


@dataclass(frozen=True)
class Record:
    """
    One node record.

    Attributes:
        sections: lines by section, in their order; a section that was not printed has no key.
        is_complete: the `end` header was the last thing printed.
        problems: why a section could not be read, by section, as the script said.
    """

    sections: Mapping[str, tuple[str, ...]]
    is_complete: bool
    problems: Mapping[str, str]

    def lines(self, section: str) -> tuple[str, ...]:
        """Lines of a section that are not blank; empty when it was not printed."""
        return tuple(line for line in self.sections.get(section, ()) if line.strip())

    def missing(self, section: str) -> str:
        """Say why a section can't be trusted whole: a reason, or "" when it can."""
        if section in self.problems:
            return self.problems[section]
        if section not in self.sections:
            return "not in the record"
        return ""


def split_record(text: str) -> Record:
    r"""
    Cut a record into sections; never raises.

    Sample: "=== railwright meta\nkernel\t5.14.0-570.el9.x86_64\n=== railwright end\n"
    """
    sections: dict[str, list[str]] = {}
    current: list[str] | None = None
    is_complete = False
    for line in text[:MAX_RECORD_CHARACTERS].splitlines():
        if line.startswith(HEADER):
            name = line[len(HEADER) :].strip()
            is_complete = name == "end"
            current = None if is_complete else sections.setdefault(name, [])
        elif current is not None:
            current.append(line.rstrip("\r"))
    problems: dict[str, str] = {}
    for line in sections.get("problems", ()):
        section, _, why = line.partition("\t")
        if section.strip():
            problems.setdefault(section.strip(), why.strip() or "no reason given")
    return Record(
        sections={name: tuple(lines) for name, lines in sections.items()},
        is_complete=is_complete and len(text) <= MAX_RECORD_CHARACTERS,
        problems=problems,
    )


def fields_of(parts: list[str]) -> dict[str, str]:
    """Read `key=value` fields; a field without "=" is left out, a value may hold "=" itself."""
    return {key.strip(): value.strip() for key, found, value in (part.partition("=") for part in parts) if found}


def whole_number(text: str | None) -> int | None:
    """Read a decimal or 0x number; None for anything else."""
    if text is None or not _NUMBER.fullmatch(text.strip()):
        return None
    return int(text.strip(), 16 if "x" in text.lower() else 10)


def leading_decimal(text: str | None) -> float | None:
    """Read the number that a text begins with ("400 Gb/sec (4X NDR)" is 400); None when it begins otherwise."""
    match = _DECIMAL.match(text.strip()) if text else None
    return float(match[0]) if match else None


def hex_digits(text: str | None) -> str:
    """Normalise an id of PCI config space: "0x15B3" is "15b3"; empty for anything but hex digits."""
    digits = (text or "").strip().lower().removeprefix("0x")
    return digits if re.fullmatch(r"[0-9a-f]{1,8}", digits) else ""


def pci_address(text: str | None) -> PciAddress | None:
    """Read a PCI address; None for anything else."""
    try:
        return parse_pci_address(text or "")
    except ValueError:
        return None


def wrong_line(section: str, line: str, why: str) -> Unseen:
    """Name a line that could not be understood, cut to what a person can read."""
    return Unseen(f"{section}: {line.strip()[:80]!r}", why)
