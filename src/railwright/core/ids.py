"""Identifiers as types, and the parsers that make them; a bare str is never an identifier."""

import re
from typing import NewType

NodeName = NewType("NodeName", str)
PciAddress = NewType("PciAddress", str)
"""Domain always there, lower case: "0000:17:00.0"."""
RdmaDevice = NewType("RdmaDevice", str)
"""As in /sys/class/infiniband: "mlx5_0"."""
NetDevice = NewType("NetDevice", str)
"""As in /sys/class/net: "ens1f0np0"."""
RuleId = NewType("RuleId", str)
FabricName = NewType("FabricName", str)
RailName = NewType("RailName", str)
StageName = NewType("StageName", str)
GroupName = NewType("GroupName", str)
"""Nodes with the same hardware wired the same way: "g1"."""

_PCI = re.compile(r"^(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])$")


def parse_pci_address(text: str) -> PciAddress:
    """
    Normalise a PCI address: lower case, four or more digits of domain.

    Raises:
        ValueError: not a PCI address.
    """
    match = _PCI.match(text.strip().lower())
    if match is None:
        message = f"not a PCI address: {text!r} (expected DDDD:BB:DD.F)"
        raise ValueError(message)
    domain = f"{int(match[1] or '0', 16):04x}"
    return PciAddress(f"{domain}:{match[2]}:{match[3]}.{match[4]}")


def card_of(address: PciAddress) -> str:
    """Name the card that a PCI function sits on: the address without its function."""
    return address.rsplit(".", 1)[0]
