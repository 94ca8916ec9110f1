r"""
The `net` and `addr` sections: network devices and their IP addresses.

Samples: "bond0\ttype=1\tmtu=9000\taddress=0c:42:a1:00:00:01\toperstate=up\tcarrier=1\tlowers=ens3f0np0,ens3f1np1\tkind=bond"
and, from `ip -o addr show`: "4: br-ex    inet 10.0.0.5/24 brd 10.0.0.255 scope global br-ex\       valid_lft forever".
"""

import ipaddress

from railwright.core.ids import NetDevice
from railwright.facts.model import NetDeviceFacts, Unseen
from railwright.facts.record import Record, fields_of, pci_address, whole_number, wrong_line


def parse_net(record: Record) -> tuple[tuple[NetDeviceFacts, ...], tuple[Unseen, ...]]:
    """Read network devices with their addresses, by name; a line that can't be read is named and left out."""
    addresses, unseen = _addresses(record)
    netdevs: dict[str, NetDeviceFacts] = {}
    for line in record.lines("net"):
        first, *rest = line.split("\t")
        name = NetDevice(first.strip())
        fields = fields_of(rest)
        arp_type, mtu = whole_number(fields.get("type")), whole_number(fields.get("mtu"))
        if not name or " " in name or arp_type is None or mtu is None:
            unseen.append(wrong_line("net", line, "name, type or mtu can't be read"))
            continue
        pci = pci_address(fields.get("pci"))
        if fields.get("pci") and pci is None:
            unseen.append(wrong_line("net", line, "its PCI address can't be read"))
        netdevs[name] = NetDeviceFacts(
            name=name,
            arp_type=arp_type,
            pci=pci,
            master=NetDevice(fields["master"]) if fields.get("master") else None,
            lowers=tuple(NetDevice(lower.strip()) for lower in fields.get("lowers", "").split(",") if lower.strip()),
            mtu_bytes=mtu,
            address=fields.get("address", "").lower(),
            ip_addresses=tuple(addresses.get(name, ())),
            kind=fields.get("kind", ""),
            carrier={"1": True, "0": False}.get(fields.get("carrier", "")),
            carrier_changes=whole_number(fields.get("carrier_changes")),
            speed_mbps=_speed(fields.get("speed")),
            alias=fields.get("alias", ""),
            port_name=fields.get("port_name", ""),
            pkey=whole_number(fields.get("pkey")),
            tunnel_from=fields.get("local", ""),
            tunnel_over=NetDevice(fields["over"]) if fields.get("over") else None,
            dynamic_addresses=tuple(address for address, leased in addresses.get(name, {}).items() if leased),
        )
    return tuple(netdevs[name] for name in sorted(netdevs)), tuple(unseen)


def _speed(text: str | None) -> int | None:
    """Speed in Mbit/s; the kernel says -1 for unknown, 4294967295 in old versions."""
    speed = whole_number(text)
    return speed if speed is not None and 0 < speed < 2**31 else None


def _addresses(record: Record) -> tuple[dict[str, dict[str, bool]], list[Unseen]]:
    """Read addresses by device, each with whether it was given for a time (DHCP, router advertisements)."""
    addresses: dict[str, dict[str, bool]] = {}
    unseen: list[Unseen] = []
    for line in record.lines("addr"):
        words = line.split()
        family = next((at for at, word in enumerate(words) if word in {"inet", "inet6"}), None)
        if family is None or family == 0 or len(words) <= family + 1:
            unseen.append(wrong_line("addr", line, "holds no IP address"))
            continue
        try:
            address = ipaddress.ip_interface(words[family + 1])
        except ValueError:
            unseen.append(wrong_line("addr", line, "its IP address can't be read"))
            continue
        known = addresses.setdefault(words[family - 1].partition("@")[0], {})
        known[str(address)] = "dynamic" in words[family + 2 :]
    return addresses, unseen
