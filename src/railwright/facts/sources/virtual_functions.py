r"""
The `vf-links`, `sriov` and `eswitch` sections: virtual functions as their physical function has them.

Samples: from `ip -o -d link show` "4: ens3f0np0: <UP> mtu 1500 ...\    vf 0     link/ether 02:00:00:00:00:01 brd
ff:ff:ff:ff:ff:ff, vlan 100, spoof checking on, link-state auto, trust off, query_rss off"; on InfiniBand with
"NODE_GUID 00:11:22:33:44:55:66:77, PORT_GUID 00:11:22:33:44:55:66:77"; from sysfs
"0000:1a:00.0\t0\t0000:1a:00.2\tnode=00:11:22:33:44:55:66:77\tport=...\tpolicy=Follow"; and from devlink
"pci/0000:1a:00.0: mode legacy inline-mode none encap-mode basic".

Source of the words: iproute2 6.12 ip/ipaddress.c print_vfinfo; devlink/devlink.c.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from railwright.core.ids import NetDevice, PciAddress
from railwright.facts.model import Unseen
from railwright.facts.record import Record, fields_of, pci_address, whole_number, wrong_line

_LINK = re.compile(r"^\d+: ([^:@\s]+)[:@]")
_VF = re.compile(r"^\s*vf (\d{1,9})\s")
_MAC = re.compile(r"link/ether ((?:[0-9a-f]{2}:){5}[0-9a-f]{2})")
_GUID = re.compile(r"(NODE|PORT)_GUID ((?:[0-9a-f]{2}:){7}[0-9a-f]{2})")
_VLAN = re.compile(r", vlan (\d{1,9})")
_FLAG = re.compile(r", (spoof checking|trust) (on|off)")
_STATE = re.compile(r", link-state (auto|enable|disable)")
_ESWITCH = re.compile(r"^pci/(\S+): mode (\w+)")
_POLICIES = {"follow": "auto", "up": "enable", "down": "disable"}
"""What mlx5's sysfs says, in the words of `ip link`. Source: DOCA-OFED mlx5 driver, sriov_sysfs.c, policy_str."""


@dataclass(frozen=True)
class VfWords:
    """What is said of one virtual function; empty or None is "not said"."""

    mac: str = ""
    link_state: str = ""
    trust: bool | None = None
    spoof_check: bool | None = None
    vlan: int | None = None
    node_guid: str = ""
    port_guid: str = ""


@dataclass(frozen=True)
class VfTables:
    """What the sections say: by netdev and index; by address of the physical function and index; modes by address."""

    by_netdev: Mapping[tuple[NetDevice, int], VfWords] = field(default_factory=dict)
    by_pci: Mapping[tuple[PciAddress, int], VfWords] = field(default_factory=dict)
    eswitch_modes: Mapping[PciAddress, str] = field(default_factory=dict)


def parse_virtual_functions(record: Record) -> tuple[VfTables, tuple[Unseen, ...]]:
    """Read what is said of virtual functions; a line that can't be read is named and left out."""
    unseen: list[Unseen] = []
    by_netdev: dict[tuple[NetDevice, int], VfWords] = {}
    for line in record.lines("vf-links"):
        name = _LINK.match(line)
        if name is None:
            unseen.append(wrong_line("vf-links", line, "does not begin with a network device"))
            continue
        for part in line.split("\\"):
            if found := _VF.match(part):
                by_netdev[NetDevice(name[1]), int(found[1])] = _words(part)
    by_pci: dict[tuple[PciAddress, int], VfWords] = {}
    for line in record.lines("sriov"):
        parts = line.split("\t")
        address, index = pci_address(parts[0]), whole_number(parts[1]) if len(parts) > 1 else None
        if address is None or index is None:
            unseen.append(wrong_line("sriov", line, "address or number can't be read"))
        else:
            by_pci[address, index] = _of_sysfs(fields_of(parts[2:]))
    modes: dict[PciAddress, str] = {}
    for line in record.lines("eswitch"):
        found = _ESWITCH.match(line)
        address = pci_address(found[1]) if found else None
        if found is None or address is None:
            unseen.append(wrong_line("eswitch", line, "address or mode can't be read"))
        else:
            modes[address] = found[2]
    return VfTables(by_netdev, by_pci, modes), tuple(unseen)


def _words(text: str) -> VfWords:
    mac, vlan, state = _MAC.search(text), _VLAN.search(text), _STATE.search(text)
    guids, flags = dict(_GUID.findall(text)), dict(_FLAG.findall(text))
    return VfWords(
        mac=mac[1] if mac else "",
        link_state=state[1] if state else "",
        trust=_flag(flags.get("trust")),
        spoof_check=_flag(flags.get("spoof checking")),
        vlan=int(vlan[1]) if vlan else None,
        node_guid=guids.get("NODE", ""),
        port_guid=guids.get("PORT", ""),
    )


def _flag(word: str | None) -> bool | None:
    return None if word is None else word == "on"


def _of_sysfs(fields: dict[str, str]) -> VfWords:
    policy = fields.get("policy", "").lower()
    return VfWords(
        mac=fields.get("mac", "").lower(),
        link_state=_POLICIES.get(policy, ""),
        node_guid=fields.get("node", "").lower(),
        port_guid=fields.get("port", "").lower(),
    )
