r"""
The `sockets` section: TCP connections of the API server, etcd, routers and network storage, by the node's own end.

Samples, the node's address and the port that tells the service, ours or the other side's: "10.1.0.4\t6801",
"FD00:0000:0000:0000:0000:0000:0000:0004\t3260". Storage that runs in containers of the node's network (Ceph's daemons,
NFS and iSCSI servers) shows nowhere else.
"""

import ipaddress
from dataclasses import dataclass

from railwright.facts.model import Unseen
from railwright.facts.record import Record, whole_number, wrong_line

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

BGP = "BGP"
"""Of a routing daemon: through which ports the node is told where to send, and tells where it is."""
_SERVICES = (
    (range(6443, 6444), "API server"),
    (range(2379, 2381), "etcd"),
    (range(3300, 3301), "Ceph"),
    (range(6789, 6790), "Ceph"),
    (range(6800, 7569), "Ceph"),
    (range(3260, 3261), "iSCSI"),
    (range(4420, 4421), "NVMe-oF"),
    (range(8009, 8010), "NVMe-oF"),
    (range(2049, 2050), "NFS"),
    (range(988, 989), "Lustre"),
    (range(1191, 1192), "GPFS"),
    (range(179, 180), BGP),
)
"""
Ports by service.

Source: Kubernetes documentation, "Ports and Protocols" (API server, etcd); Ceph documentation, "Network Configuration
Reference" (ms_bind_port_min, ms_bind_port_max); IANA service name and port number registry (the others).
"""


@dataclass(frozen=True)
class Connection:
    """One address of the node that a service uses."""

    service: str
    port: int
    address: Address


def parse_sockets(record: Record) -> tuple[tuple[Connection, ...], tuple[Unseen, ...]]:
    """Read every connection; one of the loopback device is left out, a line that can't be read is named."""
    found: list[Connection] = []
    unseen: list[Unseen] = []
    for line in record.lines("sockets"):
        text, _, number = line.partition("\t")
        port = whole_number(number)
        service = next((name for ports, name in _SERVICES if port in ports), "")
        try:
            address = ipaddress.ip_address(text.strip())
        except ValueError:
            service = ""
        if not service or port is None:
            unseen.append(wrong_line("sockets", line, "not an address and a port that is known"))
            continue
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        if not (mapped or address).is_loopback:
            found.append(Connection(service, port, mapped or address))
    return tuple(found), tuple(unseen)
